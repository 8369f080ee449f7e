"""Writes config.json files as the transformers library writes them, for tests/config/hf_config_test.cpp.

Run with transformers 5 (rope_parameters) installed: python tests/golden/config/make_hf_configs.py
The version is printed into each file by the library itself.
"""
import pathlib

from transformers import (DeepseekV3Config, GPT2Config, LlamaConfig, MixtralConfig, Qwen3Config,
                          Qwen3MoeConfig)

HERE = pathlib.Path(__file__).parent


def write(name, config):
    (HERE / f"{name}.json").write_text(config.to_json_string(use_diff=False))


write("hf_gpt2", GPT2Config(n_layer=3, n_embd=48, n_head=4, vocab_size=99, n_positions=32))
write(
    "hf_llama",
    LlamaConfig(
        num_hidden_layers=2, hidden_size=64, intermediate_size=160, num_attention_heads=8, num_key_value_heads=2,
        vocab_size=101, max_position_embeddings=256, rms_norm_eps=1e-5, tie_word_embeddings=False,
        rope_parameters={
            "rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 32,
        },
    ),
)
write(
    "hf_qwen3",
    Qwen3Config(
        num_hidden_layers=2, hidden_size=64, intermediate_size=96, num_attention_heads=4, num_key_value_heads=2,
        head_dim=32, vocab_size=103, max_position_embeddings=128, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 1000000.0},
    ),
)
write(
    "hf_mixtral",
    MixtralConfig(
        num_hidden_layers=2, hidden_size=64, intermediate_size=96, num_attention_heads=4, num_key_value_heads=2,
        vocab_size=101, max_position_embeddings=256, num_local_experts=4, num_experts_per_tok=2,
        router_aux_loss_coef=0.02, rope_parameters={"rope_type": "default", "rope_theta": 1000000.0},
    ),
)
write(
    "hf_qwen3_moe",
    Qwen3MoeConfig(
        num_hidden_layers=4, hidden_size=64, intermediate_size=96, moe_intermediate_size=24, num_attention_heads=4,
        num_key_value_heads=2, head_dim=32, vocab_size=103, max_position_embeddings=128, num_experts=8,
        num_experts_per_tok=3, norm_topk_prob=True, mlp_only_layers=[0],
        rope_parameters={"rope_type": "default", "rope_theta": 1000000.0},
    ),
)
write(
    "hf_deepseek_v3",
    DeepseekV3Config(
        num_hidden_layers=3, hidden_size=64, intermediate_size=96, moe_intermediate_size=24, num_attention_heads=4,
        num_key_value_heads=4, vocab_size=103, max_position_embeddings=256, n_routed_experts=8, n_shared_experts=2,
        num_experts_per_tok=2, n_group=4, topk_group=2, first_k_dense_replace=1, q_lora_rank=24, kv_lora_rank=16,
        qk_nope_head_dim=16, qk_rope_head_dim=8, v_head_dim=16,
        rope_parameters={
            "rope_type": "yarn", "rope_theta": 10000.0, "factor": 40.0, "beta_fast": 32, "beta_slow": 1,
            "mscale": 1.0, "mscale_all_dim": 1.0, "original_max_position_embeddings": 64,
        },
    ),
)
