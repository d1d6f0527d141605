// SPDX-License-Identifier: Apache-2.0
//
// What the C++ classes of datasets name of the messages of tf.data's options.
#ifndef TENSORFLOW_CORE_FRAMEWORK_DATASET_OPTIONS_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_DATASET_OPTIONS_PB_H_

namespace tensorflow {
namespace data {

// How much work a number of elements may cost.
class CardinalityOptions {
 public:
  enum ComputeLevel { CARDINALITY_COMPUTE_UNSPECIFIED = 0, CARDINALITY_COMPUTE_LOW = 1, CARDINALITY_COMPUTE_MODERATE = 2 };
  ComputeLevel compute_level() const { return level_; }
  void set_compute_level(ComputeLevel level) { level_ = level; }

 private:
  ComputeLevel level_ = CARDINALITY_COMPUTE_UNSPECIFIED;
};

}  // namespace data
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_DATASET_OPTIONS_PB_H_
