"""Which names of `tensorflow` packages use, read from their sources: `used_names.py FOLDER ... [--private] [--write FILE]`.

A FOLDER is a package's (site-packages/tf_keras), or a wheel. Nothing is imported: names are followed through `import`, `from ... import`, and plain assignments
(`tf1 = tf.compat.v1`). A line of the table is a module, and below it its names, each with the packages that use it."""

import argparse
import ast
import collections
import pathlib
import zipfile


class _Uses(ast.NodeVisitor):
    """The dotted names below `tensorflow` in one file, and how often each occurs."""

    def __init__(self):
        self.known = {}
        self.found = collections.Counter()

    def visit_Import(self, node):
        for name in node.names:
            if _of_tensorflow(name.name):
                self.found[name.name] += 1
                if name.asname:
                    self.known[name.asname] = name.name
                else:
                    self.known["tensorflow"] = "tensorflow"

    def visit_ImportFrom(self, node):
        if node.level or not node.module or not _of_tensorflow(node.module):
            return
        for name in node.names:
            full = f"{node.module}.{name.name}"
            self.found[full] += 1
            self.known[name.asname or name.name] = full

    def visit_Assign(self, node):
        full = self._name(node.value)
        if full and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self.known[node.targets[0].id] = full
        self.generic_visit(node)

    def visit_Attribute(self, node):
        full = self._name(node)
        if full:
            self.found[full] += 1
        else:
            self.generic_visit(node)

    def _name(self, node):
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.known:
            return None
        return ".".join([self.known[node.id], *reversed(parts)])


def _of_tensorflow(module):
    return module == "tensorflow" or module.startswith("tensorflow.")


def _sources(place):
    if place.suffix == ".whl":
        with zipfile.ZipFile(place) as wheel:
            for name in wheel.namelist():
                if name.endswith(".py"):
                    yield wheel.read(name)
    else:
        for file in sorted(place.rglob("*.py")):
            yield file.read_bytes()


def uses(place):
    """{dotted name: how often the package uses it}."""
    found = collections.Counter()
    for source in _sources(pathlib.Path(place)):
        visitor = _Uses()
        try:
            visitor.visit(ast.parse(source))
        except SyntaxError:  # a template
            continue
        found.update(visitor.found)
    return found


def is_private(name):
    return name.startswith(
        ("tensorflow.python", "tensorflow.compiler", "tensorflow.core", "tensorflow.lite", "tensorflow.tools")
    ) or (".__internal__" in name or ".__operators__" in name)


def table(places):
    """{module: {name: {package: count}}} with at most one attribute after a private module (the rest are members of that object)."""
    lines = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    for place in places:
        package = pathlib.Path(place).name.split("-")[0]
        for name, count in uses(place).items():
            module, _, last = name.rpartition(".")
            lines[module][last][package] += count
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("places", nargs="+")
    parser.add_argument("--private", action="store_true", help="only what is not public")
    parser.add_argument("--write", help="a file for the table")
    options = parser.parse_args()
    text = []
    for module, names in sorted(table(options.places).items()):
        rows = [
            f"  {name}: {' '.join(sorted(packages))}"
            for name, packages in sorted(names.items())
            if not options.private or is_private(f"{module}.{name}")
        ]
        if rows:
            text += [module, *rows]
    if options.write:
        pathlib.Path(options.write).write_text("\n".join(text) + "\n")
    else:
        print("\n".join(text))


if __name__ == "__main__":
    main()
