"""Fails where a function of TensorFlow's mathematics has no C++ function of the same name, and is not listed in cpp_names.txt, which may only shrink.

    python cpp_names.py REPOSITORY            checks
    python cpp_names.py REPOSITORY --write    writes the list, without reasons for what is new

TensorFlow's names are those of tests/python/data/tf_symbols.csv; C++'s are what the headers of include/weft declare in the namespace of the module.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
# Module -> headers; the mathematics that everybody uses is in namespace weft itself.
MODULES = {
    "bitwise": ["bitwise"],
    "image": ["image"],
    "linalg": ["linalg"],
    "math": ["math", "array", "tensor", "losses"],
    "random": ["random"],
    "signal": ["signal"],
    "strings": ["strings"],
}


def declared(root, headers):
    found = set()
    for header in headers:
        for line in (root / f"include/weft/{header}.h").read_text().splitlines():
            if line.startswith("WEFT_API "):
                found |= set(re.findall(r"\b(\w+)\(", line)[:1])
            elif line.startswith("using weft::"):
                found.add(line.removeprefix("using weft::").rstrip(";"))
            elif line.startswith("class WEFT_API "):
                found.add(line.split()[2])
    return found


def missing(root):
    symbols = (root / "tests/python/data/tf_symbols.csv").read_text().splitlines()
    out = []
    for module, headers in MODULES.items():
        there = declared(root, headers)
        for line in symbols:
            name = re.match(rf"tf\.{module}\.(\w+)(?=,|$)", line)
            if name and name[1] not in there:
                out.append(f"{module}.{name[1]}")
    return sorted(set(out))


def main():
    root = pathlib.Path(sys.argv[1])
    listed = {}
    path = HERE / "cpp_names.txt"
    for line in path.read_text().splitlines() if path.exists() else ():
        if line and not line.startswith("#"):
            name, _, why = line.partition(": ")
            listed[name] = why
    now = missing(root)
    if "--write" in sys.argv:
        head = "# TensorFlow's functions that have no C++ function of their name, and why (tests/source/cpp_names.py). The list only shrinks.\n"
        path.write_text(head + "".join(f"{n}: {listed.get(n, '')}\n" for n in now))
        return 0
    for name in sorted(set(now) - set(listed)):
        print(f"tf.{name} has no C++ function: write it, or list it in {path.name} with a reason")
    for name in sorted(set(listed) - set(now)):
        print(f"{name} is there now: take it out of {path.name}")
    for name in sorted(n for n, why in listed.items() if not why):
        print(f"{name}: {path.name} gives no reason")
    return 1 if set(now) != set(listed) or not all(listed.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
