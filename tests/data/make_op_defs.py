"""Writes op_defs.bin: TensorFlow's OpDefs of the ops that weft registers, as length-prefixed records.

    python make_op_defs.py OP_DEFS_PBTXT NAMES_FILE

OP_DEFS_PBTXT: an OpList in text form, dumped from TensorFlow; NAMES_FILE: one op a line (`weft ops --names`).
Needs a Python with tensorflow.
"""
import pathlib
import struct
import sys

from google.protobuf import text_format
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.framework import op_def_registry

ops = text_format.Parse(open(sys.argv[1]).read(), op_def_pb2.OpList())
names = set(open(sys.argv[2]).read().split())
with open(pathlib.Path(__file__).with_name("op_defs.bin"), "wb") as out:
    for op in ops.op:
        if op.name in names:
            known = op_def_registry.get(op.name) if op.HasField("deprecation") else None
            if known is not None:  # the dump leaves texts out
                op.deprecation.explanation = known.deprecation.explanation
            record = op.SerializeToString(deterministic=True)
            out.write(struct.pack("<I", len(record)) + record)
