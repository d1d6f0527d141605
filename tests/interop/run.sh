#!/bin/sh
# Exchanges files with real TensorFlow, both ways. Arguments: the build folder, a folder to work in, which keeps a virtual
# environment with TensorFlow. PYTHON=... uses an interpreter that has it already.
set -e
build=$1 work=$2
mkdir -p "$work"
if [ -z "$PYTHON" ]; then
  PYTHON=$work/venv/bin/python
  # An installation that was broken off is made again.
  if ! "$PYTHON" -c 'import importlib.metadata as m; m.version("tensorflow-cpu")' 2>/dev/null; then
    rm -rf "$work/venv"
    python3 -m venv "$work/venv" 2>/dev/null || { ${SUDO:-} apt-get install -y -qq python3-venv >/dev/null; python3 -m venv "$work/venv"; }
    "$work/venv/bin/pip" install -q tensorflow-cpu==2.21.*
  fi
fi
"$build/src/cli/weft" --version
"$PYTHON" -c 'import sys, importlib.metadata as m
def version(*names):
    for n in names:
        try:
            return n + " " + m.version(n)
        except m.PackageNotFoundError:
            pass
    return names[0] + " (unknown)"
print("python", sys.version.split()[0] + ",", ", ".join([version("tensorflow-cpu", "tensorflow"), version("keras"), version("numpy")]))'
rm -rf "$work/files" && mkdir -p "$work/files"
# The Python package: models, checkpoints and datasets both ways, and the programs of tests/python/programs under TensorFlow.
if [ -d build/python ]; then
  "$PYTHON" "$(dirname "$0")/python_files.py" build/venv/bin/python build/python "$work/python" 2>"$work/stderr.txt" || { tail -20 "$work/stderr.txt"; exit 1; }
  build/venv/bin/python tests/python/programs/record.py "$PYTHON" --check || exit 1
  # Clusters: TensorFlow and weft as clients and workers.
  PYTHONPATH=$PWD/build/python build/venv/bin/python tests/cluster/interop.py --weft build/venv/bin/python --tensorflow "$PYTHON" || exit 1
fi
for script in "$(dirname "$0")"/interop*.py; do
  "$PYTHON" "$script" "$build/tests/weft_side" "$work/files" 2>"$work/stderr.txt" || { tail -20 "$work/stderr.txt"; exit 1; }
done
