#include "cuda/clock.hpp"

#include "cuda/graph.hpp"

namespace cuda {

double EventClock::seconds(std::function<void()> const& batch)
{
    start_.record(*stream_);
    batch();
    stop_.record(*stream_);
    stop_.synchronize();
    return stop_.seconds_since(start_);
}

double GraphClock::seconds(std::function<void()> const& batch)
{
    Graph const graph{*stream_, [&] {
                          start_.record_in_graph(*stream_);
                          batch();
                          stop_.record_in_graph(*stream_);
                      }};
    graph.replay(*stream_);
    stream_->synchronize();
    return stop_.seconds_since(start_);
}

double WallClock::seconds(std::function<void()> const& batch)
{
    stream_->synchronize();
    return host_.seconds([&] {
        batch();
        stream_->synchronize();
    });
}

double GraphClock::setup_seconds(std::function<void()> const& setup)
{
    return EventClock{*stream_}.seconds(setup);
}

} // namespace cuda
