#include "peers/cublas.hpp"

#include "base/half.hpp"
#include "cuda/buffer.hpp"
#include "cuda/graph.hpp"
#include "peers/loaded.hpp"

#include <cublasLt.h>
#include <cublas_v2.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace peers {

namespace {

// The header overloads the name, so its type has to be written out.
using GemmEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                  int, void const*, void const*, cudaDataType, int, void const*,
                                  cudaDataType, int, void const*, void*, cudaDataType, int,
                                  cublasComputeType_t, cublasGemmAlgo_t);

struct Functions
{
    Loaded blas{{"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so"},
                "the CUDA toolkit"};
    Loaded lt{{"libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so"},
              "the CUDA toolkit"};
    decltype(&cublasCreate_v2) create = nullptr;
    decltype(&cublasDestroy_v2) destroy = nullptr;
    decltype(&cublasSetStream_v2) set_stream = nullptr;
    decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
    decltype(&cublasSetMathMode) set_math_mode = nullptr;
    decltype(&cublasGetVersion_v2) get_version = nullptr;
    GemmEx gemm = nullptr;
    decltype(&cublasLtCreate) lt_create = nullptr;
    decltype(&cublasLtDestroy) lt_destroy = nullptr;
    decltype(&cublasLtMatmul) lt_multiply = nullptr;
    decltype(&cublasLtMatmulDescCreate) lt_operation = nullptr;
    decltype(&cublasLtMatmulDescDestroy) lt_operation_destroy = nullptr;
    decltype(&cublasLtMatmulDescSetAttribute) lt_operation_set = nullptr;
    decltype(&cublasLtMatrixLayoutCreate) lt_layout = nullptr;
    decltype(&cublasLtMatrixLayoutDestroy) lt_layout_destroy = nullptr;
    decltype(&cublasLtMatmulPreferenceCreate) lt_preference = nullptr;
    decltype(&cublasLtMatmulPreferenceDestroy) lt_preference_destroy = nullptr;
    decltype(&cublasLtMatmulPreferenceSetAttribute) lt_preference_set = nullptr;
    decltype(&cublasLtMatmulAlgoGetHeuristic) lt_heuristic = nullptr;

    Functions()
    {
        blas.find(create, "cublasCreate_v2");
        blas.find(destroy, "cublasDestroy_v2");
        blas.find(set_stream, "cublasSetStream_v2");
        blas.find(set_workspace, "cublasSetWorkspace_v2");
        blas.find(set_math_mode, "cublasSetMathMode");
        blas.find(get_version, "cublasGetVersion_v2");
        blas.find(gemm, "cublasGemmEx");
        lt.find(lt_create, "cublasLtCreate");
        lt.find(lt_destroy, "cublasLtDestroy");
        lt.find(lt_multiply, "cublasLtMatmul");
        lt.find(lt_operation, "cublasLtMatmulDescCreate");
        lt.find(lt_operation_destroy, "cublasLtMatmulDescDestroy");
        lt.find(lt_operation_set, "cublasLtMatmulDescSetAttribute");
        lt.find(lt_layout, "cublasLtMatrixLayoutCreate");
        lt.find(lt_layout_destroy, "cublasLtMatrixLayoutDestroy");
        lt.find(lt_preference, "cublasLtMatmulPreferenceCreate");
        lt.find(lt_preference_destroy, "cublasLtMatmulPreferenceDestroy");
        lt.find(lt_preference_set, "cublasLtMatmulPreferenceSetAttribute");
        lt.find(lt_heuristic, "cublasLtMatmulAlgoGetHeuristic");
    }
};

Functions const& api()
{
    static Functions const found;
    return found;
}

void check(cublasStatus_t status, char const* what)
{
    if (status != CUBLAS_STATUS_SUCCESS) {
        throw std::runtime_error{std::string{what} + ": status " +
                                 std::to_string(static_cast<int>(status))};
    }
}

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

// Where a sum is split, its parts are added up in float: else both would add them up in 16 bits.
constexpr auto math_mode = static_cast<cublasMath_t>(
    CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
template <class T>
constexpr std::uint32_t reductions = sizeof(T) == 2 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                                                    : CUBLASLT_REDUCTION_SCHEME_MASK;

constexpr int candidates = 8; ///< algorithms that the heuristic is asked for

template <class T>
constexpr cudaDataType_t data_type = std::is_same_v<T, float>        ? CUDA_R_32F
                                     : std::is_same_v<T, double>     ? CUDA_R_64F
                                     : std::is_same_v<T, base::fp16> ? CUDA_R_16F
                                                                     : CUDA_R_16BF;

/// What sums and factors are made in.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
constexpr cublasComputeType_t compute_type(CuBlas::Math math)
{
    if (std::is_same_v<T, double>) {
        return CUBLAS_COMPUTE_64F;
    }
    return std::is_same_v<T, float> && math == CuBlas::Math::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                                  : CUBLAS_COMPUTE_32F;
}

/// Seconds of a call among as many in a row as fill a fraction of a millisecond.
class Timing
{
public:
    Timing(std::function<void()> const& call, cuda::Stream const& stream)
        : count_{count(call, stream)}, graph_{stream, call, count_}
    {
    }

    double seconds(cuda::Stream const& stream) const
    {
        return between([&] { graph_.replay(stream); }, stream) / static_cast<double>(count_);
    }

private:
    static double between(std::function<void()> const& work, cuda::Stream const& stream)
    {
        cuda::Event start;
        cuda::Event stop;
        start.record(stream);
        work();
        stop.record(stream);
        stop.synchronize();
        return stop.seconds_since(start);
    }

    static std::size_t count(std::function<void()> const& call, cuda::Stream const& stream)
    {
        constexpr double least_s = 300e-6;
        call(); // the first loads its kernel
        return static_cast<std::size_t>(std::clamp(least_s / between(call, stream), 1.0, 50.0));
    }

    std::size_t count_;
    cuda::Graph graph_;
};

/// The place of the call that takes the least time in any of seven turns.
std::size_t fastest(std::vector<std::function<void()>> const& calls, cuda::Stream const& stream)
{
    std::vector<Timing> timings;
    for (auto const& call : calls) {
        timings.emplace_back(call, stream);
    }
    std::vector<double> least(calls.size(), std::numeric_limits<double>::infinity());
    for (int turn = 0; turn < 7; ++turn) {
        for (std::size_t i = 0; i < calls.size(); ++i) {
            least[i] = std::min(least[i], timings[i].seconds(stream));
        }
    }
    return static_cast<std::size_t>(std::ranges::min_element(least) - least.begin());
}

} // namespace

struct CuBlas::State
{
    cublasHandle_t blas = nullptr;
    cublasLtHandle_t lt = nullptr;
    cuda::Buffer<std::byte> workspace{workspace_bytes};

    State()
    {
        check(api().create(&blas), "cublasCreate");
        check(api().set_math_mode(blas, math_mode), "cublasSetMathMode");
        check(api().lt_create(&lt), "cublasLtCreate");
    }
    State(State const&) = delete;
    State& operator=(State const&) = delete;
    ~State()
    {
        api().destroy(blas);
        api().lt_destroy(lt);
    }
};

CuBlas::CuBlas() : missing{api().blas.missing().empty() ? api().lt.missing() : api().blas.missing()}
{
    if (!missing.empty()) {
        return;
    }
    state_ = std::make_unique<State>();
    int number = 0;
    check(api().get_version(state_->blas, &number), "cublasGetVersion");
    version = std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
              std::to_string(number % 100);
}

CuBlas::~CuBlas() = default;

template <class T>
void CuBlas::gemm(dense::Matrix<T const> a, dense::Matrix<T const> b, dense::Matrix<T> c, Math math,
                  cuda::Stream const& stream, bool is_transposed) const
{
    auto const size = [](std::int64_t value) { return static_cast<int>(value); };
    check(api().set_stream(state_->blas, stream.get()), "cublasSetStream");
    // With memory of its own it can be put into a graph.
    check(api().set_workspace(state_->blas, state_->workspace.data(), workspace_bytes),
          "cublasSetWorkspace");
    Sum<T> const one = 1;
    Sum<T> const zero = 0;
    if (is_transposed) {
        constexpr auto of_b = CUBLAS_OP_T;
        //! [cublas_transposed]
        check(api().gemm(state_->blas, of_b, CUBLAS_OP_N, size(c.columns), size(c.rows),
                         size(a.columns), &one, b.data, data_type<T>, size(b.stride), a.data,
                         data_type<T>, size(a.stride), &zero, c.data, data_type<T>, size(c.stride),
                         compute_type<T>(math), CUBLAS_GEMM_DEFAULT),
              "cublasGemmEx");
        //! [cublas_transposed]
        return;
    }
    //! [cublas]
    check(api().gemm(state_->blas, CUBLAS_OP_N, CUBLAS_OP_N, size(c.columns), size(c.rows),
                     size(a.columns), &one, b.data, data_type<T>, size(b.stride), a.data,
                     data_type<T>, size(a.stride), &zero, c.data, data_type<T>, size(c.stride),
                     compute_type<T>(math), CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
    //! [cublas]
}

template <class T>
struct CuBlas::LtProduct<T>::State
{
    cublasLtHandle_t handle;
    std::byte* workspace;
    dense::Matrix<T const> a;
    dense::Matrix<T const> b;
    dense::Matrix<T> c;
    cublasLtMatmulDesc_t operation = nullptr;
    cublasLtMatrixLayout_t layout_a = nullptr;
    cublasLtMatrixLayout_t layout_b = nullptr;
    cublasLtMatrixLayout_t layout_c = nullptr;
    std::vector<cublasLtMatmulHeuristicResult_t> found;
    std::size_t chosen = 0;

    State(cublasLtHandle_t lt, std::byte* memory, dense::Matrix<T const> left,
          dense::Matrix<T const> right, dense::Matrix<T> product, Math math, bool is_transposed)
        : handle{lt}, workspace{memory}, a{left}, b{right}, c{product}
    {
        check(api().lt_operation(&operation, compute_type<T>(math), data_type<Sum<T>>),
              "cublasLtMatmulDescCreate");
        if (is_transposed) {
            cublasOperation_t const transposed = CUBLAS_OP_T;
            check(api().lt_operation_set(operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                         sizeof transposed),
                  "cublasLtMatmulDescSetAttribute");
        }
        // Column-major: the rows of a matrix here are the columns there.
        auto const layout = [](cublasLtMatrixLayout_t& made, auto const& m) {
            check(api().lt_layout(&made, data_type<T>, static_cast<std::uint64_t>(m.columns),
                                  static_cast<std::uint64_t>(m.rows), m.stride),
                  "cublasLtMatrixLayoutCreate");
        };
        layout(layout_a, a);
        layout(layout_b, b);
        layout(layout_c, c);
        ask();
    }
    State(State const&) = delete;
    State& operator=(State const&) = delete;
    ~State()
    {
        api().lt_layout_destroy(layout_a);
        api().lt_layout_destroy(layout_b);
        api().lt_layout_destroy(layout_c);
        api().lt_operation_destroy(operation);
    }

    /// The algorithms that the heuristic offers, the one that it thinks best first.
    void ask()
    {
        cublasLtMatmulPreference_t preference = nullptr;
        check(api().lt_preference(&preference), "cublasLtMatmulPreferenceCreate");
        auto const prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto const& value) {
            check(api().lt_preference_set(preference, what, &value, sizeof value),
                  "cublasLtMatmulPreferenceSetAttribute");
        };
        prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
        prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions<T>);
        int count = 0;
        found.resize(candidates);
        auto const status =
            api().lt_heuristic(handle, operation, layout_b, layout_a, layout_c, layout_c,
                               preference, candidates, found.data(), &count);
        api().lt_preference_destroy(preference);
        found.resize(static_cast<std::size_t>(count));
        std::erase_if(found, [](auto const& one) { return one.state != CUBLAS_STATUS_SUCCESS; });
        check(found.empty() ? CUBLAS_STATUS_NOT_SUPPORTED : status,
              "cublasLtMatmulAlgoGetHeuristic");
    }

    void multiply(std::size_t which, cuda::Stream const& stream) const
    {
        Sum<T> const one = 1;
        Sum<T> const zero = 0;
        check(api().lt_multiply(handle, operation, &one, b.data, layout_b, a.data, layout_a, &zero,
                                c.data, layout_c, c.data, layout_c, &found[which].algo, workspace,
                                workspace_bytes, stream.get()),
              "cublasLtMatmul");
    }
};

template <class T>
CuBlas::LtProduct<T>::LtProduct(CuBlas const& library, dense::Matrix<T const> a,
                                dense::Matrix<T const> b, dense::Matrix<T> c, Math math,
                                bool is_transposed)
    : state_{std::make_shared<State>(library.state_->lt, library.state_->workspace.data(), a, b, c,
                                     math, is_transposed)}
{
}

template <class T>
void CuBlas::LtProduct<T>::tune(cuda::Stream const& stream)
{
    //! [cublaslt]
    std::vector<std::function<void()>> calls;
    for (std::size_t which = 0; which < state_->found.size(); ++which) {
        calls.emplace_back([&, which] { state_->multiply(which, stream); });
    }
    state_->chosen = fastest(calls, stream); // of eight, before anything is measured
    //! [cublaslt]
}

template <class T>
void CuBlas::LtProduct<T>::operator()(cuda::Stream const& stream) const
{
    state_->multiply(state_->chosen, stream);
}

template <class T>
std::string CuBlas::LtProduct<T>::choice() const
{
    return "algorithm " + std::to_string(state_->chosen + 1) + " of " +
           std::to_string(state_->found.size());
}

#define INSTANTIATE(T)                                                                             \
    template void CuBlas::gemm(dense::Matrix<T const>, dense::Matrix<T const>, dense::Matrix<T>,   \
                               Math, cuda::Stream const&, bool) const;                             \
    template class CuBlas::LtProduct<T>
INSTANTIATE(float);
INSTANTIATE(double);
INSTANTIATE(base::fp16);
INSTANTIATE(base::bf16);
#undef INSTANTIATE

} // namespace peers
