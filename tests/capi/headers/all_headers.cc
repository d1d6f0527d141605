// SPDX-License-Identifier: Apache-2.0
//
// The same file once more, as C++.
#include "all_headers.c"
