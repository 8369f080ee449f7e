// Operands, fills and the clock.
#include "calibrate/op_timer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "base/random.h"
#include "device/cpu/cpu_device.h"
#include "ops/grad_norm/grad_norm.h"
#include "ops/scratch.h"

namespace trireme {
namespace {

// Calls rotate over about so much: far more than a core's own caches, as a step's activations are.
constexpr int64_t kRotateBytes = int64_t{48} << 20;
constexpr int64_t kPatternFloats = int64_t{1} << 20;
constexpr size_t kMostSets = 512;

// Small positive numbers, as f32 and as bf16 alike: each half of a word is a bf16.
std::vector<float> draw_pattern() {
  const RandomStream random(1, "calibrate");
  std::vector<float> pattern(kPatternFloats);
  for (size_t i = 0; i < pattern.size(); ++i) {
    const auto half = [&](uint64_t k) { return to_bf16(0.02f * std::abs(random.normal(2 * i + k)) + 1e-3f); };
    const bf16 halves[2] = {half(0), half(1)};
    std::memcpy(&pattern[i], halves, sizeof(float));
  }
  return pattern;
}

int64_t set_bytes(const OpSig& sig) {
  int64_t bytes = 0;
  for (const auto* types : {&sig.inputs, &sig.outputs})
    for (const TensorType& type : *types) bytes += scratch_piece(bytes_of(type));
  return std::max<int64_t>(bytes, 64);
}

int64_t scratch_of(const OpSig& sig, int threads) {
  const OpDef& def = op_def(sig.kind);
  return def.scratch_bytes != nullptr ? scratch_piece(def.scratch_bytes(sig, threads)) : 0;
}

// Ids lie in [0, limit): of experts, or of tokens.
int64_t id_limit(const OpSig& sig, std::string_view operand) {
  if (operand != "ids" && operand != "tokens" && operand != "targets") return 0;
  for (const char* name : {"experts", "vocab"})
    if (const AttrValue* value = sig.attrs.find(name)) return std::get<int64_t>(*value);
  return sig.kind == "embedding" ? sig.inputs[1].shape[0] : 0;
}

void fill_ints(const OpSig& sig, const TensorType& type, std::string_view name, int32_t* to) {
  const RandomStream random(2, "calibrate");
  const int64_t limit = id_limit(sig, name);
  const int64_t row = type.shape.back();
  for (int64_t i = 0; i < count(type.shape); ++i) {
    to[i] = 0;
    if (name == "positions") to[i] = static_cast<int32_t>(i % row);
    if (limit > 0)
      to[i] = static_cast<int32_t>(random.bits(static_cast<uint64_t>(i)) % static_cast<uint64_t>(limit));
  }
}

void fill_scalars(double* to) {
  std::fill(to, to + kStepScalars, 0.0);
  scalar(to, StepScalar::lr) = 1e-4;
  for (const StepScalar one :
       {StepScalar::bias1, StepScalar::bias2, StepScalar::norm, StepScalar::clip_scale, StepScalar::finite})
    scalar(to, one) = 1;
  scalar(to, StepScalar::inverse_tokens) = 1e-3;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

int64_t operand_bytes(const OpSig& sig, int threads) { return set_bytes(sig) + scratch_of(sig, threads); }

OpTimer::OpTimer(int threads, int64_t bytes)
    : threads_(threads),
      bytes_(std::max(bytes, kRotateBytes) + kRotateBytes),
      device_(make_cpu_device({.threads = threads})),
      arena_(device_->allocate_arena(bytes_)),
      pattern_(draw_pattern()) {}

void OpTimer::fill(const Operand& operand, std::byte* to) const {
  const TensorType& type = *operand.type;
  if (type.dtype == DType::i32) return fill_ints(sig_, type, operand.name, reinterpret_cast<int32_t*>(to));
  if (type == step_scalars_type()) return fill_scalars(reinterpret_cast<double*>(to));
  const auto pattern_bytes = static_cast<int64_t>(pattern_.size() * sizeof(float));
  for (int64_t at = 0; at < bytes_of(type); at += pattern_bytes)
    std::memcpy(to + at, pattern_.data(), static_cast<size_t>(std::min(pattern_bytes, bytes_of(type) - at)));
}

void OpTimer::place(const std::vector<Operand>& operands, std::vector<void*>& pointers,
                    std::byte*& next) const {
  for (const Operand& operand : operands) {
    pointers.push_back(present(*operand.type) ? next : nullptr);
    if (present(*operand.type)) fill(operand, next);
    next += scratch_piece(bytes_of(*operand.type));
  }
}

void OpTimer::prepare(const OpSig& sig) {
  CHECK(operand_bytes(sig, threads_) <= bytes_, "{} needs {} bytes of {}", sig.kind,
        operand_bytes(sig, threads_), bytes_);
  sig_ = sig;
  const OpDef& def = op_def(sig_.kind);
  std::vector<Operand> inputs, outputs;
  for (size_t i = 0; i < sig_.inputs.size(); ++i) inputs.push_back({&sig_.inputs[i], def.inputs[i].name});
  for (size_t i = 0; i < sig_.outputs.size(); ++i) outputs.push_back({&sig_.outputs[i], def.outputs[i].name});
  scratch_ = arena_;
  std::byte* next = arena_ + scratch_of(sig_, threads_);
  const int64_t room = bytes_ - scratch_of(sig_, threads_), each = set_bytes(sig_);
  const int64_t wanted = (kRotateBytes + each - 1) / each;
  sets_.assign(
      std::min({static_cast<size_t>(std::max<int64_t>(1, std::min(room / each, wanted))), kMostSets}), {});
  for (OperandSet& set : sets_) {
    place(inputs, set.inputs, next);
    place(outputs, set.outputs, next);
  }
  next_set_ = 0;
  kernel_ = device_->prepare(sig_);
}

void OpTimer::call() {
  const OperandSet& set = sets_[next_set_];
  next_set_ = (next_set_ + 1) % sets_.size();
  device_->run(kernel_, {set.inputs, set.outputs, scratch_, nullptr});
}

double OpTimer::measure(double budget_s) {
  call();
  std::vector<double> seconds;
  const double begin = seconds_now();
  for (double now = begin; now - begin < budget_s || seconds.size() < 3;) {
    call();
    const double end = seconds_now();
    seconds.push_back(end - now);
    now = end;
    if (seconds.size() < 3 && now - begin > 10 * budget_s) break;
  }
  return median(seconds);
}

}  // namespace trireme
