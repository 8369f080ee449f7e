// Where checkpoints live: a tree of named byte objects. A directory or an object store with
// prefixes, ranged reads and multi-part uploads: objects are written once, front to back, and a folder
// becomes visible as a whole by `publish`.
//
// Paths are relative to the store's root, parts joined by '/'. Every failure is an EnvError that names the
// object. All functions of a const store may be called from several threads, and create() of different
// objects.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trireme {

// An object being written. Destroyed without finish(), it is abandoned (its folder is then to be removed).
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
  virtual void finish() = 0;  // returns when the bytes are durable
};

// An object being read.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual int64_t size_bytes() const = 0;
  // Fills `into` from `offset`; an object that ends earlier is an EnvError.
  virtual void read(int64_t offset, std::span<std::byte> into) const = 0;
};

// The object that makes a folder count: written last, removed first. Its name is in capitals, as no other
// object's is.
struct Marker {
  std::string name;
  std::string content;
};
bool is_marker_name(std::string_view name);

// Something else stands where an object should: a folder, a pipe.
struct NotAnObject : EnvError {
  using EnvError::EnvError;
};

class ByteStore {
 public:
  virtual ~ByteStore() = default;

  virtual std::unique_ptr<ByteSink> create(
      const std::string& path) = 0;  // parent folders appear by themselves
  // NotAnObject where something else is there.
  virtual std::unique_ptr<ByteSource> open(const std::string& path) const = 0;
  virtual bool exists(const std::string& path) const = 0;
  virtual std::vector<std::string> list(
      const std::string& folder) const = 0;  // names, sorted; {} when absent

  // Where to write what shall appear as `folder`: a name that starts with ".tmp-". May be `folder` itself
  // where objects cannot be renamed.
  virtual std::string staging(const std::string& folder) const = 0;
  // Makes the staged folder durable and visible as `folder`, its marker last. At every instant, kills and
  // power loss included, a reader finds under that name what was there before or the new one whole, or a
  // folder without its marker.
  virtual void publish(const std::string& folder, const Marker& marker) = 0;
  // A reader finds the folder whole or not at all. Absent is no error.
  virtual void remove(const std::string& folder) = 0;

  virtual std::string locate(
      const std::string& path) const = 0;  // for messages: "runs/a/checkpoints/step-..."
};

// The whole object as text, at most `limit_bytes` of it (EnvError beyond).
std::string read_text(const ByteStore& store, const std::string& path, int64_t limit_bytes);

}  // namespace trireme
