// SPDX-License-Identifier: Apache-2.0
//
// Padding: VALID, SAME or EXPLICIT.
#ifndef TENSORFLOW_CORE_UTIL_PADDING_H_
#define TENSORFLOW_CORE_UTIL_PADDING_H_

#include <string>
#include <vector>

#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/platform/errors.h"

namespace tensorflow {

enum Padding { VALID = 1, SAME = 2, EXPLICIT = 3 };

inline std::string GetPaddingAttrString() { return "padding: {'SAME', 'VALID'}"; }
inline std::string GetPaddingAttrStringWithExplicit() { return "padding: {'SAME', 'VALID', 'EXPLICIT'}"; }
inline std::string GetExplicitPaddingsAttrString() { return "explicit_paddings: list(int) = []"; }
inline Status GetPaddingFromString(std::string_view text, Padding* padding) {
  if (text == "SAME") return *padding = SAME, OkStatus();
  if (text == "VALID") return *padding = VALID, OkStatus();
  if (text == "EXPLICIT") return *padding = EXPLICIT, OkStatus();
  return errors::NotFound(text, " is not an allowed padding type");
}

namespace internal {
template <>
struct AttrReader<Padding> {
  static constexpr int kKind = WEFT_ATTR_STRING;
  static constexpr const char* kName = "string";
  static Status Read(const weft_attr* a, size_t i, Padding* value) { return GetPaddingFromString(View(weft_attr_text(a, i)), value); }
};
}  // namespace internal

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_UTIL_PADDING_H_
