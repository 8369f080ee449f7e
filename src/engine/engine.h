// Runs a Program on a Device: allocates the arena, prepares every kernel, then walks timelines. It knows ops
// only as kernels and pointers: no model, no schedule, no parallelism.
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "ir/program.h"

namespace trireme {

// Host arrays of one micro-batch, in the order of Program::batch.
using BatchArrays = std::vector<const void*>;

// Where the time goes, by op.
struct OpTime {
  double seconds = 0;
  int64_t calls = 0;
};
using Profile = std::map<std::string, OpTime>;

enum class ParamState : uint8_t { master, moment1, moment2 };

class Engine {
 public:
  // Both must outlive the engine. EnvError when the arena cannot be had.
  Engine(const Program& program, Device& device);

  const Program& program() const { return program_; }

  // Runs a timeline of the program from start to end; `batches` has an entry per micro-batch of the timeline.
  // Complete on return.
  void run(const Timeline& timeline, std::span<const BatchArrays> batches);

  // f32 state of a parameter, count(shape) elements.
  void write_state(ParamId param, ParamState state, std::span<const float> values);
  void read_state(ParamId param, ParamState state, std::span<float> values) const;
  // The same in place, on devices whose arena the host can address; empty on others.
  std::span<std::byte> state_bytes(ParamId param, ParamState state) const;

  // A lasting buffer (scalars, result), from its start.
  void write_buffer(BufferId buffer, const void* from, int64_t bytes);
  void read_buffer(BufferId buffer, void* to, int64_t bytes) const;

  // Adds each op's time to `profile` from now on; nullptr stops that. Profiling synchronises after every op.
  void profile_into(Profile* profile) { profile_ = profile; }

 private:
  struct PreparedSection {
    std::vector<const Op*> ops;
    std::vector<KernelId> kernels;
    std::vector<bool> has_scratch;
  };

  void load(const Action& action, const BatchArrays& arrays);
  void run_action(const Action& action);
  std::byte* pointer(const Action& action, const Unit& unit, const CodeLayout& layout, const Code& code,
                     ValueId id) const;
  std::byte* at(const Location& location) const;
  Location state_location(ParamId param, ParamState state) const;

  const Program& program_;
  Device& device_;
  std::byte* arena_ = nullptr;
  std::vector<std::array<PreparedSection, kSections>> prepared_;  // by code
  std::vector<std::vector<int32_t>> ordinals_;  // by code and value: its place among values of its role
  Profile* profile_ = nullptr;
};

}  // namespace trireme
