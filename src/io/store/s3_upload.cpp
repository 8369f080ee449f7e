// Multipart uploads: https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html
#include "io/store/s3_upload.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "io/store/s3_xml.h"

namespace trireme {
namespace {

// S3 takes 10,000 parts. Objects of more than half as many get larger ones from there on: 640 GB with parts
// of 16 MiB. (Some other stores want all parts but the last alike; they see no difference below 80 GB.)
constexpr int kEqualParts = 5000;
constexpr int64_t kLaterFactor = 8;

}  // namespace

S3Upload::S3Upload(S3Client& client, std::string key) : client_(client), key_(std::move(key)) {}

S3Upload::~S3Upload() {
  for (std::future<std::string>& part : under_way_) part.wait();
  if (upload_id_.empty() || finished_) return;
  try {
    client_.call({.purpose = "take back",
                  .method = "DELETE",
                  .key = key_,
                  .query = {{"uploadId", upload_id_}},
                  .patience = S3Patience::one_try});
  } catch (const std::exception&) {  // parts that stay are the bucket's lifecycle rules' to remove
  }
}

size_t S3Upload::part_bytes() const {
  const int64_t bytes = client_.options().part_bytes;
  return static_cast<size_t>(parts_ < kEqualParts ? bytes : bytes * kLaterFactor);
}

void S3Upload::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (filling_.size() == part_bytes()) send_part();
    filling_.reserve(std::min(part_bytes(), filling_.size() + bytes.size()));
    const auto now = bytes.first(std::min(bytes.size(), part_bytes() - filling_.size()));
    filling_.insert(filling_.end(), now.begin(), now.end());
    bytes = bytes.subspan(now.size());
  }
}

void S3Upload::finish() {
  CHECK(!finished_);
  if (parts_ == 0) {
    client_.call({.purpose = "write", .method = "PUT", .key = key_, .body = filling_});
  } else {
    send_part();
    while (!under_way_.empty()) take_oldest();
    complete();
  }
  finished_ = true;
}

void S3Upload::begin() {
  const HttpAnswer answer =
      client_.call({.purpose = "write", .method = "POST", .key = key_, .query = {{"uploads", ""}}});
  upload_id_ = parse_upload_id(answer.body);
  if (upload_id_.empty()) fail_env("{} is no S3 store: it gave no upload id", client_.locate(key_));
}

void S3Upload::send_part() {
  if (upload_id_.empty()) begin();
  while (static_cast<int>(under_way_.size()) >= client_.options().parts_at_once) take_oldest();
  ++parts_;
  sent_bytes_ += static_cast<int64_t>(filling_.size());
  under_way_.push_back(
      std::async(std::launch::async, [this, number = parts_, bytes = std::exchange(filling_, {})] {
        const HttpAnswer answer =
            client_.call({.purpose = "write",
                          .method = "PUT",
                          .key = key_,
                          .query = {{"partNumber", std::to_string(number)}, {"uploadId", upload_id_}},
                          .body = bytes});
        const auto etag = answer.headers.find("etag");
        if (etag == answer.headers.end())
          fail_env("{}: the store gave no ETag for part {}", client_.locate(key_), number);
        return etag->second;
      }));
}

void S3Upload::take_oldest() {
  std::future<std::string> oldest = std::move(under_way_.front());
  under_way_.pop_front();
  etags_.push_back(oldest.get());
}

void S3Upload::complete() {
  const std::string xml = complete_upload_xml(etags_);
  const HttpAnswer answer = client_.call({.purpose = "write",
                                          .method = "POST",
                                          .key = key_,
                                          .query = {{"uploadId", upload_id_}},
                                          .body = std::as_bytes(std::span(xml)),
                                          .patience = S3Patience::work},
                                         {404});
  if (answer.status != 404) return;
  // The upload is gone: an earlier try of this request was carried out, but its answer was lost. Then the
  // object is there.
  const HttpAnswer head = client_.call({.purpose = "write", .method = "HEAD", .key = key_});
  const auto length = head.headers.find("content-length");
  if (length == head.headers.end() || length->second != std::to_string(sent_bytes_))
    fail_env("{}: its upload was taken back by somebody else; write it again", client_.locate(key_));
}

}  // namespace trireme
