// SPDX-License-Identifier: Apache-2.0
//
// data::name_utils: names of datasets and of their iterators.
#ifndef TENSORFLOW_CORE_DATA_NAME_UTILS_H_
#define TENSORFLOW_CORE_DATA_NAME_UTILS_H_

#include <string>
#include <vector>

#include "tensorflow/core/platform/strcat.h"

namespace tensorflow {
namespace data {
namespace name_utils {

inline constexpr char kDelimiter[] = "::";
inline constexpr char kDefaultDatasetDebugStringPrefix[] = "";

struct OpNameParams {
  int op_version = 1;
};
struct DatasetDebugStringParams {
  template <class... T>
  void set_args(T... values) {
    args = {strings::StrCat(values)...};
  }
  int op_version = 1;
  std::string dataset_prefix;
  std::vector<std::string> args;
};
struct IteratorPrefixParams {
  int op_version = 1;
  std::string dataset_prefix;
};

// "(1, 2, 3)"; nothing for none.
inline std::string ArgsToString(const std::vector<std::string>& args) {
  std::string out;
  for (const std::string& arg : args) out += (out.empty() ? "(" : ", ") + arg;
  return args.empty() ? out : out + ")";
}
namespace internal {
inline std::string Version(int version) { return version == 1 ? std::string() : strings::StrCat("V", version); }
}  // namespace internal
// "Map" is the op MapDataset, or MapDatasetV2.
inline std::string OpName(const std::string& type, const OpNameParams& params = {}) {
  return type + "Dataset" + internal::Version(params.op_version);
}
// "RangeDatasetOp(0, 10, 3)::Dataset".
inline std::string DatasetDebugString(const std::string& type, const DatasetDebugStringParams& params = {}) {
  return OpName(type, {params.op_version}) + "Op" + ArgsToString(params.args) + kDelimiter + params.dataset_prefix + "Dataset";
}
// "Iterator::Range::Map".
inline std::string IteratorPrefix(const std::string& type, const std::string& prefix, const IteratorPrefixParams& params = {}) {
  return prefix + kDelimiter + params.dataset_prefix + type + internal::Version(params.op_version);
}

}  // namespace name_utils
}  // namespace data
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_DATA_NAME_UTILS_H_
