// Sums over the ops of a section, once per unit of code; every action that runs it costs the same.
#include "sim/price.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "compile/comm_report.h"
#include "ops/op_axis.h"
#include "sim/talk.h"

namespace trireme {
namespace {

// What of talk and compute, side by side in parts, is left exposed. While ranks talk, compute has what the
// talk leaves of the units.
double exposed_s(double compute_s, double wire_s, double units_taken, int64_t parts) {
  if (parts <= 1) return wire_s;
  const double alone = wire_s / static_cast<double>(parts), beside = wire_s - alone;
  const double covering = compute_s * static_cast<double>(parts - 1) / static_cast<double>(parts);
  const double together = std::max(beside, covering + units_taken * beside);
  return alone + together - covering;
}

class Pricer {
 public:
  Pricer(const Program& program, const Cluster& cluster) : program_(program), cluster_(cluster) {}

  ActionPrice of(const Action& action) {
    if (action.stream != Stream::compute) return of_transfers(action);
    if (action.kind == ActionKind::load) return of_load();
    const auto key = std::pair(program_.unit(action.unit).code.index, section_of(action.kind));
    const auto [it, fresh] = sections_.try_emplace(key);
    if (fresh)
      for (const Op* op : ops_of(program_.code(CodeId(key.first)), key.second))
        add(it->second, signature(*op, program_.code(CodeId(key.first)).values), *op);
    return it->second;
  }

 private:
  void add(ActionPrice& price, const OpSig& sig, const Op& op) const {
    const double compute = kernel_s(cluster_, sig);
    price.compute_s += compute;
    const OpDef& def = op_def(op.kind);
    const std::string_view axis = axis_of(op);
    if (axis.empty() || def.wire_bytes == nullptr) return;
    const int64_t bytes = def.wire_bytes(sig);
    if (bytes == 0) return;
    for (int a = 0; a < kBlockAxes; ++a) {
      if (name_of(static_cast<BlockAxis>(a)) != axis) continue;
      const Talk talk = talk_of(sig);
      const CommId comm = program_.axes[static_cast<size_t>(a)];
      const WireTime each = wire_time(cluster_, talk.collective, bytes / talk.calls, ranks_of(comm));
      const double wire = each.seconds * static_cast<double>(talk.calls);
      const double exposed = exposed_s(compute, wire, cluster_.hardware->kernels.communication, talk.parts);
      price.axis_s[static_cast<size_t>(a)] += exposed;
      price.hidden_s[static_cast<size_t>(a)] += std::max(0.0, wire - exposed);
      price.axis_between = price.axis_between || each.between;
    }
  }

  ActionPrice of_load() const {
    ActionPrice price;
    if (cluster_.hardware->host_bytes_per_s > 0)
      price.compute_s = static_cast<double>(program_.batch_bytes) / cluster_.hardware->host_bytes_per_s;
    return price;
  }

  ActionPrice of_transfers(const Action& action) {
    ActionPrice price;
    for (const Transfer& transfer : action.transfers) {
      const bool message = transfer.op == CommOp::send || transfer.op == CommOp::recv;
      const int64_t bytes =
          message ? transfer.count * size_of(transfer.dtype) : sent_bytes(program_, transfer);
      const auto key = std::pair(std::pair(transfer.comm.index, transfer.op), bytes);
      const auto [it, fresh] = wires_.try_emplace(key);
      if (fresh)
        it->second =
            wire_time(cluster_, message ? "send" : name_of(transfer.op), bytes, ranks_of(transfer.comm));
      price.transfers.push_back(it->second);
    }
    return price;
  }

  const std::vector<int32_t>& ranks_of(CommId comm) const {
    CHECK(comm.valid(), "{}: an op talks on an axis without ranks", program_.name);
    return program_.comms[static_cast<size_t>(comm.index)].ranks;
  }

  const Program& program_;
  const Cluster& cluster_;
  std::map<std::pair<int64_t, Section>, ActionPrice> sections_;
  std::map<std::pair<std::pair<int64_t, CommOp>, int64_t>, WireTime> wires_;
};

}  // namespace

double ActionPrice::total_s() const {
  double seconds = compute_s;
  for (const double s : axis_s) seconds += s;
  for (const WireTime& transfer : transfers) seconds += transfer.seconds;
  return seconds;
}

std::vector<ActionPrice> price(const Program& program, const Timeline& timeline, const Cluster& cluster) {
  Pricer pricer(program, cluster);
  std::vector<ActionPrice> prices;
  prices.reserve(timeline.actions.size());
  for (const Action& action : timeline.actions) prices.push_back(pricer.of(action));
  return prices;
}

}  // namespace trireme
