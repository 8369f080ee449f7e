"""Attention and its gradient from PyTorch, for tests/ops/attention_test.cpp.

    python make_attention_goldens.py > attention.txt

Inputs are formulas (qkv[i] = sin(0.37 i), dy[i] = cos(0.21 i)), so only outputs are stored: for each setting its
name, then y, log-sum-exp and dqkv, a line each.
"""
import math

import torch

T, H, K, D = 7, 4, 2, 6


def wave(function, step, *shape):
    count = math.prod(shape)
    return torch.tensor([function(step * i) for i in range(count)], dtype=torch.float64).reshape(shape)


def attention(qkv, window=0, softcap=0.0, scale=0.0, doc_start=None):
    q, k, v = qkv.split([H * D, K * D, K * D], dim=-1)
    q = q.view(T, H, D).transpose(0, 1)
    k = k.view(T, K, D).transpose(0, 1).repeat_interleave(H // K, dim=0)
    v = v.view(T, K, D).transpose(0, 1).repeat_interleave(H // K, dim=0)
    scores = q @ k.transpose(1, 2) * (scale or D**-0.5)
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    t, s = torch.arange(T)[:, None], torch.arange(T)[None, :]
    seen = s <= t
    if window:
        seen = seen & (s > t - window)
    if doc_start is not None:
        seen = seen & (s >= torch.tensor(doc_start)[:, None])
    scores = scores.masked_fill(~seen, -math.inf)
    y = (torch.softmax(scores, dim=-1) @ v).transpose(0, 1).reshape(T, H * D)
    return y, torch.logsumexp(scores, dim=-1)


SETTINGS = {
    "grouped": {},
    "window": {"window": 3},
    "softcap": {"softcap": 1.5, "scale": 0.8},
    "documents": {"doc_start": [0, 0, 0, 3, 3, 5, 5]},
}

for name, options in SETTINGS.items():
    qkv = wave(math.sin, 0.37, T, (H + 2 * K) * D).requires_grad_()
    y, lse = attention(qkv, **options)
    y.backward(wave(math.cos, 0.21, T, H * D))
    print(name)
    for tensor in (y, lse, qkv.grad):
        print(" ".join(f"{x:.8g}" for x in tensor.flatten().tolist()))
