// Checkpoints of version 1: one table (wire/table.h) with a row for each slice of a tensor, and one in front that lists them
// (SavedTensorSlices). Written as TensorFlow's Save does; read by turning them into a bundle in memory.
#pragma once

#include <map>

#include "wire/tensor_bundle.h"

namespace weft_engine::wire {

class OldCheckpointWriter {
 public:
  // A slice of a tensor of the given shape; the whole one where the slice is full.
  core::Status add(std::string_view name, const core::Shape& whole, const TensorSlice& slice, const core::Tensor& part);
  // The file appears under its name when it is complete.
  core::Status finish(std::string_view path) const;

 private:
  struct Entry {
    core::Shape shape;
    core::DType dtype;
    std::vector<TensorSlice> slices;
  };
  std::map<std::string, Entry, std::less<>> tensors_;
  std::map<std::string, std::string> rows_;
};

// The tensors of these files, which belong to one checkpoint.
core::Result<std::unique_ptr<BundleReader>> open_old_checkpoint(const std::vector<std::string>& paths);

}  // namespace weft_engine::wire
