#include "cli/sweep/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace oomdb::cli {
namespace {

// Solves the normal equations of the terms x^power by elimination; x is scaled to 1 before, so that
// squares of large labels lose no digits.
SweepFit LeastSquares(const std::vector<FitPoint>& points, const std::vector<int>& powers) {
  double scale = 1;
  for (const FitPoint& point : points) scale = std::max(scale, std::abs(point.x));
  const size_t n = powers.size();
  std::array<std::array<double, 4>, 3> rows{};
  for (const FitPoint& point : points) {
    for (size_t i = 0; i < n; ++i) {
      const double term = std::pow(point.x / scale, powers[i]);
      for (size_t j = 0; j < n; ++j) rows[i][j] += term * std::pow(point.x / scale, powers[j]);
      rows[i][3] += term * point.y;
    }
  }
  for (size_t i = 0; i < n; ++i) {
    size_t pivot = i;
    for (size_t j = i + 1; j < n; ++j) {
      if (std::abs(rows[j][i]) > std::abs(rows[pivot][i])) pivot = j;
    }
    std::swap(rows[i], rows[pivot]);
    for (size_t j = 0; j < n; ++j) {
      if (j == i || rows[i][i] == 0) continue;
      const double factor = rows[j][i] / rows[i][i];
      for (size_t k = i; k < 4; ++k) rows[j][k] -= factor * rows[i][k];
    }
  }
  SweepFit fit;
  for (size_t i = 0; i < n; ++i) {
    const double value = rows[i][i] == 0 ? 0 : rows[i][3] / rows[i][i] / std::pow(scale, powers[i]);
    (powers[i] == 0 ? fit.constant : powers[i] == 1 ? fit.linear : fit.quadratic) = value;
  }
  return fit;
}

double SumOfSquares(const SweepFit& fit, const std::vector<FitPoint>& points) {
  double sum = 0;
  for (const FitPoint& point : points) sum += std::pow(point.y - fit.At(point.x), 2);
  return sum;
}

}  // namespace

std::optional<SweepFit> FitSweep(const std::vector<FitPoint>& points) {
  std::set<double> different;
  double mean = 0;
  for (const FitPoint& point : points) {
    different.insert(point.x);
    mean += point.y / static_cast<double>(points.size());
  }
  if (different.size() < 3) return std::nullopt;
  struct Candidate {
    std::vector<int> powers;
    const char* terms;
  };
  std::optional<SweepFit> best;
  double best_error = 0;
  for (const Candidate& candidate :
       {Candidate{{0, 1}, "constant + linear"}, Candidate{{0, 2}, "constant + quadratic"},
        Candidate{{0, 1, 2}, "constant + linear + quadratic"}}) {
    const bool both = candidate.powers.size() == 3;
    if (both && different.size() < 4) continue;
    SweepFit fit = LeastSquares(points, candidate.powers);
    const double squares = SumOfSquares(fit, points);
    const double freedom = static_cast<double>(points.size() - candidate.powers.size());
    const double error = std::sqrt(squares / freedom);
    if (best && !(error < (both ? best_error / 2 : best_error))) continue;
    fit.residual = mean == 0 ? 0 : std::sqrt(squares / static_cast<double>(points.size())) / mean;
    // Of a curve that meets every point only rounding is left.
    if (fit.residual < 1e-12) fit.residual = 0;
    fit.terms = candidate.terms;
    best = fit;
    best_error = error;
  }
  return best;
}

std::optional<double> CrossesAbove(const SweepFit& fit, double from, double limit) {
  if (fit.At(from) > limit) return std::nullopt;
  // Far enough for any label, and small enough to be squared.
  double low = from, high = std::max(1.0, std::abs(from));
  while (fit.At(high) <= limit) {
    low = high;
    high *= 2;
    if (high > 1e12) return std::nullopt;
  }
  for (int i = 0; i < 200 && high - low > 1e-9 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (fit.At(middle) <= limit ? low : high) = middle;
  }
  return high;
}

}  // namespace oomdb::cli
