// Modules (HloProto bytes with a buffer assignment) of chosen sizes.
//
//   HloBuilder hlo("jit_train_step");
//   hlo.Parameter(Value(64_MiB).Op("params['w']"));            // stays the caller's
//   hlo.DonatedParameter(64_MiB);                              // an output takes over its memory
//   hlo.Output(4_MiB);                                         // not aliased: allocated by each
//   execution const int scores =
//   hlo.Temp(Value(384_MiB).Op("jit(f)/jvp()/dot_general").At("model.py", 17, "layer"));
//   hlo.Temp(Value(96_MiB).Op("jit(f)/transpose(jvp())/mul"));  // now 480 MiB are live: the heap
//   peak hlo.Free(scores); const std::string bytes = hlo.Bytes();
//
// What results, by the rules of the database's columns:
//   entry computation   the parameters, then constants, temps and outputs in the order of the
//   calls; its root
//                       is a tuple of the outputs: first those of the donated parameters, in their
//                       order, then the others. One single output in all is the root itself.
//   allocations         parameters, constants, outputs, the tuple's table (8 bytes an output, class
//   output),
//                       then one temp allocation a memory space, as XLA combines them.
//   heap trace          one a memory space with temps: Temp is ALLOC, Free is FREE, SharedTemp is
//   SHARE_WITH;
//                       what was not freed is freed at the end.
#ifndef OOMDB_TESTS_SUPPORT_HLO_BUILDER_H_
#define OOMDB_TESTS_SUPPORT_HLO_BUILDER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "proto/hlo.pb.h"

namespace oomdb {

// A value: its size, and what it is. The shape is f32[bytes / 4], or pred[bytes] for odd sizes,
// unless Shape says otherwise.
struct Value {
  Value(int64_t size) : bytes(size) {}  // NOLINT: 64_MiB is a value.

  Value& Shape(int element_type,
               std::vector<int64_t> dimensions);  // xla PrimitiveType: 11 f32, 6 u8.
  Value& Op(std::string name_stack);              // op_name
  Value& At(std::string file, int line, std::string function);
  Value& Opcode(std::string opcode);          // Default "multiply"; parameters have their own.
  Value& CustomCall(std::string target);      // Sets the opcode too.
  Value& Name(std::string instruction_name);  // Default: opcode.N
  Value& Space(int64_t memory_space);         // 0 device memory, 5 host.

  Value& Replicated();                         // Whole on every partition.
  Value& Sharded(std::vector<int64_t> tiles);  // Tiles a dimension; the partitions in their order.

  int64_t bytes;
  std::optional<std::vector<int64_t>> tiles;  // Empty: replicated; std::nullopt: not recorded.
  int element_type = 0;                       // 0: from the size.
  std::vector<int64_t> dimensions;
  std::string op_name;
  std::string file;
  int line = 0;
  std::string function;
  std::string opcode = "multiply";
  std::string custom_call_target;
  std::string name;
  int64_t memory_space = 0;
};

class HloBuilder {
 public:
  explicit HloBuilder(std::string module_name);  // "jit_step"

  HloBuilder& Parameter(Value value);
  HloBuilder& DonatedParameter(Value value);
  HloBuilder& Constant(Value value);
  HloBuilder& Output(Value value);
  // Returns a handle for Free and SharedTemp.
  int Temp(Value value);
  // Takes over the memory of `temp` (which may be freed: it is live again), as an in-place update
  // does.
  int SharedTemp(int temp, Value value);
  HloBuilder& Free(int temp);
  // The temp allocation of space 0 is this much larger than the temps need: fragmentation of the
  // plan.
  HloBuilder& TempPadding(int64_t bytes);
  // An SPMD program of so many partitions, each of one device.
  HloBuilder& Partitions(int partitions);
  // Unchanged, except that the module has none of what the buffer assignment says.
  HloBuilder& WithoutBufferAssignment();

  std::string Bytes() const;  // Serialized HloProto.
  proto::HloProto Proto() const;

  const std::string& module_name() const { return module_name_; }
  // What the device's allocator is asked for by an execution, in order: outputs that are not
  // aliased, the tuple's table, the temp allocation (all of space 0).
  struct Request {
    int64_t bytes;
    bool is_temp;
  };
  std::vector<Request> Requests() const;
  int64_t parameter_bytes() const;  // Space 0, donated ones too.
  int64_t output_bytes() const;     // Space 0, not aliased, with the tuple's table.
  int64_t temp_bytes() const;       // The temp allocation of space 0.
  int64_t heap_peak_bytes() const;  // Of space 0.
  std::vector<std::string> op_instructions() const;  // Names of temps and outputs: what runs.

 private:
  struct Input {
    Value value;
    bool donated;
  };
  struct HeapEvent {
    proto::HeapSimulatorTrace::Event::Kind kind;
    int temp;
    int shared_with = -1;
  };
  // Where the temps of one space lie in their allocation.
  struct TempLayout {
    std::map<int, int64_t> offsets;  // By temp.
    int64_t bytes = 0;               // Of the allocation.
    int64_t peak_bytes = 0;          // Live at once.
  };
  enum class Kind { kTemp, kOutput };
  class Writer;  // hlo_builder.cc

  TempLayout LayOut(int64_t memory_space) const;
  std::vector<HeapEvent> EventsToTheEnd() const;
  int RootTemp(int temp) const;
  size_t output_count() const;  // Leaves of the root, donated ones too.

  std::string module_name_;
  std::vector<Input> parameters_;
  std::vector<Value> constants_;
  std::vector<Value> outputs_;
  std::vector<Value> temps_;
  std::map<int, int> shared_with_;
  std::vector<HeapEvent> events_;
  std::vector<std::pair<Kind, int>> order_;  // Of temps and outputs, as they were called for.
  int64_t temp_padding_ = 0;
  int partitions_ = 0;  // 0: not recorded.
  bool with_buffer_assignment_ = true;
};

}  // namespace oomdb

#endif  // OOMDB_TESTS_SUPPORT_HLO_BUILDER_H_
