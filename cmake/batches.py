#!/usr/bin/env python3
"""Puts source files into batches that can be compiled as one: no file of a batch speaks of a name that is private to another.

    batches.py SIZE FILE ...

Prints a batch a line, files separated by spaces. Private are the names that stand in an unnamed namespace, or behind `static` outside of any
function, and macros. Names are found by their looks: two files that only seem to share one go separate ways, which costs nothing.
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
    """The private names of a file, and all that it speaks of other than as members."""
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


def main():
    size = int(sys.argv[1])
    batches = []  # [files, private names, names spoken of]
    for file in sys.argv[2:]:
        private, spoken = names_of(pathlib.Path(file))
        for batch in batches:
            if len(batch[0]) < size and not batch[1] & spoken and not batch[2] & private:
                batch[0].append(file)
                batch[1] |= private
                batch[2] |= spoken
                break
        else:
            batches.append([[file], private, spoken])
    for files, *_ in batches:
        print(" ".join(files))


if __name__ == "__main__":
    main()
