"""Requests that ask for what is not there, and what TensorFlow's servers answer: writes answers.out, which the test `cluster_answers` (fuzz.cc) plays on weft's servers.

answers.py TENSORFLOW_PYTHON          that interpreter also needs grpc, as TensorFlow itself does

Each line of answers.out: server, method, request (in hexadecimal digits), code and text of the answer, with tabs between them; incarnations are NUMBER, the machine's name is HOST. A
request that ends TensorFlow's process is left out, and told.
"""

import json
import pathlib
import re
import socket
import subprocess
import sys

import tasks

HERE = pathlib.Path(__file__).resolve().parent
CPU = "/job:worker/replica:0/task:0/device:CPU:0"
EAGER, WORKER, MASTER = "tensorflow.eager.EagerService", "tensorflow.WorkerService", "tensorflow.MasterService"
COORDINATION = "tensorflow.CoordinationService"
SELF, NOBODY = {1: "worker", 2: 0}, {1: "nobody", 2: 3}
DISPATCHER, DATA_WORKER = "tensorflow.data.DispatcherService", "tensorflow.data.WorkerService"


class Fixed(int):
    """A fixed64."""


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def message(fields):
    """{field: value}: numbers, texts, messages as such, several of them as a list."""
    out = b""
    for field, values in fields.items():
        for v in values if isinstance(values, list) else [values]:
            if isinstance(v, Fixed):
                out += varint(field << 3 | 1) + int(v).to_bytes(8, "little")
            elif isinstance(v, int):
                out += varint(field << 3) + varint(v)
            else:
                v = message(v) if isinstance(v, dict) else v.encode()
                out += varint(field << 3 | 2) + varint(len(v)) + v
    return out


def operation(**more):
    """An Operation of EagerService."""
    number = {"id": 1, "name": 2, "device": 6, "is_component": 7, "step": 8, "is_function": 9, "inputs": 10}
    return {number[k]: v for k, v in {"id": 5, "device": CPU, **more}.items()}


def there(op, output=0, device=CPU):
    return {1: op, 2: output, 3: device, 4: device, 5: 1}


SERVER_DEF = {1: {1: {1: "worker", 2: {1: 0, 2: "localhost:1"}}}, 2: "worker", 5: "grpc"}
CONTEXT = Fixed(77)


def queue(item, context=CONTEXT):
    return {1: context, 3: item}


# Not among them, since weft answers otherwise: ops on devices that a worker does not have (weft's places them softly), a tensor with too few bytes (weft says how many), a job of a
# dataset that nobody registered (TensorFlow makes one), the end of a task that nobody knows (weft takes it as told twice), a barrier's counter out of order (TensorFlow's text lacks the
# barrier's name), and one that waits for all tasks and is none of them (TensorFlow says that all are there).
CASES = [
    # EagerService, first without a context
    ("task", EAGER, "KeepAlive", {1: CONTEXT}),
    ("task", EAGER, "WaitQueueDone", {1: CONTEXT}),
    ("task", EAGER, "Enqueue", queue({5: {1: 3}})),
    ("task", EAGER, "UpdateContext", {1: SERVER_DEF, 3: CONTEXT, 4: Fixed(1)}),
    ("task", EAGER, "RunComponentFunction", {1: CONTEXT, 2: operation(name="nothing")}),
    ("task", EAGER, "CreateContext", {1: SERVER_DEF, 3: 600, 7: CONTEXT}),
    ("task", EAGER, "CreateContext", {1: SERVER_DEF, 3: 600, 7: CONTEXT}),
    ("task", EAGER, "UpdateContext", {1: SERVER_DEF, 3: CONTEXT, 4: Fixed(5)}),
    ("task", EAGER, "Enqueue", queue({1: there(1)})),
    ("task", EAGER, "Enqueue", queue({2: operation(name="Identity", inputs={1: there(1)})})),
    ("task", EAGER, "Enqueue", queue({2: operation(name="NoSuchOp")})),
    ("task", EAGER, "Enqueue", queue({8: {1: "no such function"}})),
    ("task", EAGER, "Enqueue", queue({5: {1: 3}})),
    ("task", EAGER, "RunComponentFunction", {1: CONTEXT, 2: operation(name="nothing", is_component=1, step=4)}),
    (
        "task",
        EAGER,
        "RunComponentFunction",
        {1: CONTEXT, 2: operation(name="nothing", is_function=1, is_component=1, step=4)},
    ),
    ("task", EAGER, "CloseContext", {1: Fixed(78)}),
    ("task", EAGER, "UpdateContext", {1: SERVER_DEF, 3: CONTEXT, 4: Fixed(1)}),
    ("task", EAGER, "CloseContext", {1: CONTEXT}),  # of an earlier view
    ("task", EAGER, "KeepAlive", {1: CONTEXT}),
    ("task", EAGER, "CloseContext", {1: CONTEXT, 2: Fixed(1)}),
    ("task", EAGER, "KeepAlive", {1: CONTEXT}),
    ("task", EAGER, "CloseContext", {1: CONTEXT}),
    ("task", EAGER, "CloseContext", {1: CONTEXT}),
    # WorkerService
    ("task", WORKER, "RecvTensor", {1: 1, 2: "not a key"}),
    ("task", WORKER, "RecvTensor", {1: 1, 2: ""}),
    ("task", WORKER, "RunGraph", {1: "none", 2: 7, 8: "none", 10: 1}),
    ("task", WORKER, "RunGraph", {1: "none", 2: 7, 8: "none", 9: 1, 10: 1}),
    ("task", WORKER, "RunGraph", {1: "none", 2: 7}),
    ("task", WORKER, "DeregisterGraph", {1: "none", 2: "none", 3: 1}),
    ("task", WORKER, "DeregisterGraph", {1: "none"}),
    ("task", WORKER, "RegisterGraph", {1: "none", 6: 1}),
    ("task", WORKER, "DeleteWorkerSession", {1: "none"}),
    ("task", WORKER, "CreateWorkerSession", {1: "mine", 2: {5: "grpc"}}),
    ("task", WORKER, "CreateWorkerSession", {1: "mine", 2: {5: "grpc"}}),
    ("task", WORKER, "RunGraph", {1: "none", 2: 7, 8: "mine", 10: 1}),
    ("task", WORKER, "DeleteWorkerSession", {1: "mine"}),
    ("task", WORKER, "CleanupGraph", {1: 7}),
    ("task", WORKER, "CleanupAll", {1: "no such container"}),
    ("task", WORKER, "MarkRecvFinished", {1: 7}),
    ("task", WORKER, "CompleteGroup", {1: 1, 2: 2, 3: "CPU"}),
    ("task", WORKER, "CompleteInstance", {1: "x", 3: 1, 5: 9, 6: 2, 7: 1, 8: "CPU", 10: CPU}),
    # MasterService
    ("task", MASTER, "RunStep", {1: "none", 3: "x:0"}),
    ("task", MASTER, "ExtendSession", {1: "none"}),
    ("task", MASTER, "CloseSession", {1: "none"}),
    ("task", MASTER, "PartialRunSetup", {1: "none"}),
    ("task", MASTER, "ListDevices", {1: "none"}),
    ("task", MASTER, "MakeCallable", {1: "none"}),
    ("task", MASTER, "RunCallable", {1: "none", 2: 3}),
    ("task", MASTER, "ReleaseCallable", {1: "none", 2: 3}),
    ("task", MASTER, "Reset", {1: "no such container"}),
    ("task", MASTER, "CreateSession", {1: {1: {1: "x", 2: "NoSuchOp"}, 4: {1: 1882}}}),
    # the tf.data service
    ("dispatcher", DISPATCHER, "GetDatasetDef", {1: "none"}),
    ("dispatcher", DISPATCHER, "GetDataServiceMetadata", {1: "none"}),
    ("dispatcher", DISPATCHER, "GetSplit", {1: 5}),
    ("dispatcher", DISPATCHER, "GetOrCreateIteration", {1: 5}),
    ("dispatcher", DISPATCHER, "MaybeRemoveTask", {1: 5}),
    ("dispatcher", DISPATCHER, "ReleaseIterationClient", {1: 5}),
    ("dispatcher", DISPATCHER, "ClientHeartbeat", {1: 5}),
    ("dispatcher", DISPATCHER, "GetSnapshotSplit", {1: "none", 4: "localhost:1"}),
    ("dispatcher", DISPATCHER, "GetSnapshotStreams", {1: "none"}),
    ("dispatcher", DISPATCHER, "Snapshot", {2: "none"}),
    ("dispatcher", DISPATCHER, "DisableCompressionAtRuntime", {1: "none"}),
    ("data worker", DATA_WORKER, "GetElement", {1: 5}),
    ("data worker", DATA_WORKER, "GetElement", {1: 5, 5: 1}),
    ("data worker", DATA_WORKER, "ProcessTask", {1: {4: 5, 10: {1: 99}}}),
    # CoordinationService of a cluster with one task
    ("coordination", COORDINATION, "RegisterTask", {3: Fixed(5), 5: NOBODY}),
    ("coordination", COORDINATION, "Heartbeat", {3: Fixed(5), 4: NOBODY}),
    ("coordination", COORDINATION, "ShutdownTask", {1: NOBODY}),
    ("coordination", COORDINATION, "ResetTask", {1: NOBODY}),
    ("coordination", COORDINATION, "ReportErrorToService", {1: 3, 2: "a text", 5: NOBODY}),
    ("coordination", COORDINATION, "WatchJobState", {1: "nobody"}),
    ("coordination", COORDINATION, "InsertKeyValue", {1: {1: "key", 2: "value"}}),
    ("coordination", COORDINATION, "InsertKeyValue", {1: {1: "/key/", 2: "other"}}),
    ("coordination", COORDINATION, "InsertKeyValue", {1: {1: "key", 2: "other"}, 2: 1}),
    ("coordination", COORDINATION, "TryGetKeyValue", {1: "no such key"}),
    ("coordination", COORDINATION, "IncrementKeyValue", {1: "key", 2: 1}),
    ("coordination", COORDINATION, "DeleteKeyValue", {1: "no such key"}),
    ("coordination", COORDINATION, "GetKeyValueDir", {1: "no such folder"}),
    ("coordination", COORDINATION, "Barrier", {1: "b", 2: 1000, 3: [NOBODY], 4: SELF}),
    ("coordination", COORDINATION, "Barrier", {1: "c", 2: 1000, 3: [SELF], 4: NOBODY}),
    ("coordination", COORDINATION, "CancelBarrier", {1: "no such barrier", 2: SELF}),
    ("coordination", COORDINATION, "GetAliveTasks", {1: NOBODY, 2: [SELF]}),
    ("coordination", COORDINATION, "GetAliveTasks", {1: SELF, 2: [NOBODY]}),
    # another one with this task's name
    ("coordination", COORDINATION, "Heartbeat", {3: Fixed(5), 4: SELF}),
    ("coordination", COORDINATION, "Barrier", {1: "e", 2: 1000, 3: [SELF], 4: SELF}),
]


def worker():
    """Serves and sends what comes by lines of hexadecimal digits."""
    import grpc
    import tensorflow as tf

    service = tf.data.experimental.service
    dispatcher = service.DispatchServer(service.DispatcherConfig(port=0))
    data_worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher._address, port=0))
    task = tf.distribute.Server({"worker": ["localhost:0"]}, job_name="worker", task_index=0, protocol="grpc")
    from tensorflow.core.protobuf import tensorflow_server_pb2
    from tensorflow.python.eager import context

    port = tasks.free_ports(1)[0]
    definition = tensorflow_server_pb2.ServerDef(job_name="worker", protocol="grpc")
    definition.cluster.CopyFrom(tf.train.ClusterSpec({"worker": [f"localhost:{port}"]}).as_cluster_def())
    experimental = definition.default_session_config.experimental
    experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    config = experimental.coordination_config
    config.service_type, config.service_leader = "standalone", "/job:worker/replica:0/task:0"
    config.heartbeat_timeout_in_ms = 60000
    config.coordinated_job_list.add(name="worker", num_tasks=1)
    context.context().enable_collective_ops(definition)
    context.context().ensure_initialized()
    addresses = {
        "coordination": f"localhost:{port}",
        "task": task.target.removeprefix("grpc://"),
        "dispatcher": dispatcher._address,
        "data worker": data_worker._address,
    }
    channels = {name: grpc.insecure_channel(address) for name, address in addresses.items()}
    print("READY", flush=True)
    for line in sys.stdin:
        server, method, request = json.loads(line)
        call = channels[server].unary_unary(method)
        try:
            call(bytes.fromhex(request), timeout=20)
            answer = 0, ""
        except grpc.RpcError as e:
            answer = e.code().value[0], e.details()
        print(json.dumps(answer), flush=True)


def main():
    if sys.argv[1] == "--serve":
        return worker()

    def start():
        command = [sys.argv[1], __file__, "--serve"]
        made = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert made.stdout.readline() == "READY\n"
        return made

    process, lines = start(), []
    for server, service, method, fields in CASES:
        name, request = f"/{service}/{method}", message(fields).hex()
        print(json.dumps([server, name, request]), file=process.stdin, flush=True)
        answer = process.stdout.readline()
        if not answer:
            print(f"TensorFlow's process ends: {server} {name} {fields}")
            process = start()
            continue
        code, text = json.loads(answer)
        text = text.replace(f"running on {socket.gethostname()}.", "running on HOST.").replace("\n", "\\n")
        lines.append("\t".join([server, name, request, str(code), re.sub(r"\d{13,}", "NUMBER", text)]))
    process.kill()
    process.wait()
    (HERE / "answers.out").write_text("\n".join(lines) + "\n")


main()
