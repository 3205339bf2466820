#include "sparse/convert.hpp"

#include "sparse/assemble.hpp"

#include <algorithm>

namespace sparse {

namespace {

template <class T, class I>
Assembly<T, I> dealt(Coo<T, I> const& coo)
{
    auto const total = coo.nonzeros();
    if (coo.row.size() != total || coo.values.size() != total) {
        throw std::invalid_argument{"rows, columns and values differ in number"};
    }
    constexpr std::size_t part_entries = 1 << 17;
    auto const parts = (total + part_entries - 1) / part_entries;
    Assembly<T, I> assembly{coo.rows, coo.columns};
    assembly.deal(parts, total, [&](std::size_t part, auto&& take) {
        auto const end = std::min(total, (part + 1) * part_entries);
        for (auto p = part * part_entries; p < end; ++p) {
            take(coo.row[p], coo.col[p], coo.values[p]);
        }
    });
    return assembly;
}

} // namespace

template <class T, class I>
Csr<T, I> to_csr(Coo<T, I> const& coo)
{
    return dealt(coo).finish();
}

template <class T, class I>
Csr<T, I> to_csr(Coo<T, I>&& coo)
{
    auto assembly = dealt(coo);
    coo = {};
    return assembly.finish();
}

template <class T, class I>
Csr<T, I> sorted(CsrView<T, I> const& a)
{
    constexpr std::size_t part_rows = 1 << 14;
    auto const rows = static_cast<std::size_t>(a.rows);
    Assembly<T, I> assembly{a.rows, a.columns};
    assembly.deal((rows + part_rows - 1) / part_rows, a.nonzeros(),
                  [&](std::size_t part, auto&& take) {
                      auto const end = std::min(rows, (part + 1) * part_rows);
                      for (auto row = part * part_rows; row < end; ++row) {
                          for (I p = a.row_ptr[row]; p < a.row_ptr[row + 1]; ++p) {
                              take(static_cast<I>(row), a.col[p], a.values[p]);
                          }
                      }
                  });
    return assembly.finish();
}

template Csr<float, std::int32_t> sorted(CsrView<float, std::int32_t> const&);
template Csr<double, std::int32_t> sorted(CsrView<double, std::int32_t> const&);
template Csr<float, std::int64_t> sorted(CsrView<float, std::int64_t> const&);
template Csr<double, std::int64_t> sorted(CsrView<double, std::int64_t> const&);
template Csr<float, std::int32_t> to_csr(Coo<float, std::int32_t> const&);
template Csr<double, std::int32_t> to_csr(Coo<double, std::int32_t> const&);
template Csr<float, std::int64_t> to_csr(Coo<float, std::int64_t> const&);
template Csr<double, std::int64_t> to_csr(Coo<double, std::int64_t> const&);
template Csr<float, std::int32_t> to_csr(Coo<float, std::int32_t>&&);
template Csr<double, std::int32_t> to_csr(Coo<double, std::int32_t>&&);
template Csr<float, std::int64_t> to_csr(Coo<float, std::int64_t>&&);
template Csr<double, std::int64_t> to_csr(Coo<double, std::int64_t>&&);

} // namespace sparse
