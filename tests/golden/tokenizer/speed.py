"""Encoding speed of trireme and tiktoken on one core, one after the other, in CPU time. Needs tiktoken.

    python speed.py BENCH_TOKENIZER TEXT TOKENIZER

BENCH_TOKENIZER is the built program bench_tokenizer, TEXT a file of some megabytes, TOKENIZER a tokenizer.json of GPT-2's
pattern. The rounds alternate; the best of each is compared.
"""

import json
import subprocess
import sys
import time

import tiktoken

PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""


def byte_of_char():
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}


def main():
    bench, text_path, tokenizer_path = sys.argv[1:]
    bytes_of = byte_of_char()
    vocab = json.load(open(tokenizer_path))["model"]["vocab"]
    ranks = {bytes(bytes_of[c] for c in token): i for token, i in vocab.items()}
    encoding = tiktoken.Encoding("x", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
    data = open(text_path, "rb").read()
    text = data.decode("utf-8", "replace")
    best = {"tiktoken": 0.0, "trireme": 0.0}
    for _ in range(3):
        start = time.thread_time()
        encoding.encode_ordinary(text)
        best["tiktoken"] = max(best["tiktoken"], len(data) / (time.thread_time() - start))
        command = [bench, "--benchmark_filter=^encode/text$", "--benchmark_format=json", text_path, tokenizer_path]
        run = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["benchmarks"][0]
        best["trireme"] = max(best["trireme"], len(data) / (run["cpu_time"] * 1e-3))
    for name, rate in best.items():
        print(f"{name:9} {rate / 1e6:6.1f} MB/s of CPU time")
    print(f"ratio     {best['trireme'] / best['tiktoken']:6.1f}")


main()
