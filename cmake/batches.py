#!/usr/bin/env python3
"""Puts source files into batches that can be compiled as one: no file of a batch uses a name that is private to another.

    batches.py SIZE FILE ...

Prints a batch a line, files separated by spaces. Private are the names that are in an unnamed namespace, or behind `static` outside of any
function, and macros. Names are found by their looks: two files that only seem to share one go separate ways, which costs nothing.
A file or a header that it includes may bring a name of another namespace, or an alias (`using ir::Value;`, `using Value = ...`): it goes separate ways from files that
mean another thing by the name. Tests, and files that open namespaces as a whole
(`using namespace`), go with those of their folder that open the same.
"""

import pathlib
import re
import sys

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
TEMPLATE = re.compile(r"template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>")
TYPE = re.compile(r"(?:struct|class|enum class|enum|union)\s+(\w+)|using\s+(\w+)\s*=|namespace\s+(\w+)\s*=")
FUNCTION = re.compile(r"([\w]+)\s*\(")
VARIABLE = re.compile(r"(\w+)\s*(?:\[[^]]*\]\s*)*$")


def declared(head):
    """The names that a declaration begins with."""
    head = TEMPLATE.sub("", head).strip()
    if match := TYPE.match(head):
        return [name for name in match.groups() if name]
    head = re.split(r"(?<![=!<>])=(?!=)", head)[0]
    if match := FUNCTION.search(head):
        return [match[1]]
    return [match[1] for part in head.split(",") if (match := VARIABLE.search(part.strip()))]


def names_of(path):
    """The private names of a file, and all names that it uses other than as members."""
    text = NOISE.sub(" ", path.read_text())
    spoken = set(re.findall(r"(?<![\w.:>])(?<!-> )([A-Za-z_]\w*)", text))
    names = set(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M))
    text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    scopes, start = [], 0  # of each open brace: "unnamed", "named" or "inner"
    for mark in re.finditer(r"[{};]", text):
        head = text[start : mark.start()].strip()
        start = mark.end()
        outside = "inner" not in scopes
        if outside and head and ("unnamed" in scopes or head.startswith("static")):
            names.update(declared(head))
        if mark.group() == "{":
            space = re.search(r"\bnamespace\b\s*([\w:]*)$", head)
            scopes.append("inner" if not space else "named" if space[1] else "unnamed")
        elif mark.group() == "}" and scopes:
            scopes.pop()
    return names - {"", "namespace", "const", "return"}, spoken


def brought_by(header, known={}):
    """The names that a file brings from other namespaces, and from where; and its own aliases."""
    if header not in known:
        text = NOISE.sub(" ", header.read_text()) if header.exists() else ""
        known[header] = {name: space for space, name in re.findall(r"^using\s+([\w:]+)::(\w+);", text, re.M)}
        known[header] |= {name: str(header) for name in re.findall(r"^using\s+(\w+)\s*=", text, re.M)}
    return known[header]


def brought(path):
    """The same of a source file and its own includes."""
    source = next((p for p in path.resolve().parents if p.name == "src"), None)
    out = dict(brought_by(path))
    if source:
        for include in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            out |= brought_by(source / include)
    return out


def agree(brought_here, spoken, brought_there):
    return all(brought_there.get(name) == space for name, space in brought_here.items() if name in spoken)


def main():
    size = int(sys.argv[1])
    batches = []  # [files, private names, names used, names brought from other namespaces, namespaces opened as a whole, and where]
    for file in sys.argv[2:]:
        private, spoken = names_of(pathlib.Path(file))
        from_others = brought(pathlib.Path(file))
        opened = set(re.findall(r"^using namespace ([\w:]+);", pathlib.Path(file).read_text(), re.M))
        if opened or file.endswith("_test.cc"):
            opened = (frozenset(opened), pathlib.Path(file).parent)
        for batch in batches:
            if (
                len(batch[0]) < size
                and batch[4] == opened
                and not batch[1] & spoken
                and not batch[2] & private
                and agree(from_others, batch[2], batch[3])
                and agree(batch[3], spoken, from_others)
            ):
                batch[0].append(file)
                batch[1] |= private
                batch[2] |= spoken
                batch[3] |= from_others
                break
        else:
            batches.append([[file], private, spoken, from_others, opened])
    for files, *_ in batches:
        print(" ".join(files))


if __name__ == "__main__":
    main()
