// Guard bytes around kernel operands.
#include "ops/harness/guarded_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace trireme {
namespace {
constexpr std::byte kMark{0xa5};
constexpr std::byte kFresh{0xff};  // NaN in every float format: what is read before it is written shows
}  // namespace

void GuardedBuffer::Free::operator()(std::byte* memory) const { std::free(memory); }

GuardedBuffer::GuardedBuffer(int64_t bytes) : bytes_(bytes) {
  const int64_t total = kGuardBytes + (bytes + 63) / 64 * 64 + kGuardBytes;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, static_cast<size_t>(total))));
  if (memory_ == nullptr) throw std::bad_alloc();
  std::fill_n(memory_.get(), total, kMark);
  std::fill_n(data(), bytes, kFresh);
}

bool GuardedBuffer::intact() const {
  const auto marked = [](std::byte b) { return b == kMark; };
  return std::all_of(memory_.get(), memory_.get() + kGuardBytes, marked) &&
         std::all_of(data() + bytes_, data() + bytes_ + kGuardBytes, marked);
}

}  // namespace trireme
