"""Takes the C++ blocks out of the docs, so that tests can compile and run them.

    extract.py DOCS_FOLDER README OUTPUT_FOLDER

Writes adding_an_op.inc (the example family of docs/adding_an_op.md) and for the other pages PAGE.inc (a test case for each block),
and fails if the README's program is not examples/first.cc.
"""
import pathlib
import re
import sys

docs, readme, out = map(pathlib.Path, sys.argv[1:4])
blocks = lambda path: re.findall(r"```cpp\n(.*?)```", path.read_text(), re.S)
out.mkdir(parents=True, exist_ok=True)
(out / "adding_an_op.inc").write_text("".join(blocks(docs / "adding_an_op.md")))
for page in ("checkpoints", "data", "functions", "graphs", "layers", "training"):
    cases = [f'TEST_CASE("docs/{page}.md, block {i}") {{\n{block}}}\n' for i, block in enumerate(blocks(docs / f"{page}.md"), 1)]
    (out / f"{page}.inc").write_text("".join(cases))
if blocks(readme)[0] != (readme.parent / "examples" / "first.cc").read_text():
    sys.exit("the program in README.md is not examples/first.cc, which the tests run")
