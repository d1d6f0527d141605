// A box inside a tensor, as checkpoints name the parts of partitioned variables: "0,2:-" is rows 0 and 1
// and all columns; "4 5 0,2:-" says the shape of the whole tensor too.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace weft_engine::wire {

struct TensorSlice {
  static constexpr int64_t kFull = -1;
  struct Extent {
    int64_t start = 0, length = kFull;  // a full extent begins at 0
    bool full() const { return length == kFull; }
    int64_t end() const { return start + length; }
    friend bool operator==(const Extent&, const Extent&) = default;
  };
  std::vector<Extent> extents;

  static TensorSlice whole(int rank) { return {std::vector<Extent>(size_t(rank))}; }
  // "0,2:-"; InvalidArgument with TensorFlow's texts.
  static core::Result<TensorSlice> parse(std::string_view text);
  static core::Result<TensorSlice> decode(std::string_view proto);
  std::string encode() const;  // as TensorSliceProto

  int rank() const { return int(extents.size()); }
  bool full() const;
  std::string to_string() const;
  // The shape of this part of a tensor; Internal if it does not lie inside.
  core::Result<core::Shape> shape_of(const core::Shape& whole) const;
  // The same with every extent spelt out. The slice must lie inside the tensor.
  TensorSlice explicit_in(const core::Shape& whole) const;
  friend bool operator==(const TensorSlice&, const TensorSlice&) = default;
};

// What two slices with explicit extents have in common.
std::optional<TensorSlice> intersect(const TensorSlice& a, const TensorSlice& b);

struct ShapeAndSlice {
  core::Shape shape;  // of the whole tensor
  TensorSlice slice;
  core::Shape slice_shape;
};
core::Result<ShapeAndSlice> parse_shape_and_slice(std::string_view text);

// The key under which a bundle keeps one slice of a tensor.
std::string slice_key(std::string_view name, const TensorSlice& slice);

// Copies `box` from a tensor that holds the slice `from` into one that holds the slice `to`. All slices
// are explicit, of the same whole tensor, and the box lies inside both.
void copy_box(const TensorSlice& box, const core::Tensor& source, const TensorSlice& from, core::Tensor& target, const TensorSlice& to);

}  // namespace weft_engine::wire
