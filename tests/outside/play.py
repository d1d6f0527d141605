"""Runs the programs of tests/outside/programs on weft and on TensorFlow and compares what they print.

    python tests/outside/play.py --folder FOLDER --tensorflow PYTHON_WITH_TENSORFLOW [PROGRAM ...]

The packages come into FOLDER/programs, by name and without what they require. What TensorFlow printed is kept there."""

import argparse
import difflib
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = """absl-py certifi charset-normalizer dm-tree einops filelock fsspec grpcio h5py hf-xet huggingface_hub<1 idna markdown markupsafe packaging pillow protobuf pyyaml regex
    requests safetensors scipy six tensorboard tensorboard-data-server tensorflow-hub tensorflow-model-optimization tensorflow-recommenders tf-keras tokenizers<0.22 tqdm
    transformers==4.53.3 typing_extensions urllib3 werkzeug wrapt attrs setuptools<81 cloudpickle decorator gast gin-config gviz-api gym==0.23.1 gym-notices keras-hub
    opt_einsum tensorflow-probability==0.25.0 tf-agents==0.19.0 xprof""".split()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help="names without .py; all where none is given")
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--tensorflow", required=True, help="an interpreter with TensorFlow")
    parser.add_argument("--weft", default=sys.executable, help="an interpreter that imports weft")
    parser.add_argument("--seconds", type=int, default=900)
    options = parser.parse_args()
    folder = (options.folder / "programs").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    site = folder / "site"
    if not (folder / "installed").exists():
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(site), *PACKAGES], check=True
        )
        (folder / "installed").touch()
    # Packages that look for a distribution named tensorflow.
    door = folder / "door"
    if not door.exists():
        subprocess.run([options.weft, "-m", "weft.install_as_tensorflow", "--target", str(door)], check=True)
    own = [str(pathlib.Path(p).resolve()) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]

    def printed(command, path):
        environment = dict(
            os.environ,
            PYTHONPATH=os.pathsep.join(path),
            TF_CPP_MIN_LOG_LEVEL="3",
            CUDA_VISIBLE_DEVICES="",
            HF_HUB_OFFLINE="1",
        )
        try:
            done = subprocess.run(
                command, env=environment, cwd=folder, timeout=options.seconds, capture_output=True, text=True
            )
        except subprocess.TimeoutExpired:
            return f"no end within {options.seconds} s\n", False
        if done.returncode:
            return done.stdout + "".join(f"error: {line}\n" for line in done.stderr.strip().splitlines()[-3:]), False
        return done.stdout, True

    failed = 0
    for program in sorted(HERE.glob("programs/*.py")):
        if options.programs and program.stem not in options.programs:
            continue
        kept = folder / (program.stem + ".txt")
        if not kept.exists():
            text, good = printed([options.tensorflow, str(program)], [str(site)])
            if not good:
                print(f"{program.stem}: does not run on TensorFlow\n{text}", flush=True)
                failed += 1
                continue
            kept.write_text(text)
        there, (here, _) = (
            kept.read_text(),
            printed([options.weft, "-m", "weft", str(program)], [*own, str(door), str(site)]),
        )
        print(f"{program.stem}: {'as on TensorFlow' if here == there else 'differs'}", flush=True)
        if here != there:
            failed += 1
            print(
                *difflib.unified_diff(there.splitlines(), here.splitlines(), "TensorFlow", "weft", lineterm="", n=0),
                sep="\n",
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
