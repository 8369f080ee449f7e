"""The texts of the tokenizer goldens, made from fragments.txt. tests/io/tokenizer/corpus.cpp makes the same bytes."""

import pathlib

MASK = (1 << 64) - 1
RUN_CHARS = b" \n\t-=a0."


def fragments():
    """(valid UTF-8 ones, the others), each as bytes."""
    valid, invalid = [], []
    kind = valid
    text = (pathlib.Path(__file__).parent / "fragments.txt").read_bytes()
    for line in text.split(b"\n")[:-1]:
        if line == b"===not valid UTF-8===":
            kind = invalid
            continue
        kind.append(unescape(line))
    return valid, invalid


def unescape(line):
    out = bytearray()
    i = 0
    while i < len(line):
        if line[i : i + 1] != b"\\":
            out.append(line[i])
            i += 1
            continue
        c = line[i + 1 : i + 2]
        if c == b"x":
            out.append(int(line[i + 2 : i + 4], 16))
            i += 4
            continue
        out += {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0", b"\\": b"\\"}[c]
        i += 2
    return bytes(out)


class SplitMix:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)


def mixed(seed, size, parts):
    """At least `size` bytes of random fragments; one draw in 16 is a run of 1 to 60 equal characters."""
    rng = SplitMix(seed)
    out = bytearray()
    while len(out) < size:
        draw = rng.next()
        if draw % 16 == 0:
            char = RUN_CHARS[(draw >> 8) % len(RUN_CHARS)]
            out += bytes([char]) * ((draw >> 16) % 60 + 1)
        else:
            out += parts[(draw >> 8) % len(parts)]
    return bytes(out)


def letters(seed, size):
    """One long piece: lower-case letters only."""
    rng = SplitMix(seed)
    return bytes(97 + rng.next() % 26 for _ in range(size))


def code_points():
    """Every code point of the first planes, and some of the others, between letters, digits and itself."""
    out = []
    code = 1
    while code < 0x110000:
        if not 0xD800 <= code < 0xE000:
            c = chr(code)
            out.append("B" + c + "a" + c + " 7" + c + c + "cD" + c + "\n")
        code += 1 if code < 0x32400 else 0x61
    return "".join(out).encode()


def documents():
    """name -> list of documents. `bytes` alone holds what is not valid UTF-8."""
    valid, invalid = fragments()
    return {
        "mixed": [mixed(1000 + i, 1 + i * 173, valid) for i in range(150)],
        "line": [b" ".join(mixed(7, 300_000, valid).split(b"\n"))],
        "letters": [letters(11, 100_000)],
        "spaces": [b" " * 100_001 + b"x" + b"\n" * 5000 + b" " * 77],
        "codes": [code_points()],
        "bytes": [mixed(5000 + i, 1 + i * 97, valid + 2 * invalid) for i in range(150)],
    }
