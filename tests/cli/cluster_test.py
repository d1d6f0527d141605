"""weft server, weft launch and weft devices, tried as a user would, on free ports of this machine.

python3 cluster_test.py WEFT WORK_FOLDER [TEST ...]
"""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))
from tasks import free_ports  # noqa: E402

weft, work = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
LIMIT = 60
SETTINGS = ("TF_CONFIG", "WEFT_", "SLURM_", "OMPI_", "PMI")
clean = {k: v for k, v in os.environ.items() if not k.startswith(SETTINGS) or k == "WEFT_GRPC_LIBRARY"}
clean["NO_COLOR"] = "1"


def run(*arguments, code=0, **variables):
    p = subprocess.run(
        [weft, *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT, env={**clean, **variables}
    )
    assert p.returncode == code, f"weft {' '.join(map(str, arguments))}: exit {p.returncode}\n{p.stdout}{p.stderr}"
    return p.stdout if code == 0 else p.stdout + p.stderr


def cluster_file(count=1):
    addresses = [f"localhost:{p}" for p in free_ports(count)]
    path = work / f"cluster_{addresses[0].split(':')[1]}.json"
    path.write_text(json.dumps({"worker": addresses}))
    return path, addresses


@contextlib.contextmanager
def server(*arguments, **variables):
    """A server that listens, its first line; ended by SIGTERM, to which it must answer with 0."""
    p = subprocess.Popen(
        [weft, "server", *map(str, arguments)], stdout=subprocess.PIPE, text=True, env={**clean, **variables}
    )
    try:
        line = p.stdout.readline()
        assert line.startswith("weft server: /job:"), line
        yield p, line
        if p.poll() is None:
            p.terminate()
        assert p.wait(LIMIT) == 0, p.returncode
        assert "ends (Terminated)" in p.stdout.read()
    finally:
        p.kill()
        p.wait()
        p.stdout.close()


def test_a_server_tells_where_it_is_and_who_reaches_it():
    path, (address, other) = cluster_file(2)
    with server("--cluster", path, "--job", "worker", "--task", 0, "--devices", 2) as (_, line):
        assert f"/job:worker/task:0 at {address}, reached from this machine alone, unprotected" in line, line
        assert line.count("\n") == 1
        out = run("devices", address).splitlines()
        assert out[0].split() == ["device", "type", "memory", "address"]
        names = [f"/job:worker/replica:0/task:0/device:CPU:{i}" for i in range(2)]
        assert [x.split()[0] for x in out[1:]] == names and all(x.endswith(address) for x in out[1:]), out
        out = run("devices", "--cluster", path, code=1)  # the second is not there
        assert names[0] in out and f"{other} does not answer" in out, out
        assert "Could not start gRPC server" in run("server", "--cluster", path, "--task", 0, code=1)


def test_a_server_that_others_reach_says_so():
    (port,) = free_ports(1)
    config = {"cluster": {"worker": [f"example.invalid:{port}"]}, "task": {"type": "worker", "index": 0}}
    with server(TF_CONFIG=json.dumps(config), WEFT_LOG="3") as (_, line):
        assert "reached from other machines, UNPROTECTED" in line, line
        assert "task:0" in run("devices", f"127.0.0.1:{port}")
    with server("--bind", "127.0.0.1", TF_CONFIG=json.dumps(config)) as (_, line):
        assert "reached from this machine alone" in line, line


def test_ranks_of_launchers_number_the_task():
    path, addresses = cluster_file(3)
    for variable, task in (("SLURM_PROCID", 1), ("OMPI_COMM_WORLD_RANK", 2)):
        with server("--cluster", path, **{variable: str(task)}) as (_, line):
            assert f"/job:worker/task:{task} at {addresses[task]}," in line, line
    (port,) = free_ports(1)
    step = {"SLURM_STEP_NODELIST": "localhost", "SLURM_STEP_TASKS_PER_NODE": "2", "SLURM_PROCID": "1"}
    with server("--port", port - 1, **step) as (_, line):
        assert f"/job:worker/task:1 at localhost:{port}," in line, line


def test_interrupts_end_a_server():
    path, _ = cluster_file()
    p = subprocess.Popen([weft, "server", "--cluster", str(path)], stdout=subprocess.PIPE, text=True, env=clean)
    p.stdout.readline()
    p.send_signal(signal.SIGINT)
    out, _ = p.communicate(timeout=LIMIT)
    assert p.returncode == 0 and "ends (Interrupt)" in out, out


def test_mistakes_in_clusters_are_told():
    path = work / "bad.json"

    def error(text):
        path.write_text(text)
        return run("server", "--cluster", path, "--job", "worker", "--task", "0", code=1)

    assert "line 2: expected ':'" in error('{\n"worker" ["a:1"]}')
    assert "must be host:port, got 'a'" in error('{"worker": ["a"]}')
    assert "must be a list of addresses" in error('{"worker": "a:1"}')
    assert "nested too deeply" in error("[" * 100000)
    assert 'Job "worker" was not defined in cluster' in error('{"ps": ["localhost:0"]}')
    assert "none of TF_CONFIG, SLURM_STEP_NODELIST and OMPI_COMM_WORLD_SIZE is set" in run("server", code=1)
    assert "TF_CONFIG: the cluster is not JSON" in run("server", code=1, TF_CONFIG="{")
    assert "No such file" in run("server", "--cluster", work / "none.json", code=1)
    path.write_text('{"worker": ["localhost:0"]}')
    assert "belong together" in run("server", "--cluster", path, "--tls-cert", path, code=1)
    short = work / "short"
    short.write_text("secret\n")
    assert "16 to 4096 characters" in run("server", "--cluster", path, "--token-file", short, code=1)
    assert "WEFT_CLUSTER_TOKEN_FILE" in run("devices", "localhost:1", "--token-file", work / "none", code=1)
    assert "from 1 to 2047" in run("server", "--cluster", path, code=1, WEFT_CLUSTER_MAX_MESSAGE_MB="x")


def test_a_library_that_is_not_there_is_named():
    path, _ = cluster_file()
    other = work / "libother.so"
    other.write_bytes(b"no library")
    for file, reason in ((work / "nowhere.so", "No such file"), (other, "file too short")):
        text = run("server", "--cluster", path, "--task", 0, code=1, WEFT_GRPC_LIBRARY=str(file))
        for part in ("a cluster needs libweft_grpc.so", "gRPC", str(file), reason):
            assert part in text, (part, text)
    assert "/device:CPU:0" in run("devices", WEFT_GRPC_LIBRARY=str(work / "nowhere.so"))  # which needs none


def test_a_token_is_asked_for():
    path, (address,) = cluster_file()
    right, wrong = work / "right", work / "wrong"
    right.write_text("a" * 15 + "0123456789\n")
    wrong.write_text("a" * 15 + "0123456788\n")
    with server("--cluster", path, "--token-file", right) as (_, line):
        assert "protected by a token" in line, line
        assert "asks for a token" in run("devices", address, code=1)
        assert "asks for a token" in run("devices", address, "--token-file", wrong, code=1)
        assert "CPU:0" in run("devices", address, "--token-file", right)
        assert "CPU:0" in run("devices", address, WEFT_CLUSTER_TOKEN_FILE=str(right))


def certificates(folder, name):
    """An authority, and a certificate that it signed, made by the openssl command."""
    folder.mkdir(exist_ok=True)

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test authority")
    openssl("req", *key[:5], "-keyout", "task.key", "-out", "task.csr", "-subj", f"/CN={name}")
    (folder / "names").write_text(f"subjectAltName=DNS:{name}\n")
    openssl(
        *("x509", "-req", "-in", "task.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"),
        *("-out", "task.pem", "-days", "2", "-extfile", "names"),
    )
    return ["--tls-cert", folder / "task.pem", "--tls-key", folder / "task.key", "--tls-ca", folder / "ca.pem"]


def test_certificates_are_asked_for_on_both_sides():
    path, (address,) = cluster_file()
    ours, other = certificates(work / "ours", "localhost"), certificates(work / "other", "localhost")
    named = certificates(work / "named", "cluster.example")
    with server("--cluster", path, *ours) as (_, line):
        assert "protected by TLS with certificates on both sides" in line, line
        assert "CPU:0" in run("devices", address, *ours)
        for stranger in (
            [],
            other,
            [*other[:4], *ours[4:]],
        ):  # no TLS; another authority; a certificate of another authority
            assert "does not answer" in run("devices", address, "--timeout", 5, *stranger, code=1)
        assert "CPU:0" in run("devices", address, *ours)
    with server("--cluster", path, *named):
        assert "does not answer" in run("devices", address, *named, code=1)
        assert "CPU:0" in run("devices", address, *named, "--tls-name", "cluster.example")
    bad = work / "bad.pem"
    bad.write_text("no certificate")
    assert "not valid PEM" in run("server", "--cluster", path, *ours[:1], bad, *ours[2:], code=1)


def test_rubbish_does_nothing_but_fail():
    path, (address,) = cluster_file()
    with server("--cluster", path) as (process, _):
        before = len(os.listdir(f"/proc/{process.pid}/fd"))
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        for what in (
            b"GET / HTTP/1.1\r\n\r\n",
            os.urandom(4096),
            b"\0" * 100000,
            preface,
            preface + os.urandom(4096),
            preface + b"\xff" * 9,
        ):
            with socket.create_connection(("127.0.0.1", int(address.split(":")[1]))) as s:
                with contextlib.suppress(OSError):
                    s.sendall(what)
                    s.settimeout(0.2)
                    s.recv(100)
        assert "CPU:0" in run("devices", address)
        end = time.time() + LIMIT
        while len(os.listdir(f"/proc/{process.pid}/fd")) > before + 2 and time.time() < end:
            time.sleep(0.1)
        assert len(os.listdir(f"/proc/{process.pid}/fd")) <= before + 2


def test_launch_gives_each_task_its_place():
    out = run(
        "launch",
        "-n",
        2,
        "--ps",
        1,
        "--log-dir",
        work / "logs",
        "sh",
        "-c",
        'echo "$TF_CONFIG"; case "$TF_CONFIG" in *\'"ps", "index"\'*) exec sleep 1000;; esac',
    )
    lines = dict(x.split("] ", 1) for x in out.splitlines())
    configs = {k.strip("[ "): json.loads(v) for k, v in lines.items()}
    workers = [k for k in configs if k.startswith("worker")]
    assert sorted(workers) == ["worker 0", "worker 1"], out
    cluster = configs["worker 0"]["cluster"]
    addresses = cluster["worker"] + cluster["ps"]
    assert len(set(addresses)) == 3 and all(a.startswith("localhost:") for a in addresses)
    for name, config in configs.items():
        job, index = name.split()
        assert config == {"cluster": cluster, "task": {"type": job, "index": int(index)}}, (name, config)
    assert json.loads((work / "logs/worker-1.log").read_text()) == configs["worker 1"]


def test_launch_ends_all_when_one_fails():
    begin = time.time()
    script = 'case "$TF_CONFIG" in *"index\\": 1"*) echo last words >&2; exit 7;; *) exec sleep 1000;; esac'
    out = run("launch", "-n", 3, "sh", "-c", script, code=7)
    assert (
        "weft launch: worker 1 ended with exit status 7; the other tasks are ended" in out
        and "[worker 1] last words" in out
    ), out
    out = run("launch", "-n", 2, "sh", "-c", script.replace("exit 7", "kill -9 $$"), code=137)
    assert "worker 1 was killed by signal 9" in out, out
    # A task that does not listen, and what it started, are killed; the other one fails when the first ignores signals.
    deaf = work / "deaf"
    out = run(
        "launch",
        "-n",
        2,
        "--grace",
        1,
        "sh",
        "-c",
        f'trap "" TERM; case "$TF_CONFIG" in *"index\\": 1"*) while [ ! -e {deaf} ]; do sleep 0.05; done; exit 7;; *) : > {deaf}; sleep 1000 & sleep 1000;; esac',
        code=7,
    )
    assert "did not end within 1 s and are killed" in out, out
    assert time.time() - begin < LIMIT
    assert "cannot start 'no_such_program': No such file" in run("launch", "no_such_program", code=127)
    assert "what to run is missing" in run("launch", "-n", 2, code=1)


def test_one_interrupt_ends_all():
    p = subprocess.Popen(
        [weft, "launch", "-n", "3", "sh", "-c", "echo here; exec sleep 1000"],
        stdout=subprocess.PIPE,
        text=True,
        env=clean,
    )
    for _ in range(3):
        assert p.stdout.readline().endswith("here\n")
    with open(f"/proc/{p.pid}/task/{p.pid}/children") as f:
        children = f.read().split()
    assert len(children) == 3
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=LIMIT)
    assert p.returncode == 130
    assert not any(pathlib.Path(f"/proc/{c}").exists() for c in children)


def test_arguments_behind_the_program_are_its_own():
    out = run("launch", "-n", 1, "echo", "--job", "x", "-n", "7", "--help")
    assert out == "[worker 0] --job x -n 7 --help\n", out


def test_a_launched_cluster_serves():
    p = subprocess.Popen(
        [weft, "launch", "-n", "2", "--secure", weft, "server"], stdout=subprocess.PIPE, text=True, env=clean
    )
    addresses = [p.stdout.readline().split(" at ")[1].split(",")[0] for _ in range(2)]
    for a in addresses:
        assert "asks for a token" in run("devices", a, code=1)  # --secure
    p.terminate()
    out, _ = p.communicate(timeout=LIMIT)
    assert p.returncode == 143 and out.count("ends (Terminated)") == 2, out


def test_a_cluster_is_traced():
    path, (address,) = cluster_file()
    with server("--cluster", path):
        out = run("trace", "--cluster", path, "--seconds", 0.1, "-o", work / "trace.json")
        assert "work on 0 devices, 0 ops" in out, out  # nobody uses it
        assert json.loads((work / "trace.json").read_text())["traceEvents"] == []
    assert f"task 0 of job 'worker' at {address}: " in run("trace", "--cluster", path, code=1)
    assert "MODEL or --cluster is missing" in run("trace", code=1)


def test_lines_have_colours_on_a_terminal():
    for variables, escape in (({}, True), ({"NO_COLOR": "1"}, False)):
        main_end, task_end = os.openpty()
        plain = {k: v for k, v in clean.items() if k != "NO_COLOR"}
        subprocess.run(
            [weft, "launch", "-n", "2", "echo", "hello"],
            stdout=task_end,
            env={**plain, **variables},
            check=True,
            timeout=LIMIT,
        )
        os.close(task_end)
        text = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while part := os.read(main_end, 1000):
                text += part
        os.close(main_end)
        assert (b"\x1b[36m[worker 0] \x1b[0mhello" in text) == escape, text
        assert (b"\x1b" in text) == escape and text.count(b"hello") == 2, text


def test_help_teaches():
    for command in ("server", "launch", "devices"):
        assert "Examples:" in run(command, "--help"), command
        for shell in ("bash", "zsh", "fish"):
            assert command in run("completion", shell)
    assert "/device:CPU:0" in run("devices")


def main():
    work.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[3:] or [n for n in globals() if n.startswith("test_")]:
        begin = time.time()
        globals()[name]()
        print(f"ok {name} ({time.time() - begin:.1f} s)", flush=True)


main()
