#!/usr/bin/env python3
"""Makes the goldens of "PyTorch agrees": a small GPT-2 and a small Llama trained for a few steps.

    python tests/golden/torch/make_model_goldens.py tests/golden/torch     # needs numpy and torch (CPU)

The models are written out below in plain PyTorch. Weights and tokens are not shipped: both sides compute them
with uniform(seed, purpose, index) in [0, 1) of src/base/random.h (Philox4x32-10), in f64, seed 1:

    element i of parameter NAME   u = uniform("golden/" + NAME, i), row-major, rounded to f32 last
                                  norm weights (names ending in norm.weight)   1 + (u - 0.5) * 0.2
                                  all else                                     (u - 0.5) * 0.2
    token t of sequence k         at = k * (T + 1) + t, 0 <= t <= T
                                  t > 0 and uniform("golden/copy", at) < 0.5   (5 * previous + 17) % V
                                  else  floor(((u * u) * u) * V),  u = uniform("golden/tokens", at)

Step s takes sequences 4 s ... 4 s + 3 in order: two micro-batches of two. Inputs are tokens 0 ... T-1, targets
tokens 1 ... T. In the case gpt2_masked targets with t >= 40 of sequences with k % 4 == 1 are ignored, so that
micro-batches count different numbers of tokens.

CASE.json, one per case, all in f32 on one thread:
    model, optimizer        settings; see MODELS and OPTIMIZER below
    loss[s], grad_norm[s]   sum of token losses over counted tokens of the whole step; norm before clipping
    lr[s]
    counted[s]              tokens
                            (eps is 1e-6, not 1e-8: an element whose gradient is as small as rounding errors would
                            otherwise take a step of a size that those decide)
    noise                   relative differences of this run from the same in f64, as a measure of f32's own error:
                            loss, grad_norm, weights (rms(a - b) / rms(b), of the worst tensor), element (the worst
                            |a - b| / rms(b)). The promise of 1e-5 is for the first three
    tensors.NAME            after the last step: shape, sum and sum_squares (in f64), and samples: the
                            elements n * floor(size / 16), n = 0, 1, ..., of which there are at most 16.
                            For layers.N.attn.qkv.bias all of it leaves out the rows of the keys ("rows_left_out"):
                            their gradient is zero by mathematics (softmax ignores a constant), so AdamW
                            would blow rounding errors up to full steps.

CASE_bf16.json: loss curves of 100 steps, parameters and activations in bf16 (f32 master weights, gradients
summed in f32): "f32" is the f32 run; "bf16" holds four bf16 runs, of which all but the first start from weights
moved by up to half a unit of bf16's last place (times 1 + 2^-9 v, v uniform in [-1, 1)). Their spread is the
noise of PyTorch's bf16.
"""
import json
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F

SEED = 1
T, V, MICRO, ACCUMULATION = 64, 257, 2, 2
STEPS, CURVE_STEPS = 10, 100

MODELS = {
    "gpt2": dict(family="gpt2", layers=2, width=64, heads=4, kv_heads=4, head_dim=16, ffn=256, vocab=V,
                 context=T, norm_eps=1e-5, activation="gelu_tanh", tie_embeddings=True, bias=True),
    "llama": dict(family="llama", layers=3, width=64, heads=4, kv_heads=2, head_dim=16, ffn=176, vocab=V,
                  context=T, norm_eps=1e-6, activation="swiglu", tie_embeddings=False, bias=False,
                  qk_norm=True, rope_theta=10000.0, rope_layout="half",
                  rope_scaling=dict(kind="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                    original_context=32)),
}
OPTIMIZER = dict(lr=1e-3, beta1=0.9, beta2=0.95, eps=1e-6, weight_decay=0.1, clip_norm=1.0,
                 lr_kind="cosine", warmup_steps=2, min_ratio=0.1)


# ---- Philox4x32-10, as in src/base/random.cpp.

def hash_name(text):
    h = 0xcbf29ce484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001b3) % 2**64
    h ^= h >> 32
    h = (h * 0x9e3779b97f4a7c15) % 2**64
    return h ^ (h >> 29)


def uniform(purpose, count, first=0):
    """f64[count]: numbers first, first + 1, ... of the stream."""
    index = np.arange(first, first + count, dtype=np.uint64)
    low, shift = np.uint64(0xffffffff), np.uint64(32)
    h = hash_name(purpose)
    c = [index & low, index >> shift, np.full_like(index, h & 0xffffffff), np.full_like(index, h >> 32)]
    k = [SEED & 0xffffffff, SEED >> 32]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(b >> shift) ^ c[1] ^ np.uint64(k[0]), b & low, (a >> shift) ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    bits = (c[1] << shift) | c[0]
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


# ---- Weights and batches.

def parameter_shapes(m):
    c, d, f = m["width"], m["head_dim"], m["ffn"]
    rows = (m["heads"] + 2 * m["kv_heads"]) * d
    norm = ["weight", "bias"] if m["bias"] else ["weight"]
    shapes = {"embed.weight": (m["vocab"], c)}
    if m["family"] == "gpt2":
        shapes["positions.weight"] = (m["context"], c)

    def linear(name, outputs, inputs):
        shapes[name + ".weight"] = (outputs, inputs)
        if m["bias"]:
            shapes[name + ".bias"] = (outputs,)

    for n in range(m["layers"]):
        layer = f"layers.{n}."
        shapes.update({layer + "attn_norm." + p: (c,) for p in norm})
        linear(layer + "attn.qkv", rows, c)
        if m.get("qk_norm"):
            shapes[layer + "attn.q_norm.weight"] = shapes[layer + "attn.k_norm.weight"] = (d,)
        linear(layer + "attn.out", c, m["heads"] * d)
        shapes.update({layer + "mlp_norm." + p: (c,) for p in norm})
        if m["activation"] == "swiglu":
            linear(layer + "mlp.gate_up", 2 * f, c)
        else:
            linear(layer + "mlp.up", f, c)
        linear(layer + "mlp.down", c, f)
    shapes.update({"final_norm." + p: (c,) for p in norm})
    if not m["tie_embeddings"]:
        shapes["head.weight"] = (m["vocab"], c)
    return shapes


def initial_weights(m):
    weights = {}
    for name, shape in parameter_shapes(m).items():
        u = (uniform("golden/" + name, math.prod(shape)) - 0.5) * 0.2
        if name.endswith("norm.weight"):
            u = 1 + u
        weights[name] = torch.from_numpy(u.astype(np.float32).reshape(shape))
    return weights


def sequence(k):
    u, copy = uniform("golden/tokens", T + 1, k * (T + 1)), uniform("golden/copy", T + 1, k * (T + 1))
    fresh = np.floor(((u * u) * u) * V).astype(np.int64)
    tokens = [int(fresh[0])]
    for t in range(1, T + 1):
        tokens.append((5 * tokens[-1] + 17) % V if copy[t] < 0.5 else int(fresh[t]))
    return tokens


def micro_batch(step, i, masked):
    first = (step * ACCUMULATION + i) * MICRO
    rows = torch.tensor([sequence(k) for k in range(first, first + MICRO)])
    inputs, targets = rows[:, :-1], rows[:, 1:].clone()
    if masked:
        for j in range(MICRO):
            if (first + j) % 4 == 1:
                targets[j, 40:] = -100
    return inputs, targets


# ---- The models.

def rope_tables(m, dtype):
    d, s = m["head_dim"], m["rope_scaling"]
    frequency = m["rope_theta"] ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    turns = s["original_context"] * frequency / (2 * math.pi)
    kept = ((turns - s["low_freq_factor"]) / (s["high_freq_factor"] - s["low_freq_factor"])).clamp(0, 1)
    frequency = frequency * ((1 - kept) / s["factor"] + kept)
    angle = torch.arange(T, dtype=torch.float64)[:, None] * frequency[None, :]
    wide = torch.cat([angle, angle], dim=1)  # [T, D]
    return wide.cos().to(dtype), wide.sin().to(dtype)


def rotate(x_BHTD, cos_TD, sin_TD):
    a, b = x_BHTD.chunk(2, dim=-1)
    x = x_BHTD.to(cos_TD.dtype)
    return (x * cos_TD + torch.cat([-b, a], dim=-1).to(cos_TD.dtype) * sin_TD).to(x_BHTD.dtype)


def attention(m, w, layer, x_BTC, tables):
    b, t, _ = x_BTC.shape
    h, k, d = m["heads"], m["kv_heads"], m["head_dim"]
    qkv = F.linear(x_BTC, w[layer + "qkv.weight"], w.get(layer + "qkv.bias"))
    q, key, value = (part.view(b, t, -1, d).transpose(1, 2) for part in qkv.split([h * d, k * d, k * d], dim=-1))
    if m.get("qk_norm"):
        q = F.rms_norm(q, (d,), w[layer + "q_norm.weight"], m["norm_eps"])
        key = F.rms_norm(key, (d,), w[layer + "k_norm.weight"], m["norm_eps"])
    if tables is not None:
        q, key = rotate(q, *tables), rotate(key, *tables)
    key, value = (part.repeat_interleave(h // k, dim=1) for part in (key, value))
    y = F.scaled_dot_product_attention(q, key, value, is_causal=True)
    return F.linear(y.transpose(1, 2).reshape(b, t, h * d), w[layer + "out.weight"], w.get(layer + "out.bias"))


def norm(m, w, name, x):
    shape = (m["width"],)
    if m["family"] == "gpt2":
        return F.layer_norm(x, shape, w[name + ".weight"], w.get(name + ".bias"), m["norm_eps"])
    return F.rms_norm(x, shape, w[name + ".weight"], m["norm_eps"])


def feed_forward(m, w, layer, x):
    if m["activation"] == "swiglu":
        gate, up = F.linear(x, w[layer + "gate_up.weight"]).chunk(2, dim=-1)
        hidden = F.silu(gate) * up
    else:
        hidden = F.gelu(F.linear(x, w[layer + "up.weight"], w.get(layer + "up.bias")), approximate="tanh")
    return F.linear(hidden, w[layer + "down.weight"], w.get(layer + "down.bias"))


def loss_sum(m, w, inputs, targets):
    """The sum of token losses over targets that are not -100."""
    x = w["embed.weight"][inputs]
    tables = None
    if m["family"] == "gpt2":
        x = x + w["positions.weight"][: inputs.shape[1]]
    else:
        tables = rope_tables(m, torch.float64 if x.dtype == torch.float64 else torch.float32)
    for n in range(m["layers"]):
        layer = f"layers.{n}."
        x = x + attention(m, w, layer + "attn.", norm(m, w, layer + "attn_norm", x), tables)
        x = x + feed_forward(m, w, layer + "mlp.", norm(m, w, layer + "mlp_norm", x))
    x = norm(m, w, "final_norm", x)
    logits = F.linear(x, w["embed.weight" if m["tie_embeddings"] else "head.weight"])
    wide = logits if logits.dtype == torch.float64 else logits.float()
    return F.cross_entropy(wide.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum")


# ---- Training.

def learning_rate(step, steps):
    peak, warmup, ratio = OPTIMIZER["lr"], OPTIMIZER["warmup_steps"], OPTIMIZER["min_ratio"]
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    progress = (step - warmup) / (steps - warmup)
    return peak * (ratio + (1 - ratio) * 0.5 * (1 + math.cos(math.pi * progress)))


def train(m, steps, masked=False, master=torch.float32, compute=torch.float32, moved=None):
    """Losses, grad norms, counted tokens and the final master weights."""
    weights = {name: x.to(master) for name, x in initial_weights(m).items()}
    if moved is not None:
        for name, x in weights.items():
            v = torch.from_numpy(uniform(f"golden/moved/{moved}/{name}", x.numel()) * 2 - 1).view(x.shape)
            x.mul_((1 + 2.0**-9 * v).to(master))
    for x in weights.values():
        x.requires_grad_(True)
    o = OPTIMIZER
    optimizer = torch.optim.AdamW(
        [{"params": [x for x in weights.values() if x.dim() >= 2], "weight_decay": o["weight_decay"]},
         {"params": [x for x in weights.values() if x.dim() < 2], "weight_decay": 0.0}],
        lr=o["lr"], betas=(o["beta1"], o["beta2"]), eps=o["eps"], foreach=False)
    losses, norms, counts = [], [], []
    for step in range(steps):
        batches = [micro_batch(step, i, masked) for i in range(ACCUMULATION)]
        counted = sum(int((targets >= 0).sum()) for _, targets in batches)
        optimizer.zero_grad()
        total = 0.0
        for inputs, targets in batches:
            copies = {name: x.detach().to(compute).requires_grad_(True) for name, x in weights.items()}
            loss = loss_sum(m, copies, inputs, targets)
            loss.backward()
            total += float(loss.detach())
            for name, x in weights.items():
                grad = copies[name].grad.to(master)
                x.grad = grad if x.grad is None else x.grad + grad
        for x in weights.values():
            x.grad /= counted
        norms.append(float(torch.nn.utils.clip_grad_norm_(list(weights.values()), o["clip_norm"], foreach=False)))
        losses.append(total / counted)
        counts.append(counted)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps)
        optimizer.step()
    return losses, norms, counts, {name: x.detach() for name, x in weights.items()}


# ---- Writing.

def f32(x):
    return float(f"{float(x):.9g}")


def kept_rows(m, name, x):
    """Without the keys' rows of a qkv bias."""
    if not name.endswith("attn.qkv.bias"):
        return x, None
    first, last = m["heads"] * m["head_dim"], (m["heads"] + m["kv_heads"]) * m["head_dim"]
    return torch.cat([x[:first], x[last:]]), [first, last]


def describe(m, name, x):
    kept, left_out = kept_rows(m, name, x)
    flat = kept.flatten()
    wide = flat.double()
    stride = max(1, flat.numel() // 16)
    entry = {"shape": list(x.shape), "sum": float(wide.sum()), "sum_squares": float((wide * wide).sum()),
             "samples": [f32(v) for v in flat[::stride][:16]]}
    if left_out:
        entry["rows_left_out"] = left_out
    return entry


def noise(m, run, exact):
    def relative(a, b):
        return max(abs(x - y) / abs(y) for x, y in zip(a, b))

    def of_tensor(name):
        a, b = (kept_rows(m, name, w[3][name].double())[0] for w in (run, exact))
        error, size = (a - b).abs(), b.square().mean().sqrt()
        return float(error.square().mean().sqrt() / size), float(error.max() / size)

    weights, elements = zip(*(of_tensor(name) for name in run[3]))
    return {"loss": relative(run[0], exact[0]), "grad_norm": relative(run[1], exact[1]),
            "weights": max(weights), "element": max(elements)}


def write(path, content):
    with open(path, "w") as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def main(folder):
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for case, model, masked in [("gpt2", "gpt2", False), ("gpt2_masked", "gpt2", True), ("llama", "llama", False)]:
        m = MODELS[model]
        run = train(m, STEPS, masked)
        exact = train(m, STEPS, masked, torch.float64, torch.float64)
        losses, norms, counts, weights = run
        content = {"model": m, "optimizer": OPTIMIZER | {"decay_steps": STEPS},
                   "batch": {"seq_len": T, "micro": MICRO, "accumulation": ACCUMULATION, "masked": masked},
                   "torch": torch.__version__.split("+")[0], "loss": losses, "grad_norm": norms,
                   "counted": counts, "lr": [learning_rate(s, STEPS) for s in range(STEPS)],
                   "noise": noise(m, run, exact),
                   "tensors": {name: describe(m, name, x) for name, x in weights.items()}}
        write(f"{folder}/{case}.json", content)
        print(case, "loss", losses[0], losses[-1], "norm", norms[0], norms[-1], "noise", content["noise"])
    for model, m in MODELS.items():
        curves = [train(m, CURVE_STEPS, compute=torch.bfloat16, moved=n or None)[0] for n in range(4)]
        reference = train(m, CURVE_STEPS)[0]
        write(f"{folder}/{model}_bf16.json",
              {"model": model, "optimizer": OPTIMIZER | {"decay_steps": CURVE_STEPS},
               "f32": [f32(x) for x in reference], "bf16": [[f32(x) for x in curve] for curve in curves]})
        spread = max(max(column) - min(column) for column in zip(*curves))
        print(model, "bf16: last losses", [c[-1] for c in curves], "f32", reference[-1], "largest spread", spread)


if __name__ == "__main__":
    main(sys.argv[1])
