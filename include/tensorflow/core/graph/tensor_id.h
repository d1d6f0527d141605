// SPDX-License-Identifier: Apache-2.0
//
// TensorId: the name of a node and the number of its output; "node", "node:0", "^node" (a node that only comes before).
#ifndef TENSORFLOW_CORE_GRAPH_TENSOR_ID_H_
#define TENSORFLOW_CORE_GRAPH_TENSOR_ID_H_

#include <string>
#include <string_view>
#include <utility>

#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/hash.h"

namespace tensorflow {

namespace internal {
inline std::string TensorIdText(std::string_view node, int index) {
  return index == Graph::kControlSlot ? "^" + std::string(node) : std::string(node) + ":" + std::to_string(index);
}
// Of names that are kept by somebody else, or its own.
template <class Text>
struct TensorIdOf : std::pair<Text, int> {
  using std::pair<Text, int>::pair;
  decltype(auto) node() const { return (this->first); }
  int index() const { return this->second; }
  std::string ToString() const { return TensorIdText(this->first, this->second); }
  struct Hasher {
    template <class Id>
    size_t operator()(const Id& id) const {
      return Hash32(id.first.data(), id.first.size(), static_cast<uint32>(id.second));
    }
  };
};
}  // namespace internal

struct SafeTensorId;
struct TensorId : internal::TensorIdOf<std::string_view> {
  using internal::TensorIdOf<std::string_view>::TensorIdOf;
  TensorId() = default;
  TensorId(const SafeTensorId& id);  // NOLINT
};
struct SafeTensorId : internal::TensorIdOf<std::string> {
  using internal::TensorIdOf<std::string>::TensorIdOf;
  SafeTensorId() = default;
  SafeTensorId(const TensorId& id) : TensorIdOf(std::string(id.first), id.second) {}  // NOLINT
};
inline TensorId::TensorId(const SafeTensorId& id) : TensorIdOf(std::string_view(id.first), id.second) {}

inline TensorId ParseTensorName(std::string_view name) {
  if (!name.empty() && name[0] == '^') return TensorId(name.substr(1), Graph::kControlSlot);
  size_t at = name.size();
  int64 index = 0, scale = 1;
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9' && name.size() - at < 9) {
    index += scale * (name[--at] - '0');
    scale *= 10;
  }
  if (at > 0 && at < name.size() && name[at - 1] == ':') return TensorId(name.substr(0, at - 1), static_cast<int>(index));
  return TensorId(name, 0);
}
inline TensorId ParseTensorName(const std::string& name) { return ParseTensorName(std::string_view(name)); }
inline TensorId ParseTensorName(const char* name) { return ParseTensorName(std::string_view(name)); }
inline bool IsTensorIdControl(const TensorId& id) { return id.index() == Graph::kControlSlot; }

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_GRAPH_TENSOR_ID_H_
