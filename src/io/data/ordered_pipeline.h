// One reader, many workers, one writer: items are worked on at once and written in the order they were read.
#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace trireme {

// Memory is bounded: the reader waits while the items read and not yet written weigh more than `weight_limit`
// together, unless there is none.
//   read()    -> std::optional<Item>, on a thread of its own, until nullopt
//   weigh(item) -> int64_t
//   make_worker() -> a function Item -> Result, called on each of `threads` threads
//   write(Result&&), on the calling thread, in the order of reading
// The first exception of any of them ends all threads and is rethrown.
template <class Item, class Result, class Read, class Weigh, class MakeWorker, class Write>
void run_ordered(int threads, int64_t weight_limit, Read read, Weigh weigh, MakeWorker make_worker,
                 Write write) {
  struct Done {
    Result result;
    int64_t weight;
  };
  struct Waiting {
    Item item;
    int64_t number, weight;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Waiting> waiting;
  std::map<int64_t, Done> done;
  int64_t weight = 0, read_count = 0;
  bool all_read = false;
  std::exception_ptr failure;

  auto guarded = [&](auto body) {
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      changed.notify_all();
    }
  };
  auto reader = [&] {
    for (;;) {
      std::optional<Item> item = read();
      const int64_t item_weight = item ? weigh(*item) : 0;
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return failure || weight == 0 || weight + item_weight <= weight_limit; });
      if (failure) return;
      all_read = !item;
      changed.notify_all();
      if (!item) return;
      weight += item_weight;
      waiting.push_back({std::move(*item), read_count++, item_weight});
    }
  };
  auto worker = [&] {
    auto work = make_worker();
    for (;;) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return failure || !waiting.empty() || all_read; });
      if (failure || waiting.empty()) return;
      Waiting next = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      Result result = work(std::move(next.item));
      lock.lock();
      done.emplace(next.number, Done{std::move(result), next.weight});
      changed.notify_all();
    }
  };
  auto writer = [&] {
    for (int64_t number = 0;; ++number) {
      std::unique_lock lock(mutex);
      changed.wait(lock,
                   [&] { return failure || done.contains(number) || (all_read && number == read_count); });
      if (failure || !done.contains(number)) return;
      Done next = std::move(done.extract(number).mapped());
      lock.unlock();
      write(std::move(next.result));
      lock.lock();
      weight -= next.weight;
      changed.notify_all();
    }
  };

  std::vector<std::jthread> pool;
  pool.emplace_back([&] { guarded(reader); });
  for (int i = 0; i < threads; ++i) pool.emplace_back([&] { guarded(worker); });
  guarded(writer);
  pool.clear();  // joins
  if (failure) std::rethrow_exception(failure);
}

}  // namespace trireme
