#!/usr/bin/env python3
"""Puts source files into batches that are compiled as one.

    batches.py LINES PREFIX FILE ...

Writes PREFIX_1.cc, PREFIX_2.cc ..., which include the files of a batch of about that many lines, and prints their paths.

A file's private names are those that are in an unnamed namespace, or behind `static` outside of any function, and macros. Where another file of the
batch says the same name, the private one gets another name while its file is read: by a macro, behind all headers of the file. That is only
done where every place that says the name means the private one, as far as looks tell: it is no member, here or in a header, and nothing that the file gives to others. Otherwise the two files go
separate ways, which costs only time.
A file or a header that it includes may bring a name of another namespace, or an alias (`using ir::Value;`, `using Value = ...`): it goes separate ways from files that
mean another thing by the name. Files that open namespaces as a whole (`using namespace`) go with those that open the same, tests with those of their folder; files that
include a large library (`<Eigen/LU>`) go with others that do.
"""

import collections
import functools
import pathlib
import re
import sys

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
TEMPLATE = re.compile(r"template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>")
TYPE = re.compile(r"(?:struct|class|enum class|enum|union)\s+(\w+)|using\s+(\w+)\s*=|namespace\s+(\w+)\s*=")
FUNCTION = re.compile(r"([\w]+)\s*\(")
VARIABLE = re.compile(r"(\w+)\s*(?:\[[^]]*\]\s*)*$")
INCLUDE = re.compile(r'^#include (?:"([^"]+)"|<([^>]+)>)', re.M)
MEMBER = re.compile(r"(?:\.|->|::)([A-Za-z_]\w*)")
KEYWORDS = set(
    "alignas auto bool char class const constexpr decltype double else enum explicit float for friend if inline int long namespace noexcept operator".split()
)
KEYWORDS |= set(
    "private public requires return short signed static static_assert struct switch template typename union unsigned using virtual void while".split()
) | {""}
LARGE = {"Eigen"}  # libraries whose headers take seconds
EVERYWHERE = {"weft_engine::core", "weft_engine::op"}  # opened by headers too
ROOT = pathlib.Path(__file__).resolve().parent.parent


@functools.cache
def header_members():
    """What headers say as a member, such as templates ask of the types that they are given."""
    words = set()
    for folder in ("src", "include", "tests", "python"):
        for header in (ROOT / folder).rglob("*.h"):
            words.update(MEMBER.findall(header.read_text()))
    return words


def declared(head):
    """The names that a declaration begins with."""
    head = TEMPLATE.sub("", head).strip()
    if re.match(r"using\s+[\w:]+$", head):
        return []  # `brought_by` has it
    if match := TYPE.match(head):
        return [name for name in match.groups() if name]
    head = re.split(r"(?<![=!<>])=(?!=)", head)[0]
    while (plain := re.sub(r"<[^<>]*>", "", head)) != head:  # the types in std::function<Status(int)>
        head = plain
    if match := FUNCTION.search(head):
        return [match[1]]
    return [match[1] for part in head.split(",") if (match := VARIABLE.search(part.strip()))]


@functools.cache
def brought_by(file):
    """The names that a file, or a header that it includes, brings from other namespaces, and from where; and the file's own aliases."""
    text = NOISE.sub(" ", file.read_text()) if file.exists() else ""
    names = {name: space for space, name in re.findall(r"^using\s+([\w:]+)::(\w+);", text, re.M)}
    aliases = {name: str(file) for name in re.findall(r"^using\s+(\w+)\s*=", text, re.M)}
    for own, _ in INCLUDE.findall(file.read_text() if file.exists() else ""):
        if own:
            names |= brought_by(ROOT / "src" / own)[0]
    return names, aliases


@functools.cache
def libraries_of(path):
    """The folders of libraries that a file or a header of ours includes from: `Eigen` of <Eigen/LU>."""
    text = path.read_text() if path.exists() else ""
    return LARGE.intersection(name.split("/")[0] for _, name in INCLUDE.findall(text))


class Source:
    def __init__(self, file):
        self.path = pathlib.Path(file).resolve()
        text = self.path.read_text()
        self.lines = text.count("\n")
        self.includes = INCLUDE.findall(text)
        headers = [ROOT / "src" / own for own, _ in self.includes if own]
        self.macros = set(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M))
        self.stringifies = bool(re.search(r"^\s*#\s*define\b(?:[^\n]*\\\n)*[^\n#]*[^#\n]#\w", text, re.M))
        plain = NOISE.sub(" ", text)
        self.spoken = set(re.findall(r"(?<![\w.:>])(?<!-> )([A-Za-z_]\w*)", plain))
        self.members = set(MEMBER.findall(plain))
        body = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", plain, flags=re.M)
        self.private, self.public = names_of(body)
        # Headers behind code or conditions may not be read ahead of it.
        code = min(
            (
                m.start()
                for m in re.finditer(
                    r"^(?!\s*$|#include\b)", NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text), re.M
                )
            ),
            default=len(text),
        )
        once = all(own.endswith(".h") for own, _ in self.includes if own)  # a table (*.inc) is not to be read twice
        self.headers_first = once and not self.stringifies and INCLUDE.search(text, code) is None
        self.brought = dict(brought_by(self.path)[0])
        for file in (self.path, *headers):
            self.brought |= brought_by(file)[1]
        opened = frozenset(re.findall(r"^using namespace ([\w:]+);", text, re.M))
        folder = (
            self.path.parent if self.path.name.endswith("_test.cc") else None
        )  # their helpers are often not private
        self.kind = (opened - EVERYWHERE, folder, frozenset(libraries_of(self.path).union(*map(libraries_of, headers))))

    def header_lines(self):
        """Its includes as another file says them: headers beside it by their whole path."""
        for own, other in self.includes:
            beside = self.path.parent / own
            yield f"#include <{other}>" if other else f'#include "{beside if beside.exists() else own}"'

    def fix(self, shared):
        """Finds the private names that other files say too and that can get no other name."""
        self.fixed = {name for name in self.private & shared if not self.renamable(name)} | self.macros

    def renamable(self, name):
        others = self.members | self.macros | self.public | header_members()
        return self.headers_first and name not in others


def names_of(text):
    """The private names of a file, and those that it gives to others."""
    names, public = set(), set()
    scopes, start = [], 0  # of each open brace: "unnamed", "named" or "inner"
    for mark in re.finditer(r"[{};]", text):
        head = text[start : mark.start()].strip()
        start = mark.end()
        outside = "inner" not in scopes
        if outside and head:
            (names if "unnamed" in scopes or head.startswith("static") else public).update(declared(head))
        if mark.group() == "{":
            space = re.search(r"\bnamespace\b\s*([\w:]*)$", head)
            scopes.append("inner" if not space else "named" if space[1] else "unnamed")
        elif mark.group() == "}" and scopes:
            scopes.pop()
    names = {
        name for name in names - KEYWORDS if not re.fullmatch(r"[A-Z][A-Z_]+|\w+_t", name)
    }  # TEST_CASE("...") is no declaration
    return names, public


def agree(brought_here, spoken, brought_there):
    return all(
        brought_there.get(name, "core" if space == "core" else "") == space
        for name, space in brought_here.items()
        if name in spoken
    )


class Batch:
    def __init__(self, kind):
        self.kind, self.files, self.lines, self.fixed, self.spoken, self.brought = kind, [], 0, set(), set(), {}

    def takes(self, source, lines):
        return (
            self.kind == source.kind
            and self.lines + source.lines <= lines
            and not self.fixed & source.spoken
            and not self.spoken & source.fixed
            and agree(source.brought, self.spoken, self.brought)
            and agree(self.brought, source.spoken, source.brought)
        )

    def add(self, source):
        self.files.append(source)
        self.lines += source.lines
        self.fixed |= source.fixed
        self.spoken |= source.spoken
        self.brought |= source.brought

    def text(self):
        speakers = collections.Counter(name for source in self.files for name in source.spoken)
        out = []
        renamed = [
            sorted(name for name in source.private - source.fixed if speakers[name] > 1) for source in self.files
        ]
        headers = [header for source, names in zip(self.files, renamed) if names for header in source.header_lines()]
        out += dict.fromkeys(headers)
        for source, names in zip(self.files, renamed):
            out += [f"#define {name} {name}_{source.path.stem}" for name in names]
            out.append(f'#include "{source.path}"')
            out += [f"#undef {name}" for name in names]
        return "\n".join(out) + "\n"


def main():
    lines, prefix = int(sys.argv[1]), sys.argv[2]
    sources = [Source(file) for file in sys.argv[3:]]
    speakers = collections.Counter(name for source in sources for name in source.spoken)
    shared = {name for name, count in speakers.items() if count > 1}
    batches = []
    for source in sources:
        source.fix(shared)
        batch = next((b for b in batches if b.takes(source, lines)), None)
        if not batch:
            batches.append(batch := Batch(source.kind))
        batch.add(source)
    for number, batch in enumerate(batches, 1):
        unit = pathlib.Path(f"{prefix}_{number}.cc")
        text = batch.text()
        if not unit.exists() or unit.read_text() != text:
            unit.parent.mkdir(parents=True, exist_ok=True)
            unit.write_text(text)
        print(unit)


if __name__ == "__main__":
    main()
