#include "peers/cudnn.hpp"

#include "peers/loaded.hpp"

#include <cudnn.h>

#include <limits>
#include <stdexcept>
#include <type_traits>

namespace peers {

namespace {

struct Functions
{
    Loaded library{{"libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9", "libcudnn.so"},
                   "NVIDIA's package cudnn"};
    decltype(&cudnnCreate) create = nullptr;
    decltype(&cudnnDestroy) destroy = nullptr;
    decltype(&cudnnSetStream) set_stream = nullptr;
    decltype(&cudnnGetVersion) get_version = nullptr;
    decltype(&cudnnGetErrorString) error_string = nullptr;
    decltype(&cudnnCreateTensorDescriptor) create_tensor = nullptr;
    decltype(&cudnnDestroyTensorDescriptor) destroy_tensor = nullptr;
    decltype(&cudnnSetTensor4dDescriptor) set_tensor = nullptr;
    decltype(&cudnnSoftmaxForward) softmax = nullptr;

    Functions()
    {
        library.find(create, "cudnnCreate");
        library.find(destroy, "cudnnDestroy");
        library.find(set_stream, "cudnnSetStream");
        library.find(get_version, "cudnnGetVersion");
        library.find(error_string, "cudnnGetErrorString");
        library.find(create_tensor, "cudnnCreateTensorDescriptor");
        library.find(destroy_tensor, "cudnnDestroyTensorDescriptor");
        library.find(set_tensor, "cudnnSetTensor4dDescriptor");
        library.find(softmax, "cudnnSoftmaxForward");
    }
};

Functions const& api()
{
    static Functions const found;
    return found;
}

void check(cudnnStatus_t status, char const* what)
{
    if (status != CUDNN_STATUS_SUCCESS) {
        throw std::runtime_error{std::string{what} + ": " + api().error_string(status)};
    }
}

template <class T>
constexpr cudnnDataType_t data_type = std::is_same_v<T, float>        ? CUDNN_DATA_FLOAT
                                      : std::is_same_v<T, double>     ? CUDNN_DATA_DOUBLE
                                      : std::is_same_v<T, base::fp16> ? CUDNN_DATA_HALF
                                                                      : CUDNN_DATA_BFLOAT16;

} // namespace

struct CuDnn::State
{
    cudnnHandle_t handle = nullptr;
    cudnnTensorDescriptor_t tensor = nullptr;

    State()
    {
        check(api().create(&handle), "cudnnCreate");
        check(api().create_tensor(&tensor), "cudnnCreateTensorDescriptor");
    }
    State(State const&) = delete;
    State& operator=(State const&) = delete;
    ~State()
    {
        api().destroy_tensor(tensor);
        api().destroy(handle);
    }
};

CuDnn::CuDnn() : missing{api().library.missing()}
{
    if (missing.empty()) {
        state_ = std::make_unique<State>();
        auto const number = api().get_version();
        version = std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
                  std::to_string(number % 100);
    }
}

CuDnn::~CuDnn() = default;

template <class T>
void CuDnn::softmax(dense::gpu::Softmax what, T const* x, T* y, std::int64_t rows,
                    std::int64_t columns, cuda::Stream const& stream) const
{
    if (rows > std::numeric_limits<int>::max() || columns > std::numeric_limits<int>::max()) {
        throw std::invalid_argument{"cudnn: found a size beyond 32 bits"};
    }
    using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
    Sum const one = 1;
    Sum const zero = 0;
    auto const algorithm =
        what == dense::gpu::Softmax::probabilities ? CUDNN_SOFTMAX_ACCURATE : CUDNN_SOFTMAX_LOG;
    check(api().set_stream(state_->handle, stream.get()), "cudnnSetStream");
    check(api().set_tensor(state_->tensor, CUDNN_TENSOR_NCHW, data_type<T>, static_cast<int>(rows),
                           static_cast<int>(columns), 1, 1),
          "cudnnSetTensor4dDescriptor");
    //! [cudnn]
    check(api().softmax(state_->handle, algorithm, CUDNN_SOFTMAX_MODE_INSTANCE, &one,
                        state_->tensor, x, &zero, state_->tensor, y),
          "cudnnSoftmaxForward");
    //! [cudnn]
}

template void CuDnn::softmax(dense::gpu::Softmax, base::fp16 const*, base::fp16*, std::int64_t,
                             std::int64_t, cuda::Stream const&) const;
template void CuDnn::softmax(dense::gpu::Softmax, base::bf16 const*, base::bf16*, std::int64_t,
                             std::int64_t, cuda::Stream const&) const;
template void CuDnn::softmax(dense::gpu::Softmax, float const*, float*, std::int64_t, std::int64_t,
                             cuda::Stream const&) const;
template void CuDnn::softmax(dense::gpu::Softmax, double const*, double*, std::int64_t,
                             std::int64_t, cuda::Stream const&) const;

} // namespace peers
