// Prints datasets/structures.lock: the digest of every generated matrix of the catalogue.
//
//     build/lib/sparse/datasets-lock > structures.lock.new && mv structures.lock.new
//     datasets/structures.lock

#include "base/output.hpp"
#include "base/program.hpp"
#include "sparse/catalogue/catalogue.hpp"
#include "sparse/catalogue/digest.hpp"

#include <fmt/format.h>

int main()
{
    return base::program("datasets-lock", [] {
        base::print("# SHA-256 of the structure of every generated matrix; written by"
                    " datasets-lock.\n");
        for (auto const& [name, entry] : sparse::Catalogue::embedded().matrices()) {
            if (auto const* const generated = std::get_if<sparse::Generated>(&entry.source)) {
                base::print(fmt::format("{} = \"{}\"\n", name,
                                        sparse::structure_digest(sparse::generate(*generated))));
            }
        }
        return 0;
    });
}
