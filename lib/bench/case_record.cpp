#include "bench/case_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace bench {

namespace {

/// What its setup took, kept and said.
Json setup_record(Prepared const& prepared)
{
    auto const& variant = prepared.facts();
    Json record{{"seconds", rounded(std::max(prepared.setup_seconds, 0.0))},
                {"stored_bytes", variant.stored_bytes}};
    if (variant.operand_bytes > 0) {
        record["operand_bytes"] = variant.operand_bytes;
    }
    for (auto const& [name, value] : variant.counts) {
        if (std::isfinite(value)) {
            record["counts"][name] = value;
        }
    }
    if (!variant.notes.empty()) {
        record["notes"] = variant.notes;
    }
    return record;
}

/// What the sample with the median time did.
Json timeline_record(Prepared const& prepared)
{
    auto const from_median = [middle = median(prepared.samples)](double sample) {
        return std::abs(sample - middle);
    };
    auto const nearest = std::ranges::min_element(prepared.samples, {}, from_median);
    auto const& spans =
        prepared.timelines[static_cast<std::size_t>(nearest - prepared.samples.begin())];
    Json record = Json::array();
    for (auto const& span : spans) {
        record.push_back({{"lane", span.lane},
                          {"name", span.name},
                          {"begin_s", rounded(span.begin_s)},
                          {"end_s", rounded(span.end_s)}});
    }
    return record;
}

} // namespace

Excerpt const& marked_text(Variant::Facts const& variant)
{
    auto const& texts = provenance().excerpts;
    auto const found = std::ranges::find(texts, variant.excerpt, &Excerpt::name);
    if (found == texts.end()) {
        throw std::logic_error{fmt::format("variant '{}' has no marked source text: put it between "
                                           "two lines //! [{}]",
                                           variant.name, variant.excerpt)};
    }
    return *found;
}

void record_skipped(Variant::Facts const& variant, std::string const& reason, PointState& point)
{
    point.measured["skipped"].push_back({{"variant", variant.name},
                                         {"group", variant.group},
                                         {"launch", 0},
                                         {"study", point.selection->study->name()},
                                         {"parameters", point.parameters()},
                                         {"reason", reason}});
}

void record_case(Prepared const& prepared, Work const& work, Run& run)
{
    auto& point = run.point;
    auto const& variant = prepared.facts();
    auto const& verdict = prepared.verdict;
    if (!verdict.passed && run.team.rank() == 0) {
        auto const line = fmt::format("{}: {} failed at {}: {}\n", run.name, variant.name,
                                      point.label(), verdict.reason);
        std::fputs(line.c_str(), stderr);
    }
    Json one{{"variant", variant.name},
             {"group", variant.group},
             {"excerpt", variant.excerpt},
             {"twin", prepared.is_twin},
             {"launch", 0},
             {"study", point.selection->study->name()},
             {"target", variant.runs->name()},
             {"parameters", point.parameters()}};
    if (variant.results != variant.runs) {
        one["results"] = variant.results->name();
    }
    one["work"] = {{"flops", work.flops}, {"bytes", work.bytes}};
    if (work.operations > 0) {
        one["work"]["operations"] = work.operations;
    }
    one["verdict"] = verdict;
    one["clock"] = prepared.clock().name();
    one["cache"] = prepared.is_cold ? "cold" : "warm";
    one["setup"] = setup_record(prepared);
    one["iterations"] = verdict.passed ? prepared.iterations : 0;
    one["samples_s"] = verdict.passed ? prepared.samples : std::vector<double>{};
    for (auto const& [name, values] : prepared.rounds) {
        one["rounds"][name] = verdict.passed ? values : std::vector<double>{};
    }
    if (verdict.passed && !prepared.disturbed.empty()) {
        one["disturbed"] = prepared.disturbed;
    }
    if (verdict.passed && !prepared.timelines.empty()) {
        one["timeline"] = timeline_record(prepared);
    }
    point.measured["cases"].push_back(std::move(one));
    auto const& text = marked_text(variant);
    point.measured["excerpts"][variant.excerpt] = {{"file", text.file}, {"text", text.text}};
}

} // namespace bench
