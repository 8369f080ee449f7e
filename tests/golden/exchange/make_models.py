#!/usr/bin/env python3
"""Makes the goldens of weights that transformers saved: a tiny model of each family.

    python tests/golden/exchange/make_models.py tests/golden/exchange   # needs torch (CPU), transformers 5

FAMILY/ is what save_pretrained wrote (bf16; Mixtral in shards) and golden.json: "ids", and "logits" after each of
them, f32 [ids, vocab] from f32 arithmetic on the saved weights. All weights are drawn so that each matters, norms
and choosing biases too.
"""
import json
import os
import sys

import torch
import transformers as t

V, T, IDS = 48, 32, 12
PLAIN = {"rope_type": "default", "rope_theta": 10000.0}
GATED = dict(vocab_size=V, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=T, bos_token_id=None, eos_token_id=None,
             pad_token_id=None, attn_implementation="eager")
EXPERTS = GATED | dict(num_experts_per_tok=2)


def models():
    return {
        "gpt2": t.GPT2LMHeadModel(t.GPT2Config(
            vocab_size=V, n_positions=T, n_embd=16, n_layer=2, n_head=4, bos_token_id=None, eos_token_id=None,
            attn_implementation="eager")),
        "llama": t.LlamaForCausalLM(t.LlamaConfig(
            **GATED, head_dim=8, rope_parameters=PLAIN | {
                "rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": 16})),
        "qwen3": t.Qwen3ForCausalLM(t.Qwen3Config(
            **GATED, head_dim=8, tie_word_embeddings=True, rope_parameters=PLAIN, use_sliding_window=True,
            sliding_window=5, max_window_layers=0)),
        "mixtral": t.MixtralForCausalLM(t.MixtralConfig(**EXPERTS, num_local_experts=4, rope_parameters=PLAIN)),
        "qwen3_moe": t.Qwen3MoeForCausalLM(t.Qwen3MoeConfig(
            **EXPERTS, num_experts=4, moe_intermediate_size=8, head_dim=8, mlp_only_layers=[0],
            rope_parameters=PLAIN)),
        "deepseek_v3": t.DeepseekV3ForCausalLM(t.DeepseekV3Config(
            **EXPERTS | dict(num_key_value_heads=4), n_routed_experts=4, n_shared_experts=1,
            moe_intermediate_size=8, n_group=2, topk_group=1, first_k_dense_replace=1, q_lora_rank=12,
            kv_lora_rank=8, qk_nope_head_dim=4, qk_rope_head_dim=4, v_head_dim=6,
            rope_parameters=PLAIN | {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8,
                                     "beta_fast": 32, "beta_slow": 1, "mscale": 1.0, "mscale_all_dim": 1.0})),
    }


def draw(model):
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, x in list(model.named_parameters()) + list(model.named_buffers()):
            if "inv_freq" in name:
                continue
            noise = 0.25 * torch.randn(x.shape, generator=generator)
            gain = name.endswith("norm.weight") or ".ln_" in name and name.endswith("weight")
            x.copy_(1 + noise if gain else noise)


def main(folder):
    torch.set_num_threads(1)
    ids = torch.randint(0, V, (IDS,), generator=torch.Generator().manual_seed(3))
    for name, model in models().items():
        draw(model)
        path = f"{folder}/{name}"
        model.to(torch.bfloat16).save_pretrained(path, max_shard_size="12KB" if name == "mixtral" else "5GB")
        os.remove(f"{path}/generation_config.json")
        loaded = t.AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32, attn_implementation="eager").eval()
        with torch.no_grad():
            logits = loaded(ids[None]).logits[0].float()
        with open(f"{path}/golden.json", "w") as file:
            json.dump({"transformers": t.__version__, "ids": ids.tolist(),
                       "logits": [[float(f"{x:.8g}") for x in row] for row in logits.tolist()]}, file)
            file.write("\n")
        print(name, sum(os.path.getsize(f"{path}/{x}") for x in os.listdir(path)), float(logits.abs().max()))


if __name__ == "__main__":
    main(sys.argv[1])
