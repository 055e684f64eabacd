// A curve through the points of a sweep: what a plan needs as a function of a label.
#ifndef OOMDB_CLI_SWEEP_FIT_H_
#define OOMDB_CLI_SWEEP_FIT_H_

#include <optional>
#include <string>
#include <vector>

namespace oomdb::cli {

struct FitPoint {
  double x = 0;
  double y = 0;
};

// constant + linear x + quadratic x^2.
struct SweepFit {
  double constant = 0;
  double linear = 0;
  double quadratic = 0;
  // Root mean square of what the curve misses, as a share of the mean of the points.
  double residual = 0;
  // "constant + linear", …
  std::string terms;

  double At(double x) const { return constant + linear * x + quadratic * x * x; }
};

// Least squares with a constant and a linear or a quadratic term or both, the one with the smallest
// residual for its freedom: both only from four different x on, and when it halves what the simpler
// ones miss. Null for fewer than three different x.
std::optional<SweepFit> FitSweep(const std::vector<FitPoint>& points);

// The x above `from` at which the curve passes `limit`; null when it has passed it already there,
// or never does.
std::optional<double> CrossesAbove(const SweepFit& fit, double from, double limit);

}  // namespace oomdb::cli

#endif  // OOMDB_CLI_SWEEP_FIT_H_
