#include "ops/list/tensor_array_resource.h"

#include "kernels/cpu/accumulate.h"

namespace weft_engine::ops {

using namespace weft_engine::core;  // NOLINT

bool TensorArray::dynamic_size() const {
  std::lock_guard lock(mutex_);
  return options_.dynamic_size;
}

Status TensorArray::merge_element_shape(const PartialShape& shape) {
  std::lock_guard lock(mutex_);
  WEFT_ASSIGN(options_.element_shape, options_.element_shape.merge_with(shape));
  return {};
}

Status TensorArray::check_open() const {
  if (closed_) return invalid_argument("TensorArray ", name(), " has already been closed.");
  return {};
}

Result<int64_t> TensorArray::size() const {
  std::lock_guard lock(mutex_);
  WEFT_RETURN_IF_ERROR(check_open());
  return options_.size;
}

int64_t TensorArray::count_missing() const {
  std::lock_guard lock(mutex_);
  return options_.size - int64_t(elements_.size());
}

Status TensorArray::write(int64_t index, Tensor value, ThreadPool& pool) {
  std::lock_guard lock(mutex_);
  return write_locked(index, std::move(value), pool);
}

Status TensorArray::write_many(const std::vector<int64_t>& indices, const std::vector<Tensor>& values, ThreadPool& pool) {
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < indices.size(); ++i) WEFT_RETURN_IF_ERROR(write_locked(indices[i], values[i], pool));
  return {};
}

Status TensorArray::write_locked(int64_t index, Tensor value, ThreadPool& pool) {
  WEFT_RETURN_IF_ERROR(check_open());
  if (index < 0 || (!options_.dynamic_size && index >= options_.size))
    return invalid_argument("TensorArray ", name(), ": Tried to write to index ", index, " but array is not resizeable and size is: ", options_.size);
  if (index >= options_.size) options_.size = index + 1;
  auto refuse = [&](const auto&... why) {
    return invalid_argument("TensorArray ", name(), ": Could not write to TensorArray index ", index, " because ", why...);
  };
  if (value.dtype() != dtype()) return refuse("the value dtype is ", value.dtype(), " but TensorArray dtype is ", dtype(), ".");
  if (!options_.element_shape.compatible_with(value.shape()))
    return refuse("the value shape is ", value.shape(),
                  " which is incompatible with the TensorArray's inferred element shape: ", options_.element_shape,
                  " (consider setting infer_shape=False).");
  if (options_.identical_element_shapes && !options_.element_shape.fully_known()) options_.element_shape = value.shape();
  Element& e = elements_[index];
  if (e.read) return refuse("it has already been read.");
  if (e.written) return options_.is_gradient ? add_locked(e, index, value, pool) : refuse("it has already been written to.");
  e.shape = value.shape();
  e.tensor = std::move(value);
  e.written = true;
  return {};
}

Status TensorArray::add_locked(Element& e, int64_t index, const Tensor& value, ThreadPool& pool) {
  if (value.shape() != e.shape)
    return invalid_argument("TensorArray ", name(), ": Could not aggregate to TensorArray index ", index, " because the existing shape is ", e.shape,
                            " but the new input shape is ", value.shape(), ".");
  if (!e.tensor.valid()) {
    e.tensor = value;
    return {};
  }
  if (!e.own_copy) {
    WEFT_ASSIGN(e.tensor, e.tensor.copy());
    e.own_copy = true;
  }
  if (!kernels::accumulate(value.dtype(), e.tensor.raw(), value.raw(), value.num_elements(), false, pool))
    return invalid_argument("AddToTensor not supported on dtype ", value.dtype());
  return {};
}

Status TensorArray::read_many(const std::vector<int64_t>& indices, std::vector<Tensor>& values) {
  std::lock_guard lock(mutex_);
  for (int64_t index : indices) {
    WEFT_ASSIGN(Tensor value, read_locked(index));
    values.push_back(std::move(value));
  }
  return {};
}

Result<Tensor> TensorArray::read_locked(int64_t index) {
  WEFT_RETURN_IF_ERROR(check_open());
  if (index < 0 || index >= options_.size) return invalid_argument("Tried to read from index ", index, " but array size is: ", options_.size);
  auto it = elements_.find(index);
  if (it != elements_.end() && it->second.cleared)
    return invalid_argument("TensorArray ", name(), ": Could not read index ", index,
                            " twice because it was cleared after a previous read (perhaps try setting clear_after_read = false?).");
  Element fresh;
  if (it == elements_.end() || !it->second.written) {
    const auto shape = options_.element_shape.concrete();
    if (!shape)
      return invalid_argument(
          "TensorArray ", name(), ": Could not read from TensorArray index ", index,
          ".  Furthermore, the element shape is not fully defined: ", options_.element_shape,
          ".  It is possible you are working with a resizeable TensorArray and stop_gradients is not allowing the gradients to be written.  "
          "If you set the full element_shape property on the forward TensorArray, the proper all-zeros tensor will be returned instead of "
          "incurring this error.");
    fresh.shape = *shape;
  } else {
    fresh = it->second;
  }
  if (!fresh.tensor.valid()) {
    WEFT_ASSIGN(fresh.tensor, Tensor::zeros(dtype(), fresh.shape));
  }
  Tensor value = fresh.tensor;
  if (options_.clear_after_read) {
    fresh.tensor = {};
    fresh.cleared = true;
  }
  fresh.written = fresh.read = true;
  elements_[index] = std::move(fresh);
  return value;
}

void TensorArray::close() {
  std::unordered_map<int64_t, Element> gone;  // freed after the lock is given back
  std::lock_guard lock(mutex_);
  gone.swap(elements_);
  closed_ = true;
}

Result<std::shared_ptr<TensorArray>> TensorArray::gradient(const std::string& source, const Shape& prefix) {
  std::lock_guard lock(mutex_);
  options_.dynamic_size = false;
  WEFT_RETURN_IF_ERROR(check_open());
  auto& g = gradients_[source];
  if (!g) {
    Options o = options_;
    o.name = cat(name(), "@", source);
    o.clear_after_read = o.is_gradient = true;
    o.element_shape = PartialShape(prefix).concat(o.element_shape);
    g = std::make_shared<TensorArray>(std::move(o));
    for (const auto& [index, e] : elements_) {
      if (!e.written) continue;
      Element& mine = g->elements_[index];
      mine.shape = prefix.concat(e.shape);
      mine.written = true;
    }
  }
  return g;
}

Status Stack::check_open() const {
  if (closed_) return invalid_argument("Stack[", name_, "] has already been closed.");
  return {};
}

Status Stack::push(Tensor t) {
  std::lock_guard lock(mutex_);
  WEFT_RETURN_IF_ERROR(check_open());
  if (max_size_ >= 0 && int64_t(items_.size()) >= max_size_) return invalid_argument("Stack[", name_, "] overflowed its max_size (", max_size_, ")");
  items_.push_back(std::move(t));
  return {};
}

Result<Tensor> Stack::pop() {
  std::lock_guard lock(mutex_);
  WEFT_RETURN_IF_ERROR(check_open());
  if (items_.empty()) return invalid_argument("Stack[", name_, "] is empty when calling Pop().");
  Tensor t = std::move(items_.back());
  items_.pop_back();
  return t;
}

void Stack::close() {
  std::vector<Tensor> gone;
  std::lock_guard lock(mutex_);
  gone.swap(items_);
  closed_ = true;
}

}  // namespace weft_engine::ops
