// A model's blocks run one after the other, forward and back, every value kept: what tests look into that no
// Program would keep. Fusion, packing and lowering are left out.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "device/device.h"
#include "ir/code.h"
#include "model/model.h"

namespace trireme {

class ChainRun {
 public:
  ChainRun(const Model& model, Device& device);

  // By the names of parameters and of batch values; before forward.
  void set_param(const std::string& name, const std::vector<float>& values);
  void set_batch(const std::string& name, const std::vector<int32_t>& values) { batch_[name] = values; }

  void forward();
  void backward();

  double loss(size_t which = 0) const;  // of the head's
  std::vector<float> floats(const std::string& block, const std::string& value) const;
  std::vector<int32_t> ints(const std::string& block, const std::string& value) const;
  std::vector<float> gradient(const std::string& param) const;

 private:
  struct Block {
    std::string name;
    const Code* code = nullptr;
    std::vector<std::vector<std::byte>> values;  // by value
    std::vector<int32_t> params;
  };

  void run(Block& block, const std::vector<Op>& ops);
  const Block& block_named(const std::string& name) const;
  std::vector<std::byte>& value_of(Block& block, ValueRole role, size_t ordinal = 0);

  const Model& model_;
  Device& device_;
  std::vector<Code> codes_;
  std::vector<Block> blocks_;
  std::vector<std::vector<float>> params_, gradients_;
  std::map<std::string, std::vector<int32_t>> batch_;
};

}  // namespace trireme
