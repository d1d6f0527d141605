// ExampleParser: reads a batch of tf.Example into columns, one for each wanted feature, and makes tensors of them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/shape.h"
#include "ops/io/example_columns.h"
#include "wire/example.h"

namespace weft_engine::ops {

// One wanted feature and what has been read of it.
struct WantedFeature {
  enum Kind { kSparse, kDense, kRagged };
  Kind kind;
  size_t index;  // among those of its kind
  Column column;
  core::PartialShape shape = {};            // dense
  const core::Tensor* fallback = nullptr;   // dense: the default, or the padding of a variable length
  bool variable() const { return shape.rank() > 0 && shape.dim(0) < 0; }
  // Elements of one row, or of one step where the length is variable.
  int64_t stride() const;
};

struct ExampleParser {
  bool batched = true;
  std::vector<std::string_view> serialized, names;
  std::vector<WantedFeature> wanted;
  std::unordered_map<std::string_view, std::vector<size_t>> by_key;

  void want(std::string_view key, WantedFeature w);
  // Number k of the dense features. InvalidArgument where shape and default do not fit.
  core::Status want_dense(std::string_view key, size_t k, const std::vector<core::PartialShape>& shapes, const core::Tensor& fallback);
  // Fills the columns.
  core::Status parse();
  core::Result<core::Tensor> dense(const WantedFeature& w) const;

 private:
  std::string_view name(size_t i) const { return names.empty() ? "<unknown>" : names[i]; }
  // The start of an error about one feature of one example.
  std::string at(size_t i, std::string_view key) const;
  // Who wants the feature that is number k of an example, null: nobody. Examples of one file have their features in one order.
  const std::vector<size_t>* consumers_of(size_t k, std::string_view key);
  core::Status take(size_t i, const wire::Feature& feature, WantedFeature& w);
  core::Status read(size_t i);

  wire::FeatureMap features_;  // of the example that is read
  std::vector<std::pair<std::string_view, const std::vector<size_t>*>> last_;  // by number: what was there in the example before
};

}  // namespace weft_engine::ops
