#!/bin/sh
# Exchanges files with real TensorFlow, both ways. Arguments: the build folder, a folder to work in, which keeps a virtual
# environment with TensorFlow. PYTHON=... uses an interpreter that has it already.
set -e
build=$1 work=$2
mkdir -p "$work"
if [ -z "$PYTHON" ]; then
  PYTHON=$work/venv/bin/python
  if ! [ -x "$PYTHON" ]; then
    python3 -m venv "$work/venv" 2>/dev/null || { ${SUDO:-} apt-get install -y -qq python3-venv >/dev/null; python3 -m venv "$work/venv"; }
    "$work/venv/bin/pip" install -q tensorflow-cpu==2.21.*
  fi
fi
rm -rf "$work/files" && mkdir -p "$work/files"
for script in "$(dirname "$0")"/interop*.py; do
  "$PYTHON" "$script" "$build/tests/weft_side" "$work/files" 2>"$work/stderr.txt" || { tail -20 "$work/stderr.txt"; exit 1; }
done
