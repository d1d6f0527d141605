"""Which of TensorFlow's public symbols weft has: writes docs/python_api.md, or checks that it is true.

api_table.py [--write] [--missing]"""

import argparse
import collections
import csv
import pathlib

import weft as tf

HERE = pathlib.Path(__file__).parent
TARGET = HERE.parent.parent / "docs/python_api.md"
HEAD = """# Python: which of TensorFlow's symbols there are

Written by `tests/python/api_table.py --write`; `tests/python/api_test.py` checks that it is true. The symbols are those of TensorFlow 2.21's public modules, without Keras;
"uses" is how often the programs of the coverage lists name them. `tf.raw_ops` has every op of the engine. What "missing" lists has its signature and raises
UnimplementedError, which says why.

"""


def has(symbol):
    value = tf
    for part in symbol.split(".")[1:]:
        try:
            value = getattr(value, part)
        except AttributeError:
            return False
    return not getattr(value, "__unsupported__", False)


def rows():
    with open(HERE / "data/tf_symbols.csv") as f:
        for row in csv.DictReader(f):
            if ".keras." not in row["symbol"]:  # that is the package keras, which need not be installed
                yield row["symbol"], int(row["uses"]), has(row["symbol"])


def table():
    groups = collections.defaultdict(list)
    for symbol, uses, there in rows():
        parts = symbol.split(".")
        namespace = ".".join(parts[:2]) if len(parts) > 2 and parts[1][0].islower() else "tf"
        groups[namespace].append((symbol, uses, there))
    out = [HEAD, "| namespace | symbols | there | of the uses | missing, most used first |\n|---|---|---|---|---|\n"]
    all_symbols = [s for group in groups.values() for s in group]

    def line(name, group, missing):
        uses = sum(u for _, u, _ in group)
        covered = sum(u for _, u, t in group if t)
        share = f"{100 * covered / uses:.0f} %" if uses else "-"
        return f"| {name} | {len(group)} | {sum(t for _, _, t in group)} | {share} | {missing} |\n"

    out.append(line("all", all_symbols, ""))
    for name in sorted(groups, key=lambda n: (n != "tf", n)):
        missing = [
            f"{s.removeprefix(name + '.')}{f' ({u})' if u else ''}"
            for s, u, t in sorted(groups[name], key=lambda r: (-r[1], r[0]))
            if not t
        ]
        out.append(line(f"`{name}`", groups[name], " ".join(missing)))
    return "".join(out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--write", action="store_true", help="write docs/python_api.md")
    p.add_argument("--missing", action="store_true", help="list what is missing, most used first")
    a = p.parse_args()
    if a.missing:
        for symbol, uses, there in rows():
            if not there:
                print(uses, symbol)
    elif a.write:
        TARGET.write_text(table())
    else:
        print(table()[len(HEAD) :])


if __name__ == "__main__":
    main()
