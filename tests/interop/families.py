"""Tiny models of the six families: as configs of this project, and as transformers makes them."""
import torch
import transformers as t

V, T = 300, 64
ROPE = {"rope_type": "default", "rope_theta": 10000.0}
GATED = dict(vocab_size=V, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=T, initializer_range=0.2, bos_token_id=None,
             eos_token_id=None, pad_token_id=None, attn_implementation="eager")
EXPERTS = GATED | dict(num_experts_per_tok=2)
LATENT = EXPERTS | dict(num_hidden_layers=3, num_key_value_heads=4, n_routed_experts=4, n_shared_experts=2,
                        moe_intermediate_size=16, n_group=2, topk_group=1, first_k_dense_replace=1, kv_lora_rank=16,
                        qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=10)
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 16,
        "beta_fast": 32, "beta_slow": 1}


def theirs():
    """Models that transformers makes, by name."""
    gpt2 = dict(vocab_size=V, n_positions=T, n_embd=32, n_layer=2, n_head=4, initializer_range=0.2,
                bos_token_id=None, eos_token_id=None, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0,
                attn_implementation="eager")
    return {
        "gpt2": lambda: t.GPT2LMHeadModel(t.GPT2Config(**gpt2)),
        "gpt2_untied": lambda: t.GPT2LMHeadModel(t.GPT2Config(**gpt2 | dict(tie_word_embeddings=False, n_inner=80))),
        "llama": lambda: t.LlamaForCausalLM(t.LlamaConfig(**GATED, head_dim=16, rope_parameters=ROPE)),
        "llama_3": lambda: t.LlamaForCausalLM(t.LlamaConfig(
            **GATED, tie_word_embeddings=True, attention_bias=True, mlp_bias=True,
            rope_parameters=ROPE | {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0,
                                    "high_freq_factor": 4.0, "original_max_position_embeddings": 32})),
        "qwen3": lambda: t.Qwen3ForCausalLM(t.Qwen3Config(**GATED, head_dim=16, rope_parameters=ROPE)),
        "qwen3_window": lambda: t.Qwen3ForCausalLM(t.Qwen3Config(
            **GATED, head_dim=8, rope_parameters=YARN, use_sliding_window=True, sliding_window=12,
            max_window_layers=0)),
        "mixtral": lambda: t.MixtralForCausalLM(t.MixtralConfig(
            **EXPERTS, num_local_experts=4, rope_parameters=ROPE)),
        "mixtral_window": lambda: t.MixtralForCausalLM(t.MixtralConfig(
            **EXPERTS, num_local_experts=4, sliding_window=12, rope_parameters=ROPE)),
        "qwen3_moe": lambda: t.Qwen3MoeForCausalLM(t.Qwen3MoeConfig(
            **EXPERTS, num_experts=4, moe_intermediate_size=16, head_dim=16, mlp_only_layers=[0],
            norm_topk_prob=True, rope_parameters=ROPE)),
        "deepseek_v3": lambda: t.DeepseekV3ForCausalLM(t.DeepseekV3Config(
            **LATENT, q_lora_rank=12, rope_parameters=ROPE)),
        "deepseek_v3_yarn": lambda: t.DeepseekV3ForCausalLM(t.DeepseekV3Config(
            **LATENT, q_lora_rank=None, rope_parameters=YARN | {"mscale": 1.0, "mscale_all_dim": 1.0})),
        "deepseek_v3_half": lambda: t.DeepseekV3ForCausalLM(t.DeepseekV3Config(
            **LATENT, q_lora_rank=12, rope_interleave=False, rope_parameters=ROPE)),
    }


def drawn(model, seed=5):
    """Weights of which every one matters, norms and choosing biases among them."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, x in list(model.named_parameters()) + list(model.named_buffers()):
            if "inv_freq" in name:
                continue
            noise = torch.randn(x.shape, generator=generator)
            x.copy_(1 + 0.2 * noise if x.dim() == 1 and name.endswith("norm.weight") or ".ln_" in name and
                    name.endswith("weight") else 0.2 * noise)
    return model.float().eval()


SHAPE = f"layers = 2\nwidth = 32\nheads = 4\nvocab = {V}\ncontext = {T}\n"
LLAMA = SHAPE + 'family = "llama"\nkv_heads = 2\nffn = 48\n'
LATENT_OURS = (SHAPE.replace("layers = 2", "layers = 3") + 'family = "deepseek"\nffn = 48\nnorm_eps = 1e-6\n'
               "mla = {q_rank = 12, kv_rank = 16, nope_dim = 8, rope_dim = 4, v_dim = 10}\n")
EXPERTS_OURS = "[moe]\nexperts = 4\ntop_k = 2\nexpert_ffn = 16\n"
DEEPSEEK_EXPERTS = EXPERTS_OURS + 'first_dense = 1\nscore = "sigmoid"\ngroups = 2\ntop_groups = 1\nshared_ffn = 32\n'

# Sections [model] and [moe] of what is trained here and exported.
OURS = {
    "gpt2": SHAPE + 'family = "gpt2"\n',
    "gpt2_square": SHAPE + 'family = "gpt2"\nffn = 32\nactivation = "relu2"\ntie_embeddings = false\n',
    "llama": LLAMA,
    "llama_interleaved": LLAMA + 'rope_layout = "interleaved"\nbias = true\ntie_embeddings = true\n',
    "qwen3": LLAMA + "qk_norm = true\nwindow = 12\nhead_dim = 16\n",
    "qwen3_interleaved": LLAMA + 'qk_norm = true\nrope_layout = "interleaved"\n'
                                 'rope_scaling = {kind = "yarn", factor = 4.0}\n',
    "mixtral": LLAMA + "window = 12\n" + EXPERTS_OURS + 'softmax_order = "after"\n',
    "qwen3_moe": LLAMA + "qk_norm = true\n" + EXPERTS_OURS + "first_dense = 1\n",
    "qwen3_moe_every": LLAMA + 'qk_norm = true\nrope_layout = "interleaved"\n' + EXPERTS_OURS +
                       "every = 2\nnormalize = false\n",
    "deepseek_v3": LATENT_OURS + 'rope_layout = "interleaved"\n'
                                 'rope_scaling = {kind = "yarn", factor = 4.0}\n' + DEEPSEEK_EXPERTS,
    "deepseek_v3_half": LATENT_OURS + 'rope_layout = "half"\n' + DEEPSEEK_EXPERTS,
    "deepseek_v3_further": LATENT_OURS + 'mtp = 1\nrope_layout = "half"\n' + DEEPSEEK_EXPERTS,
}
