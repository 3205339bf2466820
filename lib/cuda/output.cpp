#include "cuda/output.hpp"

#include "cuda/error.hpp"

#include <utility>
#include <vector>

namespace cuda {

namespace {

/// All bits set: NaN in every format of IEEE 754.
constexpr int nan_byte = 0xff;

template <class T>
class DeviceOutput : public bench::Output
{
public:
    DeviceOutput(Buffer<T>& values, Stream const& stream) : values_{values}, stream_{stream} {}

    void poison() override
    {
        check(cudaMemsetAsync(values_.data(), nan_byte, values_.bytes(), stream_.get()));
    }

    void fetch(std::vector<double>& to) override
    {
        host_.resize(values_.size());
        check(cudaMemcpy(host_.data(), values_.data(), values_.bytes(), cudaMemcpyDeviceToHost));
        to.assign(host_.begin(), host_.end());
    }

private:
    Buffer<T>& values_;
    Stream const& stream_;
    std::vector<T> host_; ///< kept, as new memory would take longer than the copy
};

class PinnedOutput : public bench::Output
{
public:
    PinnedOutput(std::unique_ptr<bench::Output> values, Stream const& stream)
        : values_{std::move(values)}, stream_{stream}
    {
    }

    void poison() override
    {
        stream_.synchronize();
        values_->poison();
    }

    void fetch(std::vector<double>& to) override
    {
        stream_.synchronize();
        values_->fetch(to);
    }

private:
    std::unique_ptr<bench::Output> values_;
    Stream const& stream_;
};

} // namespace

template <class T>
std::unique_ptr<bench::Output> output(Buffer<T>& values, Stream const& stream)
{
    return std::make_unique<DeviceOutput<T>>(values, stream);
}

template <class T>
std::unique_ptr<bench::Output> output(Pinned<T>& values, Stream const& stream)
{
    return std::make_unique<PinnedOutput>(bench::host_output<T>(values.span()), stream);
}

template std::unique_ptr<bench::Output> output(Buffer<float>&, Stream const&);
template std::unique_ptr<bench::Output> output(Buffer<double>&, Stream const&);
template std::unique_ptr<bench::Output> output(Pinned<float>&, Stream const&);
template std::unique_ptr<bench::Output> output(Pinned<double>&, Stream const&);

} // namespace cuda
