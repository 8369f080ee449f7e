// One micro-batch on one rank of a block's axes, compiled and priced like any program.
#include "plan/block_prices.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "compile/compile.h"
#include "compile/flops_report.h"
#include "model/model.h"
#include "ops/op.h"
#include "sim/simulate.h"

namespace trireme {
namespace {

// As many of the first layers as have one of every kind.
int64_t layers_of_all_kinds(const ModelSpec& model) {
  std::array<bool, 2> seen{}, all{};
  const auto note = [&](std::array<bool, 2>& kinds, int64_t layer) {
    kinds[static_cast<size_t>(layer_kind(model, layer))] = true;
  };
  for (int64_t layer = 0; layer < model.layers; ++layer) note(all, layer);
  int64_t layers = 0;
  while (seen != all) note(seen, layers++);
  return std::max(layers, std::min(model.layers, model.moe.first_dense + 1));
}

// The same kinds of blocks with as little as can be around them: the data-parallel ranks that hold the
// experts, and two stages where the backward is to be split.
RunSpec alone(const RunSpec& base, const Layout& layout, BackwardForm form) {
  RunSpec spec = base;
  spec.model.layers = layers_of_all_kinds(base.model);
  spec.parallel = layout.parallel;
  spec.parallel.pp = form == BackwardForm::split ? 2 : 1;
  spec.parallel.schedule = PipelineSchedule::zb_h1;
  spec.parallel.virtual_stages = 1;
  spec.parallel.stages.clear();
  spec.parallel.schedule_file.reset();
  spec.parallel.dp_replicate = 1;
  spec.parallel.dp_shard = std::max<int64_t>(1, layout.parallel.ep / layout.parallel.cp);
  spec.parallel.zero = 0;
  spec.batch.micro = layout.micro;
  spec.batch.lanes = spec.parallel.dp_shard;
  spec.batch.sequences = layout.micro * spec.parallel.dp_shard * spec.parallel.pp;
  spec.checkpoint.async = false;
  spec.eval.every_steps = 0;
  return parse_config(to_toml(spec), "the layout " + text_of(layout));
}

// Of a backward's kernels, the share in the part that leads to the stage before.
double input_share(const Program& program, const Code& code, const Cluster& cluster) {
  double input = 0, all = 0;
  for (size_t i = 0; i < code.backward.size(); ++i) {
    const double s = price_op(program, code, code.backward[i], cluster).compute_s;
    all += s;
    if (code.parts[i] == Part::input) input += s;
  }
  return all > 0 ? input / all : 0.5;
}

int64_t bytes_of_role(const Code& code, ValueRole role) {
  int64_t bytes = 0;
  for (const Value& value : code.values)
    if (value.role == role) bytes += bytes_of(value.type);
  return bytes;
}

// "layers.3" of "layers.3/experts"; a tied embedding has a group of its own.
std::string_view block_of(std::string_view group) { return group.substr(0, group.find('/')); }

class Reading {
 public:
  Reading(const Program& program, const Cluster& cluster)
      : program_(program), cluster_(cluster), timeline_(*find_timeline(program, "train")) {}

  // A program whose codes are those of the same blocks, with the backward in two parts.
  void add_split(const Program& split) {
    for (size_t b = 0; b < codes_.size(); ++b) {
      const CodeLayout& layout = split.layouts[static_cast<size_t>(codes_[b].index)];
      out_.blocks[b].split_saved_bytes = layout.saved_bytes;
      out_.blocks[b].split_held_bytes = layout.held_bytes;
    }
  }

  BlockPrices take() { return std::move(out_); }

  void read() {
    const std::vector<ActionPrice> prices = price(program_, timeline_, cluster_);
    int64_t updated = 0;
    double update_s = 0;
    std::vector<size_t> prepared;  // before the forwards that name the blocks
    for (size_t i = 0; i < timeline_.actions.size(); ++i) {
      const Action& action = timeline_.actions[i];
      const double s = prices[i].total_s();
      if (action.kind == ActionKind::load) out_.load_s += s;
      if (action.kind == ActionKind::forward) add_forward(action, prices[i]);
      if (action.kind == ActionKind::backward) add_backward(action, prices[i]);
      if (action.kind == ActionKind::prepare) prepared.push_back(i);
      if (action.kind == ActionKind::optimizer || action.kind == ActionKind::norm_partial) update_s += s;
    }
    for (const ParamGroup& group : program_.groups) updated += group.elements;
    out_.optimizer_s_per_element = update_s / static_cast<double>(std::max<int64_t>(1, updated));
    for (const size_t i : prepared) block_at(timeline_.actions[i]).prepare_s += prices[i].total_s();
    add_parameters();
    out_.overhead_bytes = program_.batch_bytes;
  }

 private:
  const Code& code_of(const Action& action) const { return program_.code(program_.unit(action.unit).code); }

  void take_workspace(const Action& action) {
    if (action.workspace.valid())
      out_.workspace_bytes = std::max(out_.workspace_bytes, program_.buffer(action.workspace).bytes);
  }

  void add_forward(const Action& action, const ActionPrice& price) {
    const Unit& unit = program_.unit(action.unit);
    BlockPrice block;
    block.forward_s = price.total_s();
    block.flops = static_cast<double>(block_flops(code_of(action)));
    block.saved_bytes = program_.layouts[static_cast<size_t>(unit.code.index)].saved_bytes;
    block.prepared_bytes = bytes_of_role(code_of(action), ValueRole::prepared);
    take_workspace(action);
    int64_t outputs = 0;
    for (const Location& output : action.outputs) outputs += program_.buffer(output.buffer).bytes;
    out_.boundary_bytes = std::max(out_.boundary_bytes, outputs);
    names_.push_back(unit.name);
    codes_.push_back(unit.code);
    out_.blocks.push_back(block);
  }

  BlockPrice& block_at(const Action& action) {
    const auto at = std::find(names_.begin(), names_.end(), program_.unit(action.unit).name);
    CHECK(at != names_.end(), "{} has no forward", program_.unit(action.unit).name);
    return out_.blocks[static_cast<size_t>(at - names_.begin())];
  }

  void add_backward(const Action& action, const ActionPrice& price) {
    BlockPrice& block = block_at(action);
    block.backward_s = price.total_s();
    block.input_s = block.backward_s * input_share(program_, code_of(action), cluster_);
    take_workspace(action);
  }

  // Groups that several blocks share count for the first.
  void add_parameters() {
    for (const ParamGroup& group : program_.groups) {
      auto at = std::find(names_.begin(), names_.end(), block_of(group.name));
      if (at == names_.end()) at = names_.begin();
      BlockPrice& block = out_.blocks[static_cast<size_t>(at - names_.begin())];
      (group.name.ends_with("/experts") ? block.expert_elements : block.elements) += group.elements;
    }
  }

  const Program& program_;
  const Cluster& cluster_;
  const Timeline& timeline_;
  std::vector<std::string> names_;  // by block
  std::vector<CodeId> codes_;
  BlockPrices out_;
};

// Layers of a kind cost the same.
std::vector<BlockPrice> all_blocks(const std::vector<BlockPrice>& priced, int64_t priced_layers,
                                   const ModelSpec& model) {
  std::vector<BlockPrice> blocks = {priced.front()};
  for (int64_t layer = 0; layer < model.layers; ++layer) {
    int64_t like = 0;
    while (layer_kind(model, like) != layer_kind(model, layer)) ++like;
    blocks.push_back(priced[static_cast<size_t>(1 + like)]);
  }
  blocks.insert(blocks.end(), priced.begin() + static_cast<std::ptrdiff_t>(1 + priced_layers), priced.end());
  return blocks;
}

}  // namespace

BlockPrices price_blocks(const RunSpec& base, const Layout& layout, const Cluster& cluster) {
  const RunSpec spec = alone(base, layout, BackwardForm::whole);
  const Program program = compile(spec, compile_options(spec, cluster)).program;
  Reading reading(program, cluster);
  reading.read();
  if (layout.parallel.pp > 1) {
    const RunSpec split = alone(base, layout, BackwardForm::split);
    reading.add_split(compile(split, compile_options(split, cluster)).program);
  }
  BlockPrices prices = reading.take();
  prices.blocks = all_blocks(prices.blocks, spec.model.layers, base.model);
  return prices;
}

}  // namespace trireme
