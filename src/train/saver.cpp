// Stages of a save with a meeting of all ranks after each, so that all come to one end.
#include "train/saver.h"

#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "io/checkpoint/rank_file.h"
#include "train/state_parts.h"
#include "train/together.h"

namespace trireme {
namespace {

constexpr std::string_view kSaving = "saving a checkpoint";

}  // namespace

Saver::Saver(RankLink& link, const Engine& engine, ByteStore& store, SaveOptions options)
    : engine_(engine),
      store_(store),
      options_(std::move(options)),
      block_bytes_(checksum_block_bytes(state_bytes(engine.program()))),
      parts_(written_parts(engine)),
      leads_(link.leads()),
      rank_(link.rank()),
      threads_(link.threads()),
      ranks_(link.another()) {}

Saver::~Saver() {
  try {
    wait();
  } catch (const std::exception&) {  // the run ends by what ended the save
  }
}

void Saver::save(const CheckpointMeta& meta, Behind behind) {
  if (!engine_.host_addressable()) return;
  const double start = seconds_now();
  wait();
  const bool copied = behind == Behind::yes;
  std::vector<TensorPart> parts = copied ? staged(parts_, engine_.staging(), threads_) : parts_;
  under_way_ = true;
  ended_.store(false);
  saves_ = worker_.submit([this, meta, parts = std::move(parts)] {
    current_ = write(meta, parts);
    ended_.store(true);
  });
  if (!copied) wait();
  blocked_s_ += seconds_now() - start;
}

void Saver::wait() {
  if (!under_way_) return;
  worker_.wait(saves_);
  under_way_ = false;
  news_.push_back(std::move(current_));
}

std::vector<SaveNews> Saver::take_news() {
  const double start = seconds_now();
  wait();
  blocked_s_ += seconds_now() - start;
  return std::exchange(news_, {});
}

// On the worker's thread, on every rank.
SaveNews Saver::write(const CheckpointMeta& meta, const std::vector<TensorPart>& parts) {
  const double start = seconds_now();
  SaveNews news{.step = meta.step};
  const auto all = [&](const std::function<void()>& work) {
    if (news.failure.empty()) news.failure = together(ranks_.get(), work, kSaving).text;
  };
  const auto leader = [&](const std::function<void()>& work) { all(leads_ ? work : nullptr); };
  leader([&] { remove_leftovers(store_); });
  CheckpointIndex mine;
  all([&] {
    const RankFilePlace place{store_.staging(checkpoint_name(meta.step)), rank_, block_bytes_};
    mine = write_rank_file(store_, place, parts);
  });
  if (news.failure.empty()) {
    const std::vector<CheckpointIndex> files = indexes_of_all(mine);
    leader([&] { news.report = commit_save(store_, meta, files, options_); });
  }
  if (!news.failure.empty()) {
    if (leads_) abandon_save(store_, meta.step);
    news.failure = not_saved(store_, meta.step, news.failure);
  }
  news.write_s = seconds_now() - start;
  return news;
}

// By rank, on the leader; they travel as text.
std::vector<CheckpointIndex> Saver::indexes_of_all(const CheckpointIndex& mine) {
  std::vector<CheckpointIndex> all;
  if (leads_) all.push_back(mine);
  if (!ranks_) return all;
  if (!leads_) {
    const std::string text = to_json(mine);
    const auto length = static_cast<int64_t>(text.size());
    ranks_->send(&length, sizeof length, 0, kSaving);
    ranks_->send(text.data(), length, 0, kSaving);
    return all;
  }
  for (int rank = 1; rank < ranks_->size(); ++rank) {
    int64_t length = 0;
    ranks_->recv(&length, sizeof length, rank, kSaving);
    std::string text(static_cast<size_t>(length), ' ');
    ranks_->recv(text.data(), length, rank, kSaving);
    all.push_back(parse_index(text, rank_file_name(rank)));
  }
  return all;
}

}  // namespace trireme
