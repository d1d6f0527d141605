"""No static object of the engine is destroyed when the process ends: other threads may still use it then. What owns memory is made by `new` and kept, behind a static pointer or reference."""

import pathlib
import re
import sys

OWNERS = r"std::(?:unordered_)?(?:multi)?(?:map|set)|std::(?:vector|deque|list|string|function|shared_ptr|unique_ptr|optional|any)|AttrMap|Result|Status|Tensor|(?:\w+::)*VariantCodec"
STATIC = re.compile(rf"^\s*(?:inline )?static (?:const )?(?:\w+::)*(?:{OWNERS})\b(?:<[^()]*>)? \w+(?:;| =|\{{)")
TOOLS = {"opgen", "schemagen"}  # programs that run at build time


def main(folders):
    found = []
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix not in (".h", ".cc") or path.name.endswith("_test.cc") or TOOLS & set(path.parts):
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if STATIC.match(line):
                    found.append(f"{path}:{number}: {line.strip()}")
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
