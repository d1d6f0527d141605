"""What the release build's flags must have done to a library and to programs: read-only relocations that are bound at the start, position-independent
programs, no executable stack, stack protectors, checked string functions, and landing pads for indirect calls where the processor has them.

    hardening_test.py LIBRARY PROGRAM...
"""

import re
import subprocess
import sys

ENDBR64 = bytes.fromhex("f30f1efa")


def readelf(path, *options):
    return subprocess.run(["readelf", *options, "-W", path], capture_output=True, text=True, check=True).stdout


def common(path):
    """What both kinds of file must have."""
    segments, dynamic = readelf(path, "-l"), readelf(path, "-d")
    if not re.search(r"Elf file type is DYN", segments):
        yield "is not position-independent"
    if "GNU_RELRO" not in segments:
        yield "has no GNU_RELRO segment"
    if not re.search(r"\(FLAGS\).*BIND_NOW|\(BIND_NOW\)|\(FLAGS_1\).*\bNOW\b", dynamic):
        yield "is not bound at the start (BIND_NOW)"
    stack = re.search(r"GNU_STACK\s.*?\s([RWE ]{3})\s+0x", segments)
    if not stack or "E" in stack[1]:
        yield "has an executable stack"
    if re.search(r"^\s*LOAD\s.*\sRWE\s", segments, re.M):
        yield "has memory that is both writable and executable"
    if "TEXTREL" in dynamic:
        yield "relocates its code"
    symbols = readelf(path, "--dyn-syms")
    if not re.search(r"UND\s+__stack_chk_fail\b", symbols):
        yield "has no stack protectors"


def library(path):
    yield from common(path)
    symbols = readelf(path, "--dyn-syms")
    checked = set(re.findall(r"UND\s+(__\w+_chk)\b", symbols)) - {"__stack_chk_fail"}
    if not checked:
        yield "calls no checked functions (_FORTIFY_SOURCE)"
    if "X86-64" in readelf(path, "-h"):
        start = re.search(r"([0-9a-f]{16})\s+\d+\s+FUNC\s+GLOBAL\s+\w+\s+\d+\s+TF_Version\b", symbols)
        if not start:
            yield "has no TF_Version"
            return
        address = int(start[1], 16)
        for m in re.finditer(
            r"LOAD\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+0x[0-9a-f]+\s+0x([0-9a-f]+)", readelf(path, "-l")
        ):
            offset, base, size = (int(x, 16) for x in m.groups())
            if base <= address < base + size:
                with open(path, "rb") as f:
                    f.seek(offset + address - base)
                    if f.read(4) != ENDBR64:
                        yield "has no landing pads (-fcf-protection)"


def program(path):
    yield from common(path)
    if not re.search(r"\(FLAGS_1\).*\bPIE\b", readelf(path, "-d")):
        yield "is not a position-independent program (PIE)"


def main():
    problems = [f"{sys.argv[1]} {p}" for p in library(sys.argv[1])]
    for path in sys.argv[2:]:
        problems += [f"{path} {p}" for p in program(path)]
    print("\n".join(problems) or f"{len(sys.argv) - 1} files are as they should be")
    return bool(problems)


sys.exit(main())
