#include "ingest/plan/whatif/program.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"

namespace oomdb::ingest {
namespace {

Op OpOf(std::string_view opcode) {
  static const auto* const kOps = new std::unordered_map<std::string_view, Op>{
      {"parameter", Op::kParameter},
      {"constant", Op::kConstant},
      {"iota", Op::kNone},
      {"partition-id", Op::kNone},
      {"replica-id", Op::kNone},
      {"after-all", Op::kNone},
      {"rng-bit-generator", Op::kNone},
      {"rng-get-and-update-state", Op::kNone},
      {"infeed", Op::kNone},
      {"tuple", Op::kTuple},
      {"get-tuple-element", Op::kGetTupleElement},
      {"bitcast", Op::kBitcast},
      {"optimization-barrier", Op::kBarrier},
      {"opt-barrier", Op::kBarrier},
      {"while", Op::kWhile},
      {"fusion", Op::kFusion},
      {"call", Op::kCall},
      {"async-start", Op::kAsyncStart},
      {"conditional", Op::kConditional},
      {"custom-call", Op::kCustomCall},
      {"copy", Op::kCopy},
      {"convert", Op::kConvert},
      {"transpose", Op::kTranspose},
      {"reshape", Op::kReshape},
      {"copy-start", Op::kCopyStart},
      {"copy-done", Op::kCopyDone},
      {"broadcast", Op::kBroadcast},
      {"dot", Op::kDot},
      {"convolution", Op::kConvolution},
      {"reduce", Op::kReduce},
      {"reduce-window", Op::kReduceWindow},
      {"select-and-scatter", Op::kSelectAndScatter},
      {"sort", Op::kSort},
      {"map", Op::kMap},
      {"gather", Op::kGather},
      {"scatter", Op::kScatter},
      {"slice", Op::kSlice},
      {"dynamic-slice", Op::kSlice},
      {"pad", Op::kSlice},
      {"reverse", Op::kSlice},
      {"all-gather", Op::kCollective},
      {"all-gather-done", Op::kCollective},
      {"reduce-scatter", Op::kCollective},
      {"all-to-all", Op::kCollective},
      {"dynamic-update-slice", Op::kDynamicUpdateSlice},
      {"concatenate", Op::kConcatenate},
  };
  const auto found = kOps->find(opcode);
  if (found != kOps->end()) return found->second;
  if (opcode.ends_with("-start") || opcode.ends_with("-done")) return Op::kStartOrDone;
  return Op::kElementwise;
}

// Appends the leaves of `shape`. Shapes nest at most as deep as protobuf reads.
void AppendLeaves(const proto::ShapeProto& shape, InstructionNumber i, std::vector<Leaf>* leaves) {
  if (!IsTuple(shape)) {
    leaves->push_back({i, &shape, 0});
    return;
  }
  for (const proto::ShapeProto& element : shape.tuple_shapes()) AppendLeaves(element, i, leaves);
}

int32_t CountLeaves(const proto::ShapeProto& shape) {
  if (!IsTuple(shape)) return 1;
  int32_t count = 0;
  for (const proto::ShapeProto& element : shape.tuple_shapes()) count += CountLeaves(element);
  return count;
}

Pass PassOfStack(std::string_view stack, bool rematerialized) {
  const Role role = RoleOf(stack);
  if (role == Role::kBackward) return Pass::kBackward;
  if (role == Role::kForward) return rematerialized ? Pass::kBackward : Pass::kForward;
  return Pass::kNeither;
}

}  // namespace

Program::Program(const proto::HloProto& hlo)
    : hlo_(hlo),
      instructions_(hlo.hlo_module()),
      assignment_(hlo.buffer_assignment(), instructions_, issues_) {
  const InstructionNumber count = instructions_.size();
  ops_.reserve(count);
  rematerialized_.reserve(count);
  for (InstructionNumber i = 0; i < count; ++i) {
    ops_.push_back(OpOf(instructions_[i].opcode()));
    rematerialized_.push_back(IsRematerialized(instructions_[i].name()));
  }
  ReadLeaves();
  ReadUsers();
  ReadBuffers();
  ReadPasses();
  ReadOrder();
}

void Program::ReadLeaves() {
  const InstructionNumber count = instructions_.size();
  first_leaf_.reserve(count + 1);
  first_element_.reserve(count + 1);
  for (InstructionNumber i = 0; i < count; ++i) {
    first_leaf_.push_back(leaf_count());
    first_element_.push_back(static_cast<int32_t>(element_leaf_.size()));
    const proto::ShapeProto& shape = instructions_[i].shape();
    if (!IsTuple(shape)) {
      leaves_.push_back({i, &shape, 0});
      continue;
    }
    for (const proto::ShapeProto& element : shape.tuple_shapes()) {
      element_leaf_.push_back(leaf_count());
      AppendLeaves(element, i, &leaves_);
    }
  }
  first_leaf_.push_back(leaf_count());
  first_element_.push_back(static_cast<int32_t>(element_leaf_.size()));
  int64_t dimensions = 0;
  for (Leaf& leaf : leaves_) {
    leaf.first_dimension = static_cast<int32_t>(dimensions);
    dimensions += leaf.rank();
    if (dimensions > INT32_MAX) throw Error("the module has more than 2^31 dimensions");
  }
  dimension_count_ = static_cast<int32_t>(dimensions);
}

LeafRange Program::Element(InstructionNumber i, int64_t k) const {
  const int32_t elements = first_element_[i + 1] - first_element_[i];
  if (k < 0 || k >= elements) return {};
  const LeafId first = element_leaf_[first_element_[i] + k];
  const LeafId end =
      k + 1 < elements ? element_leaf_[first_element_[i] + k + 1] : first_leaf_[i + 1];
  return {first, end - first};
}

int64_t Program::ElementOf(LeafId n) const {
  const InstructionNumber i = leaves_[n].instruction;
  const auto begin = element_leaf_.begin() + first_element_[i];
  const auto end = element_leaf_.begin() + first_element_[i + 1];
  return std::max<int64_t>(0, std::upper_bound(begin, end, n) - begin - 1);
}

LeafRange Program::Under(InstructionNumber i, std::span<const int64_t> index) const {
  if (index.empty()) return LeavesOf(i);
  LeafRange at = Element(i, index.front());
  if (index.size() == 1) return at;
  const proto::ShapeProto* shape = SubshapeAt(instructions_[i].shape(), index.first(1));
  for (int64_t k : index.subspan(1)) {
    if (shape == nullptr || !IsTuple(*shape) || k < 0 || k >= shape->tuple_shapes_size()) return {};
    for (int64_t before = 0; before < k; ++before) {
      at.first += CountLeaves(shape->tuple_shapes(static_cast<int>(before)));
    }
    shape = &shape->tuple_shapes(static_cast<int>(k));
    at.count = CountLeaves(*shape);
  }
  return at;
}

LeafId Program::Single(InstructionNumber i) const {
  if (i == kNone || IsTuple(instructions_[i].shape())) return kNone;
  return first_leaf_[i];
}

void Program::ReadUsers() {
  const InstructionNumber count = instructions_.size();
  first_user_.assign(count + 1, 0);
  element_users_.assign(count, 0);
  auto for_each = [&](auto&& visit) {
    for (InstructionNumber i = 0; i < count; ++i) {
      for (int n = 0; n < instructions_[i].operand_ids_size(); ++n) {
        const InstructionNumber operand = Operand(i, n);
        if (operand != kNone) visit(operand, i, n);
      }
    }
  };
  for_each([&](InstructionNumber operand, InstructionNumber i, int) {
    ++first_user_[operand + 1];
    if (ops_[i] == Op::kGetTupleElement) ++element_users_[operand];
  });
  for (InstructionNumber i = 0; i < count; ++i) first_user_[i + 1] += first_user_[i];
  users_.resize(first_user_[count]);
  std::vector<int32_t> next(first_user_.begin(), first_user_.end() - 1);
  for_each([&](InstructionNumber operand, InstructionNumber i, int n) {
    users_[next[operand]++] = {i, n};
  });
  auto order = [this](const User& user) {
    return ops_[user.instruction] == Op::kGetTupleElement
               ? instructions_[user.instruction].tuple_index()
               : INT64_MAX;
  };
  for (InstructionNumber i = 0; i < count; ++i) {
    if (element_users_[i] == 0) continue;
    std::stable_sort(users_.begin() + first_user_[i], users_.begin() + first_user_[i + 1],
                     [&](const User& a, const User& b) { return order(a) < order(b); });
  }
}

std::span<const Program::User> Program::Users(InstructionNumber i) const {
  return std::span(users_).subspan(first_user_[i], first_user_[i + 1] - first_user_[i]);
}

void Program::ReadBuffers() {
  leaf_buffers_.assign(leaves_.size(), kNone);
  buffer_leaves_.reserve(buffers().size());
  for (size_t b = 0; b < buffers().size(); ++b) {
    const ValueAt& value = buffers()[b].value;
    LeafId leaf = kNone;
    if (value.instruction != kNone) {
      const proto::ShapeProto* shape =
          SubshapeAt(instructions_[value.instruction].shape(), value.index);
      const LeafRange at = Under(value.instruction, value.index);
      if (shape != nullptr && !IsTuple(*shape) && at.count == 1) leaf = at.first;
    }
    buffer_leaves_.push_back(leaf);
    if (leaf != kNone) leaf_buffers_[leaf] = static_cast<int32_t>(b);
  }
}

void Program::ReadPasses() {
  const StackFrames frames(module().stack_frame_index(), issues_);
  NameStacks stacks(instructions_, frames, issues_);
  passes_.reserve(instructions_.size());
  for (InstructionNumber i = 0; i < instructions_.size(); ++i) {
    const std::optional<NameStack> stack = stacks.OfInstruction(i);
    passes_.push_back(stack ? PassOfStack(stack->text, rematerialized_[i]) : Pass::kNeither);
  }
  buffer_passes_.reserve(buffers().size());
  for (const LogicalBuffer& buffer : buffers()) {
    const std::optional<NameStack> stack = stacks.OfValue(buffer.value);
    buffer_passes_.push_back(
        stack ? PassOfStack(stack->text, rematerialized_[buffer.value.instruction])
              : Pass::kNeither);
  }
}

void Program::Schedule(int32_t computation, int depth, std::vector<bool>* seen) {
  constexpr int kMaxDepth = 100;  // Of loops in loops; hostile modules nest without end.
  if (depth > kMaxDepth) return;
  const auto [begin, end] = instructions_.Range(computation);
  const auto& sequences = module().schedule().sequences();
  const auto found = sequences.find(module().computations(computation).id());
  auto visit = [&](InstructionNumber i) {
    if (positions_[i] != kNone) return;
    const int called = instructions_[i].called_computation_ids_size();
    const Op op = ops_[i];
    if (op == Op::kWhile || op == Op::kCall || op == Op::kConditional || op == Op::kAsyncStart) {
      for (int n = 0; n < called; ++n) {
        // A loop's condition, which is listed last, runs first.
        const int32_t c = instructions_.Called(i, op == Op::kWhile ? called - 1 - n : n);
        if (c == kNone || (*seen)[c]) continue;
        (*seen)[c] = true;
        Schedule(c, depth + 1, seen);
      }
    }
    positions_[i] = position_count();
    by_position_.push_back(i);
  };
  if (found == sequences.end()) {
    for (InstructionNumber i = begin; i < end; ++i) visit(i);
    return;
  }
  for (int64_t id : found->second.instruction_ids()) {
    const InstructionNumber i = instructions_.FindById(id);
    if (i != kNone && instructions_.ComputationOf(i) == computation) visit(i);
  }
}

void Program::ReadOrder() {
  positions_.assign(instructions_.size(), kNone);
  const int32_t entry = instructions_.entry();
  if (entry == kNone) return;
  has_schedule_ = module().schedule().sequences().contains(module().computations(entry).id());
  std::vector<bool> seen(module().computations_size(), false);
  seen[entry] = true;
  Schedule(entry, 0, &seen);
  const auto [begin, end] = instructions_.Range(entry);
  for (InstructionNumber i = begin; i < end; ++i) {
    if (ops_[i] == Op::kParameter) parameters_.push_back(i);
  }
  // More than moments can count; no program is that long.
  constexpr int32_t kMaxPositions = 1 << 22;
  if (position_count() > kMaxPositions) {
    has_schedule_ = false;
    by_position_.clear();
    positions_.assign(instructions_.size(), kNone);
  }
}

bool Program::IsEntryRoot(LeafId n) const {
  return leaves_[n].instruction == instructions_.RootOf(instructions_.entry());
}

Program::Span Program::SpanOf(int32_t computation) const {
  Span span;
  if (computation == kNone) return span;
  const auto [begin, end] = instructions_.Range(computation);
  for (InstructionNumber i = begin; i < end; ++i) {
    const int32_t p = positions_[i];
    if (p == kNone) continue;
    if (span.first < 0 || p < span.first) span.first = p;
    span.last = std::max(span.last, p);
  }
  return span;
}

int64_t ElementBytes(const proto::ShapeProto& shape) {
  const std::optional<int> bits = ElementBits(DtypeName(shape.element_type()));
  return bits ? std::max(1, *bits / 8) : 4;
}

std::vector<int32_t> MinorToMajor(const proto::ShapeProto& shape) {
  const int rank = shape.dimensions_size();
  std::vector<int32_t> order;
  order.reserve(rank);
  const auto& layout = shape.layout().minor_to_major();
  bool usable = layout.size() == rank;
  for (int64_t d : layout) usable = usable && d >= 0 && d < rank;
  for (int k = 0; k < rank; ++k) {
    order.push_back(usable ? static_cast<int32_t>(layout[k]) : rank - 1 - k);
  }
  return order;
}

int64_t PaddedBytes(const proto::ShapeProto& shape, std::span<const int64_t> dimensions) {
  constexpr int64_t kMax = int64_t{1} << 62;
  const std::vector<int32_t> order = MinorToMajor(shape);
  std::vector<int64_t> extents;  // Minor to major.
  for (int32_t d : order) extents.push_back(std::max<int64_t>(0, dimensions[d]));
  if (shape.layout().tiles_size() > 0) {
    const auto& tile = shape.layout().tiles(0).dimensions();
    const size_t count = std::min<size_t>(tile.size(), kMaxShapeIndexDepth);
    if (extents.size() < count) extents.resize(count, 1);
    for (size_t k = 0; k < count; ++k) {
      const int64_t t = tile[static_cast<int>(tile.size() - 1 - k)];
      if (t > 0 && t < kMax / 2 && extents[k] < kMax / 2) {
        extents[k] = (extents[k] + t - 1) / t * t;
      }
    }
  }
  int64_t bytes = ElementBytes(shape);
  for (int64_t n : extents) {
    if (__builtin_mul_overflow(bytes, n, &bytes) || bytes > kMax) return kMax;
  }
  return bytes;
}

int64_t PaddedBytes(const proto::ShapeProto& shape) {
  return PaddedBytes(shape,
                     std::vector<int64_t>(shape.dimensions().begin(), shape.dimensions().end()));
}

}  // namespace oomdb::ingest
