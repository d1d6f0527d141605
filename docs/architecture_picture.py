"""Draws docs/architecture.svg from the layer lists: DEPS of weft_library() in src/*/CMakeLists.txt.

    architecture_picture.py            writes docs/architecture.svg
    architecture_picture.py --check    fails if the file is not what would be written (test architecture_picture)

A layer is drawn below everything that may include it. An edge that follows from others is left out: `graph` may include `core`, but
since it includes `op`, which includes `core`, no line is drawn. Long edges are routed around the boxes through the rows between.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "architecture.svg"
PURPOSE = {
    "core": "tensors, devices, threads, files",
    "ir": "the compiler's IR",
    "kernels": "compute on raw arrays",
    "wire": "protobuf, checkpoints, records",
    "op": "OpSpec, Registry, contexts",
    "ops": "kernel, shape, gradient of each op",
    "graph": "graphs, functions, passes",
    "autodiff": "gradients of graphs and tapes",
    "io": "GraphDef and friends",
    "runtime": "placer, executors, sessions",
    "eager": "ops one by one, kernel cache",
    "remote": "other processes as devices",
    "trace": "user code to functions",
    "saved_model": "SavedModels, checkpoints",
    "compiler": "lowering, fusion, buffers",
    "jit": "functions to machine code",
    "cuda": "NVIDIA GPUs",
    "aot": "models to object files",
    "engine": "one Engine per process",
    "api": "C++ API (include/weft)",
    "capi": "TF_*, TFE_*",
    "cli": "the weft command",
    "python": "import weft as tf",
}
# What is built by other means than weft_library().
OTHERS = {"cli": ["api"], "python": ["api", "capi"]}
WIDTH, HEIGHT, ROW, GAP, LANE = (
    196,
    44,
    86,
    22,
    14,
)  # of a box; between rows; between boxes; of a line that passes a row


def layers():
    """The layers that each layer may include."""
    found = dict(OTHERS)
    for path in sorted(ROOT.glob("src/*/CMakeLists.txt")):
        text = re.sub(r"#.*", "", path.read_text())
        for name, arguments in re.findall(r"weft_library\((\w+)(.*?)\)", text, re.S):
            words, deps = arguments.split(), []
            if "DEPS" in words:
                for word in words[words.index("DEPS") + 1 :]:
                    if word.isupper():
                        break
                    deps.append(word)
            found[name] = deps
    missing = sorted(set(found) ^ set(PURPOSE))
    if missing:
        sys.exit(f"architecture_picture.py: PURPOSE does not match the layers: {', '.join(missing)}")
    return found


def reduced(deps):
    """Without the edges that follow from others."""
    below = {}

    def all_below(name):
        if name not in below:
            below[name] = set(deps[name]).union(*(all_below(d) for d in deps[name]))
        return below[name]

    return {
        name: sorted(d for d in set(ds) if not any(d in all_below(o) for o in ds if o != d))
        for name, ds in deps.items()
    }


def rows_of(edges):
    rank = {}

    def height(name):
        if name not in rank:
            rank[name] = 1 + max(map(height, edges[name]), default=-1)
        return rank[name]

    for name in edges:
        height(name)
    return rank


def lay_out(edges):
    """Centres of boxes by name, and for each edge the points that it passes. Bends are nodes (name, dep, row) of their own."""
    rank = rows_of(edges)
    rows = [[] for _ in range(max(rank.values()) + 1)]
    for name in sorted(edges):
        rows[rank[name]].append(name)
    paths, links = {}, {}
    for name in sorted(edges):
        for dep in edges[name]:
            path = [name] + [(name, dep, row) for row in range(rank[name] - 1, rank[dep], -1)] + [dep]
            paths[name, dep] = path
            for node in path[1:-1]:
                rows[node[2]].append(node)
            for a, b in zip(path, path[1:]):
                links.setdefault(a, []).append(b)
                links.setdefault(b, []).append(a)
    size = lambda node: WIDTH + GAP if isinstance(node, str) else LANE
    x = {}

    def place(row):
        """Keeps the order of a row and pushes apart what overlaps, around the mean of where its nodes would be best."""
        wanted = sum(x[node] for node in row)
        for a, b in zip(row, row[1:]):
            x[b] = max(x[b], x[a] + (size(a) + size(b)) / 2)
        shift = (wanted - sum(x[node] for node in row)) / len(row)
        for node in row:
            x[node] += shift

    for row in rows:
        total = sum(map(size, row))
        at = -total / 2
        for node in row:
            x[node] = at + size(node) / 2
            at += size(node)
    level = lambda node: rank[node] if isinstance(node, str) else node[2]
    for sweep in range(24):
        up = sweep % 2 == 0
        for r in range(len(rows)) if up else range(len(rows) - 1, -1, -1):
            row = rows[r]
            for node in row:
                near = [n for n in links.get(node, []) if sweep > 15 or (level(n) < r if up else level(n) > r)]
                if near:
                    x[node] = sum(x[n] for n in near) / len(near)
            if sweep <= 15:
                row.sort(key=lambda node: (x[node], str(node)))
            place(row)
    shift = GAP - min(x[n] - (WIDTH / 2 if isinstance(n, str) else 0) for n in x)
    top = len(rows) - 1
    at = {node: (x[node] + shift, (top - level(node)) * ROW + HEIGHT / 2 + GAP) for node in x}
    return at, paths


def picture():
    edges = reduced(layers())
    at, paths = lay_out(edges)
    width = round(max(p[0] + (WIDTH / 2 if isinstance(n, str) else 0) for n, p in at.items()) + GAP)
    height = round(max(p[1] for p in at.values()) + HEIGHT / 2 + GAP)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif">',
        "<title>The layers of weft: each may include what is below it along the lines</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for (name, dep), path in sorted(paths.items()):
        points = [at[n] for n in path]
        d = f"M{points[0][0]:.0f} {points[0][1] + HEIGHT / 2:.0f}"
        for i, (px, py) in enumerate(points[1:], 1):
            sx, sy = points[i - 1]
            start, end = sy + HEIGHT / 2, py - HEIGHT / 2
            mid = (start + end) / 2
            d += f" C{sx:.0f} {mid:.0f} {px:.0f} {mid:.0f} {px:.0f} {end:.0f}"
            if i < len(points) - 1:
                d += f" V{py + HEIGHT / 2:.0f}"
        out.append(
            f'<path d="{d}" fill="none" stroke="#8a94a6" stroke-width="1.3"><title>{name} includes {dep}</title></path>'
        )
    for name in sorted(edges):
        px, py = at[name]
        fill = (
            "#dcecff"
            if name in ("api", "capi", "cli", "python")
            else "#e9f5e4"
            if name in ("ir", "compiler", "jit", "cuda", "aot")
            else "#f6f2e6"
        )
        out.append(
            f'<rect x="{px - WIDTH / 2:.0f}" y="{py - HEIGHT / 2:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="{fill}" stroke="#566"/>'
        )
        out.append(
            f'<text x="{px:.0f}" y="{py - 4:.0f}" text-anchor="middle" font-size="14" font-weight="bold">{name}</text>'
        )
        out.append(
            f'<text x="{px:.0f}" y="{py + 13:.0f}" text-anchor="middle" font-size="11" fill="#333">{PURPOSE[name]}</text>'
        )
    return "\n".join(out) + "\n</svg>\n"


def main():
    drawn = picture()
    if sys.argv[1:] == ["--check"]:
        if not PICTURE.exists() or PICTURE.read_text() != drawn:
            sys.exit(
                "docs/architecture.svg is not the picture of the layer lists: run python3 docs/architecture_picture.py"
            )
        print("docs/architecture.svg is up to date")
    else:
        PICTURE.write_text(drawn)
        print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
