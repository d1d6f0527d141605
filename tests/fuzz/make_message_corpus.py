"""Writes corpus/message: what clients and workers send each other, with TensorFlow's field numbers, a file for each decoder and kind."""

import pathlib
import struct

out = pathlib.Path(__file__).parent / "corpus" / "message"
out.mkdir(parents=True, exist_ok=True)
SERVER_DEF, QUEUE, TENSOR, CREATE, COMPONENT, RECEIVE, RESPONSE, DEVICES = range(8)
UPDATE = CREATE + 8
WORKER, CLIENT = (f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("worker", "localhost"))


def varint(n):
    n &= 2**64 - 1
    data = b""
    while n > 127:
        data += bytes([n & 127 | 128])
        n >>= 7
    return data + bytes([n])


def message(*fields):
    """Pairs of number and value: ints as varints, floats as fixed64 of a whole number, texts, bytes of messages."""
    data = b""
    for number, value in fields:
        if isinstance(value, float):
            data += varint(number << 3 | 1) + struct.pack("<Q", int(value))
        elif isinstance(value, int):
            data += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            data += varint(number << 3 | 2) + varint(len(value)) + value
    return data


def put(name, decoder, body):
    (out / name).write_bytes(bytes([decoder]) + body)


shape = message((2, message((1, 2))), (2, message((1, 1))))
tensor = message((1, 1), (2, shape), (4, struct.pack("<ff", 1.5, -2)))  # float
strings = message((1, 7), (2, message((2, message((1, 2))))), (8, "text"), (8, ""))
handle = message((1, 3), (2, 0), (3, WORKER), (4, WORKER), (5, 1))
attr = message((1, "T"), (2, message((6, 1))))
operation = message(
    (1, 4), (2, "AddV2"), (5, attr), (6, WORKER), (10, message((1, handle))), (10, message((2, tensor)))
)
function = message((1, message((1, "f"))), (3, message((1, "n"), (2, "NoOp"))))
device = message((1, WORKER), (2, "CPU"), (4, 1 << 28), (6, 12345.0))
jobs = [message((1, job), (2, message((1, 0), (2, "localhost:1")))) for job in ("worker", "localhost")]
server_def = message((1, message(*((1, j) for j in jobs))), (2, "worker"), (3, 0), (5, "grpc"))

put("server_def", SERVER_DEF, server_def)
items = {
    "decref": message((1, handle)),
    "operation": message((2, operation)),
    "send": message((3, message((1, 5), (2, tensor), (2, strings), (3, WORKER)))),
    "register": message((4, message((1, function), (2, 0), (3, message((1, function)))))),
    "cleanup": message((5, message((1, 77)))),
    "sync": message((6, b"")),
    "packed": message((7, message((1, 6), (3, WORKER)))),
    "remove": message((8, message((1, "f")))),
}
for name, item in items.items():
    put(f"queue_{name}", QUEUE, message((1, 99.0), (3, item)))
put("queue_all", QUEUE, message((1, 99.0), *((3, item) for item in items.values())))
put("tensor", TENSOR, message((1, tensor), (2, 0), (3, 1)))
put("tensor_strings", TENSOR, message((1, strings), (2, 0)))
put("tensor_dead", TENSOR, message((2, 1)))
put("create", CREATE, message((1, server_def), (3, 600), (6, device), (7, 99.0), (8, 0.0), (9, 1)))
put("update", UPDATE, message((1, server_def), (2, device), (3, 99.0), (4, 1.0)))
put("component", COMPONENT, message((1, 99.0), (2, operation), (3, b"\x00\x01")))
put("receive", RECEIVE, message((1, 99), (2, f"{WORKER};0000000000000007;{CLIENT};key;0:0"), (7, 1)))
put("response", RESPONSE, message((1, message((1, shape), (3, WORKER))), (1, b"")))
event = message((1, 1), (2, 5000), (3, 7000), (4, message((1, 1), (5, WORKER))))
line = message((1, 3), (2, "thread 3"), (3, 10**18), (4, event), (4, event))
names = message((1, 1), (2, message((1, 1), (2, "node:MatMul"))))
put("xspace", DEVICES, message((1, message((2, "/host:CPU"), (3, line), (4, names)))))
put("devices", DEVICES, message((1, device), (1, device)))
