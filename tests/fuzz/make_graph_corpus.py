"""Makes corpus/graph from the golden archives: small GraphDefs, FunctionDefs and MetaGraphDefs, each behind the byte that
graph_fuzz.cc reads first.

  python3 make_graph_corpus.py ../models/saved corpus/graph
"""

import pathlib
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "../models/saved"))
from play import messages


def main():
    source, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    kinds = {}
    for archive in ("programs.tar.xz", "v1.tar.xz"):
        with tarfile.open(source / archive) as t:
            for member in t.getmembers():
                if not member.name.endswith((".pb")) or "fingerprint" in member.name:
                    continue
                data = t.extractfile(member).read()
                name = member.name.split("/")[1].removesuffix(".pb")
                if member.name.endswith("saved_model.pb"):
                    meta = dict(messages(data))[2]
                    graph = dict(messages(meta)).get(2, b"")
                    kinds.setdefault("2", []).append((name, meta))
                    kinds.setdefault("0", []).append((name, graph))
                    for field, value in messages(graph):
                        if field == 2:
                            for n, function in messages(value):
                                if n == 1:
                                    kinds.setdefault("1", []).append(
                                        (f"{name}_{len(kinds['1']) if '1' in kinds else 0}", function)
                                    )
                else:
                    kinds.setdefault("0", []).append((name, data))
    for kind, items in kinds.items():
        items = sorted((i for i in items if len(i[1]) < (24000 if kind == "2" else 8000)), key=lambda i: len(i[1]))
        step = max(1, len(items) // 14)  # of all sizes
        for name, data in items[::step][:14]:
            (out / f"{kind}_{name}").write_bytes(bytes([int(kind)]) + data)


if __name__ == "__main__":
    main()
