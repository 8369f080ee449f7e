// Chrome/Perfetto trace files: {"traceEvents": [...]} of complete events, pid = rank, tid = stream.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

namespace trireme {

struct TraceSpan {
  std::string name;      // "Forward(layer 3, mb 1)"
  std::string category;  // "compute"
  int64_t rank = 0;
  int64_t stream = 0;
  double start_us = 0;  // from the trace's beginning
  double duration_us = 0;
  int64_t bytes = -1;  // that the rank sent; -1: not said
};

class TraceWriter {
 public:
  explicit TraceWriter(const std::string& path);  // folders are made; EnvError
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;
  ~TraceWriter();  // abandons the file, incomplete, unless finish() was called

  void name_rank(int64_t rank, const std::string& name);
  void name_stream(int64_t rank, int64_t stream, const std::string& name);
  void add(const TraceSpan& span);
  void finish();  // EnvError when the disk is full

 private:
  void event(const std::string& json);

  std::string path_;
  std::FILE* file_ = nullptr;
  bool first_ = true;
};

}  // namespace trireme
