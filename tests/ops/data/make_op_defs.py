"""Writes op_defs.bin: every OpDef that TensorFlow registers, without its documentation, as length-prefixed records sorted by name.

    python make_op_defs.py

First the ops that TensorFlow's C library lists (`TF_GetAllOpList`), then those that only its Python package adds; the second kind is
named in op_defs_python.txt. Needs a Python with tensorflow.
"""

import ctypes
import pathlib
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t), ("deallocator", ctypes.c_void_p)]


def without_documentation(op):
    op.summary = op.description = ""
    for part in [*op.input_arg, *op.output_arg, *op.attr]:
        part.description = ""
    return op


def main():
    import tensorflow
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session

    library = pathlib.Path(tensorflow.__file__).parent / "libtensorflow_cc.so.2"
    # In a process of its own: here the Python package has added its ops to the same registry.
    dump = subprocess.run([sys.executable, __file__, str(library)], check=True, capture_output=True).stdout
    ops = {op.name: op for op in op_def_pb2.OpList.FromString(dump).op}
    python = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    only_python = sorted(op.name for op in python.op if op.name not in ops)
    ops.update({op.name: op for op in python.op if op.name in only_python})
    (HERE / "op_defs_python.txt").write_text("".join(name + "\n" for name in only_python))
    with open(HERE / "op_defs.bin", "wb") as out:
        for name in sorted(ops):
            record = without_documentation(ops[name]).SerializeToString(deterministic=True)
            out.write(struct.pack("<I", len(record)) + record)
    print(len(ops), "ops,", len(only_python), "of them in the Python package alone")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        all_ops = ctypes.CDLL(sys.argv[1]).TF_GetAllOpList
        all_ops.restype = ctypes.POINTER(Buffer)
        buffer = all_ops().contents
        sys.stdout.buffer.write(ctypes.string_at(buffer.data, buffer.length))
    else:
        main()
