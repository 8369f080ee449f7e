// fork, exec, waitpid, /proc.
#include "cli/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "cli/files.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void become(const std::string& program, const Arguments& arguments, const std::string& folder,
                         const std::string& out, const std::string& err) {
  const int out_fd = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const int err_fd = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const int in_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (out_fd < 0 || err_fd < 0 || in_fd < 0 || chdir(folder.c_str()) != 0) _exit(126);
  dup2(in_fd, STDIN_FILENO);
  dup2(out_fd, STDOUT_FILENO);
  dup2(err_fd, STDERR_FILENO);
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(program.c_str(), argv.data());
  _exit(127);
}

}  // namespace

Process::Process(const Arguments& arguments, const std::string& folder, const std::string& program)
    : out_path_(folder + "/.stdout"), err_path_(folder + "/.stderr") {
  // One pair of files per process that runs at the same time.
  for (int n = 1; fs::exists(out_path_); ++n) {
    out_path_ = folder + "/.stdout-" + std::to_string(n);
    err_path_ = folder + "/.stderr-" + std::to_string(n);
  }
  write_bytes(out_path_, "");
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) become(program, arguments, folder, out_path_, err_path_);
}

Process::~Process() {
  if (running()) {
    send(SIGKILL);
    wait();
  }
  fs::remove(out_path_);
  fs::remove(err_path_);
}

void Process::send(int signal) const {
  if (!ended_) kill(pid_, signal);
}

bool Process::running() {
  if (!ended_ && waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
  return !ended_;
}

Outcome Process::wait(double timeout_s) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(timeout_s);
  Outcome outcome;
  while (running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (outcome.timed_out || Clock::now() < deadline) continue;
    outcome.timed_out = true;
    send(SIGKILL);
  }
  outcome.exit_code = WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  outcome.signal = WIFSIGNALED(status_) ? WTERMSIG(status_) : 0;
  outcome.out = test::slurp(out_path_);
  outcome.err = test::slurp(err_path_);
  return outcome;
}

int64_t Process::status_bytes(const std::string& field) const {
  std::istringstream lines(test::slurp("/proc/" + std::to_string(pid_) + "/status"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(field)) return std::stoll(line.substr(field.size())) * 1024;
  return 0;
}

int64_t Process::open_files() const {
  std::error_code error;
  int64_t count = 0;
  for (fs::directory_iterator it("/proc/" + std::to_string(pid_) + "/fd", error), end; !error && it != end;
       it.increment(error))
    ++count;
  return count;
}

std::vector<pid_t> Process::children() const {
  const std::string id = std::to_string(pid_);
  std::istringstream ids(test::slurp("/proc/" + id + "/task/" + id + "/children"));
  std::vector<pid_t> found;
  for (pid_t child = 0; ids >> child;) found.push_back(child);
  return found;
}

Outcome run_trireme(const Arguments& arguments, const std::string& folder, double timeout_s) {
  return Process(arguments, folder).wait(timeout_s);
}

}  // namespace trireme
