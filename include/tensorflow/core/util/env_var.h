// SPDX-License-Identifier: Apache-2.0
//
// Values of environment variables, or the default where there is none. What cannot be read is an error.
#ifndef TENSORFLOW_CORE_UTIL_ENV_VAR_H_
#define TENSORFLOW_CORE_UTIL_ENV_VAR_H_

#include <cstdlib>
#include <string>

#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/numbers.h"
#include "tensorflow/core/platform/str_util.h"

namespace tensorflow {

inline Status ReadStringFromEnvVar(StringPiece name, StringPiece default_val, std::string* value) {
  const char* text = std::getenv(std::string(name).c_str());
  *value = text ? text : std::string(default_val);
  return OkStatus();
}
inline Status ReadBoolFromEnvVar(StringPiece name, bool default_val, bool* value) {
  *value = default_val;
  const char* text = std::getenv(std::string(name).c_str());
  if (!text) return OkStatus();
  const std::string lower = str_util::Lowercase(text);
  if (lower == "0" || lower == "false") return *value = false, OkStatus();
  if (lower == "1" || lower == "true") return *value = true, OkStatus();
  return errors::InvalidArgument("Failed to parse the env-var ${", name, "} into bool: ", text, ". Use the default value: ", default_val);
}
inline Status ReadInt64FromEnvVar(StringPiece name, int64_t default_val, int64_t* value) {
  *value = default_val;
  const char* text = std::getenv(std::string(name).c_str());
  if (!text || strings::safe_strto64(text, value)) return OkStatus();
  *value = 0;
  return errors::InvalidArgument("Failed to parse the env-var ${", name, "} into int64: ", text, ". Use the default value: ", default_val);
}
inline Status ReadFloatFromEnvVar(StringPiece name, float default_val, float* value) {
  *value = default_val;
  const char* text = std::getenv(std::string(name).c_str());
  if (!text || strings::safe_strtof(text, value)) return OkStatus();
  *value = default_val;
  return errors::InvalidArgument("Failed to parse the env-var ${", name, "} into float: ", text, ". Use the default value: ", default_val);
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_UTIL_ENV_VAR_H_
