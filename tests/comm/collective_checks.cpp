// The naive references: plain loops, and sums by tree_by_hand.
#include "comm/collective_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace trireme {
namespace {

using Bytes = std::vector<std::byte>;

double value_of(int rank, int64_t i) {
  const uint64_t mixed =
      (static_cast<uint64_t>(i) * 8 + static_cast<uint64_t>(rank) + 1) * 0x9e3779b97f4a7c15u;
  const double fraction = static_cast<double>(mixed >> 11) / 9007199254740992.0 - 0.5;
  return std::ldexp(fraction, static_cast<int>((mixed >> 3) % 24) - 12);
}

template <class T>
Bytes as_bytes(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Bytes pattern(int from, int to, int64_t bytes) {
  Bytes out(static_cast<size_t>(bytes));
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<std::byte>(
        (i * 7 + i / 251 + static_cast<size_t>(from) * 31 + static_cast<size_t>(to) * 101));
  return out;
}

void append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

std::string compare(const Bytes& got, const Bytes& expected, const std::string& name) {
  if (got == expected) return "";
  for (size_t i = 0; i < expected.size(); ++i)
    if (got[i] != expected[i]) return fmt::format("{}: byte {} of {} differs", name, i, expected.size());
  return name + ": sizes differ";
}

}  // namespace

Bytes contribution(DType dtype, int rank, int64_t count) {
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<uint16_t> halves;
  for (int64_t i = 0; i < count; ++i) {
    const double value = value_of(rank, i);
    floats.push_back(static_cast<float>(value));
    doubles.push_back(value);
    halves.push_back(to_bf16(static_cast<float>(value)).bits);
  }
  if (dtype == DType::f32) return as_bytes(floats);
  return dtype == DType::f64 ? as_bytes(doubles) : as_bytes(halves);
}

Bytes expected_sum(DType dtype, int ranks, int64_t count) {
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<uint16_t> halves;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<float> f, h;
    std::vector<double> d;
    for (int r = 0; r < ranks; ++r) {
      d.push_back(value_of(r, i));
      f.push_back(static_cast<float>(d.back()));
      h.push_back(to_float(to_bf16(f.back())));
    }
    floats.push_back(tree_by_hand(f));
    doubles.push_back(tree_by_hand(d));
    halves.push_back(to_bf16(tree_by_hand(h)).bits);
  }
  if (dtype == DType::f32) return as_bytes(floats);
  return dtype == DType::f64 ? as_bytes(doubles) : as_bytes(halves);
}

std::string check_all_reduce(Communicator& comm, DType dtype, int64_t count) {
  Bytes data = contribution(dtype, comm.rank(), count);
  comm.all_reduce(data.data(), count, dtype, "test sums");
  return compare(data, expected_sum(dtype, comm.size(), count),
                 fmt::format("all-reduce of {} {}", count, name_of(dtype)));
}

std::string check_reduce_scatter(Communicator& comm, DType dtype, int64_t count) {
  Bytes from = contribution(dtype, comm.rank(), count * comm.size());
  const Bytes sum = expected_sum(dtype, comm.size(), count * comm.size());
  const auto begin = sum.begin() + comm.rank() * count * size_of(dtype);
  const Bytes expected(begin, begin + count * size_of(dtype));
  Bytes to(expected.size());
  comm.reduce_scatter(from.data(), to.data(), count, dtype, "test gradients");
  const std::string name = fmt::format("reduce-scatter of {} {}", count, name_of(dtype));
  if (std::string wrong = compare(to, expected, name); !wrong.empty()) return wrong;
  std::byte* own = from.data() + comm.rank() * count * size_of(dtype);
  comm.reduce_scatter(from.data(), own, count, dtype, "test gradients");
  return compare(Bytes(own, own + expected.size()), expected, name + " in place");
}

std::string check_all_gather(Communicator& comm, int64_t bytes) {
  const Bytes from = pattern(comm.rank(), 0, bytes);
  Bytes expected;
  for (int r = 0; r < comm.size(); ++r) append(expected, pattern(r, 0, bytes));
  Bytes to(expected.size());
  comm.all_gather(from.data(), to.data(), bytes, "test weights");
  if (std::string wrong = compare(to, expected, fmt::format("all-gather of {}", bytes)); !wrong.empty())
    return wrong;
  Bytes in_place(expected.size());
  std::copy(from.begin(), from.end(), in_place.begin() + comm.rank() * bytes);
  comm.all_gather(in_place.data() + comm.rank() * bytes, in_place.data(), bytes, "test weights");
  return compare(in_place, expected, fmt::format("all-gather of {} in place", bytes));
}

std::string check_all_to_all(Communicator& comm, int64_t bytes) {
  Bytes from, expected;
  for (int r = 0; r < comm.size(); ++r) {
    append(from, pattern(comm.rank(), r, bytes));
    append(expected, pattern(r, comm.rank(), bytes));
  }
  Bytes to(expected.size());
  comm.all_to_all(from.data(), to.data(), bytes, "test tokens");
  return compare(to, expected, fmt::format("all-to-all of {}", bytes));
}

std::string check_uneven_all_to_all(Communicator& comm, int64_t most_bytes) {
  const auto bytes_between = [&](int from, int to) { return (from * 5 + to * 3) % 4 * most_bytes / 3; };
  Bytes from, expected;
  std::vector<int64_t> from_bytes, to_bytes;
  for (int r = 0; r < comm.size(); ++r) {
    from_bytes.push_back(bytes_between(comm.rank(), r));
    to_bytes.push_back(bytes_between(r, comm.rank()));
    append(from, pattern(comm.rank(), r, from_bytes.back()));
    append(expected, pattern(r, comm.rank(), to_bytes.back()));
  }
  Bytes to(expected.size());
  comm.all_to_all({.from = from.data(), .from_bytes = from_bytes, .to = to.data(), .to_bytes = to_bytes},
                  "test tokens");
  return compare(to, expected, fmt::format("uneven all-to-all of up to {}", most_bytes));
}

std::string check_broadcast(Communicator& comm, int64_t bytes) {
  for (int root = 0; root < comm.size(); ++root) {
    Bytes data = comm.rank() == root ? pattern(root, 1, bytes) : Bytes(static_cast<size_t>(bytes));
    comm.broadcast(data.data(), bytes, root, "test seeds");
    if (std::string wrong =
            compare(data, pattern(root, 1, bytes), fmt::format("broadcast of {} from {}", bytes, root));
        !wrong.empty())
      return wrong;
  }
  return "";
}

std::string check_messages(Communicator& comm, int64_t bytes) {
  if (comm.size() == 1) return "";
  const int next = (comm.rank() + 1) % comm.size(), previous = (comm.rank() + comm.size() - 1) % comm.size();
  const Bytes out = pattern(comm.rank(), next, bytes);
  Bytes in(out.size());
  const Send send{.from = out.data(), .bytes = bytes, .to = next};
  const Recv recv{.to = in.data(), .bytes = bytes, .from = previous};
  comm.exchange({&send, 1}, {&recv, 1}, "test activations");
  if (std::string wrong =
          compare(in, pattern(previous, comm.rank(), bytes), fmt::format("exchange of {}", bytes));
      !wrong.empty())
    return wrong;
  // Down the line one by one, as a pipeline does, three times.
  for (int turn = 0; turn < 3; ++turn) {
    Bytes line = pattern(turn, 5, bytes);
    if (comm.rank() > 0) {
      std::fill(line.begin(), line.end(), std::byte{0});
      comm.recv(line.data(), bytes, comm.rank() - 1, "test activations");
    }
    if (comm.rank() + 1 < comm.size()) comm.send(line.data(), bytes, comm.rank() + 1, "test activations");
    if (std::string wrong = compare(line, pattern(turn, 5, bytes), fmt::format("send of {}", bytes));
        !wrong.empty())
      return wrong;
  }
  return "";
}

std::string check_everything(Communicator& comm, int64_t large) {
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{17}, int64_t{4099}, large}) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
      if (std::string wrong = check_all_reduce(comm, dtype, n / 4); !wrong.empty()) return wrong;
      if (std::string wrong = check_reduce_scatter(comm, dtype, n / 8 + n % 2); !wrong.empty()) return wrong;
    }
    comm.barrier("test turn");
    for (const auto check :
         {check_all_gather, check_all_to_all, check_uneven_all_to_all, check_broadcast, check_messages})
      if (std::string wrong = check(comm, n); !wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace trireme
