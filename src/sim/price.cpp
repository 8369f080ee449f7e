// Sums over the ops of a section, once per unit of code; every action that runs it costs the same.
#include "sim/price.h"

#include <algorithm>
#include <map>
#include <tuple>
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

const std::vector<int32_t>& ranks_of(const Program& program, CommId comm) {
  CHECK(comm.valid(), "{}: an op talks on an axis without ranks", program.name);
  return program.comms[static_cast<size_t>(comm.index)].ranks;
}

// None where the op stays on its rank.
std::optional<BlockAxis> axis_named_by(const Op& op) {
  for (int a = 0; a < kBlockAxes; ++a)
    if (name_of(static_cast<BlockAxis>(a)) == axis_of(op)) return static_cast<BlockAxis>(a);
  return std::nullopt;
}

class Pricer {
 public:
  Pricer(const Program& program, const Cluster& cluster) : program_(program), cluster_(cluster) {}

  ActionPrice of(const Action& action) {
    if (action.stream != Stream::compute) return of_transfers(action);
    if (action.kind == ActionKind::load) return of_load();
    const CodeId id = program_.unit(action.unit).code;
    const Section section = section_of(action.kind);
    const auto [it, fresh] = sections_.try_emplace({id, section});
    if (!fresh) return it->second;
    const Code& code = program_.code(id);
    for (const Op* op : ops_of(code, section)) add(it->second, code, *op);
    return it->second;
  }

 private:
  void add(ActionPrice& price, const Code& code, const Op& op) const {
    const OpPrice each = price_op(program_, code, op, cluster_);
    price.compute_s += each.compute_s;
    if (!each.axis) return;
    price.axis_s[static_cast<size_t>(*each.axis)] += each.exposed_s;
    price.hidden_s[static_cast<size_t>(*each.axis)] += each.hidden_s;
    price.axis_between = price.axis_between || each.between;
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
      const bool message = is_message(transfer.op);
      const int64_t bytes =
          message ? transfer.count * size_of(transfer.dtype) : sent_bytes(program_, transfer);
      const auto [it, fresh] = wires_.try_emplace({transfer.comm, transfer.op, bytes});
      if (fresh)
        it->second = wire_time(cluster_, message ? "send" : name_of(transfer.op), bytes,
                               ranks_of(program_, transfer.comm));
      price.transfers.push_back(it->second);
    }
    return price;
  }

  const Program& program_;
  const Cluster& cluster_;
  std::map<std::pair<CodeId, Section>, ActionPrice> sections_;
  std::map<std::tuple<CommId, CommOp, int64_t>, WireTime> wires_;
};

}  // namespace

OpPrice price_op(const Program& program, const Code& code, const Op& op, const Cluster& cluster) {
  const OpSig sig = signature(op, code.values);
  Cluster compiled_for = cluster;
  if (cluster.hardware->kind == DeviceClass::cpu) compiled_for.share.threads = program.threads;
  OpPrice price{.compute_s = kernel_s(compiled_for, sig)};
  const OpDef& def = op_def(op.kind);
  price.axis = axis_named_by(op);
  price.sent_bytes = price.axis && def.wire_bytes != nullptr ? def.wire_bytes(sig) : 0;
  if (price.sent_bytes == 0) return price;
  const Talk talk = talk_of(sig);
  const std::vector<int32_t>& ranks = ranks_of(program, program.axes[static_cast<size_t>(*price.axis)]);
  const WireTime each = wire_time(cluster, talk.collective, price.sent_bytes / talk.calls, ranks);
  const double wire_s = each.seconds * static_cast<double>(talk.calls);
  price.exposed_s = exposed_s(price.compute_s, wire_s, cluster.hardware->kernels.communication, talk.parts);
  price.hidden_s = std::max(0.0, wire_s - price.exposed_s);
  price.in_parts = talk.parts > 1;
  price.between = each.between;
  return price;
}

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
