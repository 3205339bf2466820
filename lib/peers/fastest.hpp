#pragma once

#include "peers/spmv.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace peers {

/// Keeps the fastest of the operators that are offered; without tuning the first.
template <class T>
class Fastest
{
public:
    /// For operators of `a`.
    Fastest(sparse::CsrView<T> const& a, Tuning tuning)
        : tuning_{tuning}, x_(static_cast<std::size_t>(a.columns), 1),
          y_(static_cast<std::size_t>(a.rows))
    {
    }

    /// Compares with the fastest so far.
    void offer(SpmvOperator<T> candidate)
    {
        if (!kept_ || (tuning_ == Tuning::on && is_faster(candidate))) {
            kept_ = std::move(candidate);
        }
    }

    /// The fastest of at least one.
    SpmvOperator<T> const& kept() const { return kept_.value(); }

private:
    /// The two take turns, so that what disturbs one disturbs the other.
    bool is_faster(SpmvOperator<T> const& candidate)
    {
        constexpr int turns = 7;
        double candidate_s = std::numeric_limits<double>::infinity();
        double kept_s = candidate_s;
        for (int turn = 0; turn < turns; ++turn) {
            candidate_s = std::min(candidate_s, seconds(candidate));
            kept_s = std::min(kept_s, seconds(*kept_));
        }
        return candidate_s < kept_s;
    }

    double seconds(SpmvOperator<T> const& multiply)
    {
        auto const start = std::chrono::steady_clock::now();
        multiply(x_, y_);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    Tuning tuning_;
    std::vector<T> x_;
    std::vector<T> y_;
    std::optional<SpmvOperator<T>> kept_;
};

} // namespace peers
