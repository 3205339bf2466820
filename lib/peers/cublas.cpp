#include "peers/cublas.hpp"

#include "cuda/buffer.hpp"
#include "peers/loaded.hpp"

#include <cublasLt.h>
#include <cublas_v2.h>

#include <stdexcept>
#include <type_traits>

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
    decltype(&cublasGetVersion_v2) get_version = nullptr;
    GemmEx gemm = nullptr;
    decltype(&cublasLtCreate) lt_create = nullptr;
    decltype(&cublasLtDestroy) lt_destroy = nullptr;
    decltype(&cublasLtMatmul) lt_multiply = nullptr;
    decltype(&cublasLtMatmulDescCreate) lt_operation = nullptr;
    decltype(&cublasLtMatmulDescDestroy) lt_operation_destroy = nullptr;
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
        blas.find(get_version, "cublasGetVersion_v2");
        blas.find(gemm, "cublasGemmEx");
        lt.find(lt_create, "cublasLtCreate");
        lt.find(lt_destroy, "cublasLtDestroy");
        lt.find(lt_multiply, "cublasLtMatmul");
        lt.find(lt_operation, "cublasLtMatmulDescCreate");
        lt.find(lt_operation_destroy, "cublasLtMatmulDescDestroy");
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

template <class T>
constexpr cudaDataType_t data_type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;

} // namespace

struct CuBlas::State
{
    cublasHandle_t blas = nullptr;
    cublasLtHandle_t lt = nullptr;
    cuda::Buffer<std::byte> workspace{workspace_bytes};

    State()
    {
        check(api().create(&blas), "cublasCreate");
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
                  cuda::Stream const& stream) const
{
    auto const size = [](std::int64_t value) { return static_cast<int>(value); };
    auto const compute = std::is_same_v<T, double> ? CUBLAS_COMPUTE_64F
                         : math == Math::tf32      ? CUBLAS_COMPUTE_32F_FAST_TF32
                         : math == Math::bf16      ? CUBLAS_COMPUTE_32F_FAST_16BF
                                                   : CUBLAS_COMPUTE_32F;
    check(api().set_stream(state_->blas, stream.get()), "cublasSetStream");
    // With memory of its own it can be put into a graph.
    check(api().set_workspace(state_->blas, state_->workspace.data(), workspace_bytes),
          "cublasSetWorkspace");
    T const one = 1;
    T const zero = 0;
    //! [cublas]
    check(api().gemm(state_->blas, CUBLAS_OP_N, CUBLAS_OP_N, size(c.columns), size(c.rows),
                     size(a.columns), &one, b.data, data_type<T>, size(b.stride), a.data,
                     data_type<T>, size(a.stride), &zero, c.data, data_type<T>, size(c.stride),
                     compute, CUBLAS_GEMM_DEFAULT),
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
    cublasLtMatmulHeuristicResult_t chosen = {};

    State(cublasLtHandle_t lt, std::byte* memory, dense::Matrix<T const> left,
          dense::Matrix<T const> right, dense::Matrix<T> product)
        : handle{lt}, workspace{memory}, a{left}, b{right}, c{product}
    {
        auto const compute = std::is_same_v<T, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
        check(api().lt_operation(&operation, compute, data_type<T>), "cublasLtMatmulDescCreate");
        // Column-major: the rows of a matrix here are the columns there.
        auto const layout = [](cublasLtMatrixLayout_t& made, auto const& m) {
            check(api().lt_layout(&made, data_type<T>, static_cast<std::uint64_t>(m.columns),
                                  static_cast<std::uint64_t>(m.rows), m.stride),
                  "cublasLtMatrixLayoutCreate");
        };
        layout(layout_a, a);
        layout(layout_b, b);
        layout(layout_c, c);
        cublasLtMatmulPreference_t preference = nullptr;
        check(api().lt_preference(&preference), "cublasLtMatmulPreferenceCreate");
        check(api().lt_preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                      &workspace_bytes, sizeof workspace_bytes),
              "cublasLtMatmulPreferenceSetAttribute");
        int found = 0;
        auto const status = api().lt_heuristic(handle, operation, layout_b, layout_a, layout_c,
                                               layout_c, preference, 1, &chosen, &found);
        api().lt_preference_destroy(preference);
        check(found == 1 ? status : CUBLAS_STATUS_NOT_SUPPORTED, "cublasLtMatmulAlgoGetHeuristic");
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
};

template <class T>
CuBlas::LtProduct<T>::LtProduct(CuBlas const& library, dense::Matrix<T const> a,
                                dense::Matrix<T const> b, dense::Matrix<T> c)
    : state_{std::make_shared<State const>(library.state_->lt, library.state_->workspace.data(), a,
                                           b, c)}
{
}

template <class T>
void CuBlas::LtProduct<T>::operator()(cuda::Stream const& stream) const
{
    T const one = 1;
    T const zero = 0;
    auto const& s = *state_;
    //! [cublaslt]
    check(api().lt_multiply(s.handle, s.operation, &one, s.b.data, s.layout_b, s.a.data, s.layout_a,
                            &zero, s.c.data, s.layout_c, s.c.data, s.layout_c, &s.chosen.algo,
                            s.workspace, workspace_bytes, stream.get()),
          "cublasLtMatmul");
    //! [cublaslt]
}

template void CuBlas::gemm(dense::Matrix<float const>, dense::Matrix<float const>,
                           dense::Matrix<float>, Math, cuda::Stream const&) const;
template void CuBlas::gemm(dense::Matrix<double const>, dense::Matrix<double const>,
                           dense::Matrix<double>, Math, cuda::Stream const&) const;
template class CuBlas::LtProduct<float>;
template class CuBlas::LtProduct<double>;

} // namespace peers
