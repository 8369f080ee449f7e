"""Writes src/io/tokenizer/char_class_ranges.inc: the Unicode classes that the split patterns know.

The classes are asked of tiktoken itself (whose regular expressions are Rust's), one code point at a time:
an expression of one class is the whole pattern, so a code point outside it gives no ids. Needs tiktoken.

    python make_char_classes.py > ../../../src/io/tokenizer/char_class_ranges.inc
"""

import tiktoken

CLASSES = [  # the order is that of enum class CharClass, from 1; 0 is any other
    r"[\p{Lu}\p{Lt}]",
    r"\p{Ll}",
    r"[\p{Lm}\p{Lo}]",
    r"\p{M}",
    r"\p{N}",
    r"\s",
]
PER_LINE = 10


def class_of_each():
    ranks = {bytes([b]): b for b in range(256)}
    classes = bytearray(0x110000)
    for number, pattern in enumerate(CLASSES, start=1):
        core = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        for code in range(0x110000):
            if not 0xD800 <= code <= 0xDFFF and core.encode_ordinary(chr(code)):
                assert classes[code] == 0, hex(code)
                classes[code] = number
    return classes


def main():
    classes = class_of_each()
    starts, previous = [], None
    for code in range(0x110000):
        if classes[code] != previous:
            previous = classes[code]
            starts.append(code << 3 | previous)
    print("// Made by tests/golden/tokenizer/make_char_classes.py: (first code point << 3) | class of each range.")
    for i in range(0, len(starts), PER_LINE):
        print(" ".join(f"0x{s:x}," for s in starts[i : i + PER_LINE]))


main()
