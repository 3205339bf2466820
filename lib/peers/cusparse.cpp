#include "peers/cusparse.hpp"

#include "peers/cusparse_library.hpp"
#include "peers/cusparse_slices.hpp"

#include "cuda/error.hpp"
#include "spmv/formats/bcsr/bcsr.hpp"

#include <memory>
#include <type_traits>

namespace peers {

namespace {

constexpr auto index_type = CUSPARSE_INDEX_32I;
constexpr auto zero_based = CUSPARSE_INDEX_BASE_ZERO;

template <class T>
constexpr cudaDataType value_type = std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_64F;

/// Descriptors of a multiply and its scratch memory.
template <class T>
class Multiplication
{
public:
    /// Takes the descriptor of a matrix of this size.
    Multiplication(cusparseSpMatDescr_t matrix, std::int64_t rows, std::int64_t columns,
                   cusparseSpMVAlg_t algorithm, cudaStream_t stream)
        : matrix_{matrix, api_.destroy_matrix}, handle_{nullptr, api_.destroy}, x_{vector(columns)},
          y_{vector(rows)}, algorithm_{algorithm}
    {
        cusparseHandle_t handle = nullptr;
        api_.check(api_.create(&handle), "cusparseCreate");
        handle_.reset(handle);
        api_.check(api_.set_stream(handle, stream), "cusparseSetStream");
        std::size_t bytes = 0;
        api_.check(api_.buffer_size(handle, operation_, &one_, matrix, x_.get(), &zero_, y_.get(),
                                    value_type<T>, algorithm, &bytes),
                   "cusparseSpMV_bufferSize");
        scratch_ = ::cuda::Buffer<std::byte>(bytes);
    }

    void preprocess()
    {
        api_.check(api_.preprocess(handle_.get(), operation_, &one_, matrix_.get(), x_.get(),
                                   &zero_, y_.get(), value_type<T>, algorithm_, scratch_.data()),
                   "cusparseSpMV_preprocess");
    }

    void operator()(T const* x, T* y)
    {
        api_.check(api_.set_vector(x_.get(), const_cast<T*>(x)), "cusparseDnVecSetValues");
        api_.check(api_.set_vector(y_.get(), y), "cusparseDnVecSetValues");
        api_.check(api_.multiply(handle_.get(), operation_, &one_, matrix_.get(), x_.get(), &zero_,
                                 y_.get(), value_type<T>, algorithm_, scratch_.data()),
                   "cusparseSpMV");
    }

    std::size_t bytes() const { return scratch_.bytes(); }

private:
    using Vector = std::unique_ptr<std::remove_pointer_t<cusparseDnVecDescr_t>,
                                   decltype(CusparseLibrary::destroy_vector)>;

    Vector vector(std::int64_t size)
    {
        cusparseDnVecDescr_t made = nullptr;
        // Some address, which each multiply replaces.
        api_.check(api_.create_vector(&made, size, any_.data(), value_type<T>),
                   "cusparseCreateDnVec");
        return {made, api_.destroy_vector};
    }

    static constexpr auto operation_ = CUSPARSE_OPERATION_NON_TRANSPOSE;
    static constexpr T one_ = 1;
    static constexpr T zero_ = 0;

    CusparseLibrary const& api_ = CusparseLibrary::get();
    ::cuda::Buffer<T> any_{1};
    std::unique_ptr<std::remove_pointer_t<cusparseSpMatDescr_t>,
                    decltype(CusparseLibrary::destroy_matrix)>
        matrix_;
    std::unique_ptr<std::remove_pointer_t<cusparseHandle_t>, decltype(CusparseLibrary::destroy)>
        handle_;
    Vector x_;
    Vector y_;
    cusparseSpMVAlg_t algorithm_;
    ::cuda::Buffer<std::byte> scratch_{0};
};

void require_entries(bool entries)
{
    if (!entries) {
        throw NotApplicable{"cuSPARSE wants at least one row, column and nonzero"};
    }
}

//! [cusparse_csr]
template <class T>
GpuSpmvOperator<T> multiply_csr(GpuMatrix<T> const& matrix, cusparseSpMVAlg_t algorithm,
                                bool preprocessed, cudaStream_t stream)
{
    auto const& a = matrix.device;
    auto const& api = CusparseLibrary::get();
    require_entries(a.nonzeros > 0);
    cusparseSpMatDescr_t csr = nullptr;
    api.check(api.create_csr(&csr, a.rows, a.columns, a.nonzeros,
                             const_cast<std::int32_t*>(a.row_ptr), const_cast<std::int32_t*>(a.col),
                             const_cast<T*>(a.values), index_type, index_type, zero_based,
                             value_type<T>),
              "cusparseCreateCsr");
    auto const multiplication =
        std::make_shared<Multiplication<T>>(csr, a.rows, a.columns, algorithm, stream);
    if (preprocessed) {
        multiplication->preprocess();
    }
    return {multiplication->bytes(),
            [multiplication](T const* x, T* y) { (*multiplication)(x, y); }};
}
//! [cusparse_csr]

//! [cusparse_sell]
template <class T>
GpuSpmvOperator<T> multiply_sell(GpuMatrix<T> const& matrix, cudaStream_t stream)
{
    auto const& a = matrix.device;
    auto const& api = CusparseLibrary::get();
    require_entries(a.nonzeros > 0);
    auto const slices = std::make_shared<CusparseSlices<T>>(cusparse_slices(a, stream));
    cusparseSpMatDescr_t sell = nullptr;
    api.check(api.create_sliced_ell(&sell, a.rows, a.columns, a.nonzeros,
                                    static_cast<std::int64_t>(slices->values.size()),
                                    cusparse_slice_rows, slices->begin.data(), slices->col.data(),
                                    slices->values.data(), index_type, index_type, zero_based,
                                    value_type<T>),
              "cusparseCreateSlicedEll");
    auto const multiplication = std::make_shared<Multiplication<T>>(
        sell, a.rows, a.columns, CUSPARSE_SPMV_SELL_ALG1, stream);
    return {slices->bytes() + multiplication->bytes(),
            [slices, multiplication](T const* x, T* y) { (*multiplication)(x, y); }};
}
//! [cusparse_sell]

/// Dense blocks in device memory.
template <class T>
struct DeviceBlocks
{
    ::cuda::Buffer<std::int32_t> first_block;
    ::cuda::Buffer<std::int32_t> column; ///< in blocks
    ::cuda::Buffer<T> values;            ///< of each block column by column

    std::size_t bytes() const { return first_block.bytes() + column.bytes() + values.bytes(); }
};

template <class T>
DeviceBlocks<T> upload(sparse::Bcsr<T> const& blocks)
{
    std::vector<std::int32_t> columns(blocks.column.begin(), blocks.column.end());
    for (auto& column : columns) {
        column /= blocks.shape.columns;
    }
    return {::cuda::Buffer<std::int32_t>{std::span<std::int32_t const>{blocks.first_block}},
            ::cuda::Buffer<std::int32_t>{std::span<std::int32_t const>{columns}},
            ::cuda::Buffer<T>{std::span<T const>{blocks.values}}};
}

/// The best blocks that cuSPARSE takes: square ones without a remainder.
sparse::BlockShape best_square_blocks(sparse::PatternView<> const& a, std::size_t value_bytes)
{
    std::vector<sparse::BlockShape> shapes;
    for (auto const& shape : sparse::usual_block_shapes) {
        if (shape.rows == shape.columns && a.rows % shape.rows == 0 &&
            a.columns % shape.columns == 0) {
            shapes.push_back(shape);
        }
    }
    return sparse::best_block_shape(a, value_bytes, shapes);
}

//! [cusparse_bsr]
template <class T>
GpuSpmvOperator<T> multiply_bsr(GpuMatrix<T> const& matrix, cudaStream_t stream)
{
    auto const& a = matrix.host;
    auto const& api = CusparseLibrary::get();
    require_entries(a.nonzeros() > 0);
    auto const shape = best_square_blocks(a, sizeof(T));
    if (shape.size() == 1) {
        throw NotApplicable{"no square blocks would save bytes"};
    }
    auto const host = sparse::to_bcsr(a, shape);
    auto const blocks = std::make_shared<DeviceBlocks<T>>(upload(host));
    cusparseSpMatDescr_t bsr = nullptr;
    api.check(api.create_bsr(&bsr, a.rows / shape.rows, a.columns / shape.columns,
                             static_cast<std::int64_t>(host.column.size()), shape.rows,
                             shape.columns, blocks->first_block.data(), blocks->column.data(),
                             blocks->values.data(), index_type, index_type, zero_based,
                             value_type<T>, CUSPARSE_ORDER_COL),
              "cusparseCreateBsr");
    auto const multiplication =
        std::make_shared<Multiplication<T>>(bsr, a.rows, a.columns, CUSPARSE_SPMV_BSR_ALG1, stream);
    return {blocks->bytes() + multiplication->bytes(),
            [blocks, multiplication](T const* x, T* y) { (*multiplication)(x, y); }};
}
//! [cusparse_bsr]

} // namespace

template <class T>
std::vector<GpuSpmvPeer<T>> cusparse()
{
    auto const& api = CusparseLibrary::get();
    std::string const version = api.missing.empty() ? api.version() : "";
    using Matrix = GpuMatrix<T>;
    auto const csr = [](cusparseSpMVAlg_t algorithm, bool preprocessed) {
        return [=](Matrix const& a, cudaStream_t stream) {
            return multiply_csr(a, algorithm, preprocessed, stream);
        };
    };
    return {
        {"cusparse_csr1", "cusparse_csr", version, api.missing, csr(CUSPARSE_SPMV_CSR_ALG1, false)},
        {"cusparse_csr1_preprocessed", "cusparse_csr", version, api.missing,
         csr(CUSPARSE_SPMV_CSR_ALG1, true)},
        {"cusparse_csr2", "cusparse_csr", version, api.missing, csr(CUSPARSE_SPMV_CSR_ALG2, false)},
        {"cusparse_sell", "cusparse_sell", version, api.missing, multiply_sell<T>},
        {"cusparse_bsr", "cusparse_bsr", version, api.missing, multiply_bsr<T>},
    };
}

template std::vector<GpuSpmvPeer<float>> cusparse();
template std::vector<GpuSpmvPeer<double>> cusparse();

} // namespace peers
