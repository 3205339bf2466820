#include "cuda/buffer.hpp"
#include "cuda/device.hpp"
#include "cuda/error.hpp"
#include "cuda/graph.hpp"
#include "cuda/stream.hpp"
#include "cuda/workspace.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace cuda {

namespace {

int attribute(cudaDeviceAttr which)
{
    int device = 0;
    int value = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&value, which, device));
    return value;
}

} // namespace

// The file is told without its folders, which may be those of one machine.
Error::Error(cudaError_t code, std::source_location place)
    : std::runtime_error{fmt::format(
          "{}: {} ({}:{})", cudaGetErrorName(code), cudaGetErrorString(code),
          std::filesystem::path{place.file_name()}.filename().string(), place.line())},
      code_{code}
{
}

void check(cudaError_t code, std::source_location place)
{
    if (code != cudaSuccess) {
        static_cast<void>(cudaGetLastError()); // or the next launch would be blamed for it
        throw Error{code, place};
    }
}

void check_launch(std::source_location place)
{
    check(cudaGetLastError(), place);
}

void* allocate(std::size_t bytes)
{
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes));
    return memory;
}

void release(void* memory)
{
    static_cast<void>(cudaFree(memory)); // what went wrong before was told by who found it
}

void copy_to_device(void* device, void const* host, std::size_t bytes)
{
    check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

void copy_to_host(void* host, void const* device, std::size_t bytes)
{
    check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

Workspace::Workspace(std::size_t bytes, Stream const& stream)
{
    if (bytes == 0) {
        return;
    }
    void* memory = nullptr;
    check(cudaMallocAsync(&memory, bytes, stream.get()));
    data_.reset(static_cast<std::byte*>(memory), [stream](std::byte* taken) {
        static_cast<void>(cudaFreeAsync(taken, stream.get())); // as in `release`
    });
}

Stream::Stream()
{
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    stream_.reset(stream, cudaStreamDestroy);
}

Stream::Stream(cudaStream_t theirs) : stream_{theirs, [](cudaStream_t) {}} {}

void Stream::wait_for(Event const& event) const
{
    check(cudaStreamWaitEvent(get(), event.get(), 0));
}

void Stream::synchronize() const
{
    check(cudaStreamSynchronize(get()));
}

Event::Event()
{
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event));
    event_.reset(event, cudaEventDestroy);
}

void Event::record(Stream const& stream)
{
    check(cudaEventRecord(get(), stream.get()));
}

void Event::record_in_graph(Stream const& stream)
{
    check(cudaEventRecordWithFlags(get(), stream.get(), cudaEventRecordExternal));
}

void Event::synchronize() const
{
    check(cudaEventSynchronize(get()));
}

bool Event::is_reached() const
{
    auto const code = cudaEventQuery(get());
    if (code != cudaErrorNotReady) {
        check(code);
    }
    return code == cudaSuccess;
}

double Event::seconds_since(Event const& start) const
{
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.get(), get()));
    return 1e-3 * static_cast<double>(milliseconds);
}

Graph::Graph(Stream const& stream, std::function<void()> const& issue, std::size_t count)
{
    auto const end_capture = [&] {
        cudaGraph_t graph = nullptr;
        auto const code = cudaStreamEndCapture(stream.get(), &graph);
        return std::pair{code, std::unique_ptr<CUgraph_st, decltype(&cudaGraphDestroy)>{
                                   graph, cudaGraphDestroy}};
    };
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    try {
        for (std::size_t i = 0; i < count; ++i) {
            issue();
        }
    } catch (...) {
        end_capture(); // the stream must be usable again
        throw;
    }
    auto const [code, captured] = end_capture();
    check(code);
    cudaGraphExec_t graph = nullptr;
    check(cudaGraphInstantiate(&graph, captured.get(), 0));
    graph_.reset(graph, cudaGraphExecDestroy);
    check(cudaGraphUpload(graph, stream.get()));
}

void Graph::replay(Stream const& stream) const
{
    check(cudaGraphLaunch(graph_.get(), stream.get()));
}

std::string missing_device()
{
    int driver = 0;
    check(cudaDriverGetVersion(&driver));
    if (driver == 0) {
        return "no CUDA device here: no driver";
    }
    int count = 0;
    auto const code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess) {
        static_cast<void>(cudaGetLastError()); // it is told here and shall not be found elsewhere
        return fmt::format("no CUDA device here: {}", cudaGetErrorString(code));
    }
    return count > 0 ? "" : "no CUDA device here";
}

unsigned multiprocessors()
{
    return static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount));
}

std::int64_t resident_threads()
{
    return std::int64_t{multiprocessors()} * attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
}

std::size_t l2_bytes()
{
    return static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize));
}

bool stays_in_l2(std::size_t bytes)
{
    return static_cast<double>(bytes) < 0.9 * static_cast<double>(l2_bytes());
}

bool overlaps_launches()
{
    return attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
}

std::size_t shared_bytes()
{
    return static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

std::string bus_id()
{
    int device = 0;
    check(cudaGetDevice(&device));
    std::array<char, 32> text{};
    check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device));
    return text.data();
}

std::string runtime_version()
{
    int version = 0;
    check(cudaRuntimeGetVersion(&version));
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

} // namespace cuda
