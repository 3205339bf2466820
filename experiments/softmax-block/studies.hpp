#pragma once

#include "operands.hpp"

/// The studies of this experiment, each in a source of its own.
namespace softmax_block {

/// widths.cpp: every way beside a copy of the same matrix, from one column to more than any block
/// holds.
void add_widths(bench::Experiment& experiment, Contenders const& contenders);

/// As above: what the library chooses and cuDNN, beside two copies of a matrix so large that the
/// ends of a kernel hardly count; among the widths are vocabularies of language models (GPT-2,
/// Llama 3, Qwen).
void add_copy_speed(bench::Experiment& experiment, Contenders const& contenders);

/// As above: logarithms of probabilities, by those ways that can.
void add_logarithms(bench::Experiment& experiment, Contenders const& contenders);

/// shared_rows.cpp: rows in shared memory with blocks of every size, and what the article's rule
/// chooses.
void add_block_sizes(bench::Experiment& experiment, Contenders const& contenders);

/// As above: packs of two in shared memory, in columns, side by side, and side by side by single
/// accesses.
void add_layouts(bench::Experiment& experiment, Contenders const& contenders);

} // namespace softmax_block
