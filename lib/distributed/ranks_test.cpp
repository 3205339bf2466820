// Run by mpirun with any number of ranks; each of them runs every test case.
#define DOCTEST_CONFIG_IMPLEMENT
#include "distributed/matrix.hpp"
#include "distributed/read.hpp"
#include "distributed/redistribution.hpp"
#include "distributed/traffic.hpp"

#include "mpi/ranks.hpp"
#include "sparse/convert.hpp"
#include "sparse/io/matrix_market.hpp"
#include "spmv/steps/test_matrices.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace {

using distributed::OnHost;
using distributed::Partition;
using distributed::Rows;
using spmv::testing::TestProduct;

mpi::Communicator const* world = nullptr;
std::filesystem::path room; ///< for files, seen by all ranks

/// Rows in no order at all, and of an odd number of ranks one that owns nothing.
Partition scattered(sparse::PatternView<> const& a, int ranks)
{
    std::mt19937_64 random{5};
    std::vector<std::int32_t> rank_of_row(static_cast<std::size_t>(a.rows));
    auto const busy = static_cast<std::uint64_t>(std::max(1, ranks - ranks % 2));
    std::ranges::generate(rank_of_row, [&] { return static_cast<std::int32_t>(random() % busy); });
    return Partition{rank_of_row, ranks};
}

std::vector<distributed::Partitioner<>> ways()
{
    using View = sparse::PatternView<>;
    auto all = distributed::contiguous_partitioners<std::int32_t>();
    all.push_back(
        {"all on root", [](View const& a, int n) { return distributed::all_on_root(a.rows, n); }});
    all.push_back({"scattered", scattered});
    if (!distributed::graph_partitioner().empty()) {
        all.push_back({"graph", [](View const& a, int n) {
                           return a.rows == a.columns ? distributed::by_graph(a, n)
                                                      : distributed::equal_rows(a.rows, n);
                       }});
    }
    return all;
}

/// The elements of this rank.
template <class T>
std::vector<T> mine(std::vector<T> const& all, Partition const& partition)
{
    return distributed::part_of<T>(all, partition, world->rank());
}

spmv::Expected mine(spmv::Expected const& all, Partition const& partition)
{
    return {mine(all.value, partition), mine(all.bound, partition)};
}

template <class T>
Rows<T> wide(sparse::Csr<T> const& a)
{
    return sparse::to_index<std::int64_t>(a.view());
}

template <class T>
void check_rows(std::vector<T> const& y, spmv::Expected const& expected)
{
    CHECK(y.size() == expected.value.size());
    CHECK(spmv::testing::first_wrong_row<T>(y, expected) == -1);
}

template <class T>
bool equal(Rows<T> const& a, Rows<T> const& b)
{
    return a.rows == b.rows && a.columns == b.columns && a.row_ptr == b.row_ptr && a.col == b.col &&
           a.values == b.values;
}

/// This rank's equal share of a matrix that every rank has.
template <class T>
Rows<T> share_of(Rows<T> const& whole)
{
    auto const share = distributed::equal_share(*world, whole.rows);
    auto const first = whole.row_ptr[share.begin];
    auto const last = whole.row_ptr[share.end];
    Rows<T> part;
    part.rows = share.end - share.begin;
    part.columns = whole.columns;
    part.row_ptr.assign(whole.row_ptr.begin() + share.begin, whole.row_ptr.begin() + share.end + 1);
    for (auto& offset : part.row_ptr) {
        offset -= first;
    }
    part.col.assign(whole.col.begin() + first, whole.col.begin() + last);
    part.values.assign(whole.values.begin() + first, whole.values.begin() + last);
    return part;
}

/// Writes a file once and lets all ranks see it.
std::filesystem::path written(std::string const& name, std::string const& text)
{
    auto const file = room / name;
    if (world->is_root()) {
        std::ofstream{file, std::ios::binary} << text;
    }
    world->barrier();
    return file;
}

/// Reads together what each rank also reads alone.
void check_read(std::filesystem::path const& file)
{
    CAPTURE(file.filename().string());
    auto const whole = sparse::read_matrix_market<double, std::int64_t>(file);
    CHECK(equal(distributed::read_matrix_market<double>(*world, file), share_of(whole)));
    CHECK(equal(distributed::read_on_root<double>(*world, file), share_of(whole)));
}

/// This rank's rows of a matrix, by places.
Rows<double> dealt(sparse::Csr<double> const& a, Partition const& rows)
{
    auto const root_only = world->is_root() ? wide(a) : Rows<double>{};
    return distributed::by_places(distributed::deal_from_root(*world, root_only, rows), rows);
}

/// None where ranks share no memory.
std::unique_ptr<distributed::SharedMatrix<double>> shared_matrix(sparse::Csr<double> const& a,
                                                                 Partition const& rows)
{
    return world->hosts() > 1 ? nullptr
                              : std::make_unique<distributed::SharedMatrix<double>>(
                                    *world, dealt(a, rows), rows, distributed::by_runs);
}

} // namespace

TEST_CASE("values and rows move between any two partitions")
{
    auto const pattern = sparse::ragged(61, 61, 9, 3);
    sparse::Csr<double> a{pattern.rows, pattern.columns, pattern.row_ptr, pattern.col, {}};
    std::vector<double> number;
    for (std::size_t p = 0; p < a.nonzeros(); ++p) {
        a.values.push_back(static_cast<double>(p));
    }
    for (int row = 0; row < a.rows; ++row) {
        number.push_back(row);
    }
    auto const whole = wide(a);
    auto const shares = distributed::equal_rows(a.rows, world->size());
    for (auto const& from : ways()) {
        for (auto const& to : ways()) {
            CAPTURE(from.name);
            CAPTURE(to.name);
            auto const old = from.cut(pattern, world->size());
            auto const fresh = to.cut(pattern, world->size());
            distributed::Redistribution const move{*world, old, fresh};
            CHECK(move.values<double>(mine(number, old)) == mine(number, fresh));
            auto const there =
                distributed::Redistribution{*world, shares, old}.rows(share_of(whole));
            auto const back =
                distributed::Redistribution{*world, fresh, shares}.rows(move.rows(there));
            CHECK(equal(back, share_of(whole)));
        }
        auto const root_only = world->is_root() ? whole : Rows<double>{};
        auto const dealt = distributed::deal_from_root(*world, root_only, shares);
        CHECK(equal(dealt, share_of(whole)));
        auto const known = world->is_root() ? from.cut(pattern, world->size()) : Partition{};
        CHECK(distributed::broadcast(*world, known) == from.cut(pattern, world->size()));
    }
}

TEST_CASE_TEMPLATE("both distributions give the serial result, and move what was predicted", T,
                   float, double)
{
    for (TestProduct<T> const& test : spmv::testing::cases<T>()) {
        CAPTURE(test.name);
        auto const shares = distributed::equal_rows(test.a.rows, world->size());
        for (auto const& way : ways()) {
            CAPTURE(way.name);
            auto const rows = way.cut(test.a.view(), world->size());
            auto const columns = distributed::columns_with(rows, test.a.columns);
            auto const expected = mine(test.expected, rows);
            distributed::Redistribution const move{*world, shares, rows};
            auto const dealt = distributed::by_places(move.rows(share_of(wide(test.a))), columns);
            std::vector<T> y(expected.value.size(), T(42));
            auto const part = mine(test.x, columns);

            for (auto const on_host : {OnHost::memory, OnHost::messages}) {
                distributed::HaloMatrix<T> halo{*world, dealt, columns, distributed::always(""),
                                                on_host};
                std::ranges::fill(y, T(42));
                halo.multiply(part, y);
                check_rows(y, expected);
                auto const predicted =
                    distributed::traffic(sparse::PatternView<>{test.a}, rows, columns);
                CHECK(world->sum(halo.halo().received_bytes()) == predicted.bytes(sizeof(T)));
                CHECK(world->sum<std::int64_t>(halo.halo().sources()) == predicted.messages);
                std::ranges::fill(y, T(42));
                halo.wait_and_multiply(part, y);
                check_rows(y, expected);
                CHECK(world->sum(halo.halo().received_bytes()) == predicted.bytes(sizeof(T)));
                for (int repeat = 0; repeat < 3; ++repeat) { // both boxes, and one of them again
                    std::ranges::fill(y, T(42));
                    halo.multiply_again(part, y);
                    check_rows(y, expected);
                    CHECK(world->sum(halo.halo().received_bytes()) == predicted.bytes(sizeof(T)));
                    std::ranges::fill(y, T(42));
                    halo.multiply_alone(part, y);
                    check_rows(y, expected);
                }
            }

            if (world->hosts() == 1) {
                distributed::SharedMatrix<T> shared{*world, dealt, columns,
                                                    distributed::always("")};
                for (int repeat = 0; repeat < 3; ++repeat) {
                    std::ranges::fill(y, T(42));
                    shared.multiply(part, y);
                    check_rows(y, expected);
                }
            } else {
                CHECK_THROWS_AS(
                    (distributed::SharedMatrix<T>{*world, dealt, columns, distributed::always("")}),
                    std::runtime_error);
            }
            if (rows.is_contiguous()) {
                auto const root_only = world->is_root() ? test.a : sparse::Csr<T>{};
                distributed::EverywhereMatrix<T> everywhere{
                    *world, distributed::send_slices(*world, root_only, rows), rows,
                    distributed::by_runs};
                std::ranges::fill(y, T(42));
                everywhere.multiply(test.x, y);
                check_rows(y, expected);
                if (test.a.rows == test.a.columns) {
                    std::ranges::fill(y, T(42));
                    everywhere.gather_and_multiply(part, y);
                    check_rows(y, expected);
                }
            }
        }
    }
}

TEST_CASE("square matrices of many kinds, many multiplies in a row")
{
    std::pair<char const*, sparse::Pattern<>> const patterns[] = {
        {"poisson2d", sparse::poisson2d(17)}, {"stencil27", sparse::stencil27(5)},
        {"rmat", sparse::rmat(7, 900, 1)},    {"dense rows", sparse::dense_rows(90, 3, 2, 9, 1)},
        {"banded", sparse::banded(50, 20)},
    };
    spmv::testing::Generator random{17};
    for (auto const& [label, pattern] : patterns) {
        std::string const name{label};
        CAPTURE(name);
        sparse::Csr<double> a{pattern.rows, pattern.columns, pattern.row_ptr, pattern.col, {}};
        a.values.resize(a.nonzeros());
        spmv::testing::fill<double>(a.values, spmv::testing::Values::uniform, false, random);
        for (auto const& way : ways()) {
            CAPTURE(way.name);
            auto const rows = way.cut(pattern, world->size());
            distributed::HaloMatrix<double> matrix{*world, dealt(a, rows), rows,
                                                   distributed::by_runs};
            distributed::HaloMatrix<double> by_messages{*world, dealt(a, rows), rows,
                                                        distributed::by_runs, OnHost::messages};
            auto const shared = shared_matrix(a, rows);
            for (int repeat = 0; repeat < 5; ++repeat) {
                auto const x = spmv::testing::make_vector<double>(
                    a.columns, spmv::testing::Values::uniform, random);
                auto const expected = mine(spmv::expected<double>(a, x), rows);
                std::vector<double> y(static_cast<std::size_t>(rows.size(world->rank())));
                matrix.multiply(mine(x, rows), y);
                check_rows(y, expected);
                std::ranges::fill(y, 42.0);
                by_messages.multiply(mine(x, rows), y);
                check_rows(y, expected);
                if (shared) {
                    std::ranges::fill(y, 42.0);
                    shared->multiply(mine(x, rows), y);
                    check_rows(y, expected);
                }
            }
        }
    }
}

/// What rank `owner` has of a vector at a turn.
double element(int owner, std::int64_t place, int turn)
{
    return 1e6 * turn + 1e3 * owner + static_cast<double>(place % 7);
}

TEST_CASE("ghosts are those of this turn, however far others are ahead or behind")
{
    // All read rank 0, which reads nobody: nothing but its readers' boxes holds it back.
    auto const share = std::int64_t{300};
    auto const owners = distributed::equal_rows(share * world->size(), world->size());
    std::vector<std::int64_t> ghosts;
    for (auto place = std::int64_t{world->rank()}; world->rank() > 0 && place < share; ++place) {
        ghosts.push_back(place);
    }
    for (auto const on_host : {OnHost::memory, OnHost::messages}) {
        distributed::Halo<double> halo{*world, ghosts, owners, on_host};
        std::vector<double> own(static_cast<std::size_t>(share));
        int wrong = 0;
        for (int turn = 1; turn <= 60; ++turn) {
            for (std::int64_t k = 0; k < share; ++k) {
                own[static_cast<std::size_t>(k)] = element(world->rank(), k, turn);
            }
            halo.start(own);
            std::ranges::fill(own, -1); // it may be overwritten as soon as it is sent
            auto const got = halo.finish();
            if (turn % 3 == world->rank() % 3) {
                std::this_thread::sleep_for(std::chrono::microseconds{300});
            }
            for (std::size_t k = 0; k < ghosts.size(); ++k) {
                wrong += got[k] != element(0, ghosts[k], turn) ? 1 : 0;
            }
        }
        CHECK(wrong == 0);
        CHECK(halo.sources() == (ghosts.empty() ? 0 : 1));
    }
}

TEST_CASE("each rank follows the article's rule by itself")
{
    CHECK(distributed::by_runs(sparse::banded(20, 10)).format == "csrl");
    CHECK(distributed::by_runs(sparse::poisson2d(9)).format == "csr");
    CHECK(distributed::by_runs(sparse::empty(9, 9)).format == "csr");
    CHECK(distributed::always("sell")(sparse::empty(1, 1)).format == "sell");
}

TEST_CASE("columns beyond 32 bits")
{
    // Every rank owns 2^30 elements of x. Its one row reads its own first and the next rank's last.
    auto const share = std::int64_t{1} << 30;
    int const next = (world->rank() + 1) % world->size();
    auto const columns = distributed::equal_rows(share * world->size(), world->size());
    Rows<float> row;
    row.rows = 1;
    row.columns = columns.rows();
    row.col = {columns.begin(world->rank()), columns.end(next) - 1};
    row.row_ptr.push_back(2);
    row.values = {2, 3};
    distributed::HaloMatrix<float> const matrix{*world, row, columns, distributed::always("csr")};
    CHECK(matrix.ghosts() == (world->size() == 1 ? 0 : 1));
    CHECK(matrix.halo().sources() == (world->size() == 1 ? 0 : 1));
}

TEST_CASE("files are read in pieces")
{
    std::string const head = "%%MatrixMarket matrix coordinate ";
    auto const general = written("general.mtx", head + "real general\n% c\n5 4 6\n"
                                                       "1 1 1.5\n5 4 -2\n3 2 8\n\n% between\n"
                                                       "3 2 0.25\n2 1 1e-3\n1 4 7\n");
    check_read(general);
    check_read(written("symmetric.mtx", head + "real symmetric\n4 4 5\n1 1 1\n2 1 2\n4 2 3\n"
                                               "3 3 4\n4 4 5\n"));
    check_read(written("skew.mtx", head + "integer skew-symmetric\n3 3 2\n2 1 5\n3 2 -1\n"));
    check_read(written("pattern.mtx", head + "pattern general\n3 7 3\n1 7\n3 1\n2 2\n"));
    check_read(written("crlf.mtx", head + "real general\r\n2 2 2\r\n1 1 1\r\n2 2 2\r\n"));
    check_read(written("cr.mtx", head + "real general\r2 2 2\r1 1 1\r2 2 2\r"));
    check_read(written("empty.mtx", head + "real general\n0 0 0\n"));
    check_read(written("no-entries.mtx", head + "real general\n9 3 0\n"));
    check_read(
        written("over-lines.mtx", head + "real general\n3 3 3\n1\n1 1.5\n2 2\n2.5\n3 3 3\n"));
    check_read(written("array.mtx", "%%MatrixMarket matrix array real general\n2 3\n1\n2\n0\n4\n5\n"
                                    "6\n"));
    auto const large = room / "large.mtx.gz";
    auto const plain = room / "large.mtx";
    if (world->is_root()) {
        auto const pattern = sparse::ragged(3000, 2000, 40, 9);
        sparse::write_matrix_market(large, sparse::PatternView<>{pattern});
        sparse::write_matrix_market(plain, sparse::PatternView<>{pattern});
    }
    world->barrier();
    check_read(large);
    check_read(plain);
}

TEST_CASE("what is wrong with a file is said on every rank, with its line")
{
    std::string const head = "%%MatrixMarket matrix coordinate real general\n";
    std::pair<char const*, char const*> const wrong[] = {
        {"bad-number.mtx", "3 3 3\n1 1 1\n2 2 x\n3 3 3\n"},
        {"too-few.mtx", "3 3 3\n1 1 1\n2 2 2\n"},
        {"too-many.mtx", "3 3 1\n1 1 1\n2 2 2\n"},
        {"outside.mtx", "3 3 1\n1 4 1\n"},
        {"nothing.mtx", ""},
    };
    for (auto const& [label, body] : wrong) {
        std::string const name{label};
        CAPTURE(name);
        auto const file = written(name, head + body);
        std::string alone;
        try {
            sparse::read_matrix_market<double, std::int64_t>(file);
        } catch (std::exception const& error) {
            alone = error.what();
        }
        CHECK(!alone.empty());
        CHECK_THROWS_WITH(distributed::read_matrix_market<double>(*world, file), alone.c_str());
    }
    CHECK_THROWS(distributed::read_matrix_market<double>(*world, room / "none.mtx"));
}

/// The only argument is a folder for files.
int main(int argc, char** argv)
{
    mpi::Environment const environment{argc, argv};
    mpi::Communicator const communicator;
    world = &communicator;
    room = std::filesystem::path{argv[argc - 1]} /
           ("ranks-test-" + std::to_string(communicator.size()));
    std::filesystem::create_directories(room);
    communicator.barrier();
    doctest::Context context;
    context.setOption("minimal", true);
    bool const passed = context.run() == 0;
    bool const all_passed = communicator.all(passed);
    if (communicator.is_root()) {
        std::filesystem::remove_all(room);
    }
    return all_passed ? 0 : 1;
}
