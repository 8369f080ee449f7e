#!/usr/bin/env python3
"""Transformers and this project read each other's weights and compute the same logits.

    cmake --build build --target trireme interop_logits
    python tests/interop/check_transformers.py build      # needs numpy, torch (CPU), transformers 5

For each model that transformers makes and saves (f32; in shards; bf16): import, our logits against its own; export
again, and what transformers loads from that has the same weights to the bit. For each model of ours, after some
steps of training and as drawn: export, and transformers' logits against ours; AutoTokenizer gives our ids. Largest
differences are printed; more than 1e-4 fails.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

import families

LIMIT = 1e-4
TEXT = "It isn't 12,345 but the naïve café's  \n\n end—ok 你好 \t x"


class Check:
    def __init__(self, build, folder):
        self.trireme = os.path.abspath(f"{build}/src/trireme")
        self.logits_program = os.path.abspath(f"{build}/tests/interop/interop_logits")
        self.folder, self.failed = folder, []

    def run(self, *arguments, stdin=None):
        done = subprocess.run([self.trireme, *arguments], cwd=self.folder, capture_output=True, input=stdin)
        if done.returncode != 0:
            raise RuntimeError(f"trireme {' '.join(arguments)}: {done.stderr.decode()}")
        return done.stdout

    def ours(self, run, ids):
        done = subprocess.run([self.logits_program, run, *map(str, ids)], cwd=self.folder, capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode())
        return np.frombuffer(done.stdout, np.float32).reshape(len(ids), -1)

    def compare(self, what, a, b):
        difference = float(np.abs(a - b).max())
        good = a.shape == b.shape and difference <= LIMIT
        print(f"{what:<44} max |difference| {difference:.2e} of logits up to {np.abs(b).max():.1f}"
              f"{'' if good else '  FAILED'}", flush=True)
        if not good:
            self.failed.append(what)

    def expect(self, what, good):
        if not good:
            print(f"{what}  FAILED")
            self.failed.append(what)


def logits_of(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].float().numpy()


def load(path, dtype=torch.float32):
    return AutoModelForCausalLM.from_pretrained(path, dtype=dtype, attn_implementation="eager").eval()


def some_ids():
    return torch.randint(0, 256, (40,), generator=torch.Generator().manual_seed(1)).tolist()


def from_theirs(check, name, make):
    ids = some_ids()
    model = families.drawn(make())
    forms = {"f32": (torch.float32, "5GB"), "shards": (torch.float32, "20KB"), "bf16": (torch.bfloat16, "5GB")}
    for form, (dtype, shard) in forms.items():
        path = f"{check.folder}/theirs/{name}-{form}"
        model = model.to(dtype)
        model.save_pretrained(path, max_shard_size=shard)
        check.run("ckpt", "import", "--from", "hf", path, "--out", f"runs/{name}-{form}")
        # bf16 weights, f32 arithmetic, as on our side
        check.compare(f"{name}: transformers -> trireme, {form}", check.ours(f"runs/{name}-{form}", ids),
                      logits_of(load(path), ids))
        again = f"{check.folder}/again/{name}-{form}"
        check.run("ckpt", "export", f"runs/{name}-{form}", "--to", "hf", again, "--dtype",
                  "bf16" if form == "bf16" else "f32", "--max-shard-bytes", "20000")
        before, after = load(path).state_dict(), load(again).state_dict()
        # What pairs rotated dims half a head apart goes back in the usual form of the type.
        check.expect(f"{name}: {form} weights after a round trip", name == "deepseek_v3_half" or
                     before.keys() == after.keys() and all(torch.equal(x, after[k]) for k, x in before.items()))
        check.compare(f"{name}: and back, {form}", logits_of(load(again), ids), logits_of(load(path), ids))


def prepare(check):
    with open(f"{check.folder}/text.txt", "w") as file:
        file.write("The five boxing wizards jump quickly over the lazy dogs. It's 1,024 of them!\n" * 200)
    check.run("tokenizer", "train", "--vocab", "290", "text.txt")
    check.run("data", "tokenize", "--tokenizer", "tokenizer.json", "--out", "train", "--split-lines", "text.txt")


def from_ours(check, name, model):
    text = f"""[model]\n{model}[data]\ntrain = ["train.bin"]\ntokenizer = "tokenizer.json"
[batch]\nsequences = 2\n[optimizer]\nlr = 1e-2\n[precision]\ncompute = "fp32"
[run]\nname = "{name}"\ndir = "trained"\nsteps = 4\nthreads = 1\n"""
    with open(f"{check.folder}/{name}.toml", "w") as file:
        file.write(text)
    check.run("train", f"{name}.toml", "--set", "model.init_std=0.2")
    ids, run, path = some_ids(), f"trained/{name}", f"{check.folder}/ours/{name}"
    check.run("ckpt", "export", run, "--to", "hf", path)
    ours = check.ours(run, ids)
    check.compare(f"{name}: trireme -> transformers", logits_of(load(path), ids), ours)
    check.run("ckpt", "import", "--from", "hf", path, "--out", f"runs/ours-{name}")
    check.compare(f"{name}: and back", check.ours(f"runs/ours-{name}", ids), ours)
    tokenizer = AutoTokenizer.from_pretrained(path)
    expected = check.run("tokenizer", "encode", "tokenizer.json", stdin=TEXT.encode()).split()
    got = tokenizer(TEXT, add_special_tokens=False)["input_ids"]
    check.expect(f"{name}: AutoTokenizer's ids", got == [int(x) for x in expected] and tokenizer.decode(got) == TEXT)
    check.expect(f"{name}: AutoTokenizer's end of text", tokenizer.eos_token == "<|endoftext|>")


def main(build):
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(build, folder)
        prepare(check)
        for name, make in families.theirs().items():
            from_theirs(check, name, make)
        for name, model in families.OURS.items():
            from_ours(check, name, model)
        print(f"{len(check.failed)} failed" if check.failed else "all good", *check.failed, sep="\n  ")
        return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
