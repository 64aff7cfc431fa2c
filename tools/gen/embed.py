#!/usr/bin/python3
"""Writes the bytes of a file as a C array: embed.py SYMBOL INPUT OUTPUT makes SYMBOL_text, SYMBOL_length
and SYMBOL_sha256."""
import hashlib
import sys

symbol, source, target = sys.argv[1:]
with open(source, "rb") as stream:
    data = stream.read()
with open(target, "w", encoding="ascii") as out:
    out.write("/* Generated at build time by tools/gen/embed.py. */\n#include <stddef.h>\n")
    out.write(f"extern const unsigned char {symbol}_text[];\nextern const size_t {symbol}_length;\n")
    out.write(f"extern const char {symbol}_sha256[];\n")
    out.write(f'const char {symbol}_sha256[] = "{hashlib.sha256(data).hexdigest()}";\n')
    out.write(f"const size_t {symbol}_length = {len(data)};\nconst unsigned char {symbol}_text[] = {{\n")
    for at in range(0, len(data), 20):
        out.write(",".join(str(byte) for byte in data[at:at + 20]) + ",\n")
    out.write("0};\n")
