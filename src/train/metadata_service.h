// Asks one URL, over and over, and reads the answers of the clouds' metadata services: is this machine about
// to be taken away? Called by the thread of PreemptionNotice. libcurl stays in the .cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace trireme {

struct MetadataAnswer {
  int64_t status = 0;  // of HTTP; 0: none came, for which `error` is the reason
  std::string body;
  std::string error;
};

class MetadataService {
 public:
  static constexpr int64_t kMostBodyBytes = 64 << 10;

  // answer_s: for how long a request is waited for.
  MetadataService(const std::string& url, double answer_s);
  MetadataService(const MetadataService&) = delete;
  MetadataService& operator=(const MetadataService&) = delete;
  ~MetadataService();

  // From one thread. GET with the headers that Google's and Azure's services insist on. When it is refused
  // with 401, a session token of the kind that Amazon's asks for (IMDSv2) is got from the same host, used
  // from then on and renewed when refused. No redirection is followed, no proxy used.
  MetadataAnswer get();
  // From any thread: get() returns at once, with an error, now and from then on.
  void interrupt();

 private:
  struct Transfer;
  std::unique_ptr<Transfer> transfer_;
};

// What an answer announces, as one line; empty when nothing. Status 200 with any text but NONE or FALSE does
// (Google, Amazon). Of a JSON object with "Events" (Azure) those events do that end or restart the machine:
// all but Freeze, a pause of seconds.
std::optional<std::string> notice_in(const MetadataAnswer& answer);

}  // namespace trireme
