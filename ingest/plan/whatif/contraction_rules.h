// Operations that sum over dimensions: dots, convolutions, and the library calls that GPU compilers
// make of them.
#ifndef OOMDB_INGEST_PLAN_WHATIF_CONTRACTION_RULES_H_
#define OOMDB_INGEST_PLAN_WHATIF_CONTRACTION_RULES_H_

#include "ingest/plan/whatif/dimension_graph.h"

namespace oomdb::ingest {

void LinkDot(const proto::DotDimensionNumbers& numbers, LeafId left, LeafId right, LeafId out,
             DimensionGraph* graph);

// The numbers of a gradient are those of the forward convolution.
enum class Convolution { kForward, kBackwardInput, kBackwardFilter };
void LinkConvolution(const proto::HloInstructionProto& instruction, Convolution kind, LeafId left,
                     LeafId right, LeafId out, DimensionGraph* graph);

// A custom call of cuBLAS or cuDNN; false: it is of neither.
bool LinkLibraryCall(InstructionNumber i, LeafId out, DimensionGraph* graph);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_WHATIF_CONTRACTION_RULES_H_
