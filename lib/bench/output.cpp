#include "bench/output.hpp"

#include "bench/all_processors.hpp"

#include <cstdint>
#include <limits>

namespace bench {

namespace {

template <class T>
class HostOutput : public Output
{
public:
    explicit HostOutput(std::span<T> values) : values_{values} {}

    void poison() override
    {
        auto const count = static_cast<std::int64_t>(values_.size());
#pragma omp parallel for schedule(static) num_threads(all_processors(values_.size()))
        for (std::int64_t i = 0; i < count; ++i) {
            values_[static_cast<std::size_t>(i)] = std::numeric_limits<T>::quiet_NaN();
        }
    }

    std::vector<double> fetch() override
    {
        std::vector<double> fetched(values_.size());
        auto const count = static_cast<std::int64_t>(values_.size());
#pragma omp parallel for schedule(static) num_threads(all_processors(values_.size()))
        for (std::int64_t i = 0; i < count; ++i) {
            auto const at = static_cast<std::size_t>(i);
            fetched[at] = static_cast<double>(values_[at]);
        }
        return fetched;
    }

private:
    std::span<T> values_;
};

} // namespace

template <class T>
std::unique_ptr<Output> host_output(std::span<T> values)
{
    return std::make_unique<HostOutput<T>>(values);
}

template std::unique_ptr<Output> host_output(std::span<float>);
template std::unique_ptr<Output> host_output(std::span<double>);

} // namespace bench
