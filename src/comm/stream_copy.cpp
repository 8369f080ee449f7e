// Non-temporal stores of SSE2, a cache line per turn: memory is the limit, not the width of registers.
#include "comm/stream_copy.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

namespace trireme {

void stream_copy(std::byte* to, const std::byte* from, int64_t bytes) {
  constexpr int64_t kLine = 64, kAhead = 512;
  const int64_t head = std::min<int64_t>(bytes, -reinterpret_cast<intptr_t>(to) & (kLine - 1));
  if (head > 0) std::memcpy(to, from, static_cast<size_t>(head));
  int64_t i = head;
  for (; i + kLine <= bytes; i += kLine) {
    _mm_prefetch(reinterpret_cast<const char*>(from + i + kAhead), _MM_HINT_NTA);
    const auto* source = reinterpret_cast<const __m128i*>(from + i);
    auto* target = reinterpret_cast<__m128i*>(to + i);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  _mm_sfence();  // before anybody is told that the data is there
  if (i < bytes) std::memcpy(to + i, from + i, static_cast<size_t>(bytes - i));
}

}  // namespace trireme
