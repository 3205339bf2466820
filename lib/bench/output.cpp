#include "bench/output.hpp"

#include <algorithm>
#include <limits>

namespace bench {

namespace {

template <class T>
class HostOutput : public Output
{
public:
    explicit HostOutput(std::span<T> values) : values_{values} {}

    void poison() override { std::ranges::fill(values_, std::numeric_limits<T>::quiet_NaN()); }
    void fetch(std::vector<double>& to) override { to.assign(values_.begin(), values_.end()); }

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
