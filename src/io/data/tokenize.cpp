// Chunks in, encoded chunks out, written in order; and the account of every record.
#include "io/data/tokenize.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "io/data/json_text.h"
#include "io/data/ordered_pipeline.h"
#include "io/data/shard_writer.h"

namespace trireme {
namespace {

constexpr int64_t kTextInFlightBytes = 64 << 20;

struct EncodedDocument {
  int64_t record;  // over all files
  int64_t ids;     // how many, of EncodedChunk::ids
};

struct EncodedChunk {
  std::vector<uint32_t> ids;
  std::vector<EncodedDocument> documents;
  std::vector<Reject> rejects;
  int64_t rejected = 0, empty = 0, records = 0, bytes = 0, text_bytes = 0;
};

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

// One thread's work: records to ids.
class ChunkEncoder {
 public:
  ChunkEncoder(const TokenizeOptions& options, EncodeFunction encode)
      : options_(options), encode_(std::move(encode)) {}

  EncodedChunk operator()(const TextChunk& chunk) {
    EncodedChunk out;
    out.bytes = static_cast<int64_t>(chunk.text.size());
    for_each_record(chunk, [&](std::string_view record, int64_t i) {
      if (chunk.kind == RecordKind::document) {
        if (options_.strip_carriage_return && record.ends_with('\r')) record.remove_suffix(1);
        add(record, chunk.first_record + i, out);
        return;
      }
      if (is_blank(record)) return;
      const std::string reason = extract_text(record, options_.json_key, text_);
      if (reason.empty()) {
        add(text_, chunk.first_record + i, out);
        return;
      }
      ++out.records;
      ++out.rejected;
      if (out.rejected <= kShownRejects) out.rejects.push_back({chunk.path, chunk.first_line + i, reason});
    });
    return out;
  }

 private:
  void add(std::string_view text, int64_t record, EncodedChunk& out) {
    ++out.records;
    const size_t before = out.ids.size();
    if (!text.empty()) encode_(text, out.ids);
    if (out.ids.size() == before) {
      ++out.empty;
      return;
    }
    out.text_bytes += static_cast<int64_t>(text.size());
    if (options_.eot) out.ids.push_back(*options_.eot);
    out.documents.push_back({record, static_cast<int64_t>(out.ids.size() - before)});
  }

  const TokenizeOptions& options_;
  EncodeFunction encode_;
  std::string text_;
};

// The calling thread's work: ids to shards.
class ShardSink {
 public:
  explicit ShardSink(const TokenizeOptions& options)
      : options_(options), train_(options.out, options.vocab), choice_(options.seed, "data/val") {
    if (!options.val_out.empty()) val_.emplace(options.val_out, options.vocab);
  }

  void write(const EncodedChunk& chunk, TokenizeReport& report) {
    std::span<const uint32_t> rest = chunk.ids;
    for (const EncodedDocument& document : chunk.documents) {
      const auto ids = rest.first(static_cast<size_t>(document.ids));
      rest = rest.subspan(ids.size());
      const bool to_val =
          val_ && choice_.uniform(static_cast<uint64_t>(document.record)) < options_.val_fraction;
      (to_val ? *val_ : train_).add_document(ids);
    }
    report.bytes += chunk.bytes;
    report.text_bytes += chunk.text_bytes;
    report.records += chunk.records;
    report.rejected += chunk.rejected;
    report.empty += chunk.empty;
    for (const Reject& reject : chunk.rejects) {
      if (static_cast<int64_t>(report.rejects.size()) < kShownRejects) report.rejects.push_back(reject);
    }
    report.val_documents = val_ ? val_->documents() : 0;
    report.val_tokens = val_ ? val_->tokens() : 0;
    report.documents = train_.documents() + report.val_documents;
    report.tokens = train_.tokens() + report.val_tokens;
  }

  void finish(const TokenizeReport& report) {
    if (report.documents == 0) {
      std::string why =
          fmt::format("{} records, {} empty, {} rejected", report.records, report.empty, report.rejected);
      if (!report.rejects.empty()) {
        const Reject& first = report.rejects.front();
        why += fmt::format("; the first, {}:{}: {}", first.path, first.line, first.reason);
      }
      fail_user("no document to write to {}: {}", options_.out, why);
    }
    if (val_ && (report.val_documents == 0 || train_.documents() == 0)) {
      fail_user("--val-fraction {} of {} documents leaves none to {}; choose another fraction or --seed",
                options_.val_fraction, report.documents,
                train_.documents() == 0 ? options_.out : options_.val_out);
    }
    if (val_) val_->finish();
    train_.finish();
  }

 private:
  const TokenizeOptions& options_;
  ShardWriter train_;
  std::optional<ShardWriter> val_;
  RandomStream choice_;
};

}  // namespace

TokenizeReport tokenize_files(const TokenizeOptions& options,
                              const std::function<EncodeFunction()>& make_encoder,
                              const std::function<void(const TokenizeReport&)>& progress) {
  CHECK(!options.eot || *options.eot < options.vocab, "eot {} of a vocabulary of {}", *options.eot,
        options.vocab);
  const int threads =
      options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  ChunkReader reader(options.files, options.rules, options.chunk_bytes);
  ShardSink sink(options);
  TokenizeReport report;
  run_ordered<TextChunk, EncodedChunk>(
      threads, kTextInFlightBytes, [&] { return reader.next(); },
      [](const TextChunk& chunk) { return static_cast<int64_t>(chunk.text.size()) + 1; },
      [&] { return ChunkEncoder(options, make_encoder()); },
      [&](const EncodedChunk& chunk) {
        sink.write(chunk, report);
        if (progress) progress(report);
      });
  sink.finish(report);
  return report;
}

}  // namespace trireme
