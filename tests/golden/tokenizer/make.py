"""Makes the goldens of the tokenizer: small vocabularies trained by Hugging Face's `tokenizers`, and the ids that
`tiktoken` and `tokenizers` give with them. Needs tiktoken, tokenizers and regex.

    python make.py                               writes vocabularies and ids.txt
    python make.py --saved llama3 tokenizer.json checks that `tokenizers` reads a file that `trireme` wrote
                                                 and gives the golden ids with it

Where all three can take a text (valid UTF-8) they must agree. Invalid bytes are each a character of no class: the
text is split as a string in which they are lone surrogates, and tiktoken encodes the bytes of the pieces.
"""

import base64
import json
import pathlib
import sys

import regex
import tiktoken
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

import corpus

HERE = pathlib.Path(__file__).parent
VOCAB = 1000
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# cl100k is spelled with \z for Oniguruma, to which $ is the end of any line.
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+\z|\s*[\r\n]|\s+(?!\S)|\s"
)
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def tiktoken_pattern(name):
    from tiktoken_ext import openai_public as public

    # The constructors fetch their ranks first; the pattern alone is wanted.
    fetch = (public.load_tiktoken_bpe, public.data_gym_to_mergeable_bpe_ranks)
    public.load_tiktoken_bpe = public.data_gym_to_mergeable_bpe_ranks = lambda *a, **k: {}
    try:
        return {
            "gpt2": public.gpt2,
            "cl100k": public.cl100k_base,
            "o200k": public.o200k_base,
        }[name]()["pat_str"]
    finally:
        public.load_tiktoken_bpe, public.data_gym_to_mergeable_bpe_ranks = fetch


def patterns():
    """name -> (tiktoken's expression, the one for Oniguruma)."""
    o200k = tiktoken_pattern("o200k")
    return {
        "gpt2": (tiktoken_pattern("gpt2"), GPT2),
        "cl100k": (tiktoken_pattern("cl100k"), CL100K),
        "o200k": (o200k, o200k),
        "llama3": (LLAMA3, LLAMA3),
    }


def train(name, expression, text):
    tokenizer = Tokenizer(models.BPE())
    if name == "gpt2":
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(expression), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[],
        show_progress=False,
    )
    tokenizer.train_from_iterator([text], trainer)
    return tokenizer


def byte_of_char():
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}


def ranks_of(tokenizer):
    bytes_of = byte_of_char()
    return {bytes(bytes_of[c] for c in token): i for token, i in tokenizer.get_vocab().items()}


def piece_ids(core, expression, data):
    text = data.decode("utf-8", "surrogateescape")
    ids = []
    for match in expression.finditer(text):
        ids += core.encode_single_piece(match.group().encode("utf-8", "surrogateescape"))
    return ids


def fnv(ids):
    value = 0xCBF29CE484222325
    for i in ids:
        for byte in i.to_bytes(4, "little"):
            value = ((value ^ byte) * 0x100000001B3) & corpus.MASK
    return value


def golden_lines(name, tokenizer, tiktoken_expression):
    core = tiktoken.Encoding(
        name, pat_str=tiktoken_expression, mergeable_ranks=ranks_of(tokenizer), special_tokens={}
    )
    pieces = regex.compile(tiktoken_expression.replace("$", r"\Z"))
    for set_name, documents in corpus.documents().items():
        all_ids = []
        for data in documents:
            if set_name == "bytes":
                ids = piece_ids(core._core_bpe, pieces, data)
            else:
                ids = core.encode_ordinary(data.decode())
                if set_name != "codes":  # Oniguruma knows a Unicode of its own
                    assert tokenizer.encode(data.decode()).ids == ids, (name, set_name)
                    assert piece_ids(core._core_bpe, pieces, data) == ids, (name, set_name)
            all_ids += ids
        head = " ".join(map(str, all_ids[:24]))
        yield f"{name} {set_name} {len(all_ids)} {fnv(all_ids):016x} {head}"


def write_vocabulary(name, tokenizer):
    if name in ("gpt2", "llama3"):
        tokenizer.save(str(HERE / f"{name}.json"), pretty=False)
        return
    lines = [f"{base64.b64encode(t).decode()} {i}" for t, i in sorted(ranks_of(tokenizer).items(), key=lambda x: x[1])]
    (HERE / f"{name}.tiktoken").write_text("\n".join(lines) + "\n")


def write_gpt2_pair(tokenizer):
    """The same vocabulary of the first 300 tokens as GPT-2's pair of files, with an end of text."""
    model = json.loads(tokenizer.to_str())["model"]
    vocab = {t: i for t, i in model["vocab"].items() if i < 300}
    merges = [" ".join(m) for m in model["merges"] if "".join(m) in vocab]
    vocab["<|endoftext|>"] = 300
    folder = HERE / "gpt2_pair"
    folder.mkdir(exist_ok=True)
    (folder / "encoder.json").write_text(json.dumps(vocab))
    (folder / "vocab.bpe").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")


def check_saved(name, path):
    tokenizer = Tokenizer.from_file(path)
    lines = {tuple(x.split()[:2]): x.split()[2:4] for x in (HERE / "ids.txt").read_text().splitlines()}
    for set_name, documents in corpus.documents().items():
        if set_name in ("bytes", "codes"):
            continue
        # In pieces, since Hugging Face takes the literal <|endoftext|> for the token.
        ids = []
        for data in documents:
            parts = data.decode().split("<|endoftext|>")
            if len(parts) > 1 and tokenizer.token_to_id("<|endoftext|>") is not None:
                tokenizer.encode_special_tokens = True  # special tokens as text
            ids += tokenizer.encode(data.decode()).ids
            assert tokenizer.decode(tokenizer.encode(data.decode()).ids, skip_special_tokens=False) == data.decode()
        assert [str(len(ids)), f"{fnv(ids):016x}"] == lines[name, set_name], (name, set_name)
    print(f"{path}: the ids are the golden ones")


def main():
    if sys.argv[1:2] == ["--saved"]:
        check_saved(sys.argv[2], sys.argv[3])
        return
    valid, _ = corpus.fragments()
    text = corpus.mixed(1, 400_000, valid).decode()
    lines = []
    for name, (tiktoken_expression, expression) in patterns().items():
        tokenizer = train(name, expression, text)
        write_vocabulary(name, tokenizer)
        if name == "gpt2":
            write_gpt2_pair(tokenizer)
        lines += golden_lines(name, tokenizer, tiktoken_expression)
    (HERE / "ids.txt").write_text("\n".join(lines) + "\n")


main()
