"""Takes the C++ blocks out of the docs, so that tests can compile and run them.

    extract.py DOCS_FOLDER README OUTPUT_FOLDER

Writes adding_an_op.inc (the example family of docs/adding_an_op.md), for the other pages PAGE.inc (a test case for each block), and
api_examples.inc (a function for each block of docs/api, which is compiled but not run), and fails if the README's program is not
examples/first.cc.
"""

import pathlib
import re
import sys

docs, readme, out = map(pathlib.Path, sys.argv[1:4])
blocks = lambda path: re.findall(r"```cpp\n(.*?)```", path.read_text(), re.S)
out.mkdir(parents=True, exist_ok=True)
(out / "adding_an_op.inc").write_text("".join(blocks(docs / "adding_an_op.md")))
for page in ("checkpoints", "data", "functions", "graphs", "layers", "tensors", "training"):
    cases = [
        f'TEST_CASE("docs/{page}.md, block {i}") {{\n{block}}}\n'
        for i, block in enumerate(blocks(docs / f"{page}.md"), 1)
    ]
    (out / f"{page}.inc").write_text("".join(cases))
# What the examples of the API pages use without saying where it is from.
BEFORE = {
    "call": "Tensor a, b;",
    "checkpoint": "nn::Sequential model; nn::Adam optimizer;",
    "cluster": "Tensor x;",
    "control_flow": "Tensor x, rows;",
    "dataset": "Tensor images, labels; auto step = [](const Tensor&, const Tensor&) {};",
    "dlpack": "Tensor x;",
    "fit": "Tensor x, y, x_test, y_test;",
    "function": "Tensor x, y, x2, y2; nn::Sequential model; nn::Adam optimizer; std::vector<Variable> variables;",
    "indexing": "Tensor x;",
    "losses": "Tensor labels, logits, weights;",
    "metrics": "Tensor labels, predictions;",
    "nn_model": "Tensor x;",
    "optim": "Tensor x, y; nn::Sequential model; std::vector<Variable> variables;",
    "plot": "std::vector<double> loss, val_loss, accuracy;",
    "progress": "int steps = 1; double loss = 0, val_loss = 0;",
    "saved_model": "Tensor x;",
    "summary": "double loss = 0; int64_t step = 0;",
    "tape": "Tensor x, y; Variable w, b;",
    "variable": "Tensor x, gradient;",
}
examples = [(page.stem, block) for page in sorted((docs / "api").glob("*.md")) for block in blocks(page)]
functions = [
    f"[[maybe_unused]] void {page}_{i}() {{\n{BEFORE.get(page, '')}\n{{\n{block}}}\n}}\n"
    for i, (page, block) in enumerate(examples)
]
(out / "api_examples.inc").write_text("".join(functions) + f"constexpr int kExamples = {len(examples)};\n")
if blocks(readme)[0] != (readme.parent / "examples" / "first.cc").read_text():
    sys.exit("the program in README.md is not examples/first.cc, which the tests run")
