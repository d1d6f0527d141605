"""Plays SavedModels and graphs that TensorFlow saved, with the numbers it got, against a library with its C API.

  python3 play.py LIBRARY ARCHIVE.tar.xz [--only NAME] [--config HEX] [--work DIR]

An archive holds NAME.npz beside NAME/ (a SavedModel) or NAME.pb (a GraphDef of version 1). The npz says what to feed and what
comes out: `predict`, `losses` (five training steps) and `predict_after`; or `in_K`/`out_K` (`out2_K`, `out3_K` when it is run
again); or `error`, the status code that the run must end with. Prints what differs and a count; the exit status is 0 when
all agree. `--config` is a serialized ConfigProto for the sessions, as hexadecimal digits.
"""
import argparse
import ctypes as C
import pathlib
import sys
import tarfile

import numpy as np

TYPES = {1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string", 8: "complex64", 9: "int64", 10: "bool",
         14: "bfloat16", 17: "uint16", 18: "complex128", 19: "float16", 22: "uint32", 23: "uint64"}
NUMBERS = {name: number for number, name in TYPES.items()}
CLOSE = {"float64": 1e-6, "float32": 1e-3, "float16": 2e-2, "bfloat16": 2e-2, "complex64": 1e-3, "complex128": 1e-6}


class Output(C.Structure):
    _fields_ = [("oper", C.c_void_p), ("index", C.c_int)]


class Buffer(C.Structure):
    _fields_ = [("data", C.c_void_p), ("length", C.c_size_t), ("deallocator", C.c_void_p)]


class TString(C.Structure):
    _fields_ = [("words", C.c_uint64 * 3)]


class Failure(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def messages(data):
    """The fields of a protobuf message: (number, value)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
        else:
            size = varint() if kind == 2 else 8 if kind == 1 else 4
            yield key >> 3, data[at:at + size]
            at += size


class Library:
    def __init__(self, path):
        self.c = C.CDLL(path)
        pointers = """TF_NewStatus TF_Message TF_AllocateTensor TF_TensorData TF_NewGraph TF_NewSessionOptions TF_NewBuffer TF_NewBufferFromString
            TF_NewImportGraphDefOptions TF_NewSession TF_LoadSessionFromSavedModel TF_GraphOperationByName TF_StringGetDataPointer"""
        for name in pointers.split():
            getattr(self.c, name).restype = C.c_void_p
        for name in ("TF_Dim", "TF_TensorElementCount", "TF_TensorByteSize", "TF_StringGetSize"):
            getattr(self.c, name).restype = C.c_int64
        self.status = C.c_void_p(self.c.TF_NewStatus())

    def call(self, name, *arguments):
        """Calls a function whose last argument is the status; raises what that says."""
        result = getattr(self.c, name)(*arguments, self.status)
        code = self.c.TF_GetCode(self.status)
        if code:
            raise Failure(code, C.string_at(self.c.TF_Message(self.status)).decode(errors="replace"))
        return result

    def tensor(self, array):
        array = np.asarray(array)
        text = array.dtype.kind in "SUO"
        name = "string" if text else "bfloat16" if array.dtype == "V2" else array.dtype.name
        dims = (C.c_int64 * max(array.ndim, 1))(*array.shape)
        size = array.size * (24 if text else array.itemsize)
        t = C.c_void_p(self.c.TF_AllocateTensor(NUMBERS[name], dims, array.ndim, C.c_size_t(size)))
        data = self.c.TF_TensorData(t)
        if not text:
            C.memmove(data, np.ascontiguousarray(array).tobytes(), size)
            return t
        for i, s in enumerate(array.ravel().tolist()):
            s = s if isinstance(s, bytes) else str(s).encode()
            self.c.TF_StringCopy(C.c_void_p(data + 24 * i), s, C.c_size_t(len(s)))
        return t

    def array(self, t):
        t = C.c_void_p(t)
        name = TYPES[self.c.TF_TensorType(t)]
        shape = [self.c.TF_Dim(t, i) for i in range(self.c.TF_NumDims(t))]
        data, count = self.c.TF_TensorData(t), self.c.TF_TensorElementCount(t)
        if name == "string":
            at = [C.c_void_p(data + 24 * i) for i in range(count)]
            values = [C.string_at(self.c.TF_StringGetDataPointer(p), self.c.TF_StringGetSize(p)) for p in at]
            out = np.empty(count, object)
            out[:] = values
        else:
            raw = C.string_at(data, self.c.TF_TensorByteSize(t)) if count else b""
            out = np.frombuffer(raw, "V2" if name == "bfloat16" else name)
        self.c.TF_DeleteTensor(t)
        return name, out.reshape(shape)


class Model:
    def __init__(self, library, path, config):
        self.library, c = library, library.c
        self.graph = C.c_void_p(c.TF_NewGraph())
        options = C.c_void_p(c.TF_NewSessionOptions())
        if config:
            library.call("TF_SetConfig", options, config, C.c_size_t(len(config)))
        if path.is_dir():
            meta = C.c_void_p(c.TF_NewBuffer())
            self.session = library.call("TF_LoadSessionFromSavedModel", options, None, str(path).encode(), (C.c_char_p * 1)(b"serve"), 1, self.graph, meta)
            view = C.cast(meta, C.POINTER(Buffer)).contents
            self.signatures = self.read_signatures(C.string_at(view.data, view.length))
            c.TF_DeleteBuffer(meta)
        else:
            text = path.with_name(path.name + ".pb").read_bytes()
            buffer, imports = C.c_void_p(c.TF_NewBufferFromString(text, C.c_size_t(len(text)))), C.c_void_p(c.TF_NewImportGraphDefOptions())
            library.call("TF_GraphImportGraphDef", self.graph, buffer, imports)
            c.TF_DeleteBuffer(buffer)
            c.TF_DeleteImportGraphDefOptions(imports)
            self.session = library.call("TF_NewSession", self.graph, options)
            ins = {"x": "x:0", "y": "y:0"}
            self.signatures = {"serving_default": (ins, {"y": "predict:0"}, ()), "train": (ins, {"loss": "loss:0"}, ("train_op",)), "init": ({}, {}, ("init",))}
            self.run("init", {})
        c.TF_DeleteSessionOptions(options)

    @staticmethod
    def read_signatures(meta):
        out = {}
        for number, value in messages(meta):
            if number != 5:
                continue
            entry = dict(messages(value))
            sides = ({}, {})
            for side, info in messages(entry.get(2, b"")):
                if side in (1, 2):
                    pair = dict(messages(info))
                    sides[side - 1][pair.get(1, b"").decode()] = dict(messages(pair.get(2, b""))).get(1, b"").decode()
            out[entry[1].decode()] = (*sides, ())
        return out

    def output(self, name):
        op, _, index = name.partition(":")
        return Output(self.library.c.TF_GraphOperationByName(self.graph, op.encode()), int(index or 0))

    def run(self, signature, feeds):
        ins, outs, targets = self.signatures[signature]
        names = sorted(outs)
        values = [self.library.tensor(v) for v in feeds.values()]
        results = (C.c_void_p * max(len(names), 1))()
        try:
            self.library.call("TF_SessionRun", C.c_void_p(self.session), None, (Output * max(len(feeds), 1))(*[self.output(ins[k]) for k in feeds]),
                              (C.c_void_p * max(len(values), 1))(*values), len(feeds), (Output * max(len(names), 1))(*[self.output(outs[n]) for n in names]),
                              results, len(names), (C.c_void_p * max(len(targets), 1))(*[self.output(t).oper for t in targets]), len(targets), None)
        finally:
            for v in values:
                self.library.c.TF_DeleteTensor(v)
        return {n: self.library.array(t) for n, t in zip(names, results)}

    def close(self):
        self.library.call("TF_DeleteSession", C.c_void_p(self.session))
        self.library.c.TF_DeleteGraph(self.graph)


def difference(got, want, tolerance=None):
    """None, or what is different."""
    name, value = got
    want = np.asarray(want)
    expected = "string" if want.dtype.kind in "SUO" else "bfloat16" if want.dtype == "V2" else want.dtype.name
    if name != expected or value.shape != want.shape:
        return f"{name}{list(value.shape)} instead of {expected}{list(want.shape)}"
    if name == "string":
        same = all(a == (b if isinstance(b, bytes) else str(b).encode()) for a, b in zip(value.ravel(), want.ravel()))
        return None if same else f"{value.ravel()[:4]} instead of {want.ravel()[:4]}"
    if name not in CLOSE:
        return None if np.array_equal(value, want) else f"{value.ravel()[:6]} instead of {want.ravel()[:6]}"
    if name == "bfloat16":
        value, want = ((np.frombuffer(x.tobytes(), "uint16").astype("uint32") << 16).view("float32") for x in (value, want))
    a, b = (x.astype("complex128").ravel() for x in (value, want))
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return "inf or nan in other places"
    off = np.abs(a[finite] - b[finite]).max(initial=0) / np.abs(b[finite]).max(initial=1e-6)
    return None if off <= (tolerance or CLOSE[name]) else f"off by {off:.2g} of the largest value"


def check(library, path, config):
    want = np.load(path.with_name(path.name + ".npz"))
    model = Model(library, path, config)
    try:
        if "predict" in want:
            return check_training(model, want)
        feeds = {k[3:]: want[k] for k in want if k.startswith("in_")}
        if "error" in want:
            try:
                model.run("serving_default", feeds)
            except Failure as e:
                return None if e.code == want["error"] else f"status {e.code} instead of {want['error']}: {e}"
            return f"no error, but status {want['error']} was expected"
        for prefix in ("out_", "out2_", "out3_"):
            keys = [k for k in want if k.startswith(prefix)]
            got = model.run("serving_default", feeds) if keys else {}
            for k in keys:
                if why := difference(got[k[len(prefix):]], want[k]):
                    return f"{k}: {why}"
        return None
    finally:
        model.close()


def check_training(model, want):
    predict = lambda: model.run("serving_default", {"x": want["x"]})["y"]
    if why := difference(predict(), want["predict"], 1e-3):
        return f"predict: {why}"
    losses = [model.run("train", {"x": want["x"], "y": want["y"]})["loss"][1].ravel()[0] for _ in range(5)]
    if why := difference(("float32", np.array(losses, "float32")), want["losses"].astype("float32"), 1e-3):
        return f"losses: {why}"
    if why := difference(predict(), want["predict_after"], 2e-2):
        return f"predict_after: {why}"
    return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("library")
    p.add_argument("archive", type=pathlib.Path)
    p.add_argument("--only", default="")
    p.add_argument("--config", default="")
    p.add_argument("--work", type=pathlib.Path, default=pathlib.Path("."))
    a = p.parse_args()
    root = a.work / a.archive.name.split(".")[0]
    if not root.is_dir():
        with tarfile.open(a.archive) as t:
            t.extractall(a.work)
    library = Library(a.library)
    paths = sorted(q.with_suffix("") for q in root.glob("*.npz") if a.only in q.name)
    good = 0
    for path in paths:
        try:
            why = check(library, path, bytes.fromhex(a.config))
        except Failure as e:
            why = f"status {e.code}: {e}"
        good += why is None
        if why:
            print(f"{path.name}: {' '.join(why.split())[:300]}", flush=True)
    print(f"{good} of {len(paths)} agree")
    sys.exit(good < len(paths) or not paths)


if __name__ == "__main__":
    main()
