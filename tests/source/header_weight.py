"""Fails when a header of core/ or op/ grows beyond its budget of preprocessed lines. Arguments: compiler, source folder."""

import pathlib
import subprocess
import sys

BUDGET = 80_000  # 66,500 of it are the standard headers that values, callbacks and locks need
compiler, src = sys.argv[1], pathlib.Path(sys.argv[2])
heavy = []
for header in sorted([*src.glob("core/*.h"), *src.glob("op/*.h")]):
    if header.name == "testing.h":
        continue
    text = subprocess.run(
        [compiler, "-std=c++20", "-E", "-P", "-I", src, "-x", "c++", header], capture_output=True, text=True, check=True
    ).stdout
    lines = text.count("\n")
    print(f"{lines:7} {header.relative_to(src)}")
    if lines > BUDGET:
        heavy.append(str(header))
if heavy:
    sys.exit(f"over {BUDGET} preprocessed lines: {heavy}")
