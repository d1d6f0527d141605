#!/usr/bin/env bash
# Hostile ops and their driver under the address and the undefined behaviour sanitizer, against the release library. Arguments: the build folder, the source folder.
set -euo pipefail
build=$1 source=$2
c++ -std=c++17 -O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined "$source/tests/cpp/clients/hostile.cc" "$source/tests/python/custom_ops/hostile.cc" \
  -I"$source/include" -I"$build/generated" -L"$build/src" -l:libweft.so.1 -Wl,-rpath,"$build/src" -o hostile
ASAN_OPTIONS=detect_stack_use_after_return=1:allocator_may_return_null=1:intercept_tls_get_addr=0 ./hostile
