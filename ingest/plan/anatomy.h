// What a plan's memory at the heap peak is for, thing by thing: Plan::parts.
//
// A parameter's kind is that of parameter_kinds.h. A temp that repeats a parameter's values (a copy,
// a cast) has the parameter's kind. Of the others, what a library call scratches is workspace, what
// a collective makes is collectives; what the backward pass makes is a gradient where it has a
// weight's shape and something else than the backward pass reads it; what the forward pass made for
// the backward pass is activations, and so is what a program with weights and without a backward
// pass computes.
//
// Nothing is counted twice: an allocation of a parameter, an output or a constant counts once, as
// what the program was given or hands back, whatever else lies in it meanwhile; temps are those that
// are live at the peak of their memory space, each piece of memory once.
#ifndef OOMDB_INGEST_PLAN_ANATOMY_H_
#define OOMDB_INGEST_PLAN_ANATOMY_H_

#include "ingest/plan/buffer_assignment.h"
#include "ingest/plan/heap_replay.h"
#include "ingest/plan/instructions.h"
#include "ingest/plan/limits.h"
#include "ingest/plan/plan.h"
#include "ingest/plan/roles.h"
#include "ingest/plan/stack_frames.h"
#include "proto/hlo.pb.h"

namespace oomdb::ingest {

struct PlanSources {
  const proto::HloModuleProto& module;
  const Instructions& instructions;
  const BufferAssignment& assignment;
  const HeapReplay& replay;
  StackFrames& frames;
};

// Sets the plan's parts and schedule_length; its allocations, outputs, buffers and spaces must be
// known.
void ReadAnatomy(const PlanSources& from, NameStacks& stacks, TextBudget& text, Plan* plan);

// As that, for a plan that was read from a text, without the program: what its temps and parameters
// are for is not known.
void ReadAnatomyOfText(Plan* plan);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_ANATOMY_H_
