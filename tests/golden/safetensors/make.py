"""Writes small.safetensors with Hugging Face's safetensors library, the reference writer.

The values are counters, so that tests can say what must be in the file. Run in this folder:
    python make.py
"""
import torch
from safetensors.torch import save_file

save_file(
    {
        "b.bf16": torch.arange(6, dtype=torch.float32).reshape(2, 3).to(torch.bfloat16),
        "a.f32": torch.arange(4, dtype=torch.float32).reshape(4),
        "z.f64": torch.tensor(0.5, dtype=torch.float64),
        "c.f32": torch.arange(3, dtype=torch.float32).reshape(3, 1) + 10,
        "quote\"d": torch.tensor([1, -2], dtype=torch.int32),
        "bytes": torch.tensor([7, 8, 9], dtype=torch.uint8),
        "empty": torch.zeros((0, 5), dtype=torch.float32),
    },
    "small.safetensors",
    metadata={"format": "pt"},
)
