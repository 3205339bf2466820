#include "studies.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace partitioning {

bench::AxisValues message_bytes()
{
    bench::AxisValues values{8, 512, 4096, 32'768, 262'144, 1'048'576};
    values.tiny = {std::int64_t{8}, std::int64_t{32'768}};
    values.require = [](bench::Parameter const& value) {
        if (auto const bytes = std::get<std::int64_t>(value); bytes <= 0 || bytes % 8 != 0) {
            throw std::invalid_argument{"--bytes: found " + std::to_string(bytes) +
                                        ", expected a multiple of 8"};
        }
    };
    return values;
}

template <class T>
void measure_ring(bench::Trial& trial, mpi::Communicator const& world)
{
    struct Ring
    {
        explicit Ring(std::size_t count) : sent(count), received(count) {}

        std::vector<T> sent;
        std::vector<T> received;
        mpi::Requests requests;
    };
    auto const count = static_cast<std::size_t>(trial.integer("bytes")) / sizeof(T);
    auto const ring = std::make_shared<Ring>(count);
    int const left = (world.rank() + world.size() - 1) % world.size();
    int const right = (world.rank() + 1) % world.size();
    ring->requests.template receive<T>(world, ring->received, left);
    ring->requests.template send<T>(world, ring->sent, right);

    auto const x = trial.input<T>(count).on();
    auto const own = [x](std::size_t k, int rank) { return x[k] * static_cast<T>(rank + 1); };
    trial.work({.bytes = static_cast<double>(count * sizeof(T))});
    trial.cache(bench::Cache::warm);
    trial.on_refill([=, &world] {
        for (std::size_t k = 0; k < count; ++k) {
            ring->sent[k] = own(k, world.rank());
        }
    });
    trial.output(std::span<T>{ring->received}).expect([=] {
        bench::Expected wanted{std::vector<double>(count), std::vector<double>(count, 0.0)};
        for (std::size_t k = 0; k < count; ++k) {
            wanted.value[k] = static_cast<double>(own(k, left));
        }
        return wanted;
    });
    //! [ring]
    trial
        .add("ring",
             [ring] {
                 ring->requests.start();
                 ring->requests.finish();
             })
        .group("ring");
    //! [ring]
    trial.run();
}
template void measure_ring<float>(bench::Trial&, mpi::Communicator const&);
template void measure_ring<double>(bench::Trial&, mpi::Communicator const&);

} // namespace partitioning
