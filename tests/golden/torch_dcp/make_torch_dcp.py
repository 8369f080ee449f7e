"""Writes small torch.distributed.checkpoint folders with PyTorch, and beside each what is in it.

    single/       one process: dtypes, a scalar, an empty tensor, non-tensors, tied weights, an optimizer
    fsdp2/        two processes, FSDP2 (fully_shard), uneven shards, with AdamW's state
    grid/         four processes, DTensors on a 2 x 2 mesh, uneven and empty shards
    hf_sharded/   two processes, HuggingFaceStorageWriter: safetensors in DCP
    no_crc/       one process, without checksums
    saved/        single tensors of torch.save: part of a larger storage, and one with other strides
    NAME.expected.safetensors   the weights of NAME, whole, as plain safetensors

Run in this folder (made with torch 2.15.0 on the CPU, safetensors 0.8.0):
    python make_torch_dcp.py
It starts itself with torchrun for the folders of several processes.
"""
import os
import shutil
import subprocess
import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from safetensors.torch import save_file
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter
from torch.distributed.checkpoint.state_dict import get_model_state_dict, get_optimizer_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor


def numbers(*shape, dtype=torch.float32, first=0):
    """Counters, exact in every dtype."""
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.float32) + first).reshape(shape).to(dtype)


def expect(name, tensors):
    # One storage per tensor, since safetensors refuses shared ones.
    file = f"{name}.expected.safetensors"
    save_file({key: value.detach().clone().contiguous() for key, value in tensors.items()}, file)
    os.chmod(file, 0o644)


def single():
    tied = numbers(4, 2, first=40)
    weights = {
        "f32": numbers(2, 3),
        "nested.deeper.bf16": numbers(3, 2, dtype=torch.bfloat16, first=10),
        "f16": numbers(5, dtype=torch.float16, first=20),
        "nested.f64": numbers(2, 1, 2, dtype=torch.float64, first=30),
        "scalar": torch.tensor(1.5, dtype=torch.bfloat16),
        "empty": torch.zeros(0, 4),
        "tied.a": tied,
        "tied.b": tied,
        "view": numbers(6, 2, first=60)[2:5],
    }
    state = {
        "f32": torch.nn.Parameter(weights["f32"]),
        "nested": {"deeper": {"bf16": weights["nested.deeper.bf16"]}, "f64": weights["nested.f64"], "note": "text"},
        "f16": weights["f16"],
        "scalar": weights["scalar"],
        "empty": weights["empty"],
        "tied": {"a": tied, "b": tied},
        "view": weights["view"],
        "optimizer": {"state": {"f32": {"exp_avg": torch.zeros(2, 3)}}},
        "train_state": {"step": torch.tensor(7, dtype=torch.int32)},
    }
    dcp.save(state, checkpoint_id="single")
    expect("single", weights)


def no_crc():
    torch.serialization.set_crc32_options(False)
    dcp.save({"w": numbers(2, 2)}, checkpoint_id="no_crc")
    torch.serialization.set_crc32_options(True)


def saved():
    os.makedirs("saved")
    torch.save(numbers(6, 2)[2:5], "saved/view.pt")
    torch.save(numbers(2, 3).t(), "saved/transposed.pt")


def fsdp2():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3, bias=False), torch.nn.Linear(3, 5, bias=False))
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers(*parameter.shape, first=100 * i))
    whole = {key: value.clone() for key, value in model.state_dict().items()}
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, weight_decay=0.0)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    state = {"model": get_model_state_dict(model), "optimizer": get_optimizer_state_dict(model, optimizer)}
    moments = state["optimizer"]["state"]["0.weight"]
    state["optimizer"] = {"state": {"0.weight": {"exp_avg": moments["exp_avg"]}}}  # small
    dcp.save(state, checkpoint_id="fsdp2")
    if dist.get_rank() == 0:
        expect("fsdp2", {f"model.{key}": value for key, value in whole.items()})


def grid():
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("fsdp", "tp"))
    wholes = {
        "layers.0.wq": (numbers(5, 3), [Shard(0), Shard(1)]),
        "layers.0.wo": (numbers(3, 3, dtype=torch.bfloat16, first=50), [Shard(0), Shard(0)]),
        "norm": (numbers(3, first=70), [Replicate(), Replicate()]),
    }
    dcp.save({key: distribute_tensor(value, mesh, cut) for key, (value, cut) in wholes.items()}, checkpoint_id="grid")
    if dist.get_rank() == 0:
        expect("grid", {key: value for key, (value, _) in wholes.items()})


def hf_sharded():
    mesh = init_device_mesh("cpu", (2,))
    wholes = {
        "a": (numbers(5, 3), [Shard(0)]),
        "b": (numbers(1, 2, dtype=torch.bfloat16, first=30), [Shard(0)]),
        "c": (numbers(3, dtype=torch.float16, first=40), [Replicate()]),
    }
    state = {key: distribute_tensor(value, mesh, cut) for key, (value, cut) in wholes.items()}
    dcp.save(state, storage_writer=HuggingFaceStorageWriter("hf_sharded", save_distributed=True))
    if dist.get_rank() == 0:
        expect("hf_sharded", {key: value for key, (value, _) in wholes.items()})


def main():
    if len(sys.argv) == 2:
        dist.init_process_group("gloo")
        {"fsdp2": fsdp2, "grid": grid, "hf_sharded": hf_sharded}[sys.argv[1]]()
        dist.destroy_process_group()
        return
    for name in ("single", "no_crc", "fsdp2", "grid", "hf_sharded", "saved"):
        shutil.rmtree(name, ignore_errors=True)
    single()
    no_crc()
    saved()
    for name, processes in (("fsdp2", 2), ("grid", 4), ("hf_sharded", 2)):
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(processes)]
        subprocess.run([*torchrun, os.path.abspath(__file__), name], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


if __name__ == "__main__":
    main()
