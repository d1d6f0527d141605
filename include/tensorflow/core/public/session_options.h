// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CORE_PUBLIC_SESSION_OPTIONS_H_
#define TENSORFLOW_CORE_PUBLIC_SESSION_OPTIONS_H_

#include <string>

#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/protobuf/config.pb.h"

namespace tensorflow {

struct SessionOptions {
  Env* env = Env::Default();
  std::string target;  // empty: this process; grpc://host:port
  ConfigProto config;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PUBLIC_SESSION_OPTIONS_H_
