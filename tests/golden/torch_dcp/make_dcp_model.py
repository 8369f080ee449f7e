"""Writes the weights of one tiny Llama in three forms, for tests of imports from end to end.

    model/hf/         a Hugging Face folder: config.json and model.safetensors, f32
    model/dcp_hf/     torch.distributed.checkpoint, one process: transformers' names, under "model."
    model/dcp_titan/  torch.distributed.checkpoint, two processes: torchtitan's names, some cut by rows, with part of
                      an AdamW's state and what else torchtitan saves; the rows of wq and wk in its order

Run in this folder (made with torch 2.15.0 on the CPU, transformers 5.24.0):
    python make_dcp_model.py
It starts itself with torchrun for the folder of two processes. One layer, since each cut takes 1.5 kB.
"""
import os
import shutil
import subprocess
import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import transformers as t
from safetensors.torch import load_file
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

HEADS, KV_HEADS, HEAD_DIM = 2, 1, 4
CUT = ("embed_tokens", "q_proj", "k_proj")
TITAN = {
    "model.embed_tokens.weight": "tok_embeddings.weight",
    "model.layers.0.input_layernorm.weight": "layers.0.attention_norm.weight",
    "model.layers.0.self_attn.q_proj.weight": "layers.0.attention.wq.weight",
    "model.layers.0.self_attn.k_proj.weight": "layers.0.attention.wk.weight",
    "model.layers.0.self_attn.v_proj.weight": "layers.0.attention.wv.weight",
    "model.layers.0.self_attn.o_proj.weight": "layers.0.attention.wo.weight",
    "model.layers.0.post_attention_layernorm.weight": "layers.0.ffn_norm.weight",
    "model.layers.0.mlp.gate_proj.weight": "layers.0.feed_forward.w1.weight",
    "model.layers.0.mlp.down_proj.weight": "layers.0.feed_forward.w2.weight",
    "model.layers.0.mlp.up_proj.weight": "layers.0.feed_forward.w3.weight",
    "model.norm.weight": "norm.weight",
    "lm_head.weight": "output.weight",
}


def neighbours(weight, heads):
    """From pairs half a head apart to pairs side by side."""
    return weight.reshape(heads, 2, HEAD_DIM // 2, -1).transpose(1, 2).reshape(weight.shape)


def hf():
    model = t.LlamaForCausalLM(t.LlamaConfig(
        vocab_size=16, hidden_size=8, intermediate_size=12, num_hidden_layers=1, num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS, head_dim=HEAD_DIM, max_position_embeddings=16, bos_token_id=None,
        eos_token_id=None, pad_token_id=None, rope_parameters={"rope_type": "default", "rope_theta": 10000.0}))
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    model.save_pretrained("model/hf")
    os.remove("model/hf/generation_config.json")
    os.chmod("model/hf/model.safetensors", 0o644)


def dcp_hf():
    dcp.save({"model": load_file("model/hf/model.safetensors")}, checkpoint_id="model/dcp_hf")


def dcp_titan():
    mesh = init_device_mesh("cpu", (2,))
    state = {}
    for name, weight in load_file("model/hf/model.safetensors").items():
        if "q_proj" in name or "k_proj" in name:
            weight = neighbours(weight, HEADS if "q_proj" in name else KV_HEADS)
        state[TITAN[name]] = distribute_tensor(weight, mesh, [Shard(0) if any(cut in name for cut in CUT) else Replicate()])
    moment = distribute_tensor(torch.ones(8, 8), mesh, [Replicate()])
    state["optimizer"] = {"state.layers.0.attention.wq.weight.exp_avg": moment,
                          "param_groups.layers.0.attention.wq.weight.lr": 0.1}
    state["lr_scheduler"] = {"last_epoch": 3}
    state["train_state"] = {"step": 3}
    dcp.save(state, checkpoint_id="model/dcp_titan")


def main():
    if len(sys.argv) == 2:
        dist.init_process_group("gloo")
        dcp_titan()
        dist.destroy_process_group()
        return
    shutil.rmtree("model", ignore_errors=True)
    hf()
    dcp_hf()
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    subprocess.run([*torchrun, os.path.abspath(__file__), "titan"], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


if __name__ == "__main__":
    main()
