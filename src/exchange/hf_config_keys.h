// Parts of a config.json that several model types have. Known to the hf_config_*.cpp files alone, since
// nlohmann's types stop there.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "config/model.h"
#include "exchange/hf_names.h"

namespace trireme {

// rope_theta and rope_scaling, which v4 reads, and rope_parameters, which v5 does.
void put_rope(nlohmann::json& out, const ModelSpec& spec);

// Experts and latent attention (hf_config_moe.cpp).
void put_mixtral(nlohmann::json& out, const ModelSpec& spec);
void put_qwen3_moe(nlohmann::json& out, const ModelSpec& spec);
void put_deepseek(nlohmann::json& out, const ModelSpec& spec);

// "model.window = 128 has no form in transformers' Llama; use 0"
[[noreturn]] void refuse_key(const std::string& key, const std::string& value, const std::string& where,
                             const std::string& cure);

}  // namespace trireme
