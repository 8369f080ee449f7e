// An object on its way into S3: in one request when it is small, else in parts, a few at once, so that memory
// is bounded whatever the object's size. The object appears when all of it is there, or never.
#pragma once
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "io/store/byte_store.h"
#include "io/store/s3_client.h"

namespace trireme {

class S3Upload final : public ByteSink {
 public:
  S3Upload(S3Client& client, std::string key);
  ~S3Upload() override;  // takes the parts back when it was not finished
  void write(std::span<const std::byte> bytes) override;
  void finish() override;

 private:
  using Bytes = std::vector<std::byte>;
  size_t part_bytes() const;  // of the part that is being filled
  void begin();
  void send_part();
  void take_oldest();
  void complete();

  S3Client& client_;
  std::string key_, upload_id_;
  Bytes filling_;
  std::vector<std::string> etags_;
  std::deque<std::future<std::string>> under_way_;
  int64_t sent_bytes_ = 0;
  int parts_ = 0;
  bool finished_ = false;
};

}  // namespace trireme
