#!/usr/bin/env python3
"""Makes activation.txt: PyTorch's activations and their derivatives in f64.

    python tests/golden/activation/make_activation_goldens.py > tests/golden/activation/activation.txt   # needs torch

A line is: kind x value slope. The x are multiples of 1/16, so they are exact in f32 and bf16.
"""
import torch
import torch.nn.functional as F

KINDS = {"gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "gelu": F.gelu, "relu2": lambda x: F.relu(x).square()}

for kind, function in KINDS.items():
    for sixteenth in range(-160, 161, 5):
        x = torch.tensor(sixteenth / 16, dtype=torch.float64, requires_grad=True)
        y = function(x)
        y.backward()
        print(kind, f"{float(x.detach()):.9g} {float(y.detach()):.17g} {float(x.grad):.17g}")
