#include "spmv/formats/check_format.hpp"

#include <doctest/doctest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace formats = spmv::formats;
using spmv::testing::check_format;
using spmv::testing::kernels_in;

namespace {

/// A copy of an array at whose end begins a page that nobody may read: a sanitizer does not see
/// what vector instructions load.
template <class T>
class AtTheEdge
{
public:
    explicit AtTheEdge(std::span<T const> from)
        : page_{static_cast<std::size_t>(sysconf(_SC_PAGESIZE))},
          bytes_{(from.size_bytes() + page_ - 1) / page_ * page_ + page_},
          memory_{static_cast<std::byte*>(
              mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))},
          copy_{reinterpret_cast<T*>(memory_ + bytes_ - page_) - from.size(), from.size()}
    {
        std::ranges::copy(from, copy_.begin());
        REQUIRE(mprotect(memory_ + bytes_ - page_, page_, PROT_NONE) == 0);
    }
    AtTheEdge(AtTheEdge const&) = delete;
    AtTheEdge& operator=(AtTheEdge const&) = delete;
    ~AtTheEdge() { munmap(memory_, bytes_); }

    std::span<T const> span() const { return copy_; }

private:
    std::size_t page_;
    std::size_t bytes_;
    std::byte* memory_;
    std::span<T> copy_;
};

} // namespace

TEST_CASE_TEMPLATE("rows read nothing behind the arrays of a matrix", T, float, double)
{
    for (auto const& test : spmv::testing::cases<T>()) {
        CAPTURE(test.name);
        AtTheEdge<std::int32_t> const col{test.a.col};
        AtTheEdge<T> const values{test.a.values};
        AtTheEdge<T> const x{test.x};
        sparse::CsrView<T> const a{test.a.rows, test.a.columns, test.a.row_ptr, col.span(),
                                   values.span()};
        for (auto const& set : spmv::format_kernels<T>()) {
            CAPTURE(std::string{set.name});
            std::vector<T> y(static_cast<std::size_t>(a.rows));
            for (auto* const kernel : {kernels_in<formats::csr::Csr>(set).cached,
                                       kernels_in<formats::csr::Csr>(set).streamed}) {
                std::ranges::fill(y, T(-1));
                kernel(a, x.span().data(), y.data(), {0, a.rows});
                CHECK(spmv::testing::first_wrong_row<T>(y, test.expected) == -1);
            }
        }
    }
}

TEST_CASE_TEMPLATE("rows multiply right", T, float, double)
{
    auto const refused =
        check_format<T>([](sparse::CsrView<T> const& a) { return spmv::CsrRows<T>{a}; },
                        kernels_in<formats::csr::Csr>);
    CHECK(refused == 0);
}
