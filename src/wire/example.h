// tf.Example and tf.SequenceExample, read where they lie: names and lists stay views into the message.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace weft_engine::wire {

// The numbers are those of Feature's fields.
enum class FeatureKind { kNone = 0, kBytes = 1, kFloat = 2, kInt64 = 3, kUnsupported = 4 };

struct Feature {
  FeatureKind kind = FeatureKind::kNone;
  std::string_view list;  // the BytesList, FloatList or Int64List

  bool present() const { return kind != FeatureKind::kNone; }
  core::DType dtype() const;
};

using FeatureMap = std::vector<std::pair<std::string_view, Feature>>;  // a name may come twice; the last counts
using FeatureLists = std::vector<std::pair<std::string_view, std::vector<Feature>>>;

// False for bytes that are not such a message.
bool read_example(std::string_view bytes, FeatureMap& features);
bool read_sequence_example(std::string_view bytes, FeatureMap& context, FeatureLists& lists);

// Values of one type, gathered from many features.
class FeatureValues {
 public:
  explicit FeatureValues(core::DType type) : type_(type) {}
  core::DType dtype() const { return type_; }
  int64_t size() const;
  // The feature must be of this type. False if its list cannot be read.
  bool append(const Feature& feature);
  // Values [from, from + n) to the elements of a tensor at `to`. The message must still be there.
  void copy_to(int64_t from, int64_t n, core::Tensor& t, int64_t to) const;

 private:
  core::DType type_;
  std::vector<float> floats_;
  std::vector<int64_t> ints_;
  std::vector<std::string_view> strings_;
};

}  // namespace weft_engine::wire
