// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CORE_PLATFORM_INIT_MAIN_H_
#define TENSORFLOW_CORE_PLATFORM_INIT_MAIN_H_

namespace tensorflow {
namespace port {

// Nothing needs to be set up, and no flag is taken.
inline void InitMain(const char* usage, int* argc, char*** argv) {
  (void)usage;
  (void)argc;
  (void)argv;
}

}  // namespace port
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_INIT_MAIN_H_
