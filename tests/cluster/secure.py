"""Plays what run.py plays with certificates on both sides and a token: secure.py ARGUMENTS_OF_RUN.

Servers and clients in Python take both from the environment. A client without them is refused.
"""

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
        server = subprocess.Popen(
            [sys.executable, "-c", STRANGER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **token},
        )
        try:
            target = server.stdout.readline().strip()
            asked = subprocess.run([sys.executable, "-c", ASK, target], capture_output=True, text=True, timeout=120)
            if (
                asked.returncode != 1
                or "UnauthenticatedError" not in asked.stderr
                or "asks for a token" not in asked.stderr
            ):
                sys.exit(f"a client without the token is not refused: {asked.returncode} {asked.stdout} {asked.stderr}")
        finally:
            server.kill()
            server.wait()
    print("a client without the token is refused")


main()
