"""The weft command, tried as a user would: files that TensorFlow wrote, its numbers, and the facts that its own command tells.

python3 cli_test.py WEFT TESTS_FOLDER WORK_FOLDER [[--without] TEST ...]
"""

import json
import os
import pathlib
import subprocess
import sys
import tarfile
import xml.etree.ElementTree
import zipfile

import numpy as np

weft, tests, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
calls = str(tests / "models/model_api/calls")
CLOSE = {"float64": 1e-6, "float32": 1e-3, "float16": 2e-2, "complex64": 1e-3, "complex128": 1e-6}
PYTHON_TYPES = {"float": "float32", "double": "float64", "half": "float16"}


def run(*arguments, code=0):
    p = subprocess.run([weft, *map(str, arguments)], capture_output=True, text=True, errors="replace")
    assert p.returncode == code, f"weft {' '.join(map(str, arguments))}: exit {p.returncode}\n{p.stdout}{p.stderr}"
    return p.stdout if code == 0 else p.stderr


def unpacked(archive):
    """The folder of an archive of golden models."""
    out = work / archive
    if not (out / ".done").exists():
        out.mkdir(parents=True, exist_ok=True)
        with tarfile.open(tests / f"models/saved/{archive}.tar.xz") as t:
            t.extractall(out)
        (out / ".done").touch()
    found = sorted(out.rglob("*.npz"))
    assert found, f"no models in {archive}"
    return found


def differs(got, want):
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if want.dtype.kind in "SU":
        text = lambda a: [s if isinstance(s, bytes) else str(s).encode() for s in a.ravel().tolist()]
        return None if text(got) == text(want) else "other texts"
    if want.dtype == "V2":  # bfloat16
        got, want = (
            (a.reshape(-1).view("uint16").astype("uint32") << 16).view("float32").astype("float16") for a in (got, want)
        )
    if want.dtype.kind not in "fc":
        return None if np.array_equal(got, want) else "other values"
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return "inf or nan in other places"
    off = np.abs(got[finite].astype("complex128") - want[finite]).max(initial=0) / np.abs(want[finite]).max(
        initial=1e-6
    )
    return None if off <= CLOSE[want.dtype.name] else f"off by {off:.2g}"


def test_show_tells_what_saved_model_cli_tells():
    want = json.loads((tests / "models/model_api/show.json").read_text())
    folders = {"calls": calls}
    for archive in ("models", "programs"):
        for path in unpacked(archive):
            folders.setdefault(path.stem, str(path)[:-4])
    for name, facts in want.items():
        graph = json.loads(run("show", folders[name], "--json"))["graphs"][0]
        assert set(graph["signatures"]) == set(facts["signatures"])
        for key, signature in facts["signatures"].items():
            mine = graph["signatures"][key]
            assert mine["method"] == signature["method"]
            for side in ("inputs", "outputs"):
                assert set(mine[side]) == set(signature[side])
                for port, info in signature[side].items():
                    shape = mine[side][port]["shape"]
                    text = "unknown_rank" if shape is None else "(" + ", ".join(map(str, shape)) + ")"
                    assert (info["shape"], info["name"]) == (text, mine[side][port]["tensor"]), (name, key, port)
                    assert info["dtype"] == "DT_" + mine[side][port]["dtype"].upper(), (name, key, port)
        # It leaves out ops that only functions beside the signatures use.
        assert set(facts["ops"]) <= set(graph["ops"]), name
        for function, forms in facts["functions"].items():
            mine = next(f for f in graph["functions"] if f["name"] == function)
            spec = lambda i: [
                str(i["shape"]).replace("[", "(").replace("]", ")").replace("-1", "None"),
                PYTHON_TYPES.get(i["dtype"], i["dtype"]),
            ]
            # It prints dictionaries in the order of the file, which is none.
            got = sorted(sorted(spec(i) for i in form["inputs"].values()) for form in mine["forms"])
            assert got == sorted(sorted([s.replace(",)", ")"), t] for s, t, _ in form) for form in forms), (
                name,
                function,
                got,
                forms,
            )


def test_show_of_graphs_and_checkpoints():
    graph = next(p for p in unpacked("v1") if p.stem == "v1_rnn_sgd_ref")
    text = run("show", str(graph)[:-4] + ".pb", "--nodes")
    assert "GraphDef with 189 nodes" in text and "NextIteration" in text, text
    data = json.loads(run("show", str(graph)[:-4] + ".pb", "--json"))
    assert data["inputs"] == ["x", "y"]
    text = run("show", calls + "/variables/variables")
    assert "layer/w/.ATTRIBUTES/VARIABLE_VALUE" in text and "[2,2]" in text
    assert (
        json.loads(run("show", calls + "/variables/variables.index", "--json"))["tensors"][
            "layer/w/.ATTRIBUTES/VARIABLE_VALUE"
        ]["bytes"]
        == 16
    )
    assert "does not exist" in run("show", "no/such", code=1)
    assert "without saved_model.pb" in run("show", tests, code=1)


def test_run_takes_arrays_and_expressions():
    path = next(p for p in unpacked("models") if p.stem == "mlp")
    want = np.load(path)
    model, file = str(path)[:-4], work / "x.npy"
    np.save(file, want["x"])
    run("run", model, "-i", f"x={file}", "-o", f"y={work}/y.npy")
    assert differs(np.load(work / "y.npy"), want["predict"]) is None
    run("run", model, "--input", f"x={path}[x]", "--save", work / "all.npz")
    assert differs(np.load(work / "all.npz")["y"], want["predict"]) is None
    np.savez_compressed(work / "packed.npz", x=want["x"].astype("float64"))
    assert "--cast converts it" in run("run", model, "-i", f"x={work}/packed.npz", code=1)
    run("run", model, "-i", f"x={work}/packed.npz", "--cast", "-o", f"y={work}/y.npy")
    assert differs(np.load(work / "y.npy"), want["predict"]) is None
    np.save(file, np.asfortranarray(want["x"]))
    run("run", model, "-i", f"x={file}", "-o", f"y={work}/y.npy")
    assert differs(np.load(work / "y.npy"), want["predict"]) is None
    assert run("run", calls, "-i", "x=[[1, 1], [2, 0]]") == "y: float [2,2]\n[[4.5  6.25]\n [2.5  4.25]]\n"
    assert run("run", calls, "-i", "x=ones(1,2)") == "y: float [1,2]\n[[4.5  6.25]]\n"
    assert run("run", calls, "-f", "lookup", "-i", 'words=["two", "beta", "x"]').splitlines()[1] == "[ 2 -1 -1]"
    assert run("run", calls, "-f", "either", "-i", "x=3") == "result: int32 []\n6\n"
    assert run("run", calls, "-f", "either", "-i", "x=[1.5]") == "result: float [1]\n[3.]\n"


def test_run_of_a_graph_with_its_initialiser():
    for path in unpacked("v1"):
        want = np.load(path)
        run(
            "run",
            str(path)[:-4] + ".pb",
            "--init",
            "init",
            "-i",
            f"x={path}",
            "--fetch",
            "predict:0",
            "--save",
            work / "p.npz",
        )
        assert differs(np.load(work / "p.npz")["predict:0"], want["predict"]) is None, path.stem


def test_mistakes_are_told_with_the_cure():
    assert "is missing; add for example --input x='normal(1,2)'" in run("run", calls, code=1)
    assert "has no input 'z'; its inputs are:\n  x: float [?,2]" in run("run", calls, "-i", "z=1", code=1)
    assert "rows are of different length" in run("run", calls, "-i", "x=[[1,2],[3]]", code=1)
    assert "there is no 'once'" in run("run", calls, "-i", "x=once(2)", code=1)
    assert "Put it in quotes" in run("run", calls, "-i", "x=hello", code=1)
    assert "must have the shape [?,2], got [3]" in run("run", calls, "-i", "x=[1,2,3]", code=1)
    assert "it has: serving_default" in run("run", calls, "-s", "other", "-i", "x=1", code=1)
    assert "out of its range" in run("run", calls, "-f", "either", "-i", "x=3000000000", code=1)
    assert "must be NAME=VALUE" in run("run", calls, "-i", "x", code=1)
    assert "No such file" in run("run", calls, "-i", "x=none.npy", code=1)
    assert "Add --svg" in run("graph", calls, code=1)
    assert "there is no pass 'x'" in run("optimize", calls, "-o", work / "o.pb", "--passes", "x", code=1)


def test_arrays_of_every_type_go_in_and_out():
    np.save(work / "o.npy", np.array(["a", None], dtype=object), allow_pickle=True)
    assert "pickled" in run("run", calls, "-i", f"x={work}/o.npy", code=1)
    # What numpy writes, in every type, is what comes back.
    for dtype in (
        "float16",
        "float64",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "uint32",
        "int64",
        "uint64",
        "bool",
        "complex64",
        "complex128",
        "S5",
        "U5",
    ):
        a = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
        np.savez(work / "t.npz", x=a)
        with zipfile.ZipFile(work / "t.npz") as z:
            assert z.testzip() is None
        graph = (
            'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_%s } } attr { key: "shape" value { shape { unknown_rank: true } } } } '
            'node { name: "y" op: "Identity" input: "x" attr { key: "T" value { type: DT_%s } } } versions { producer: 2000 }'
        )
        name = {"float16": "HALF", "float64": "DOUBLE", "S5": "STRING", "U5": "STRING"}.get(dtype, dtype.upper())
        (work / f"{dtype}.pbtxt").write_text(graph % (name, name))
        run("run", work / f"{dtype}.pbtxt", "-i", f"x={work}/t.npz", "--save", work / "back.npz")
        assert differs(np.load(work / "back.npz")["y"], a) is None, dtype


def frozen_and_compared(model, arguments, feeds, want, optimized=True):
    """Freezes, runs the frozen graph and, unless told otherwise, the optimised one; None where the model writes variables."""
    file = work / "frozen.pb"
    p = subprocess.run([weft, "freeze", str(model), "-o", str(file), *arguments], capture_output=True, text=True)
    if p.returncode:
        assert "only what reads variables can be frozen" in p.stderr, p.stderr
        return None
    names = lambda word: p.stdout.split(word + " ")[1].split(";")[0].strip().split(", ")
    inputs = dict(zip(sorted(feeds), names("inputs")))
    np.savez(work / "in.npz", **feeds)
    assigned = [a for k in feeds for a in ("-i", f"{inputs[k]}={work}/in.npz[{k}]")]
    if optimized:
        run("optimize", file, "-o", work / "fast.pb")
    for graph in (file, work / "fast.pb")[: 1 + optimized]:
        run("run", graph, *assigned, "--save", work / "out.npz")
        got = np.load(work / "out.npz")
        for key, name in zip(sorted(want), names("outputs")):
            why = differs(got[name], want[key])
            assert why is None, f"{model}: {graph.name}: {key}: {why}"
    return True


def test_frozen_models_give_the_same():
    done = 0
    for path in unpacked("models"):
        z = np.load(path)
        done += frozen_and_compared(str(path)[:-4], [], {"x": z["x"]}, {"y": z["predict"]})
        assert "itself, not its value" in run("freeze", str(path)[:-4], "-s", "train", "-o", work / "no.pb", code=1)
    for path in unpacked("v1"):
        z = np.load(path)
        done += frozen_and_compared(
            str(path)[:-4] + ".pb",
            ["--init", "init", "--inputs", "x:0", "--outputs", "predict:0"],
            {"x": z["x"]},
            {"predict": z["predict"]},
        )
        assert "has no value yet" in run(
            "freeze", str(path)[:-4] + ".pb", "--outputs", "predict:0", "-o", work / "no.pb", code=1
        )
    assert done == 13, done


def digits_network():
    """A graph that reads handwritten digits: two convolutions with random filters, and the least squares of the classes over what they give.

    Its file, samples as they are stored, their labels, and the scores that numpy computes for the last fifth of them.
    """
    stored = np.load(tests.parent / "examples/data/digits.npz")
    test = np.arange(len(stored["labels"])) % 5 == 4
    random = np.random.default_rng(3)
    filters = (random.normal(size=(3, 3, 1, 8)) / 3).astype("f"), (random.normal(size=(3, 3, 8, 24)) / 8).astype("f")
    mean, variance, gamma = (random.uniform(0.5, 1.5, 24).astype("f") for _ in range(3))
    beta = random.normal(size=24).astype("f")

    def convolved(x, w, stride):  # padding SAME for windows of 3 over an even number of places
        before = 1 if stride == 1 else 0
        x = np.pad(x, ((0, 0), (before, 2 - before), (before, 2 - before), (0, 0)))
        places = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))[:, ::stride, ::stride]
        return np.einsum("bhwcij,ijco->bhwo", places[:, : 8 // stride, : 8 // stride], w)

    x = stored["images"].reshape(-1, 8, 8, 1).astype("f") / 16
    hidden = convolved(np.maximum(convolved(x, filters[0], 1), 0), filters[1], 2)
    hidden = np.maximum((hidden - mean) * (gamma / np.sqrt(variance + np.float32(1e-3))) + beta, 0).reshape(len(x), -1)
    rows = np.c_[hidden, np.ones(len(x))][~test].astype("f8")
    wanted = np.eye(10)[stored["labels"][~test]]
    solved = np.linalg.solve(rows.T @ rows + 30 * np.eye(rows.shape[1]), rows.T @ wanted).astype("f")
    weights, bias = solved[:-1], solved[-1]

    def node(name, op, inputs=(), **attrs):
        lines = [f'name: "{name}" op: "{op}"', *(f'input: "{i}"' for i in inputs)]
        return (
            "node { " + " ".join(lines + [f'attr {{ key: "{k}" value {{ {v} }} }}' for k, v in attrs.items()]) + " }\n"
        )

    def constant(name, array):
        kind = "DT_FLOAT" if array.dtype == "f" else "DT_INT32"
        dims = " ".join(f"dim {{ size: {d} }}" for d in array.shape)
        content = "".join(f"\\{b:03o}" for b in array.tobytes())
        tensor = f'tensor {{ dtype: {kind} tensor_shape {{ {dims} }} tensor_content: "{content}" }}'
        return node(name, "Const", dtype=f"type: {kind}", value=tensor)

    t = {"T": "type: DT_FLOAT"}
    conv = lambda stride: {**t, "strides": f"list {{ i: 1 i: {stride} i: {stride} i: 1 }}", "padding": 's: "SAME"'}
    sizes = " ".join(f"dim {{ size: {d} }}" for d in (-1, 8, 8, 1))
    graph = node("x", "Placeholder", dtype="type: DT_FLOAT", shape=f"shape {{ {sizes} }}")
    graph += constant("sixteenth", np.float32(1 / 16)) + node("scaled", "Mul", ["x", "sixteenth"], **t)
    graph += constant("filter_1", filters[0]) + node("conv_1", "Conv2D", ["scaled", "filter_1"], **conv(1))
    graph += node("relu_1", "Relu", ["conv_1"], **t)
    graph += constant("filter_2", filters[1]) + node("conv_2", "Conv2D", ["relu_1", "filter_2"], **conv(2))
    names = ["gamma", "beta", "mean", "variance"]
    for name, array in zip(names, (gamma, beta, mean, variance)):
        graph += constant(name, array)
    graph += node(
        "norm",
        "FusedBatchNormV3",
        ["conv_2", *names],
        **t,
        U="type: DT_FLOAT",
        epsilon="f: 0.001",
        is_training="b: false",
    )
    graph += node("relu_2", "Relu", ["norm"], **t) + constant("sizes", np.array([-1, 384], "i4"))
    graph += node("flat", "Reshape", ["relu_2", "sizes"], **t)
    graph += constant("weights", weights) + node("dense", "MatMul", ["flat", "weights"], **t)
    graph += constant("bias", bias) + node("scores", "BiasAdd", ["dense", "bias"], **t)
    (work / "digits.pbtxt").write_text(graph + "versions { producer: 1000 }\n")
    pictures, labels = stored["images"].reshape(-1, 8, 8), stored["labels"]
    np.savez(work / "digits.npz", train=pictures[~test], test=pictures[test], labels=labels[test])
    return work / "digits.pbtxt", labels[test], hidden[test] @ weights + bias


def test_quantize():
    graph, labels, want = digits_network()
    right = 100 * np.mean(want.argmax(1) == labels)
    assert right > 90, right
    data = f"{work}/digits.npz"
    call = ("quantize", graph, "--calibrate", f"x={data}[train]")
    told = run(*call, "--test", f"x={data}[test]", "--labels", f"{data}[labels]", "-o", work / "int8")
    accuracy = [
        float(word)
        for line in told.splitlines()
        if line.startswith("accuracy")
        for word in line.split()
        if word[0].isdigit()
    ]
    # Before: numpy's accuracy, but for scores that are as good as equal. In 8 bits: at most half a point less.
    assert abs(accuracy[0] - right) < 0.3 and accuracy[1] >= accuracy[0] - 0.5, told
    assert "2 of 3 layers in 8 bits" in told and "sums of 9 terms only" in told and "of 359 rows" in told, told
    ops = json.loads(run("show", work / "int8", "--json"))["graphs"][0]["ops"]
    for op in ("UniformQuantize", "UniformQuantizedDot", "UniformQuantizedConvolution", "UniformDequantize", "Conv2D"):
        assert op in ops, (op, ops)
    assert "MatMul" not in ops and "FusedBatchNormV3" not in ops
    # The same numbers whether the engine fuses the layers or runs op by op, with every kind of instructions; and they are near numpy's.
    np.save(work / "test.npy", np.load(data)["test"].reshape(-1, 8, 8, 1).astype("f"))
    scores = {}
    for level in ("", "generic", "avx2", "avx2_dots", "avx512"):
        os.environ["WEFT_CPU"] = level
        for name, options in ((level or "best", ()), (level + " unfused", ("--disable", "remap"))):
            run("run", work / "int8", "-i", f"x={work}/test.npy", "--save", work / "scores.npz", *options)
            scores[name] = np.load(work / "scores.npz")["scores"]
    del os.environ["WEFT_CPU"]
    noise = np.linalg.norm(scores["best"] - want) / np.linalg.norm(want)
    assert 0 < noise < 0.05, noise
    for name, got in scores.items():  # a sum that is rounded otherwise may be the next 8-bit number
        assert np.abs(got - scores["best"]).max() < 0.02 * np.abs(want).max(), name
    # Of a layer that is kept nothing changes.
    told = run(*call, "--keep", "dense", "-o", work / "int8")
    assert "1 of 3 layers in 8 bits" in told and "float: asked for" in told, told
    told = run(
        *call, "--least-depth", "300", "-o", work / "int8"
    )  # conv_2 stays a float, without the normalisation behind it
    assert "1 of 3 layers in 8 bits" in told and "sums of 72 terms only" in told, told
    assert "FusedBatchNormV3" not in run("show", work / "int8") and float(told.split("noise ")[1].split()[0]) < 0.05, (
        told
    )
    told = run(*call, "--least-depth", "400", "-o", work / "none")
    assert "0 of 3 layers" in told and "largest difference 0," in told, told
    assert "there is no product or convolution 'densest'; there are: conv_1, conv_2, dense" in run(
        *call, "--keep", "densest", "-o", work / "no", code=1
    )
    np.save(work / "infinite.npy", np.full((2, 8, 8, 1), np.inf, "f"))
    assert "cannot be quantised; keep this layer" in run(
        "quantize", graph, "--calibrate", f"x={work}/infinite.npy", "-o", work / "no", code=1
    )
    assert "there are 3 labels for 359 rows" in run(
        *call, "--test", f"x={data}[test]", "--labels", "[1, 2, 3]", "-o", work / "no", code=1
    )


def test_frozen_programs_give_the_same():
    done = 0
    for number, path in enumerate(unpacked("programs")):
        z = np.load(path)
        if "error" in z:
            continue
        pick = lambda prefix: {k[len(prefix) :]: z[k] for k in z if k.startswith(prefix)}
        done += bool(
            frozen_and_compared(str(path)[:-4], [], pick("in_"), pick("out_"), number % 4 == 0 or "table" in path.stem)
        )
    assert done == 113, done


def test_pictures():
    path = next(p for p in unpacked("models") if p.stem == "lstm")
    for arguments in ([], ["--optimized"], ["--saved", "--limit", "20"], ["--depth", "0"]):
        run("graph", str(path)[:-4], "--svg", work / "g.svg", "--dot", work / "g.dot", *arguments)
        root = xml.etree.ElementTree.parse(work / "g.svg").getroot()
        texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
        assert len(texts) > 10
        assert (work / "g.dot").read_text().startswith("digraph")
    run("graph", str(path)[:-4], "--svg", work / "g.svg")
    svg = (work / "g.svg").read_text()
    assert "While" in svg and "body: " in svg and "cond: " in svg and "float [?,28,28]" in svg
    assert "/device:CPU:0" in (
        run("graph", str(path)[:-4], "--svg", work / "g.svg", "--optimized") and (work / "g.svg").read_text()
    )
    graph = next(p for p in unpacked("v1") if p.stem == "v1_rnn_sgd_ref")
    run("graph", str(graph)[:-4] + ".pb", "--svg", work / "g.svg", "--limit", "30")
    assert "79 nodes" in (work / "g.svg").read_text()  # the scope of gradients, collapsed
    name = json.loads(run("show", str(path)[:-4], "--json"))["graphs"][0]["functions"][0]["forms"][0]["function"]
    run("graph", str(path)[:-4], "--svg", work / "g.svg", "--function", name)


def test_three_devices_are_seen():
    node = 'node { name: "%s" op: "%s" %s device: "%s" attr { key: "T" value { type: DT_FLOAT } } } '
    (work / "devices.pbtxt").write_text(
        'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape { unknown_rank: true } } } } '
        + node % ("a", "Relu", 'input: "x"', "/device:CPU:0")
        + node % ("b", "Tanh", 'input: "x"', "/device:CPU:1")
        + node % ("c", "AddV2", 'input: "a" input: "b"', "/device:CPU:2")
        + node % ("y", "Identity", 'input: "c"', "")
        + "versions { producer: 2000 }"
    )
    run("graph", work / "devices.pbtxt", "--svg", work / "g.svg", "--optimized", "--devices", "3")
    svg = (work / "g.svg").read_text()
    assert all(f"/device:CPU:{i}" in svg for i in range(3))
    run("run", work / "devices.pbtxt", "-i", "x=[1, -1]", "--devices", "3", "-o", f"y={work}/y.npy")
    assert differs(np.load(work / "y.npy"), np.array([1 + np.tanh(1), -np.tanh(1)], "float32")) is None
    run("trace", work / "devices.pbtxt", "--devices", "3", "-o", work / "trace.json")
    events = json.loads((work / "trace.json").read_text())["traceEvents"]
    assert len({e["pid"] for e in events if e["ph"] == "X"}) == 3


def test_traces_and_measurements():
    path = next(p for p in unpacked("models") if p.stem == "cnn")
    text = run("trace", str(path)[:-4], "-o", work / "trace.json", "--runs", "2", "--batch", "2")
    events = json.loads((work / "trace.json").read_text())["traceEvents"]
    assert sum(e["ph"] == "X" for e in events) > 10 and "Conv2D" in text
    assert all(e["dur"] >= 0 for e in events if e["ph"] == "X")
    data = json.loads(run("bench", str(path)[:-4], "--duration", "0.2", "--json", "--threads", "1", "--clients", "2"))
    latency = data["latency_s"]
    assert 0 < latency["min"] <= latency["p50"] <= latency["p99"] <= latency["max"] and data["runs"] > 2
    assert "latency" in run("bench", str(path)[:-4], "--duration", "0.05", "--batch", "4")


def test_help_and_completion():
    for command in ("show", "run", "graph", "freeze", "quantize", "optimize", "trace", "bench", "ops", "completion"):
        assert "Examples:" in run(command, "--help"), command
        for shell in ("bash", "zsh", "fish"):
            assert command in run("completion", shell)
    assert "prune" in run("optimize", "--list")
    subprocess.run(["bash", "-n"], input=run("completion", "bash"), text=True, check=True)


def test_loops_are_recorded():
    """WEFT_LOOPS: what bench/loops.py reads, and the same numbers as without."""
    model = next(str(p)[:-4] for p in unpacked("models") if p.stem == "transformer")
    np.save(work / "rows.npy", np.random.default_rng(1).normal(size=(32, 32, 64)).astype("float32"))
    call = ("run", model, "-i", f"x={work}/rows.npy", "-o")
    os.environ["TF_NUM_INTRAOP_THREADS"] = "4"
    run(*call, f"y={work}/plain.npy")
    os.environ["WEFT_LOOPS"] = str(work / "loops.txt")
    run(*call, f"y={work}/recorded.npy")
    del os.environ["WEFT_LOOPS"], os.environ["TF_NUM_INTRAOP_THREADS"]
    assert (np.load(work / "plain.npy") == np.load(work / "recorded.npy")).all()
    lines = [line.split() for line in (work / "loops.txt").read_text().splitlines()]
    kinds = [line[0] for line in lines]
    assert kinds.count("op") == kinds.count("end") > 0 and "_FusedMatMul" in [
        line[2] for line in lines if line[0] == "op"
    ]
    assert kinds.count("loop") == kinds.count("back") > 0
    times = [int(line[1]) for line in lines]
    assert times == sorted(times)
    for number, line in enumerate(lines):
        if (
            line[0] == "loop"
        ):  # its chunks took no longer than it, and one of four threads at least has something to do beside the caller
            chunks = [int(c) for c in line[4:]]
            assert len(chunks) > 1 and sum(chunks) <= int(lines[number + 1][1]) - int(line[1])


def main():
    work.mkdir(parents=True, exist_ok=True)
    os.chdir(work)
    chosen = [n for n in globals() if n.startswith("test_")]
    if sys.argv[4:5] == ["--without"]:
        chosen = [n for n in chosen if n not in sys.argv[5:]]
    elif sys.argv[4:]:
        chosen = sys.argv[4:]
    for name in chosen:
        globals()[name]()
        print("ok", name, flush=True)


main()
