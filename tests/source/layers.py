"""Fails on an include that points upwards. Arguments: the source folder, then LAYER=dep,dep for each layer."""

import pathlib
import re
import sys

src = pathlib.Path(sys.argv[1])
allowed = {name: set(deps.split(",")) | {name} for name, deps in (a.split("=", 1) for a in sys.argv[2:])}
# Heavy libraries and the only places that may include them.
HEAVY = {
    "dnnl": ["kernels/cpu/"],
    "re2/": ["ops/strings/regex.cc"],
    "unicode/": ["kernels/cpu/"],
    "grpc": ["remote/grpc/"],
    "Eigen/": ["kernels/cpu/"],
    "google/protobuf": [],
    "llvm/": ["compiler/llvm/"],
}
bad = []
for path in sorted(src.rglob("*")):
    if path.suffix not in (".cc", ".h", ".inc") or path.name.endswith("_test.cc") or path.name == "testing.h":
        continue
    layer = path.relative_to(src).parts[0]
    if layer not in allowed:
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if m := re.match(r'#include "([a-z_]+)/', line):
            if (src / m[1]).is_dir() and m[1] not in allowed[layer]:
                bad.append(f"{path.relative_to(src)}:{number}: {layer} may not include {m[1]}")
        if m := re.match(r"#include <([^>]+)>", line):
            for heavy, places in HEAVY.items():
                if m[1].startswith(heavy) and not any(str(path.relative_to(src)).startswith(p) for p in places):
                    bad.append(f"{path.relative_to(src)}:{number}: {m[1]} may be included only in {places}")
print("\n".join(bad) or "every include points downwards")
sys.exit(bool(bad))
