// SPDX-License-Identifier: Apache-2.0
//
// Variant with what needs Tensor: VariantTensorData, which a value of a program may be written to and read from.
#ifndef TENSORFLOW_CORE_FRAMEWORK_VARIANT_H_
#define TENSORFLOW_CORE_FRAMEWORK_VARIANT_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/variant_value.h"
#include "tensorflow/core/platform/mutex.h"

namespace tensorflow {

// The parts of a value: a type, a text and tensors.
class VariantTensorData {
 public:
  const std::string& type_name() const { return type_name_; }
  void set_type_name(const std::string& name) { type_name_ = name; }
  void set_metadata(const std::string& metadata) { metadata_ = metadata; }
  void get_metadata(std::string* metadata) const { *metadata = metadata_; }
  const std::string& metadata_string() const { return metadata_; }
  std::string& metadata_string() { return metadata_; }
  template <class T>
  bool get_metadata(T* value) const {
    if (metadata_.size() != sizeof(T)) return false;
    std::memcpy(value, metadata_.data(), sizeof(T));
    return true;
  }
  template <class T>
  void set_metadata(const T& value) {
    metadata_.assign(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  int tensors_size() const { return static_cast<int>(tensors_.size()); }
  const Tensor& tensors(int i) const { return tensors_.at(static_cast<size_t>(i)); }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  Tensor* add_tensors() { return &tensors_.emplace_back(); }

 private:
  std::string type_name_, metadata_;
  std::vector<Tensor> tensors_;
};

namespace internal {
// By the name that the type gives itself. Kept by each library for itself: the engine writes no values of programs to files.
inline std::map<std::string, std::function<bool(const VariantTensorData&, Variant*)>>& VariantDecoders() {
  static auto* all = new std::map<std::string, std::function<bool(const VariantTensorData&, Variant*)>>;
  return *all;
}
template <class T>
struct RegisteredVariantDecoder {
  explicit RegisteredVariantDecoder(const std::string& name) {
    VariantDecoders()[name] = [](const VariantTensorData& data, Variant* to) {
      T value;
      if (!value.Decode(VariantTensorData(data))) return false;
      *to = std::move(value);
      return true;
    };
  }
};
}  // namespace internal

inline bool DecodeUnaryVariant(const VariantTensorData& data, Variant* to) {
  const auto it = internal::VariantDecoders().find(data.type_name());
  return it != internal::VariantDecoders().end() && it->second(data, to);
}

}  // namespace tensorflow

#define WEFT_VARIANT_DECODER(counter, T, name) WEFT_VARIANT_DECODER_(counter, T, name)
#define WEFT_VARIANT_DECODER_(counter, T, name) \
  static const ::tensorflow::internal::RegisteredVariantDecoder<T> weft_variant_decoder_##counter [[maybe_unused]] (name)
#define REGISTER_UNARY_VARIANT_DECODE_FUNCTION(T, name) WEFT_VARIANT_DECODER(__COUNTER__, T, name)

#endif  // TENSORFLOW_CORE_FRAMEWORK_VARIANT_H_
