"""The API pages: docs/api/*.md, one for each public header, from the comments in include/weft.

    python docs/api_pages.py           writes the pages
    python docs/api_pages.py --check   fails if a page is not what the headers say, or a public function has no comment

A comment belongs to the declaration below it, or in front of it on its line. Declarations that follow without a blank line and
without a comment belong to the one before (overloads, twins). Examples (lines indented by three spaces) become code blocks, which tests compile.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS, PAGES = ROOT / "include/weft", ROOT / "docs/api"
GROUPS = (
    ("Tensors", "tensor types indexing array math linalg bitwise signal random strings image dlpack error call"),
    (
        "Variables, gradients, functions",
        "variable tape function control_flow nest module lookup context distribute cluster trace",
    ),
    (
        "Models",
        "nn nn/layer nn/core nn/convolution nn/recurrent nn/attention nn/normalization nn/merging nn/activations nn/initializers nn/model",
    ),
    ("Training", "fit callbacks losses metrics optim progress plot summary"),
    ("Data and files", "data dataset save saved_model checkpoint graph quantize inspect compile"),
)
SKIPPED = {
    "weft",
    "export",
    "nn",
    "aot/checkpoint",
    "op",
}  # lists of includes; what compiled models use; docs/custom_ops.md describes op.h


class Item:
    def __init__(self, text, comment, near):
        self.text, self.comment, self.near = text, comment, near
        self.members = None  # of a class or struct: its items
        self.kind = ""
        self.above = bool(comment)  # the comment is above it, not behind it


def comment_text(lines):
    """Paragraphs and examples of a comment, as Markdown."""
    out, code = [], []
    for line in [*lines, ""]:
        if line.startswith("  ") and (code or line.strip()):
            code.append(line[2:] if line.startswith("   ") is False else line[2:].rstrip())
            continue
        if code:
            out += ["", "```cpp", *code, "```", ""]
            code = []
        out.append(line)
    return "\n".join(out).strip()


def closing(text, at):
    """The index behind the bracket that closes the one at `at`."""
    depth, quote = 0, None
    while True:
        c = text[at]
        if quote:
            if c == "\\":
                at += 1
            elif c == quote:
                quote = None
        elif text.startswith("/*", at):
            at = text.index("*/", at)
        elif c == '"' or (c == "'" and not text[at - 1].isdigit()):
            quote = c
        elif text.startswith("//", at):
            at = text.index("\n", at)
        elif c in "({[":
            depth += 1
        elif c in ")}]":
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1


def trailing(text, at):
    """A comment on the rest of the line, and where that ends."""
    m = re.compile(r"[ \t]*//([^\n]*)").match(text, at)
    if not m:
        return "", at
    note = m.group(1).strip()
    if re.match(r"NOLINT|IWYU|namespace\b", note):
        note = note.partition(":")[2].strip() if note.startswith("NOLINT:") else ""
        note = "" if note.startswith("implicit on purpose") else note
    return note, m.end()


def parse(text, public=True):
    """The declarations of a scope, in order."""
    items, comment, at, near = [], [], 0, False
    while at < len(text):
        m = re.compile(r"[ \t]*(?:(\n)|//( ?[^\n]*)|(#(?:[^\n]*\\\n)*[^\n]*)|(public|private|protected):)").match(
            text, at
        )
        if m:
            at = m.end()
            if m.group(1):
                if text[at : at + 1] == "\n":
                    comment, near = [], False
            elif m.group(2) is not None:
                comment.append(m.group(2)[1:])
            elif m.group(4):
                public, comment, near = m.group(4) == "public", [], False
            continue
        if m := re.compile(r"\s*WEFT_(?!API)[A-Z_]+(?=\()").match(text, at):  # a macro that makes a class of a name
            at = closing(text, m.end())
            name = re.match(r"\w+", text[m.end() + 1 :])
            item = Item(name.group() if name else "", comment, near)
            item.kind = "made"
            comment, near = [], True
            if public and name:
                items.append(item)
            continue
        start = at
        body, end = None, at
        while True:
            m = re.compile(r"[;{(]|//").search(text, end)
            if not m:
                return items
            if m.group() == "//":
                end = text.index("\n", m.start())
            elif m.group() == "(":
                end = closing(text, m.start())
            elif m.group() == "{":
                head = text[start : m.start()].strip()
                end = closing(text, m.start())
                if re.search(r"requires\s*$", head):  # a requires-expression, not a body
                    continue
                if re.search(r"[=]\s*$", head) or (
                    re.search(r"\w$", head)
                    and "(" not in head
                    and not re.match(r"(template\s*<.*>\s*)?(class|struct|enum|namespace)\b", head, re.S)
                ):
                    continue  # an initializer
                body = text[m.end() : end - 1]
                tail = re.compile(r"[ \t]*;").match(text, end)
                end = tail.end() if tail else end
                break
            else:
                head = text[start : m.start()].strip()
                end = m.end()
                break
        note, at = trailing(text, end)
        item = Item(head, comment + ([note] if note and not comment else []), near)
        item.above = bool(comment)
        if note and comment:
            item.comment = comment + ["(" + note + ")"]
        comment = []
        if m := re.match(r"namespace ([\w:]*)", head):
            if (
                body is not None
                and not re.search(r"detail$", m.group(1))
                and not item.comment[:1] == ["For the library itself."]
            ):
                item.kind, item.members = "namespace", parse(body)
                items.append(item)
            near = False
            continue
        if m := re.match(
            r"(?:template\s*<.*>\s*)?(class|struct|enum class|enum)\s+(?:WEFT_API\s+)?([\w<>:, ]+?)\s*(?:final\s*)?(?::[^:]|$)",
            head,
            re.S,
        ):
            if body is None:
                near = False
                continue  # declared in advance
            item.kind, item.name = m.group(1), m.group(2)
            item.body = text[start:end]
            item.members = [] if item.kind.startswith("enum") else parse(body, item.kind == "struct")
        elif re.match(r"(using|static_assert|friend|extern|typedef)\b", head) and "(" not in head.partition("=")[0]:
            item.kind = "alias" if head.startswith("using") and "=" in head else ""
        elif is_function(head):
            item.kind = "function"
        else:
            item.kind = "value"
        if public and item.kind:
            items.append(item)
        near = True
    return items


def is_function(head):
    """Whether a declaration is one of a function: not of a member of type std::function, a pointer, or with a call in its initializer."""
    if "operator" in head:
        return True
    while (plain := re.sub(r"<[^<>]*>", "", head)) != head:
        head = plain
    return "(" in head.partition("=")[0] and "(*" not in head.partition("=")[0]


def signature(text):
    """A declaration on one line, without what only the compiler reads."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\bWEFT_API ", "", text)
    text = re.sub(r"^template <[^<>]*(?:<[^<>]*>[^<>]*)*> ", "", text)
    if text.startswith("requires"):  # its condition has no spaces outside of brackets
        while m := re.match(r"requires\s*", text):
            at = m.end()
            if text.startswith("requires", at):
                at = text.index("{", at)
            at = closing(text, at) if text[at] in "({" else re.compile(r"[\w:]+").match(text, at).end()
            if text[at : at + 1] == "<":
                at = text.index("> ", at) + 1
            text = text[at:].strip()
    depth = 0
    for i, c in enumerate(text):  # a constructor's initializers
        depth += (c in "(<{[") - (c in ")>}]")
        if c == ":" and depth == 0 and text[i - 1] == " " and text[i + 1] == " ":
            return text[:i].strip()
    return text


def shown(item, owner):
    text = item.text
    name = re.search(r"(operator\s*[^\s(]+|~?\w+)\s*\(", text)
    if item.kind == "function" and (
        re.search(r"=\s*(delete|default)$", text) or (name and name.group(1).startswith("~"))
    ):
        return False
    return not (
        owner and re.match(r"(explicit )?%s\(%s ?&&|(explicit )?%s\(const %s&" % ((owner,) * 4), signature(text))
    )


def members(items, owner, missing, where):
    entries, near = [], False  # declarations that belong together, and their text
    for item in items:
        text = comment_text(item.comment)
        if text.startswith("For the library itself"):
            near = None
        elif text or not item.near:
            near = near if near is not None else False
        if near is None and item.near and not text:
            continue
        if near is None:
            if text.startswith("For the library itself"):
                continue
            near = False
        if item.kind in ("class", "struct") or item.kind.startswith("enum"):
            entries.append(([], described(item, missing, where)))
            near = False
            continue
        sig = signature(item.text)
        if item.kind in ("value", "alias"):
            if text and (owner is None or item.kind == "alias"):
                entries.append(([sig], text))
                near = item.above
            continue
        if not shown(item, owner):
            continue
        joined = item.near and near and not text
        own = owner and re.match(r"(explicit )?%s\(" % re.escape(owner), sig)
        if (
            not text
            and not joined
            and not own
            and not re.search(r"\boperator\b|\boverride$|= 0$", sig)
            and item.kind == "function"
        ):
            missing.append(f"{where}: {sig}")
        if joined and entries and entries[-1][0]:
            entries[-1][0].append(sig)
        else:
            entries.append(([sig], text))
        near = joined or item.above or not text
    out = []
    for sigs, text in entries:
        lines = [f"`{sig}`" for sig in sigs] + ([text.replace("\n", "\n  ")] if text else [])
        out.append("- " + "  \n  ".join(lines) if sigs else text)
    return "\n".join(out)


def described(item, missing, where):
    """A class, struct or enum."""
    text = comment_text(item.comment)
    lines = ["", f"### {item.name}", ""]
    if text:
        lines += [text, ""]
    functions = [m for m in item.members if m.kind != "value"]
    values = [m for m in item.members if m.kind == "value"]
    if item.kind.startswith("enum") or (values and item.kind == "struct"):
        body = re.sub(r"^template[^\n]*\n", "", item.body)
        if functions:
            fields = [f"  {signature(v.text)};" + (f"  // {' '.join(v.comment)}" if v.comment else "") for v in values]
            body = f"struct {item.name} {{\n" + "\n".join(fields) + "\n};"
        indent = min((len(l) - len(l.lstrip()) for l in body.splitlines()[1:] if l.strip()), default=0)
        lines += [
            "    " + l[min(indent, len(l) - len(l.lstrip())) if i and l.startswith("}") else 0 :]
            for i, l in enumerate(body.replace("WEFT_API ", "").splitlines())
        ] + [""]
    if functions:
        lines += [members(item.members, item.name, missing, f"{where}: {item.name}"), ""]
    return "\n".join(lines)


def page(header, missing):
    text = header.read_text()
    name = header.relative_to(HEADERS.parent).as_posix()
    intro = re.match(r"((?://[^\n]*\n)+)", text).group(1)
    rest = text[len(intro) :]
    lines = [f"# {name}", "", comment_text([line[3:] for line in intro.splitlines()]), ""]

    def scope(items, space):
        flat = [i for i in items if i.kind != "namespace"]
        if flat:
            if space != "weft":
                lines.extend([f"## namespace {space}", ""])
            lines.extend([members(flat, None, missing, name), ""])
        for i in items:
            if i.kind == "namespace":
                inner = re.match(r"namespace ([\w:]+)", i.text).group(1)
                scope(i.members, inner if not space else f"{space}::{inner}")

    for i in parse(rest):
        if i.kind == "namespace" and re.match(r"namespace weft\b(?!_)", i.text):
            scope(i.members, re.match(r"namespace ([\w:]+)", i.text).group(1))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def pages():
    """File name and text of every page, and what has no comment."""
    missing, out = [], {}
    listed = [n for _, names in GROUPS for n in names.split()]
    have = {h.relative_to(HEADERS).with_suffix("").as_posix() for h in HEADERS.rglob("*.h")} - SKIPPED
    for name in sorted(have - set(listed)):
        missing.append(f"{name}.h is in no group of docs/api_pages.py")
    index = [
        "# The C++ API",
        "",
        "One page for each header, made from its comments by `docs/api_pages.py`. `<weft/weft.h>` includes all of them but `weft/compile.h`.",
        "",
    ]
    for title, names in GROUPS:
        index += [f"## {title}", "", "| header | |", "|---|---|"]
        for name in names.split():
            if name in SKIPPED:
                continue
            header = HEADERS / f"{name}.h"
            file = name.replace("/", "_") + ".md"
            out[file] = page(header, missing)
            first = re.sub(r"\s+", " ", out[file].split("\n\n")[1])
            first = re.match(r"(.*?)\.? *(?:(?<=\.) |$)", first).group(1)
            index.append(f"| [weft/{name}.h]({file}) | {first} |")
        index.append("")
    index += [
        "Every op as a function of its own is in the generated `weft/raw.h`, or by area in `weft/raw/math.h`, `weft/raw/array.h` and so on.",
        "",
    ]
    out["README.md"] = "\n".join(index)
    return out, missing


def main():
    out, missing = pages()
    for line in missing:
        print(f"no comment: {line}")
    if "--check" in sys.argv:
        stale = [n for n, text in out.items() if not (PAGES / n).exists() or (PAGES / n).read_text() != text]
        stale += [p.name for p in PAGES.glob("*.md") if p.name not in out]
        for name in stale:
            print(f"docs/api/{name} is not what the headers say: run python docs/api_pages.py")
        print(f"{len(out)} pages, {len(stale)} stale, {len(missing)} functions without a comment")
        sys.exit(bool(stale or missing))
    PAGES.mkdir(exist_ok=True)
    for path in PAGES.glob("*.md"):
        path.unlink()
    for name, text in out.items():
        (PAGES / name).write_text(text)


if __name__ == "__main__":
    main()
