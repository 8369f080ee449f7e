// Keys that no model has and every config needs.
#include "exchange/stand_in_config.h"

namespace trireme {

RunSpec stand_in_config(const std::string& model_toml, const std::vector<std::string>& overrides) {
  return parse_config(model_toml +
                          "[data]\ntrain = [\"shards/train*.bin\"]\n[batch]\nsequences = 1\n"
                          "[optimizer]\nlr = 1e-4\n[precision]\ncompute = \"fp32\"\n"
                          "[run]\nname = \"imported\"\nsteps = 1\n",
                      "the imported model", overrides);
}

}  // namespace trireme
