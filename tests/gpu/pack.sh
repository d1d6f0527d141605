#!/bin/bash
# What tests/gpu/machine.sh needs on a machine where nothing can be built or installed, into build/gpu: the package with an extension for another Python (PYTHON, with nanobind in
# its environment; the machine's minor version), the packages it needs, the libraries and the player, stripped; and all of it as build/gpu.tar.xz, a quarter of the size, which machine.sh
# unpacks. Builds with LLVM inside into BUILD (build/packed). With a finished build
# as BUILD what depends on neither Python nor LLVM is not compiled again; it is another build afterwards.
#
#   PYTHON=python3.12 [BUILD=build/release] tests/gpu/pack.sh
set -e
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
build=${BUILD:-build/packed}
to=build/gpu
[ -d build/packed_venv ] || { $python -m venv build/packed_venv && build/packed_venv/bin/pip install -q -r python/requirements.txt; }
cmake --preset release -B "$build" -U 'Python*' -U '_Python*' -U 'nanobind*' -DPython_EXECUTABLE="$PWD/build/packed_venv/bin/python" -DWEFT_BULK=ON -DWEFT_STATIC_LLVM=ON > /dev/null
ninja -C "$build" weft weft_package weft_codegen play
mkdir -p $to
package=$build/python
[ "$(basename "$build")" = release ] && package=build/python  # as CMakeLists.txt has it
rm -rf $to/weft && cp -r "$package/weft" $to/weft
rm -rf $to/weft/include
cp "$build/src/libweft.so.1" "$build/src/libweft_jit.so" "$build/tests/play" $to/
find $to/weft -name '_weft.*.so' ! -name "_weft.$(build/packed_venv/bin/python -c 'import sysconfig; print(sysconfig.get_config_var("SOABI"))').so" -delete  # of another Python
strip $to/libweft.so.1 $to/libweft_jit.so $to/play $to/weft/*.so
rm -f $to/weft/libweft_jit.so && ln $to/libweft_jit.so $to/weft/
[ -d $to/site ] || build/packed_venv/bin/pip install -q --no-deps --target $to/site keras namex absl-py optree h5py ml_dtypes diastatic-malt termcolor rich markdown-it-py mdurl pygments packaging
[ ! -f ../shared/bench/gpu/peers.py ] || cp ../shared/bench/gpu/peers.py $to/  # PyTorch's and JAX's side
find $to -name __pycache__ -prune -exec rm -rf {} +
$python -c "import ctypes; ctypes.CDLL('$PWD/$to/libweft_jit.so')"  # all symbols are there
tar -C build -cf - gpu | xz -T0 -5 > build/gpu.tar.xz
du -sh $to build/gpu.tar.xz
