"""The classes of tensorflow/cc/ops against those of TensorFlow's own headers: parameters, attributes, outputs, other names.

python compare.py record TENSORFLOW/include/tensorflow/cc/ops    writes signatures.txt from the headers of an installed TensorFlow
python compare.py check BUILD/generated/tensorflow/cc/ops        compares; what differs must stand in differences.txt, and what stands there must differ
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
OWN = {"further_ops.h"}


def plain(type_name):
    """A type without namespaces and without how it is passed."""
    text = re.sub(r"\bconst\b|&|\b(tensorflow|gtl|absl|tsl)::|(?<!\w)::|\s+", "", type_name)
    for old, new in (("DataTypeSlice", "ArraySlice<DataType>"), ("string_view", "StringPiece"), ("int64_t", "int64")):
        text = text.replace(old, new)
    return re.sub(r"Span<const(\w+)>|Span<(\w+)>", lambda m: f"ArraySlice<{m[1] or m[2]}>", text)


def parameters(text):
    """ "type name" of each, from the text between the brackets."""
    depth, parts, part = 0, [], ""
    for char in text:
        depth += (char in "<({") - (char in ">)}")
        if char == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += char
    out = []
    for one in [*parts, part]:
        one = one.split("=")[0].strip()
        match = re.fullmatch(r"(.*?)(\w+)", one, re.S)
        if match and match[1].strip():
            out.append(f"{plain(match[1])} {match[2]}")
    return out


def classes(folder):
    """Class -> one line that says how it is used."""
    out = {}
    for path in sorted(pathlib.Path(folder).glob("*_ops*.h")) + [pathlib.Path(folder) / "no_op.h"]:
        if path.name in OWN or not path.exists() or path.name == "standard_ops.h":
            continue
        text = re.sub(r"//[^\n]*", "", path.read_text())
        for match in re.finditer(r"^class (\w+) \{\n(.*?)^\};", text, re.M | re.S):
            name, body = match[1], match[2]
            attrs = re.search(r"struct Attrs \{(.*?)\n  \};", body, re.S)
            setters = re.findall(r"Attrs (\w+)\(([^)]*)\)\s*(?:const )?\{", attrs[1]) if attrs else []
            rest = body.replace(attrs[0], "") if attrs else body
            calls = re.findall(rf"(?:explicit )?\b{name}\((const ::tensorflow::Scope&.*?)\)(?:;| \{{| :)", rest, re.S)
            taken = [p for p in parameters(calls[0])[1:] if not p.endswith(" attrs")] if calls else []
            members = re.findall(r"^  (?:::tensorflow::)?(Output|OutputList) (\w+);", rest, re.M)
            space = "internal." if path.stem.endswith("_internal") else ""
            out[f"{path.stem} {space}{name}"] = (
                f"({', '.join(taken)}) [{', '.join(sorted(s + ' ' + ' '.join(parameters(p)[0].split()[:1]) for s, p in setters))}]"
                f" -> {', '.join(' '.join(m) for m in members)}"
            )
        for name, other in re.findall(r"^typedef (\w+) (\w+);", text, re.M):
            out[f"{path.stem} {other}"] = f"= {name}"
        for other, name in re.findall(r"^using (\w+) = (\w+);", text, re.M):
            out[f"{path.stem} {other}"] = f"= {name}"
    return out


def main():
    mode, folder = sys.argv[1:3]
    found = classes(folder)
    if mode == "record":
        (HERE / "signatures.txt").write_text("".join(f"{k}: {v}\n" for k, v in sorted(found.items())))
        return 0
    expected = dict(line.split(": ", 1) for line in (HERE / "signatures.txt").read_text().splitlines())
    allowed = set((HERE / "differences.txt").read_text().split("\n")) - {""}
    differ = {k for k in expected | found if expected.get(k) != found.get(k)}
    for key in sorted(differ - allowed):
        print(f"{key}\n  TensorFlow: {expected.get(key)}\n  here:       {found.get(key)}")
    for key in sorted(allowed - differ):
        print(f"{key}: does not differ any more; take it out of differences.txt")
    if mode == "list":
        (HERE / "differences.txt").write_text("".join(f"{k}\n" for k in sorted(differ)))
    print(f"{len(expected)} classes and names, {len(differ)} differ")
    return differ != allowed or len(expected) < 1000


if __name__ == "__main__":
    sys.exit(main())
