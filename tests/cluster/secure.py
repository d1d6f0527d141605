"""Plays what run.py plays with certificates on both sides and a token: secure.py ARGUMENTS_OF_RUN.

Servers and clients in Python take both from the environment. A client without them is refused.
"""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STRANGER = """
import sys
import weft as tf
server = tf.distribute.Server({"worker": ["localhost:0"]}, job_name="worker", task_index=0)
print(server.target, flush=True)
sys.stdin.read()
"""
ASK = """
import sys
import weft as tf
tf.config.experimental_connect_to_host(sys.argv[1])
"""
LARGE = """
import sys
import numpy as np
import weft as tf
tf.config.experimental_connect_to_host(sys.argv[1])
with tf.device("/job:worker/task:0"):
    try:
        tf.reduce_sum(tf.constant(np.ones([1 << 20], np.float32))).numpy()
    except tf.errors.ResourceExhaustedError:
        print("too large", float(tf.constant(1.0) + 1.0), flush=True)
sys.stdin.read()
"""


def certificates(folder):
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *key, "-days", "2", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test authority")
    openssl("req", *key, "-keyout", "task.key", "-out", "task.csr", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    openssl(
        *("x509", "-req", "-in", "task.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"),
        *("-out", "task.pem", "-days", "2", "-extfile", "names"),
    )


@contextlib.contextmanager
def server(variables):
    """The target of a server with these variables."""
    command, pipe = [sys.executable, "-c", STRANGER], subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env={**os.environ, **variables})
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def limits():
    """A request that is too large fails alone; a client more than the server takes is told so."""
    with server({"WEFT_CLUSTER_MAX_MESSAGE_MB": "1", "WEFT_CLUSTER_MAX_CONTEXTS": "1"}) as target:
        pipe = subprocess.PIPE
        first = subprocess.Popen([sys.executable, "-c", LARGE, target], stdin=pipe, stdout=pipe, text=True)
        try:
            line = first.stdout.readline()
            if line != "too large 2.0\n":
                sys.exit(f"a request of 4 MB to a server that takes one: {line!r}")
            asked = subprocess.run([sys.executable, "-c", ASK, target], capture_output=True, text=True, timeout=120)
            if "ResourceExhaustedError" not in asked.stderr or "which is its limit" not in asked.stderr:
                sys.exit(f"a second client is not refused: {asked.returncode} {asked.stderr}")
        finally:
            first.kill()
            first.communicate()
    print("limits hold")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        certificates(folder)
        (folder / "token").write_text("0123456789abcdef0123456789abcdef\n")
        variables = {"CERT": "task.pem", "KEY": "task.key", "CA": "ca.pem"}
        secure = {f"WEFT_TLS_{k}": str(folder / v) for k, v in variables.items()}
        token = {"WEFT_CLUSTER_TOKEN_FILE": str(folder / "token")}
        played = subprocess.run(
            [sys.executable, str(HERE / "run.py"), *sys.argv[1:]], env={**os.environ, **secure, **token}, timeout=240
        )
        if played.returncode:
            sys.exit("the program does not run with certificates and a token")
        with server(token) as target:
            asked = subprocess.run([sys.executable, "-c", ASK, target], capture_output=True, text=True, timeout=120)
            if (
                asked.returncode != 1
                or "UnauthenticatedError" not in asked.stderr
                or "asks for a token" not in asked.stderr
            ):
                sys.exit(f"a client without the token is not refused: {asked.returncode} {asked.stdout} {asked.stderr}")
        limits()
    print("a client without the token is refused")


main()
