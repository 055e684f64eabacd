// How a program uses its parameters: the matrix products that read them, and which of them it
// updates slice by slice.
#ifndef OOMDB_INGEST_PLAN_PARAMETER_USES_H_
#define OOMDB_INGEST_PLAN_PARAMETER_USES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ingest/plan/instructions.h"
#include "ingest/plan/limits.h"
#include "ingest/plan/roles.h"
#include "ingest/plan/upstream.h"

namespace oomdb::ingest {

// What a matrix product or a convolution has beside a value.
struct Partner {
  bool computed = false;  // A value that the program computes; else a parameter of its entry.
  ValueAt value;
};

class ParameterUses {
 public:
  // All must outlive this. `forward_only`: only products of the forward pass count.
  ParameterUses(const Instructions& instructions, NameStacks& stacks, bool forward_only);

  // Of the products without batch dimensions that read the parameter: as it is, copied, cast,
  // sliced, gathered from other devices or scaled.
  std::vector<Partner> PartnersOf(const ValueAt& parameter);

  // True when an instruction of the forward pass reads it, in a loop or wherever else.
  bool IsReadByForward(const ValueAt& parameter);

  // By instruction: whether its result depends on one of the parameters.
  std::vector<bool> Dependent(const std::vector<ValueAt>& parameters);

  // True when an elementwise instruction reads it, unspread, beside one that is `dependent`.
  bool MeetsElementwise(const ValueAt& parameter, const std::vector<bool>& dependent);

  // The parameter of the entry computation, of the value's shape, of which slices were updated to
  // make `value`.
  std::optional<ValueAt> UpdatedParameter(const ValueAt& value);

 private:
  // Calls visit(value, user, operand) for all that read the parameter's values, until one says
  // false.
  template <typename Visit>
  void Walk(const ValueAt& parameter, const Visit& visit);
  // Where the values are after `user`, when it only moves them.
  void Pass(const ValueAt& at, InstructionNumber user, int operand, std::vector<ValueAt>* into);
  bool IsPlainProduct(InstructionNumber i, int operand) const;
  bool IsForward(InstructionNumber i);
  // Where a value comes from, through what PartnersOf follows; std::nullopt: it is a constant.
  std::optional<Partner> Source(ValueAt value);
  bool IsSpread(InstructionNumber i) const;
  InstructionNumber InnerParameter(int32_t computation, int64_t number);
  bool Spend() { return --steps_left_ >= 0; }

  const Instructions& instructions_;
  NameStacks& stacks_;
  const bool forward_only_;
  Upstream upstream_;
  std::map<int32_t, std::map<int64_t, InstructionNumber>> inner_parameters_;
  int64_t steps_left_;  // Of all searches.
};

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_PARAMETER_USES_H_
