// Starts MPI, allocates the window, and lets the members of a communicator agree: each tells the others the
// tag of its messages and where its area lies. No MPI collective is called after the start, so that every
// wait can time out.
#include "comm/mpi/mpi_world.h"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "comm/failure.h"
#include "comm/local/local_group.h"
#include "comm/mpi/mpi_call.h"
#include "comm/mpi/mpi_communicators.h"
#include "comm/mpi/mpi_mail.h"

namespace trireme {
namespace {

constexpr auto kPollPause = std::chrono::microseconds(200);
constexpr auto kLastWords = std::chrono::milliseconds(300);  // for other processes, before they are ended

}  // namespace

struct MpiWorld::State {
  explicit State(const MpiOptions& options_)
      : options(options_), failure([this] {
          if (mail) mail->poll();
        }) {}

  MpiOptions options;
  int process = 0;
  int processes = 1;
  MPI_Comm data = MPI_COMM_NULL;
  MPI_Comm control = MPI_COMM_NULL;
  MPI_Comm host = MPI_COMM_NULL;  // the processes that share memory
  MPI_Win window = MPI_WIN_NULL;
  std::vector<std::byte*> segments;  // by process; nullptr: on another host
  std::chrono::microseconds spin{0};
  bool stopped = false;
  std::atomic<bool> told = false;  // the other processes of a failure

  std::unique_ptr<MpiMail> mail;
  Failure failure;
  std::mutex mutex;
  int next_tag = 0;
  int64_t window_used_bytes = 0;
  std::map<std::pair<MpiGroupKey, int>, MpiHello> said;  // by this process's ranks
  std::map<MpiGroupKey, std::shared_ptr<LocalGroup>> local_groups;

  int process_of(int rank) const { return rank / options.ranks_per_process; }
  int64_t segment_bytes() const { return options.window_bytes_per_rank * options.ranks_per_process; }
  int64_t usable_bytes() const { return segment_bytes() - static_cast<int64_t>(alignof(WindowArea)); }
  void open_window();
  void wait_for(MPI_Request& request, std::string_view what);
  MpiHello say_hello(const MpiGroupKey& key, std::span<const int> members, int me, int rank);
};

void MpiWorld::State::wait_for(MPI_Request& request, std::string_view what) {
  const Patience patience{
      .failure = &failure, .timeout_s = options.timeout_s, .me = process * options.ranks_per_process};
  const Waiting waiting(patience, "the meeting of all processes", what);
  for (int done = 0;;) {
    mpi_call(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done) return;
    if (!waiting.may_go_on())
      fail_env(
          "other processes did not come to {} within {} s: one is dead, stuck or slow; see its output, or "
          "raise run.timeout_s",
          what, options.timeout_s);
    std::this_thread::sleep_for(kPollPause);
  }
}

void MpiWorld::State::open_window() {
  segments.assign(static_cast<size_t>(processes), nullptr);
  mpi_call(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, process, MPI_INFO_NULL, &host),
           "MPI_Comm_split_type");
  int host_processes = 1;
  mpi_call(MPI_Comm_size(host, &host_processes), "MPI_Comm_size");
  spin = spin_for(host_processes * options.ranks_per_process);
  if (usable_bytes() < static_cast<int64_t>(sizeof(WindowArea))) return;
  void* own = nullptr;
  mpi_call(MPI_Win_allocate_shared(segment_bytes(), 1, MPI_INFO_NULL, host, &own, &window),
           "MPI_Win_allocate_shared");
  MPI_Group host_group = MPI_GROUP_NULL, world_group = MPI_GROUP_NULL;
  mpi_call(MPI_Comm_group(host, &host_group), "MPI_Comm_group");
  mpi_call(MPI_Comm_group(MPI_COMM_WORLD, &world_group), "MPI_Comm_group");
  for (int h = 0; h < host_processes; ++h) {
    int p = 0, unit = 0;
    MPI_Aint bytes = 0;
    void* base = nullptr;
    mpi_call(MPI_Group_translate_ranks(host_group, 1, &h, world_group, &p), "MPI_Group_translate_ranks");
    mpi_call(MPI_Win_shared_query(window, h, &bytes, &unit, &base), "MPI_Win_shared_query");
    // MPI aligns a segment less than an area wants. Mappings differ by whole pages: all processes round
    // alike.
    size_t room = static_cast<size_t>(bytes);
    segments[static_cast<size_t>(p)] =
        static_cast<std::byte*>(std::align(alignof(WindowArea), 1, base, room));
  }
  MPI_Group_free(&host_group);
  MPI_Group_free(&world_group);
}

// Once per member and group; told to every process that has members of it.
MpiHello MpiWorld::State::say_hello(const MpiGroupKey& key, std::span<const int> members, int me, int rank) {
  const std::lock_guard lock(mutex);
  const auto before = said.find({key, me});
  if (before != said.end()) return before->second;
  MpiHello hello{.first_tag = next_tag, .window_offset = -1};
  next_tag += static_cast<int>(members.size());
  std::byte* segment = segments[static_cast<size_t>(process)];
  if (segment && window_used_bytes + static_cast<int64_t>(sizeof(WindowArea)) <= usable_bytes()) {
    hello.window_offset = window_used_bytes;
    new (segment + window_used_bytes) WindowArea;
    window_used_bytes += static_cast<int64_t>(sizeof(WindowArea));
  }
  std::vector<int> greeted;
  for (const int member : members)
    if (std::find(greeted.begin(), greeted.end(), process_of(member)) == greeted.end()) {
      greeted.push_back(process_of(member));
      mail->post_hello(greeted.back(), key, rank, hello);
    }
  said[{key, me}] = hello;
  return hello;
}

MpiWorld::MpiWorld(const MpiOptions& options)
    : ranks_per_process_(options.ranks_per_process), state_(std::make_unique<State>(options)) {
  State& s = *state_;
  CHECK(options.ranks_per_process > 0 && options.timeout_s > 0);
  s.options.window_bytes_per_rank = options.window_bytes_per_rank / 4096 * 4096;
  int given = 0;
  mpi_call(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &given), "MPI_Init_thread");
  if (given < MPI_THREAD_MULTIPLE) fail_env("this MPI gives no MPI_THREAD_MULTIPLE, which rank threads need");
  mpi_call(MPI_Comm_dup(MPI_COMM_WORLD, &s.data), "MPI_Comm_dup");
  mpi_call(MPI_Comm_dup(MPI_COMM_WORLD, &s.control), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(s.data, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(s.control, MPI_ERRORS_RETURN);
  mpi_call(MPI_Comm_rank(s.data, &s.process), "MPI_Comm_rank");
  mpi_call(MPI_Comm_size(s.data, &s.processes), "MPI_Comm_size");
  s.mail = std::make_unique<MpiMail>(s.control, s.failure);
  // A window is the work of all processes of a host: none where one process has no ranks to run.
  const std::vector<int> exit_codes = numbers_of_all(options.exit_code, "the start of the run");
  if (std::any_of(exit_codes.begin(), exit_codes.end(), [](int code) { return code != 0; }))
    s.options.window_bytes_per_rank = 0;
  s.open_window();
}

MpiWorld::~MpiWorld() {
  if (!state_->stopped) abort(3);
}

int MpiWorld::process() const { return state_->process; }
int MpiWorld::processes() const { return state_->processes; }

std::unique_ptr<Communicator> MpiWorld::communicator(std::span<const int> members, int me, int channel) {
  State& s = *state_;
  const auto place = std::find(members.begin(), members.end(), me);
  CHECK(place != members.end() && s.process_of(me) == s.process, "rank {} in process {}", me, s.process);
  for (const int member : members) CHECK(member >= 0 && member < ranks(), "rank {} of {}", member, ranks());
  const int rank = static_cast<int>(place - members.begin());
  MpiGroupKey key = {channel};
  key.insert(key.end(), members.begin(), members.end());
  if (std::all_of(members.begin(), members.end(), [&](int m) { return s.process_of(m) == s.process; })) {
    std::shared_ptr<LocalGroup> group;
    {
      const std::lock_guard lock(s.mutex);
      auto& entry = s.local_groups[key];
      if (!entry) entry = std::make_shared<LocalGroup>(members, s.options.timeout_s, s.failure);
      group = entry;
    }
    return local_communicator(std::move(group), rank, s.spin);
  }
  s.say_hello(key, members, me, rank);
  MpiRoute route{.comm = s.data, .rank = rank, .members = {members.begin(), members.end()}};
  route.patience = {.failure = &s.failure, .timeout_s = s.options.timeout_s, .spin = s.spin, .me = me};
  std::vector<WindowArea*> areas;
  const std::string what = fmt::format("communicator {}", channel);
  const Waiting waiting(route.patience, "the making", what);
  for (size_t r = 0; r < members.size(); ++r) {
    auto hello = s.mail->hello_of(key, static_cast<int>(r));
    for (; !hello; hello = s.mail->hello_of(key, static_cast<int>(r))) {
      if (!waiting.may_go_on()) waiting.give_up({members[r]});
      std::this_thread::sleep_for(kPollPause);
    }
    const int process = s.process_of(members[r]);
    std::byte* segment = s.segments[static_cast<size_t>(process)];
    route.processes.push_back(process);
    route.first_tags.push_back(static_cast<int>(hello->first_tag));
    if (segment && hello->window_offset >= 0)
      areas.push_back(reinterpret_cast<WindowArea*>(segment + hello->window_offset));
  }
  if (areas.size() == members.size()) return window_communicator(std::move(route), std::move(areas));
  return message_communicator(std::move(route));
}

// What a rank here has found out by waiting is told as well: others may wait elsewhere, for much longer.
void MpiWorld::fail(int rank, const Ending& why) {
  state_->failure.report({.ranks = {rank},
                          .message = why.message,
                          .exit_code = why.exit_code,
                          .said = FailureSaid::by_its_process});
  if (!state_->told.exchange(true)) state_->mail->post_failure(state_->failure.first());
}

std::vector<int> MpiWorld::numbers_of_all(int mine, std::string_view what) const {
  std::vector<int> numbers(static_cast<size_t>(processes()));
  MPI_Request request = MPI_REQUEST_NULL;
  mpi_call(MPI_Iallgather(&mine, 1, MPI_INT, numbers.data(), 1, MPI_INT, state_->data, &request),
           "MPI_Iallgather");
  state_->wait_for(request, what);
  return numbers;
}

std::string MpiWorld::from_first(const std::string& text, std::string_view what) const {
  const std::vector<int> sizes = numbers_of_all(static_cast<int>(text.size()), what);
  std::string copy = text;
  copy.resize(static_cast<size_t>(sizes[0]));
  MPI_Request request = MPI_REQUEST_NULL;
  mpi_call(MPI_Ibcast(copy.data(), sizes[0], MPI_BYTE, 0, state_->data, &request), "MPI_Ibcast");
  state_->wait_for(request, what);
  return copy;
}

void MpiWorld::finish() {
  State& s = *state_;
  MPI_Request request = MPI_REQUEST_NULL;
  mpi_call(MPI_Ibarrier(s.data, &request), "MPI_Ibarrier");
  s.wait_for(request, "the end of the run");
  s.stopped = true;
  if (s.window != MPI_WIN_NULL) MPI_Win_free(&s.window);
  MPI_Comm_free(&s.host);
  MPI_Comm_free(&s.control);
  MPI_Comm_free(&s.data);
  mpi_call(MPI_Finalize(), "MPI_Finalize");
}

void MpiWorld::abort(int exit_code) {
  std::this_thread::sleep_for(kLastWords);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace trireme
