"""What a node costs as graphs grow, under weft and TensorFlow, in turns: a GraphDef of 10 to 1,000,000 nodes is imported and run in a session.

    growth.py [--weft PYTHON] [--tensorflow PYTHON] [--sizes 10 1000 100000 1000000] [--form chain|wide] [--rounds 1] [--plot growth.svg]

PYTHON: an interpreter that has the package (weft's is taken from build/python, or WEFT_PACKAGE). Each measurement is a process of its own. Printed are the seconds of
the import, of the first run (which prunes, optimises and plans the graph) and of one more, and the resident memory that all of it added, for a node: microseconds and
bytes. `chain` is one Tanh after the other, `wide` are Tanhs of one input whose sums are added up in groups of 100."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from packages import environment, field, need, varint

FIGURES = ["import", "first run", "run", "bytes"]


def node(name, op, inputs=(), **attributes):
    """A NodeDef inside a GraphDef; attributes are given as serialized AttrValues."""
    body = field(1, name.encode()) + field(2, op.encode())
    for i in inputs:
        body += field(3, i.encode())
    for key, value in attributes.items():
        body += field(5, field(1, key.encode()) + field(2, value))
    return field(1, body)


def graph(n, form):
    """A serialized GraphDef of about n nodes from x to y."""
    kind, count = bytes([6 << 3, 1]), lambda k: bytes([3 << 3]) + varint(k)  # DT_FLOAT, an integer
    nodes = [node("x", "Placeholder", dtype=kind)]
    if form == "chain":
        last = "x"
        for i in range(n - 2):
            nodes.append(node(f"n{i}", "Tanh", [last], T=kind))
            last = f"n{i}"
        nodes.append(node("y", "Tanh", [last], T=kind))
    else:
        sums = []
        for first in range(0, max(1, n - 2), 100):
            group = [f"n{i}" for i in range(first, min(first + 100, max(1, n - 2)))]
            nodes += [node(name, "Tanh", ["x"], T=kind) for name in group]
            nodes.append(node(f"s{first}", "AddN", group, T=kind, N=count(len(group))))
            sums.append(f"s{first}")
        nodes.append(node("y", "AddN", sums, T=kind, N=count(len(sums))))
    return b"".join(nodes) + field(4, bytes([1 << 3]) + varint(2000))


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def work(package, n, form):
    import importlib

    tf = importlib.import_module(package)
    v1 = tf.compat.v1
    with v1.Session(graph=tf.Graph()) as session:  # what the first session costs is not a node's
        with session.graph.as_default():
            session.run(tf.constant(1.0))
    data = graph(n, form)
    before = resident()
    start = time.perf_counter()
    g = tf.Graph()
    with g.as_default():
        definition = v1.GraphDef.FromString(data)
        tf.graph_util.import_graph_def(definition, name="")
    out = {"import": time.perf_counter() - start}
    del definition
    with v1.Session(graph=g) as session:
        start = time.perf_counter()
        session.run("y:0", {"x:0": 0.5})
        out["first run"] = time.perf_counter() - start
        times = []
        for _ in range(5):
            start = time.perf_counter()
            session.run("y:0", {"x:0": 0.5})
            times.append(time.perf_counter() - start)
        out["run"] = min(times)
        out["bytes"] = resident() - before
    print(json.dumps(out), flush=True)
    os._exit(0)  # the figures are there; taking a million nodes down is not measured


def measure(package, python, n, form):
    command = [*python.split(), __file__, "--work", package, "--sizes", str(n), "--form", form]
    out = subprocess.run(command, capture_output=True, text=True, env=environment(package))
    if out.returncode:
        print(f"{package} at {n} nodes failed: {out.stderr.strip().splitlines()[-1:]}", flush=True)
        return None
    return json.loads(out.stdout.strip().splitlines()[-1])


def chart(rows, packages):
    """Microseconds (or bytes) a node over the number of nodes, both on logarithmic scales, a panel for each figure."""
    import math

    colors = {"weft": "#1565c0", "tensorflow": "#e65100"}
    sizes = sorted({n for n, *_ in rows})
    across = lambda n: (
        50 + 150 * (math.log10(n) - math.log10(sizes[0])) / max(1e-9, math.log10(sizes[-1]) - math.log10(sizes[0]))
    )
    parts = []
    for k, figure in enumerate(FIGURES):
        values = {(p, n): max(v, 1e-3) for n, p, f, v in rows if f == figure}
        if not values:
            continue
        low, high = math.log10(min(values.values())), math.log10(max(values.values()))
        up = lambda v, low=low, high=high: 210 - 160 * (math.log10(v) - low) / max(1e-9, high - low)
        unit = "bytes a node" if figure == "bytes" else f"{figure}, us a node"
        parts.append(f'<g transform="translate({k * 225},0)"><text x="50" y="25">{unit}</text>')
        parts += [f'<text x="4" y="{up(v):.0f}" font-size="10">{v:.3g}</text>' for v in (10**low, 10**high)]
        parts += [f'<text x="{across(n):.0f}" y="235" font-size="10" text-anchor="middle">{n:g}</text>' for n in sizes]
        for p in packages:
            points = " ".join(f"{across(n):.1f},{up(values[p, n]):.1f}" for n in sizes if (p, n) in values)
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colors[p]}" stroke-width="2"/>')
        parts.append("</g>")
    legend = "".join(f'<text x="{50 + 110 * i}" y="258" fill="{colors[p]}">{p}</text>' for i, p in enumerate(packages))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="920" height="270" font-family="sans-serif" font-size="12">\n'
        f'<rect width="920" height="270" fill="white"/>\n{chr(10).join(parts)}\n{legend}\n</svg>\n'
    )


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--weft", default="build/venv/bin/python")
    p.add_argument("--tensorflow")
    p.add_argument("--sizes", type=int, nargs="+", default=[10, 1000, 100000, 1000000])
    p.add_argument("--form", choices=["chain", "wide"], default="chain")
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--plot")
    p.add_argument("--work", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.work:
        return work(a.work, a.sizes[0], a.form)
    packages = {name: python for name in ("weft", "tensorflow") if (python := getattr(a, name))}
    for name, python in packages.items():
        need("numpy", *([] if name == "weft" else [name]), python=python)
    rows = []
    failed = False
    print(f"{'nodes':>9s} {'':11s}" + "".join(f"{f:>16s}" for f in FIGURES) + "    (a node: us, us, us, bytes)")
    for n in a.sizes:
        taken = {name: [] for name in packages}
        for _ in range(a.rounds):
            for name, python in packages.items():
                if got := measure(name, python, n, a.form):
                    taken[name].append(got)
        each = {}
        for name, runs in taken.items():
            if not runs:
                failed = True
                continue
            each[name] = {f: statistics.median(r[f] for r in runs) / n * (1 if f == "bytes" else 1e6) for f in FIGURES}
            rows += [(n, name, f, v) for f, v in each[name].items()]
            print(f"{n:9d} {name:11s}" + "".join(f"{each[name][f]:16.3f}" for f in FIGURES), flush=True)
        if len(each) == 2:
            ratio = lambda f: each["tensorflow"][f] / max(each["weft"][f], 1e-9)
            print(f"{n:9d} {'ratio':11s}" + "".join(f"{ratio(f):16.2f}" for f in FIGURES), flush=True)
    if a.plot:
        pathlib.Path(a.plot).write_text(chart(rows, list(packages)))
    return failed


if __name__ == "__main__":
    sys.exit(main())
