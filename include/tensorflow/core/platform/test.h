// SPDX-License-Identifier: Apache-2.0
//
// For tests that are written with GoogleTest, which the program brings: statuses as expectations, folders for files.
#ifndef TENSORFLOW_CORE_PLATFORM_TEST_H_
#define TENSORFLOW_CORE_PLATFORM_TEST_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tensorflow/core/platform/errors.h"

#define TF_EXPECT_OK(...) EXPECT_EQ(::tensorflow::OkStatus(), ::tensorflow::Status(__VA_ARGS__))
#define TF_ASSERT_OK(...) ASSERT_EQ(::tensorflow::OkStatus(), ::tensorflow::Status(__VA_ARGS__))

namespace tensorflow {
namespace testing {

inline std::string TmpDir() {
  for (const char* name : {"TEST_TMPDIR", "TMPDIR"}) {
    if (const char* folder = std::getenv(name); folder && *folder) return folder;
  }
  return "/tmp";
}
inline int RandomSeed() {
  const char* seed = std::getenv("TEST_RANDOM_SEED");
  return seed ? std::atoi(seed) : 301;
}

}  // namespace testing
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_TEST_H_
