#!/usr/bin/env bash
# Installs into a fresh folder and uses that tree as a stranger would: CMake, pkg-config-style flags, the command, the
# size of the library and the symbols it shows. Arguments: cmake, the build folder, the source folder. All is laid out in the working folder.
set -euo pipefail
cmake=$1 build=$2 source=$3
tree=$PWD/tree work=$PWD/work
"$cmake" --install "$build" --prefix "$tree" --strip >/dev/null
for f in libweft.so.1 libtensorflow.so libtensorflow.so.2 libtensorflow_framework.so.2 libtensorflow_cc.so.2 pkgconfig/weft.pc pkgconfig/tensorflow.pc \
         cmake/weft/weftConfig.cmake; do test -e "$tree/lib/$f" || { echo "missing lib/$f"; exit 1; }; done

size=$(stat -L -c %s "$tree/lib/libweft.so.1")
echo "libweft.so.1: $size bytes"
test "$size" -le $((179 * 100 * 1000))

# Nothing but TensorFlow's C functions and the C++ API may be seen.
strangers=$(nm -D --defined-only "$tree/lib/libweft.so.1" | awk '{print $3}' | sed 's/@.*//' |
            grep -v -E '^(TF_|TFE_|TSL_|weft_|_ZN4weft|_ZNK4weft|_ZT[ISV]N4weft|WEFT_1$)' || true)
test -z "$strangers" || { echo "symbols that leak: $strangers" | head -20; exit 1; }
# Of the C++ names, nothing of the engine's own namespace.
if nm -DC --defined-only "$tree/lib/libweft.so.1" | grep -E '(^| )weft_engine::' | head -5 | grep .; then
  echo "engine symbols leak"; exit 1
fi

# And every function that the public headers promise.
nm -DC --defined-only "$tree/lib/libweft.so.1" > symbols
for f in $(grep -ohP '^WEFT_API [\w:<>]+(?: |& )\K\w+(?=\()' "$source"/include/weft/*.h | grep -v operator | sort -u); do
  grep -qE " weft::([a-z]+::)*$f[(\[]" symbols || { echo "weft::$f is not exported"; exit 1; }
done

"$cmake" -S "$source/tests/cpp/consumer" -B "$work" -G Ninja -DCMAKE_PREFIX_PATH="$tree" -DEXAMPLES="$source/examples" >/dev/null
"$cmake" --build "$work" >/dev/null
"$work/consumer_cc" | grep -F '[[ 8. 11.]'
"$work/consumer_c" | grep -x 41
"$work/consumer_train" | grep -x '1 + 1 = 2.0'
cc "$source/examples/first.c" -I"$tree/include" -L"$tree/lib" -ltensorflow -Wl,-rpath,"$tree/lib" -o "$work/plain_c"
"$work/plain_c" | grep -x 41
"$tree/bin/weft" --version | grep -F weft
"$tree/bin/weft" ops MatMul | grep -F 'transpose_a'
"$tree/bin/weft" devices | grep -F '/job:localhost/replica:0/task:0/device:CPU:0'
("$tree/bin/weft" ops NoSuchOp 2>&1 || true) | grep -F "there is no op 'NoSuchOp'"
"$tree/bin/weft" completion bash | bash -n
echo "the install tree works"
