#!/usr/bin/env bash
# Compiles programs for TensorFlow's C++ API against an install tree, by CMake and with the flags of pkg-config, and compares what they print with what they
# print with TensorFlow (*.out). Arguments: cmake, the build folder, the source folder.
set -euo pipefail
cmake=$1 build=$2 source=$3
tree=$PWD/tree work=$PWD/work here=$source/tests/cpp/clients
"$cmake" --install "$build" --prefix "$tree" --strip >/dev/null
"$cmake" -S "$here" -B "$work" -G Ninja -DCMAKE_PREFIX_PATH="$tree" -DEXAMPLES="$source/examples/tensorflow_cpp" >/dev/null
"$cmake" --build "$work" || exit 1
for name in scope train graph_def dataset messages codecs gradients sparse support; do
  "$work/$name" > "$name.out" || { echo "$name failed"; cat "$name.out"; exit 1; }
  diff "$here/$name.out" "$name.out" || { echo "$name prints something else than with TensorFlow"; exit 1; }
done
"$work/forms" "$PWD/bundle" > forms.out || { echo "forms failed"; cat forms.out; exit 1; }
diff "$here/forms.out" forms.out || { echo "forms prints something else than with TensorFlow"; exit 1; }
mkdir bundles && "$work/bundles" "$PWD/bundles" > bundles.out || { echo "bundles failed"; cat bundles.out; exit 1; }
diff "$here/bundles.out" bundles.out || { echo "bundles prints something else than with TensorFlow"; exit 1; }
if [ -d /usr/include/eigen3 ]; then  # views are Eigen's maps then
  c++ -std=c++17 -Wall -Wextra -Werror "$here/views.cc" -I"$tree/include" -isystem /usr/include/eigen3 -isystem "$tree/include/tensorflow/fallback" -L"$tree/lib" -ltensorflow_cc -Wl,-rpath,"$tree/lib" -o views
  ./views | diff "$here/views.out" - || { echo "views prints something else than with TensorFlow"; exit 1; }
fi
if [ -e /usr/include/gtest/gtest.h ]; then  # bases of tests that are written with GoogleTest
  c++ -std=c++17 -Wall -Wextra -Werror "$here/test_bases.cc" -I"$tree/include" -isystem "$tree/include/tensorflow/fallback" -L"$tree/lib" -ltensorflow_cc -Wl,-rpath,"$tree/lib" -lgtest -pthread -o test_bases
  ./test_bases > test_bases.out || { echo "test_bases failed"; cat test_bases.out; exit 1; }
  diff "$here/test_bases.out" test_bases.out || { echo "test_bases prints something else than with TensorFlow"; exit 1; }
else
  echo "test_bases was left out: there is no GoogleTest (libgtest-dev)"
fi
tar xf "$here/objects_model.tar.xz"
"$work/saved_model_objects" "$PWD/model" > objects.out || { echo "saved_model_objects failed"; cat objects.out; exit 1; }
diff "$here/saved_model_objects.out" objects.out || { echo "saved_model_objects prints something else than TensorFlow computes"; exit 1; }
"$work/saved_model_messages" "$PWD/model" > messages_of_model.out || { echo "saved_model_messages failed"; cat messages_of_model.out; exit 1; }
diff "$here/saved_model_messages.out" messages_of_model.out || { echo "saved_model_messages prints something else than with TensorFlow"; exit 1; }
mkdir streams && "$work/streams" "$PWD/streams" > streams.out || { echo "streams failed"; cat streams.out; exit 1; }
diff "$here/streams.out" streams.out || { echo "streams prints something else than with TensorFlow"; exit 1; }
mkdir files && "$work/files" "$PWD/files" > files.out || { echo "files failed"; cat files.out; exit 1; }
diff "$here/files.out" files.out || { echo "files prints something else than with TensorFlow"; exit 1; }
c++ -std=c++17 -Wall -Wextra -Werror "$here/abseil.cc" -I"$tree/include" -isystem "$tree/include/tensorflow/fallback" -L"$tree/lib" -ltensorflow_cc -Wl,-rpath,"$tree/lib" -o abseil
./abseil | diff "$here/abseil.out" - || { echo "abseil prints something else than with abseil"; exit 1; }
flags="-I$tree/include -isystem$tree/include/tensorflow/fallback -L$tree/lib -ltensorflow_cc"
if command -v pkg-config >/dev/null; then flags=$(PKG_CONFIG_PATH="$tree/lib/pkgconfig" pkg-config --cflags --libs tensorflow_cc); fi
c++ -std=c++20 "$here/messages.cc" $flags -Wl,-rpath,"$tree/lib" -o messages
./messages | diff "$here/messages.out" -
echo "the clients work"
