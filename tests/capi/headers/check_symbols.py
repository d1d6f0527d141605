#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the C headers: each compiles alone as C11 and C++17, and together they declare exactly the
functions of tests/capi/symbols.csv, each in the header that the table names; each has the include
guard that TensorFlow's header has (guards.txt), since clients test for it.

    check_symbols.py [--cc CC] [--cxx CXX]
"""

import argparse
import csv
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
INCLUDE = ROOT / "include"
FLAGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I", str(INCLUDE)]
INLINE = " (header inline)"
# A plugin defines these and the library calls them.
PLUGIN_ENTRIES = {"TF_InitPlugin"}


def wanted():
    """Header -> names that it must declare; names that it must define inline."""
    declared, inline = {}, {}
    with open(ROOT / "tests/capi/symbols.csv", newline="") as table:
        for row in csv.DictReader(table):
            header = row["header"]
            if header.startswith("(none"):  # exported by TensorFlow, declared nowhere
                continue
            into = inline if header.endswith(INLINE) else declared
            into.setdefault(header.removesuffix(INLINE), set()).add(row["symbol"])
    return declared, inline


def found(header):
    text = re.sub(r"//.*", "", (INCLUDE / header).read_text())
    names = re.findall(r"TF_CAPI_EXPORT\s+extern\s[^;{(]*?\b(\w+)\s*\(", text)
    return set(names) - PLUGIN_ENTRIES


def is_cc(header):
    """Of TensorFlow's C++ API, which tests/python/custom_ops_test.py compiles."""
    return (
        header.startswith(("tensorflow/core/", "tensorflow/cc/", "tensorflow/lite/"))
        or header == "tensorflow/c/checkpoint_reader.h"
    )


def guards():
    lines = (ROOT / "tests/capi/headers/guards.txt").read_text().splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))


def check_guard(header, wanted):
    guard = re.search(r"^#ifndef (\w+)\n#define \1$", (INCLUDE / header).read_text(), re.M)
    have = guard.group(1) if guard else "none"
    return [] if have == wanted else [f"{header}: the include guard is {have}, not {wanted}"]


def compile_text(compiler, standard, language, text):
    command = [*compiler.split(), f"-std={standard}", "-x", language, *FLAGS, "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--cc", default="cc")
    options.add_argument("--cxx", default="c++")
    args = options.parse_args()

    errors = []
    declared, inline = wanted()
    guard_of = guards()
    headers = sorted(
        str(p.relative_to(INCLUDE)) for top in ("tensorflow", "tsl", "xla") for p in (INCLUDE / top).rglob("*.h")
    )
    headers = [h for h in headers if not is_cc(h) or h in guard_of]
    for header in headers:
        errors += check_guard(header, guard_of.get(header, "in guards.txt"))
    for header in sorted(declared.keys() - set(headers)):
        errors.append(f"{header}: no such file")
    for header in headers:
        want, have = declared.get(header, set()), found(header)
        errors += [f"{header}: {name} is not declared" for name in sorted(want - have)]
        errors += [f"{header}: {name} is not in the table" for name in sorted(have - want)]
        # Naming each function's type makes the compiler confirm what the pattern above found.
        names = sorted(want | inline.get(header, set()))
        text = f'#include "{header}"\n'
        text += "".join(f"extern char check_{n}[sizeof(&{n})];\n" for n in names)
        for compiler, standard, language in ((args.cc, "c11", "c"), (args.cxx, "c++17", "c++")):
            message = compile_text(compiler, standard, language, text)
            if message:
                errors.append(f"{header} as {standard}:\n{message}")

    for error in errors:
        print(error, file=sys.stderr)
    count = sum(map(len, declared.values())) + sum(map(len, inline.values()))
    print(f"{len(headers)} headers, {count} functions, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
