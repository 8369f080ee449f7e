#!/usr/bin/env python3
"""Makes rope.txt: what Hugging Face's transformers computes for each scaling of rotary positions.

    python tests/golden/rope/make_rope_goldens.py > tests/golden/rope/rope.txt      # needs torch and transformers

A case is two kinds of lines:
    case LAYOUT SCALING theta D factor low_freq_factor high_freq_factor original_context beta_fast beta_slow amplitude
    frequencies  D/2 numbers
    rotated P    D numbers: the head x[d] = ((37 d + 11) mod 64 - 32) / 32 at position P
Hugging Face computes in f32. ntk is its dynamic form at the length where its base is the fixed one's:
factor * length / context - (factor - 1) = factor.
"""
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb as apply_interleaved
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

POSITIONS = [0, 1, 7, 63, 100]
CASES = [
    # layout, scaling, theta, D, factor, low, high, original context, beta_fast, beta_slow
    ("half", "none", 10000.0, 32, 1.0, 1.0, 4.0, 0, 32.0, 1.0),
    ("interleaved", "none", 10000.0, 32, 1.0, 1.0, 4.0, 0, 32.0, 1.0),
    ("half", "linear", 10000.0, 32, 4.0, 1.0, 4.0, 0, 32.0, 1.0),
    ("half", "ntk", 10000.0, 32, 4.0, 1.0, 4.0, 0, 32.0, 1.0),
    ("half", "yarn", 10000.0, 64, 16.0, 1.0, 4.0, 4096, 32.0, 1.0),
    ("half", "yarn", 1000000.0, 128, 4.0, 1.0, 4.0, 32768, 32.0, 1.0),
    ("half", "llama3", 500000.0, 64, 32.0, 1.0, 4.0, 8192, 32.0, 1.0),
    ("interleaved", "llama3", 500000.0, 128, 8.0, 1.0, 4.0, 8192, 32.0, 1.0),
]


def embedding_of(scaling, theta, dim, factor, low, high, original, fast, slow):
    parameters = {"rope_theta": theta, "rope_type": {"none": "default", "ntk": "dynamic"}.get(scaling, scaling)}
    context = original or 64
    if scaling != "none":
        parameters["factor"] = factor
    if scaling in ("yarn", "llama3"):
        parameters["original_max_position_embeddings"] = original
    if scaling == "yarn":
        parameters |= {"beta_fast": fast, "beta_slow": slow}
    if scaling == "llama3":
        parameters |= {"low_freq_factor": low, "high_freq_factor": high}
    if scaling in ("yarn", "llama3"):
        context = int(original * factor)
    config = LlamaConfig(head_dim=dim, hidden_size=dim, num_attention_heads=1, max_position_embeddings=context,
                         rope_parameters=parameters)
    if scaling == "ntk":
        length = int(context * (2 * factor - 1) / factor)
        return ROPE_INIT_FUNCTIONS["dynamic"](config, "cpu", seq_len=length)
    rope = LlamaRotaryEmbedding(config)
    return rope.inv_freq, rope.attention_scaling


def text(values):
    return " ".join(f"{float(v):.9g}" for v in values)


for layout, scaling, theta, dim, *settings in CASES:
    frequencies, amplitude = embedding_of(scaling, theta, dim, *settings)
    print("case", layout, scaling, text([theta]), dim, text(settings), text([amplitude]))
    print("frequencies", text(frequencies))
    x = torch.tensor([((37 * d + 11) % 64 - 32) / 32 for d in range(dim)])
    for position in POSITIONS:
        angle = position * frequencies
        if layout == "half":
            wide = torch.cat([angle, angle])[None, None]
            y, _ = apply_rotary_pos_emb(x.view(1, 1, 1, dim), x.view(1, 1, 1, dim), wide.cos() * amplitude,
                                        wide.sin() * amplitude)
        else:
            y = apply_interleaved(x.view(1, 1, 1, dim), angle.sin()[None, None], angle.cos()[None, None])
        print("rotated", position, text(y.flatten()))
