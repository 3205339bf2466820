#include "sparse/catalogue/digest.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>

namespace sparse {
namespace {

std::uint32_t byte_swapped(std::uint32_t word)
{
    return __builtin_bswap32(word);
}

std::uint64_t byte_swapped(std::uint64_t word)
{
    return __builtin_bswap64(word);
}

template <class Word>
Word little_endian(Word word)
{
    return std::endian::native == std::endian::little ? word : byte_swapped(word);
}

/// A running SHA-256.
class Sha256
{
public:
    Sha256() : context_{EVP_MD_CTX_new(), EVP_MD_CTX_free}
    {
        require(context_ != nullptr &&
                EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
    }

    void add(std::span<std::byte const> bytes)
    {
        require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
    }

    /// All `numbers` as little-endian integers of the size of `Word`.
    template <class Word, class I>
    void add_numbers(std::span<I const> numbers)
    {
        std::array<Word, 4096> block;
        while (!numbers.empty()) {
            auto const part = numbers.first(std::min(numbers.size(), block.size()));
            std::transform(part.begin(), part.end(), block.begin(),
                           [](I number) { return little_endian(static_cast<Word>(number)); });
            add(std::as_bytes(std::span{block}.first(part.size())));
            numbers = numbers.subspan(part.size());
        }
    }

    /// The digest as hexadecimal digits; nothing can be added afterwards.
    std::string hex()
    {
        std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
        unsigned size = 0;
        require(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
        return fmt::format("{:02x}", fmt::join(std::span{digest}.first(size), ""));
    }

private:
    static void require(bool fine)
    {
        if (!fine) {
            throw std::runtime_error("OpenSSL has no SHA-256");
        }
    }

    std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

} // namespace

template <class I>
std::string structure_digest(PatternView<I> pattern)
{
    std::array<std::int64_t, 3> const sizes{pattern.rows, pattern.columns,
                                            static_cast<std::int64_t>(pattern.nonzeros())};
    Sha256 sha;
    sha.add_numbers<std::uint64_t, std::int64_t>(sizes);
    if (*std::max_element(sizes.begin(), sizes.end()) <= std::numeric_limits<std::int32_t>::max()) {
        sha.add_numbers<std::uint32_t, I>(pattern.row_ptr);
        sha.add_numbers<std::uint32_t, I>(pattern.col);
    } else {
        sha.add_numbers<std::uint64_t, I>(pattern.row_ptr);
        sha.add_numbers<std::uint64_t, I>(pattern.col);
    }
    return sha.hex();
}

template std::string structure_digest(PatternView<std::int32_t>);
template std::string structure_digest(PatternView<std::int64_t>);

} // namespace sparse
