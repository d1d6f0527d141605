// CompressedElement: the components of a dataset element in one snappy block, as a variant. Its serialized form is
// TensorFlow's message of the same name (tensorflow/core/framework/dataset.proto).
#pragma once

#include <string>
#include <vector>

#include "core/tensor.h"
#include "core/variant.h"

namespace weft_engine::ops::data {

struct CompressedElement final : core::VariantObject {
  std::string type_name() const override { return "tensorflow.data.CompressedElement"; }
  struct Component {
    core::DType dtype;
    core::Shape shape;
    std::vector<uint64_t> sizes;  // of each string; else one: all bytes
  };
  std::string data;
  std::vector<Component> components;

  static core::Result<CompressedElement> compress(const std::vector<core::Tensor>& element);
  // Internal where data and sizes do not agree.
  core::Result<std::vector<core::Tensor>> uncompress() const;
  std::string to_string() const;
  static core::Result<CompressedElement> parse(std::string_view bytes);
};

}  // namespace weft_engine::ops::data
