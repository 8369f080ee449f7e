// The keys of [data] and [batch], as config/fields.h explains.
#pragma once
#include "config/batch.h"
#include "config/data.h"
#include "config/ranges.h"

namespace trireme {

template <class Data, class Visit>
void data_fields(Data& d, Visit&& visit) {
  visit(d.train, Field{.key = "train",
                       .by_default = "required",
                       .range = at_least(0),
                       .meaning = "globs of token shards, or a mixture [{path = \"a/*.bin\", weight = 0.7}, "
                                  "...]; path may be a list; a set of weight 0 is left out"});
  visit(d.val, Field{.key = "val", .meaning = "globs of token shards for validation; none: no validation"},
        std::vector<std::string>{});
  visit(d.seq_len, Field{.key = "seq_len",
                         .unit = "tokens",
                         .by_default = "model.context",
                         .range = kTokenCounts,
                         .meaning = "length of a training sequence"});
  visit(d.packing,
        Field{.key = "packing",
              .meaning = "stream: windows over all tokens; document: attention and positions stop at "
                         "document boundaries"},
        Packing::stream);
  visit(d.tokenizer, Field{.key = "tokenizer",
                           .by_default = "none",
                           .effect = Effect::logistics,
                           .meaning = "a tokenizer.json, for samples and bits per byte"});
  visit(d.seed, Field{.key = "seed",
                      .by_default = "run.seed",
                      .range = count_from(0),
                      .meaning = "of the order of the samples"});
  visit(
      d.log_samples,
      Field{
          .key = "log_samples", .effect = Effect::logistics, .meaning = "write the sample ids of every step"},
      false);
}

template <class Batch, class Visit>
void batch_fields(Batch& b, Visit&& visit) {
  visit(b.sequences, Field{.key = "sequences",
                           .unit = "sequences",
                           .by_default = "tokens / data.seq_len; one of the two is required",
                           .range = kSequenceCounts,
                           .meaning = "per optimizer step, all ranks together; a multiple of micro"});
  if constexpr (requires { b.tokens; }) {
    visit(b.tokens,
          Field{.key = "tokens",
                .unit = "tokens",
                .by_default = "sequences x data.seq_len",
                .range = count_from(1),
                .meaning = "instead of sequences: tokens per optimizer step; a multiple of data.seq_len"});
  }
  visit(b.micro,
        Field{.key = "micro",
              .unit = "sequences",
              .range = kSequenceCounts,
              .meaning = "per rank and forward; gradients accumulate over sequences / micro"},
        int64_t{1});
  visit(
      b.lanes,
      Field{.key = "lanes",
            .by_default = "data-parallel ranks; twice as many for the dualpipe schedule",
            .range = kRankCounts,
            .meaning =
                "fixes the order in which gradients are summed: runs with equal lanes have equal bits on any "
                "number of data-parallel ranks that divides it"});
}

}  // namespace trireme
