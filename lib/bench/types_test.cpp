#include "bench/experiment_test.hpp"
#include "bench/fake_target.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using bench::testing::FakeTarget;
using bench::testing::Json;
using bench::testing::measure;

constexpr std::size_t copied_elements = 70;

/// y = x, of which a variant may leave out elements at the end or overwrite one.
template <class T>
struct TypedCopy
{
    explicit TypedCopy(bench::Trial& trial)
        : x{trial.input<T>(copied_elements)}, y{trial.output<T>(copied_elements)}
    {
        y.expect([x = x] {
            bench::Expected wanted{{}, std::vector<double>(copied_elements, 1e-3)};
            for (T const value : x.on()) {
                wanted.value.push_back(static_cast<double>(value));
            }
            return wanted;
        });
    }

    auto writes(FakeTarget& where, std::size_t elements) const
    {
        return [&where, from = x.on(where).first(elements), to = y.on(where)] {
            where.put([from, to] { std::ranges::copy(from, to.begin()); });
        };
    }

    auto writes(std::size_t elements) const
    {
        return
            [from = x.on().first(elements), to = y.on()] { std::ranges::copy(from, to.begin()); };
    }

    bench::Input<T> x;
    bench::Output<T> y;
};

template <class T>
T not_a_number()
{
    return static_cast<T>(std::numeric_limits<double>::quiet_NaN());
}

} // namespace

TEST_CASE("of every type, on every target, an element that was not written is found in each check")
{
    for (bool const is_bounded : {false, true}) {
        FakeTarget fake;
        auto const outcome =
            measure({is_bounded ? "--again" : "--list=false"}, [&](bench::Experiment& experiment) {
                experiment.study("copies")
                    .types<bench::fp16, bench::bf16, float, double, std::int32_t, std::uint8_t>(
                        [&]<class T>(bench::Trial& trial) {
                            TypedCopy<T> const copy{trial};
                            auto const add = [&](std::string const& name, std::size_t elements) {
                                trial.add(name + "_on_host", copy.writes(elements))
                                    .excerpt("kernel");
                                auto const setup = [&, elements](bench::Variant&) {
                                    return copy.writes(fake, elements);
                                };
                                trial.add(name + "_on_fake", setup).on(fake).excerpt("kernel");
                            };
                            add("right", copied_elements);
                            add("wrong", copied_elements - 1);
                            trial.run();
                        });
            });
        CHECK(outcome.code == 1);
        std::vector<std::string> types;
        std::size_t wrong = 0;
        for (auto const& one : outcome.result.at("cases")) {
            if (one.at("twin").get<bool>()) {
                continue;
            }
            auto const variant = one.at("variant").get<std::string>();
            auto const type = one.at("parameters").at("precision").get<std::string>();
            auto const& verdict = one.at("verdict");
            CAPTURE(variant);
            CAPTURE(type);
            if (variant.starts_with("right")) {
                CHECK(verdict.at("status") == "passed");
                CHECK(verdict.at("checks") ==
                      (is_bounded ? Json{"bounded"} : Json{"exact", "bounded"}));
                types.push_back(type);
            } else {
                ++wrong;
                CHECK(verdict.at("status") == "failed");
                auto const reason = verdict.at("reason").get<std::string>();
                CHECK(reason.find(is_bounded
                                      ? "bounded check, call 1: 1 of 70 elements are wrong"
                                      : "exact check, call 1: 1 of 70 elements are wrong") == 0);
                auto const* const said = type == "int32"   ? "element 69 is -2.13906214e+09"
                                         : type == "uint8" ? "element 69 is 128"
                                                           : "element 69 was not written or is NaN";
                CHECK(reason.find(said) != std::string::npos);
            }
        }
        CHECK(types == std::vector<std::string>{"fp16", "fp16", "bf16", "bf16", "fp32", "fp32",
                                                "fp64", "fp64", "int32", "int32", "uint8",
                                                "uint8"});
        CHECK(wrong == 2 * 6);
    }
}

TEST_CASE("one NaN in the results of a floating-point type fails, however few bits that has")
{
    FakeTarget fake;
    auto const outcome = measure({}, [&](bench::Experiment& experiment) {
        experiment.study("copies").types<bench::fp16, bench::bf16, float, double>(
            [&]<class T>(bench::Trial& trial) {
                TypedCopy<T> const copy{trial};
                auto const on_host = [write = copy.writes(copied_elements), y = copy.y.on()] {
                    write();
                    y[42] = not_a_number<T>();
                };
                trial.add("on_host", on_host).excerpt("kernel");
                auto const on_fake = [&](bench::Variant&) {
                    return [&, write = copy.writes(fake, copied_elements), y = copy.y.on(fake)] {
                        write();
                        fake.put([y] { y[42] = not_a_number<T>(); });
                    };
                };
                trial.add("on_fake", on_fake).on(fake).excerpt("kernel");
                trial.run();
            });
    });
    CHECK(outcome.code == 1);
    REQUIRE(outcome.result.at("cases").size() == 2 * 4);
    for (auto const& one : outcome.result.at("cases")) {
        CHECK(one.at("verdict").at("status") == "failed");
        CHECK(one.at("verdict").at("reason").get<std::string>().find(
                  "1 of 70 elements are wrong; element 42 was not written or is NaN") !=
              std::string::npos);
    }
}

TEST_CASE("an error of a half is held to its bound")
{
    auto const outcome = measure({}, [](bench::Experiment& experiment) {
        experiment.study("copies").types<bench::fp16, bench::bf16>(
            []<class T>(bench::Trial& trial) {
                auto const x = trial.input<T>(copied_elements);
                auto const y = trial.output<T>(copied_elements);
                trial.inexact("a third is never exact");
                y.expect([x] {
                    bench::Expected wanted;
                    for (T const value : x.on()) {
                        wanted.value.push_back(static_cast<double>(value) / 3);
                        wanted.bound.push_back(0x1p-8);
                    }
                    return wanted;
                });
                auto const divides = [&](double by) {
                    return [from = x.on(), to = y.on(), by] {
                        std::ranges::transform(from, to.begin(), [by](T value) {
                            return T{static_cast<double>(value) / by};
                        });
                    };
                };
                trial.add("third", divides(3)).excerpt("kernel");
                trial.add("off", divides(2.9)).excerpt("kernel");
                trial.run();
            });
    });
    CHECK(outcome.code == 1);
    std::size_t found = 0;
    for (auto const& one : outcome.result.at("cases")) {
        if (one.at("twin").get<bool>()) {
            continue;
        }
        ++found;
        auto const& verdict = one.at("verdict");
        bool const is_right = one.at("variant") == "third";
        CHECK(verdict.at("status") == (is_right ? "passed" : "failed"));
        CHECK(verdict.at("checks") == Json{"bounded"});
        if (is_right) {
            CHECK(verdict.at("reason") == "a third is never exact");
            CHECK(verdict.at("error") > 0);
            CHECK(verdict.at("error") < 1);
        }
    }
    CHECK(found == 4);
}
