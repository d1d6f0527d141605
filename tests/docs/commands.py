"""Runs the shell commands of the README files and pages as they are printed, in a folder that looks like the repository after `make test`.

    commands.py CMAKE BUILD_FOLDER SOURCE_FOLDER PYTHON PACKAGE_FOLDER

docs/compiling.md has a test of its own (tests/compiler/aot/docs.py).
"""

import os
import pathlib
import re
import subprocess
import sys
import tarfile

cmake, build, source, python, package = (pathlib.Path(a) for a in sys.argv[1:6])
# Commands that are not run here, and why.
LEFT_OUT = {
    "make ": "builds what this test runs in; .ci/run runs `make test`",
    "ctest ": "runs tests, of which this is one",
    "pip install .": "builds the whole package again",
    "cmake --preset ": "builds everything again, another way",
    "--cluster cluster.json": "servers run until they are stopped; tests/cli/cluster_test.py starts them and asks them",
    "sbatch ": "needs Slurm; tests/cluster/recipes.py plays the file",
    "mpirun ": "needs Open MPI; tests/cluster/recipes.py plays the files",
    "examples/cluster_ray.py": "needs Ray; tests/cluster/recipes.py plays the file",
    "kubectl ": "needs Kubernetes; tests/cluster/recipes.py plays the file's commands",
    "tests/outside/run.py": "tests of other packages, which it installs by name, and TensorFlow's answers to them",
    "tests/cluster/interop.py": "plays with TensorFlow, which is not installed here; `make interop` runs it",
    "keras_own_tests.py": "tests of another package, which take minutes, and TensorFlow's answers to them",
}


def lay_out():
    for entry in source.iterdir():
        if entry.name not in ("build", ".git"):
            pathlib.Path(entry.name).symlink_to(entry)
    pathlib.Path("build").mkdir()
    subprocess.run(
        [cmake, "--install", build, "--prefix", "build/install", "--strip"], check=True, stdout=subprocess.DEVNULL
    )
    for name, target in (("release", build), ("python", package), ("venv", python.parent.parent)):
        pathlib.Path("build", name).symlink_to(target)
    with tarfile.open(
        source / "tests/models/saved/models.tar.xz"
    ) as archive:  # the README's model reads digits, as this one does
        members = [m for m in archive.getmembers() if m.name.split("/")[1:2] == ["mlp"]]
        for m in members:
            m.mode |= 0o200  # a folder is moved by who may write to it
        archive.extractall(".", members)
    pathlib.Path("models/mlp").rename("mnist")
    pathlib.Path("program.py").write_text("import tensorflow as tf\nprint(tf.constant([1, 2]) + 1)\n")


def commands(page):
    for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.S | re.M):
        for line in block.splitlines():
            if line := re.sub(r"\s+# .*$", "", line).strip():
                yield line


def main():
    lay_out()
    environment = dict(os.environ, PATH=f"{pathlib.Path('build/install/bin').resolve()}:{os.environ['PATH']}")
    environment.pop("PYTHONPATH", None)
    pages = sorted(p for p in source.rglob("README.md") if "build" not in p.relative_to(source).parts)
    pages += sorted(p for p in (source / "docs").rglob("*.md") if p.name != "compiling.md")
    ran = failed = 0
    for page in pages:
        for line in commands(page):
            if any(part in line for part in LEFT_OUT):
                continue
            done = subprocess.run(
                ["sh", "-ec", line], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
            )
            ran += 1
            if done.returncode:
                failed += 1
                print(
                    f"{page.relative_to(source)}: {line}\nexit status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
                )
    print(f"{ran} commands of {len(pages)} pages, {failed} failed")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
