#include "peers/petsc.hpp"

#include <fmt/format.h>
#include <petscmat.h>

#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

namespace peers {

namespace {

void check(PetscErrorCode code, char const* call)
{
    if (code != 0) {
        throw std::runtime_error{
            fmt::format("{} failed with code {}", call, static_cast<int>(code))};
    }
}

PetscInt checked_index(std::int64_t value)
{
    if (value > std::numeric_limits<PetscInt>::max()) {
        throw NotApplicable{
            fmt::format("{} is beyond PETSc's integers of {} bits", value, 8 * sizeof(PetscInt))};
    }
    return static_cast<PetscInt>(value);
}

/// Indices as PETSc takes them.
template <class Indices>
std::vector<PetscInt> narrowed(Indices const& indices)
{
    std::vector<PetscInt> result;
    result.reserve(indices.size());
    for (auto const index : indices) {
        result.push_back(checked_index(index));
    }
    return result;
}

/// A matrix of PETSc and two vectors that borrow the caller's elements.
class Held
{
public:
    Held(MPI_Comm communicator, sparse::CsrView<double, std::int64_t> const& rows,
         std::int64_t own_columns)
    {
        auto const offsets = narrowed(rows.row_ptr);
        auto const columns = narrowed(rows.col);
        auto const local_rows = checked_index(rows.rows);
        auto const local_columns = checked_index(own_columns);
        check(MatCreateMPIAIJWithArrays(communicator, local_rows, local_columns, PETSC_DETERMINE,
                                        checked_index(rows.columns), offsets.data(), columns.data(),
                                        rows.values.data(), &matrix_),
              "MatCreateMPIAIJWithArrays");
        check(VecCreateMPIWithArray(communicator, 1, local_columns, checked_index(rows.columns),
                                    nullptr, &x_),
              "VecCreateMPIWithArray");
        check(VecCreateMPIWithArray(communicator, 1, local_rows, PETSC_DETERMINE, nullptr, &y_),
              "VecCreateMPIWithArray");
    }
    ~Held()
    {
        VecDestroy(&y_);
        VecDestroy(&x_);
        MatDestroy(&matrix_);
    }
    Held(Held const&) = delete;
    Held& operator=(Held const&) = delete;

    //! [petsc]
    void multiply(std::span<double const> x, std::span<double> y)
    {
        check(VecPlaceArray(x_, x.data()), "VecPlaceArray");
        check(VecPlaceArray(y_, y.data()), "VecPlaceArray");
        check(MatMult(matrix_, x_, y_), "MatMult");
        check(VecResetArray(x_), "VecResetArray");
        check(VecResetArray(y_), "VecResetArray");
    }
    //! [petsc]

private:
    Mat matrix_ = nullptr;
    Vec x_ = nullptr;
    Vec y_ = nullptr;
};

} // namespace

Petsc::Petsc()
{
    // No files of the user's, and signals end a program as they do without PETSc.
    char program[] = "memwall";
    char no_file[] = "-skip_petscrc";
    char no_handler[] = "-no_signal_handler";
    char* words[] = {program, no_file, no_handler, nullptr};
    int count = 3;
    char** arguments = words;
    check(PetscInitialize(&count, &arguments, nullptr, nullptr), "PetscInitialize");
    check(PetscPushErrorHandler(PetscIgnoreErrorHandler, nullptr), "PetscPushErrorHandler");
}

Petsc::~Petsc()
{
    PetscFinalize();
}

std::string Petsc::version()
{
    return fmt::format("{}.{}.{}", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
                       PETSC_VERSION_SUBMINOR);
}

template <class T>
std::string Petsc::missing()
{
    return std::is_same_v<T, PetscScalar> ? "" : "PETSc is built for one precision, here double";
}

template <class T>
SpmvOperator<T> petsc(MPI_Comm communicator, sparse::CsrView<T, std::int64_t> const& rows,
                      std::int64_t own_columns)
{
    if constexpr (std::is_same_v<T, double>) {
        auto const held = std::make_shared<Held>(communicator, rows, own_columns);
        auto const bytes = rows.row_ptr.size() * sizeof(PetscInt) +
                           rows.col.size() * (sizeof(PetscInt) + sizeof(double));
        return {bytes,
                [held](std::span<double const> x, std::span<double> y) { held->multiply(x, y); }};
    }
    throw NotApplicable{Petsc::missing<T>()};
}

template std::string Petsc::missing<float>();
template std::string Petsc::missing<double>();
template SpmvOperator<float> petsc(MPI_Comm, sparse::CsrView<float, std::int64_t> const&,
                                   std::int64_t);
template SpmvOperator<double> petsc(MPI_Comm, sparse::CsrView<double, std::int64_t> const&,
                                    std::int64_t);

} // namespace peers
