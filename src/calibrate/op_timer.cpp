// Operands, what they hold, and the clock.
#include "calibrate/op_timer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "base/random.h"
#include "calibrate/quantile.h"
#include "device/cpu/cpu_device.h"
#include "ops/grad_norm/grad_norm.h"
#include "ops/scratch.h"

namespace trireme {
namespace {

constexpr int64_t kFixedBytes = int64_t{8} << 20;  // ids and scalars of one op

// Small positive numbers, as f32 and as bf16 alike: each half of a word is a bf16.
void fill_pattern(std::byte* to, int64_t bytes) {
  const RandomStream random(1, "calibrate");
  std::vector<bf16> pattern(size_t{1} << 20);
  for (size_t i = 0; i < pattern.size(); ++i)
    pattern[i] = to_bf16(0.02f * std::abs(random.normal(i)) + 1e-3f);
  const auto block = static_cast<int64_t>(pattern.size() * sizeof(bf16));
  for (int64_t at = 0; at < bytes; at += block)
    std::memcpy(to + at, pattern.data(), static_cast<size_t>(std::min(block, bytes - at)));
}

// Ids lie in [0, limit): of experts, of tokens, or of a table's positions; 0 where nothing depends on them.
int64_t id_limit(const OpSig& sig, std::string_view operand) {
  const auto attribute = [&](std::string_view name) {
    const AttrValue* value = sig.attrs.find(name);
    return value != nullptr ? std::get<int64_t>(*value) : 0;
  };
  const bool table = sig.kind == "embedding" || sig.kind == "positions";
  if (table) return sig.inputs[1].shape[0];
  if (operand == "ids") return attribute("experts");
  if (operand == "tokens" || operand == "targets") return attribute("vocab");
  if (operand == "positions")
    return sig.kind == "positions_grad" ? attribute("context") : count(sig.inputs[0].shape);
  return 0;
}

void fill_ints(const OpSig& sig, const TensorType& type, std::string_view name, int32_t* to) {
  const RandomStream random(2, "calibrate");
  const int64_t limit = id_limit(sig, name);
  for (int64_t i = 0; i < count(type.shape); ++i) {
    const uint64_t drawn = random.bits(static_cast<uint64_t>(i)) >> 1;
    const int64_t id = name == "positions" ? i : static_cast<int64_t>(drawn);
    to[i] = limit > 0 ? static_cast<int32_t>(id % limit) : 0;
  }
}

// Of a step that counts.
void fill_scalars(double* to) {
  std::fill(to, to + kStepScalars, 0.0);
  scalar(to, StepScalar::lr) = 1e-4;
  for (const StepScalar one :
       {StepScalar::bias1, StepScalar::bias2, StepScalar::norm, StepScalar::clip_scale, StepScalar::finite})
    scalar(to, one) = 1;
  scalar(to, StepScalar::inverse_tokens) = 1e-3;
}

int64_t sum_of(const std::vector<TensorType>& types) {
  int64_t bytes = 0;
  for (const TensorType& type : types) bytes += scratch_piece(bytes_of(type));
  return bytes;
}

}  // namespace

OperandBytes operand_bytes(const OpSig& sig, int threads) {
  const OpDef& def = op_def(sig.kind);
  return {sum_of(sig.inputs), sum_of(sig.outputs),
          def.scratch_bytes != nullptr ? scratch_piece(def.scratch_bytes(sig, threads)) : 0};
}

OpTimer::OpTimer(const OpTimerOptions& options)
    : threads_(options.threads), device_(make_cpu_device({.threads = options.threads})) {
  inputs_.bytes = scratch_piece(std::max(options.largest.inputs, options.rotate_bytes));
  outputs_.bytes = scratch_piece(std::max(options.largest.outputs, options.rotate_bytes));
  fixed_.bytes = kFixedBytes;
  std::byte* arena =
      device_->allocate_arena(inputs_.bytes + outputs_.bytes + fixed_.bytes + options.largest.scratch);
  for (Region* region : {&inputs_, &outputs_, &fixed_}) {
    region->begin = arena;
    arena += region->bytes;
  }
  scratch_ = arena;
  fill_pattern(inputs_.begin, inputs_.bytes);
  fill_pattern(outputs_.begin, outputs_.bytes);
}

std::byte* OpTimer::Region::take(int64_t wanted) {
  CHECK(wanted <= bytes, "{} bytes of operands in {}", wanted, bytes);
  if (next + wanted > std::max(turn, wanted)) next = 0;
  std::byte* taken = begin + next;
  next += wanted;
  return taken;
}

std::vector<OpTimer::Place> OpTimer::place(const std::vector<TensorType>& types,
                                           const std::vector<OperandDef>& defs) {
  std::vector<Place> places;
  int64_t offset = 0;
  for (size_t i = 0; i < types.size(); ++i) {
    Place place{.offset = offset, .absent = !present(types[i])};
    const bool scalars = types[i] == step_scalars_type();
    if (!place.absent && (types[i].dtype == DType::i32 || scalars)) {
      place.fixed = fixed_.take(scratch_piece(bytes_of(types[i])));
      if (scalars)
        fill_scalars(reinterpret_cast<double*>(place.fixed));
      else
        fill_ints(sig_, types[i], defs[i].name, reinterpret_cast<int32_t*>(place.fixed));
    }
    offset += scratch_piece(bytes_of(types[i]));
    places.push_back(place);
  }
  return places;
}

void OpTimer::prepare(const OpSig& sig, int64_t rotate_bytes) {
  sig_ = sig;
  bytes_ = operand_bytes(sig_, threads_);
  const OpDef& def = op_def(sig_.kind);
  inputs_.turn = std::min(inputs_.bytes, rotate_bytes);
  outputs_.turn = std::min(outputs_.bytes, rotate_bytes);
  fixed_.turn = fixed_.bytes, fixed_.next = 0;
  input_places_ = place(sig_.inputs, def.inputs);
  output_places_ = place(sig_.outputs, def.outputs);
  input_pointers_.assign(def.inputs.size(), nullptr);  // trailing operands that are absent included
  output_pointers_.assign(def.outputs.size(), nullptr);
  kernel_ = device_->prepare(sig_);
}

void OpTimer::call() {
  const auto point = [](const std::vector<Place>& places, std::byte* at, std::vector<void*>& pointers) {
    for (size_t i = 0; i < places.size(); ++i) {
      const Place& place = places[i];
      pointers[i] = place.absent ? nullptr : place.fixed != nullptr ? place.fixed : at + place.offset;
    }
  };
  point(input_places_, inputs_.take(bytes_.inputs), input_pointers_);
  point(output_places_, outputs_.take(bytes_.outputs), output_pointers_);
  device_->run(kernel_, {input_pointers_, output_pointers_, scratch_, nullptr});
}

double OpTimer::measure(double budget_s) {
  call();
  std::vector<double> seconds;
  const double begin = seconds_now();
  for (double now = begin; seconds.empty() || now - begin < budget_s;) {
    call();
    const double end = seconds_now();
    seconds.push_back(end - now);
    now = end;
  }
  return quantile(std::move(seconds), 0.5);
}

}  // namespace trireme
