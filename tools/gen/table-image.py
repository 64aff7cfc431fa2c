#!/usr/bin/python3
"""Makes an image of C tables that can be placed anywhere: table-image.py SYMBOL SHARED_OBJECT OUTPUT.

The tables of a policy are full of pointers. In the library each would be adjusted by the loader at every start, in
memory of its own, whether or not the tables are used. The image has the same bytes with the pointers counted from its
beginning, and a list of where they are; src/policy/tables.c adjusts them in a copy, when the tables are needed.

OUTPUT is C: SYMBOL_image, a struct ck_tables.
"""
import struct
import sys

RELATIVE = {62: 8, 183: 1027}  # by machine: R_X86_64_RELATIVE, R_AARCH64_RELATIVE
SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_DYNSYM = 2, 4, 8, 11
SHF_ALLOC = 2
TABLES = (".rodata", ".data", ".data.rel.ro", ".data.rel.ro.local", ".data.rel.local")


def string_at(data, at):
    return data[at:data.index(b"\0", at)].decode("ascii")


class SharedObject:
    """The sections of a 64-bit little-endian ELF file."""

    def __init__(self, path):
        with open(path, "rb") as stream:
            self.data = stream.read()
        if self.data[:6] != b"\x7fELF\x02\x01":
            sys.exit(f"{path}: not a 64-bit little-endian ELF file")
        self.machine = struct.unpack_from("<H", self.data, 18)[0]
        start, = struct.unpack_from("<Q", self.data, 40)
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.data, start + i * size) for i in range(count)]
        names_at = headers[names][4]
        self.sections = [(string_at(self.data, names_at + header[0]), header) for header in headers]

    def tables(self):
        """(address, bytes) of each section that the image is made of."""
        for name, (_, kind, flags, address, at, size, *_) in self.sections:
            base = name.split(".str")[0].rstrip("0123456789.")
            if flags & SHF_ALLOC and kind != SHT_NOBITS and base in TABLES:
                yield address, self.data[at:at + size]

    def pointers(self):
        """(address, target) of each pointer."""
        for _, (_, kind, flags, _, at, size, *_) in self.sections:
            if kind != SHT_RELA or not flags & SHF_ALLOC:
                continue
            for place, info, addend in struct.iter_unpack("<QQq", self.data[at:at + size]):
                if info != RELATIVE[self.machine]:
                    sys.exit("the tables refer to something outside of them")
                yield place, addend

    def address_of(self, symbol):
        for _, (_, kind, _, _, at, size, link, *_) in self.sections:
            if kind not in (SHT_SYMTAB, SHT_DYNSYM):
                continue
            names_at = self.sections[link][1][4]
            for name, _, _, _, value, _ in struct.iter_unpack("<IBBHQQ", self.data[at:at + size]):
                if string_at(self.data, names_at + name) == symbol:
                    return value
        sys.exit(f"there is no symbol '{symbol}'")


def make_image(shared):
    parts = sorted(shared.tables())
    base = parts[0][0] & ~15
    image = bytearray(max(address + len(data) for address, data in parts) - base)
    for address, data in parts:
        image[address - base:address - base + len(data)] = data
    places = []
    for place, target in sorted(shared.pointers()):
        if not (0 <= place - base <= len(image) - 8 and 0 <= target - base < len(image)):
            continue  # of a section that is not in the image, such as .dynamic
        struct.pack_into("<Q", image, place - base, target - base)
        places.append(place - base)
    return base, image, places


def numbers(values):
    values = list(values)
    for at in range(0, len(values), 24):
        yield ",".join(str(value) for value in values[at:at + 24]) + ",\n"


def main():
    symbol, source, target = sys.argv[1:]
    shared = SharedObject(source)
    base, image, places = make_image(shared)
    with open(target, "w", encoding="ascii") as out:
        out.write("/* Generated at build time by tools/gen/table-image.py. */\n#include \"policy/tables.h\"\n")
        out.write(f"extern const struct ck_tables {symbol}_image;\nstatic const unsigned char image[] = {{\n")
        out.writelines(numbers(image))
        out.write("0};\nstatic const unsigned places[] = {\n")
        out.writelines(numbers(places))
        out.write(f"0}};\nconst struct ck_tables {symbol}_image = {{.image = image, .places = places, "
                  f".image_bytes = {len(image)}, .places_count = {len(places)}, "
                  f".policy_at = {shared.address_of(symbol) - base}}};\n")


main()
