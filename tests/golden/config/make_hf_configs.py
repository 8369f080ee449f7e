"""Writes config.json files as the transformers library writes them, for tests/config/hf_config_test.cpp.

Run with transformers 5 (rope_parameters) installed: python tests/golden/config/make_hf_configs.py
The version is printed into each file by the library itself.
"""
import pathlib

from transformers import GPT2Config, LlamaConfig, Qwen3Config

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
