// Two kinds of mail, told apart by tag; both are lists of 64-bit numbers, a failure with its text behind.
#include "comm/mpi/mpi_mail.h"

#include <cstring>
#include <utility>

#include "base/error.h"
#include "comm/mpi/mpi_call.h"

namespace trireme {
namespace {

constexpr int kFailureTag = 1, kHelloTag = 2;

void append(std::string& bytes, int64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

int64_t number_at(const std::string& bytes, size_t index) {
  int64_t number = 0;
  CHECK((index + 1) * sizeof number <= bytes.size(), "{} bytes of mail", bytes.size());
  std::memcpy(&number, bytes.data() + index * sizeof number, sizeof number);
  return number;
}

}  // namespace

void mpi_call(int code, const char* name) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail_env("{} failed: {}", name, std::string(text, static_cast<size_t>(length)));
}

// Under the mutex.
void MpiMail::post(int process, int tag, const void* data, int64_t bytes) {
  Outgoing& out = outgoing_.emplace_back();
  out.text.assign(static_cast<const char*>(data), static_cast<size_t>(bytes));
  mpi_call(MPI_Isend(out.text.data(), static_cast<int>(bytes), MPI_BYTE, process, tag, comm_, &out.request),
           "MPI_Isend");
}

void MpiMail::post_failure(const FailureReport& report) {
  std::string bytes;
  append(bytes, report.exit_code);
  append(bytes, static_cast<int64_t>(report.said));
  append(bytes, static_cast<int64_t>(report.ranks.size()));
  for (const int rank : report.ranks) append(bytes, rank);
  bytes += report.message;
  int process = 0, processes = 1;
  MPI_Comm_rank(comm_, &process);
  MPI_Comm_size(comm_, &processes);
  const std::lock_guard lock(mutex_);
  for (int p = 0; p < processes; ++p)
    if (p != process) post(p, kFailureTag, bytes.data(), static_cast<int64_t>(bytes.size()));
}

void MpiMail::post_hello(int process, const MpiGroupKey& key, int member, const MpiHello& hello) {
  std::string bytes;
  for (const int64_t number : {int64_t{member}, hello.first_tag, hello.window_offset}) append(bytes, number);
  for (const int64_t number : key) append(bytes, number);
  int self = 0;
  MPI_Comm_rank(comm_, &self);
  const std::lock_guard lock(mutex_);
  if (process == self) return take(kHelloTag, bytes);
  post(process, kHelloTag, bytes.data(), static_cast<int64_t>(bytes.size()));
}

std::optional<MpiHello> MpiMail::hello_of(const MpiGroupKey& key, int member) {
  const std::lock_guard lock(mutex_);
  const auto found = hellos_.find({key, member});
  if (found == hellos_.end()) return std::nullopt;
  return found->second;
}

// Under the mutex.
void MpiMail::take(int tag, const std::string& bytes) {
  if (tag == kHelloTag) {
    MpiGroupKey key;
    for (size_t i = 3; i < bytes.size() / sizeof(int64_t); ++i) key.push_back(number_at(bytes, i));
    hellos_[{key, static_cast<int>(number_at(bytes, 0))}] = {.first_tag = number_at(bytes, 1),
                                                             .window_offset = number_at(bytes, 2)};
    return;
  }
  FailureReport report;
  report.exit_code = static_cast<int>(number_at(bytes, 0));
  report.said = static_cast<FailureSaid>(number_at(bytes, 1));
  const auto ranks = static_cast<size_t>(number_at(bytes, 2));
  for (size_t i = 0; i < ranks; ++i) report.ranks.push_back(static_cast<int>(number_at(bytes, 3 + i)));
  report.message = bytes.substr((3 + ranks) * sizeof(int64_t));
  failure_.report(std::move(report));
}

void MpiMail::poll() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  for (;;) {
    int found = 0;
    MPI_Message message;
    MPI_Status status;
    mpi_call(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, &message, &status), "MPI_Improbe");
    if (!found) break;
    int bytes = 0;
    mpi_call(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    std::string text(static_cast<size_t>(bytes), '\0');
    mpi_call(MPI_Mrecv(text.data(), bytes, MPI_BYTE, &message, &status), "MPI_Mrecv");
    take(status.MPI_TAG, text);
  }
  std::erase_if(outgoing_, [](Outgoing& out) {
    int done = 0;
    mpi_call(MPI_Test(&out.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  });
}

}  // namespace trireme
