#!/usr/bin/python3
"""Writes the numbers and digests of the decision records as C tables: build-records.py DIRECTORY OUTPUT.

The entries of the default policy cite records of this build. A review knows them by these tables, wherever the library is
installed (docs/adr/0057).
"""
import hashlib
import pathlib
import re
import sys

directory, target = map(pathlib.Path, sys.argv[1:])
rows = [f'    {{"{path.name[:4]}", "{hashlib.sha256(path.read_bytes()).hexdigest()}"}},\n'
        for path in sorted(directory.iterdir()) if re.fullmatch(r"[0-9]{4}-.+\.md", path.name)]
if not rows:
    sys.exit(f"{directory}: no decision records")
target.write_text("/* Generated at build time by tools/gen/build-records.py. */\n#include \"api/build_records.h\"\n"
                  f"const size_t ck_build_records_count = {len(rows)};\n"
                  f"const struct ck_build_record ck_build_records[] = {{\n{''.join(rows)}}};\n", encoding="ascii")
