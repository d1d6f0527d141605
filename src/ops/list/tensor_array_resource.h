// TensorArray and Stack: the resources behind the ops of the same names. A resource handle carries its object,
// which lives as long as the handle does; what older handles name lives until the step ends (step_handle.h).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/resource.h"
#include "core/tensor.h"
#include "core/thread_pool.h"
#include "op/variable.h"

namespace weft_engine::ops {

class TensorArray final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow11TensorArrayE";
  static constexpr const char* kBadHandle = "Tensor array handle must be 2-element vector, but had shape: ";
  struct Options {
    std::string name;
    core::DType dtype;
    int64_t size = 0;
    core::PartialShape element_shape;
    bool identical_element_shapes = false, dynamic_size = false, clear_after_read = true;
    bool is_gradient = false;  // then writes to one index add up
  };
  explicit TensorArray(Options o) : options_(std::move(o)) {}
  std::string type_name() const override { return "TensorArray"; }

  const std::string& name() const { return options_.name; }
  core::DType dtype() const { return options_.dtype; }
  bool is_gradient() const { return options_.is_gradient; }
  bool dynamic_size() const;
  op::RefVariable& ref() { return ref_; }  // what a version 1 handle points at
  // All elements have at least this shape.
  core::Status merge_element_shape(const core::PartialShape& shape);

  core::Result<int64_t> size() const;
  int64_t count_missing() const;  // elements that were neither written nor read
  core::Status write(int64_t index, core::Tensor value, core::ThreadPool& pool);
  core::Status write_many(const std::vector<int64_t>& indices, const std::vector<core::Tensor>& values, core::ThreadPool& pool);
  core::Status read_many(const std::vector<int64_t>& indices, std::vector<core::Tensor>& values);
  void close();

  // The array that collects gradients for `source`: made on the first call, with the shapes written here so
  // far, each with `prefix` in front. From then on this array no longer grows.
  core::Result<std::shared_ptr<TensorArray>> gradient(const std::string& source, const core::Shape& prefix = {});

 private:
  // Written without a tensor: zeros of that shape.
  struct Element {
    core::Tensor tensor;
    core::Shape shape;
    bool written = false, read = false, cleared = false, own_copy = false;
  };
  core::Status check_open() const;
  core::Status write_locked(int64_t index, core::Tensor value, core::ThreadPool& pool);
  core::Status add_locked(Element& e, int64_t index, const core::Tensor& value, core::ThreadPool& pool);
  core::Result<core::Tensor> read_locked(int64_t index);

  mutable std::mutex mutex_;
  Options options_;
  bool closed_ = false;
  std::unordered_map<int64_t, Element> elements_;  // by index, so that a huge size costs nothing
  std::map<std::string, std::shared_ptr<TensorArray>> gradients_;
  op::RefVariable ref_;
};

class Stack final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow5StackE";
  static constexpr const char* kBadHandle = "Stack handle must have two elements, but had shape: ";
  Stack(std::string name, core::DType dtype, int64_t max_size) : name_(std::move(name)), dtype_(dtype), max_size_(max_size) {}
  std::string type_name() const override { return "Stack"; }

  const std::string& name() const { return name_; }
  core::DType dtype() const { return dtype_; }
  op::RefVariable& ref() { return ref_; }
  core::Status push(core::Tensor t);
  core::Result<core::Tensor> pop();
  void close();

 private:
  core::Status check_open() const;
  const std::string name_;
  const core::DType dtype_;
  const int64_t max_size_;  // negative: no limit
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<core::Tensor> items_;
  op::RefVariable ref_;
};

}  // namespace weft_engine::ops
