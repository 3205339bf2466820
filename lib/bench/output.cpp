#include "bench/output.hpp"

#include "bench/all_processors.hpp"

#include <algorithm>
#include <cstddef>
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
        on_all_processors(values_.size(), [this](std::size_t begin, std::size_t end) {
            std::ranges::fill(values_.subspan(begin, end - begin),
                              std::numeric_limits<T>::quiet_NaN());
        });
    }

    void fetch(std::vector<double>& to) override
    {
        to.resize(values_.size());
        on_all_processors(values_.size(), [&](std::size_t begin, std::size_t end) {
            std::copy(values_.begin() + static_cast<std::ptrdiff_t>(begin),
                      values_.begin() + static_cast<std::ptrdiff_t>(end),
                      to.begin() + static_cast<std::ptrdiff_t>(begin));
        });
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
