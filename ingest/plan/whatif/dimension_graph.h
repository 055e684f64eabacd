// Which dimensions of a program's arrays must always have the same extent, because an operation
// links them; and symbols spread over them: where does the batch go?
//
// Two kinds of link. Dimensions that are equal are of one class (a union-find over the dimensions
// of all leaves). Reshapes and bitcasts link the elements of two arrays in linear order: a factor of
// a dimension is looked up, digit by digit, on the other side.
#ifndef OOMDB_INGEST_PLAN_WHATIF_DIMENSION_GRAPH_H_
#define OOMDB_INGEST_PLAN_WHATIF_DIMENSION_GRAPH_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/plan/whatif/program.h"

namespace oomdb::ingest {

// A factor of a dimension: of `extent`, with `inner` elements of the dimension below it. [B*S] has
// the factors B (inner S) and S (inner 1).
struct Factor {
  int64_t inner = 1;
  int64_t extent = 1;

  friend bool operator==(const Factor&, const Factor&) = default;
  friend auto operator<=>(const Factor&, const Factor&) = default;
};

struct Seed {
  LeafId leaf = 0;
  int32_t dimension = 0;
};

class DimensionGraph;

// Where one symbol (the batch, a sequence, the vocabulary) is found.
class Symbol {
 public:
  // The symbol's factors in a dimension of a leaf; mostly none or one.
  std::span<const Factor> FactorsOf(LeafId n, int32_t dimension) const;
  bool IsIn(LeafId n) const { return DimensionsIn(n) > 0; }
  // How many of the leaf's dimensions carry it.
  int DimensionsIn(LeafId n) const;
  bool IsInDimension(LeafId n, int32_t d) const { return !FactorsOf(n, d).empty(); }
  // How many factors all dimensions have together.
  int FactorCount(LeafId n) const;
  // Leaves that carry it.
  int64_t reach() const { return reach_; }
  bool empty() const { return classes_.empty(); }
  // Leaves on which a factor arrived that could not be placed.
  const std::vector<LeafId>& lost() const { return lost_; }
  // The leaf's dimensions when the symbol's extent becomes `ratio` times what it is, rounded up.
  std::vector<int64_t> Scaled(LeafId n, double ratio) const;

 private:
  friend class DimensionGraph;
  const DimensionGraph* graph_ = nullptr;
  std::unordered_map<int32_t, std::vector<Factor>> classes_;
  int64_t reach_ = 0;
  std::vector<LeafId> lost_;
};

class DimensionGraph {
 public:
  // Linear in the module, nearly. `program` must outlive this.
  explicit DimensionGraph(const Program& program);
  DimensionGraph(const DimensionGraph&) = delete;
  DimensionGraph& operator=(const DimensionGraph&) = delete;

  // The symbol that is the whole of the seeds' dimensions.
  Symbol Spread(std::span<const Seed> seeds) const;
  int32_t ClassOf(LeafId n, int32_t d) const {
    return class_of_[program_.leaf(n).first_dimension + d];
  }
  const Program& program() const { return program_; }
  // Custom calls whose dimensions are not known, with how often; links were guessed there.
  const std::map<std::string, int64_t, std::less<>>& unknown_calls() const {
    return unknown_calls_;
  }

  // ---- for the rules of operations
  // A dimension that a value has for each of its users alone: of zeros, which a loop's stacks and a
  // batch may share. It takes part in what they carry, and hands nothing on from one to another.
  void MarkFree(LeafId n, int32_t d) { free_[program_.leaf(n).first_dimension + d] = true; }
  bool IsFree(LeafId n, int32_t d) const { return free_[program_.leaf(n).first_dimension + d]; }
  // Links two dimensions if both exist and have one extent now.
  void Equal(LeafId a, int64_t da, LeafId b, int64_t db);
  void AllEqual(LeafId a, LeafId b);
  void AllEqual(LeafRange a, LeafRange b);
  void Linear(LeafId a, LeafId b, bool physical) { linear_.push_back({a, b, physical}); }
  void Unknown(std::string_view call) { ++unknown_calls_[std::string(call)]; }

 private:
  struct LinearLink {
    LeafId a, b;
    bool physical;
  };
  // A link as a dimension's class sees it: from `dimension` of one side to the other.
  struct LinearEnd {
    int32_t link;
    bool from_b;
    int32_t dimension;
  };

  // `dimension`, which is free, carries what `user` does.
  struct Follower {
    int32_t dimension;
    int32_t user;
  };

  int32_t Find(int32_t dimension);
  void Seal();

  const Program& program_;
  std::vector<int32_t> class_of_;  // Parents while links are added, then dense classes.
  int32_t class_count_ = 0;
  std::vector<int32_t> leaves_of_class_;
  std::vector<bool> free_;  // By dimension.
  std::vector<Follower> followers_;
  std::vector<bool> class_is_free_;
  std::unordered_map<int32_t, std::vector<int32_t>> followers_of_class_;
  std::vector<LinearLink> linear_;
  std::vector<int32_t> first_end_;  // By class, into ends_.
  std::vector<LinearEnd> ends_;
  std::map<std::string, int64_t, std::less<>> unknown_calls_;
};

// Adds the links of every instruction to `graph`.
void LinkDimensions(const Program& program, DimensionGraph* graph);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_PLAN_WHATIF_DIMENSION_GRAPH_H_
