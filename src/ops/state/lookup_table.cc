#include "ops/state/lookup_table.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>

namespace weft_engine::ops {

using namespace weft_engine::core;  // NOLINT

namespace {

Shape rows_of(int64_t n, const Shape& row) { return Shape({n}).concat(row); }

std::string element_text(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::kString) return t.data<tstring>()[i].str();
  auto one = Tensor::allocate(t.dtype(), Shape());
  if (!one.ok()) return "?";
  copy_elements(t, i, *one, 0, 1);
  return one->summary(1);
}

bool equal_elements(const Tensor& a, int64_t i, const Tensor& b, int64_t j, int64_t n) {
  if (a.dtype() == DType::kString) {
    return std::equal(a.data<tstring>() + i, a.data<tstring>() + i + n, b.data<tstring>() + j);
  }
  if (!is_simple(a.dtype())) return false;
  const size_t size = dtype_size(a.dtype());
  return std::memcmp(a.data<char>() + size_t(i) * size, b.data<char>() + size_t(j) * size, size_t(n) * size) == 0;
}

}  // namespace

Status LookupTable::reserve_keys(const Tensor& empty, const Tensor& deleted) {
  std::string a, b;
  empty_key_ = key_bytes(empty, 0, a);
  deleted_key_ = key_bytes(deleted, 0, b);
  if (empty_key_ == deleted_key_) return invalid_argument("Empty and deleted keys cannot be equal");
  return {};
}

bool LookupTable::initialized() const {
  if (kind_ != Kind::kHash) return true;
  std::shared_lock lock(mutex_);
  return initialized_;
}

int64_t LookupTable::size() const {
  std::shared_lock lock(mutex_);
  if (kind_ == Kind::kHash && !initialized_) return 0;
  return index_.size();
}

std::string_view LookupTable::key_bytes(const Tensor& keys, int64_t i, std::string& scratch) const {
  const int64_t n = key_size();
  if (key_dtype_ != DType::kString) {
    const size_t size = dtype_size(key_dtype_) * size_t(n);
    return {keys.data<char>() + size_t(i) * size, size};
  }
  const tstring* s = keys.data<tstring>() + i * n;
  if (n == 1) return s->view();
  scratch.clear();
  for (int64_t k = 0; k < n; ++k) {
    const uint64_t length = s[k].size();
    scratch.append(reinterpret_cast<const char*>(&length), sizeof length).append(s[k].view());
  }
  return scratch;
}

uint64_t LookupTable::key_hash(std::string_view bytes) {
  if (bytes.size() == 8 || bytes.size() == 4) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), bytes.size());
    return kernels::hash_word(word);
  }
  return kernels::hash_word(std::hash<std::string_view>{}(bytes));
}

int64_t LookupTable::row_of(std::string_view bytes) const {
  std::string scratch;
  return index_.find(key_hash(bytes), [&](int64_t row) { return key_bytes(keys_, row, scratch) == bytes; });
}

// A dense table takes one dimension of keys and no more.
Status LookupTable::check_dense_keys(const Tensor& keys, bool one_if_scalar) const {
  if (kind_ != Kind::kDense) return {};
  if (keys.rank() == 0 && !one_if_scalar) return {};
  const int64_t n = keys.rank() == 0 ? 1 : keys.dim(0);
  const int64_t size = key_size();
  if (size != 0 && keys.num_elements() / size == n && keys.num_elements() % size == 0) return {};
  return invalid_argument("Expected key shape ", rows_of(n, key_shape_), " got ", keys.shape());
}

Status LookupTable::check_reserved(std::string_view key) const {
  if (kind_ != Kind::kDense) return {};
  if (key == empty_key_) return invalid_argument("Using the empty_key as a table key is not allowed");
  if (key == deleted_key_) return invalid_argument("Using the deleted_key as a table key is not allowed");
  return {};
}

Status LookupTable::find(op::KernelContext*, const Tensor& keys, const Tensor& default_value, Tensor& out) const {
  WEFT_RETURN_IF_ERROR(check_dense_keys(keys, true));
  const int64_t width = value_size();
  const int64_t n = key_size() == 0 ? 0 : keys.num_elements() / key_size();
  // The first value stands for all, except where the mutable tables take one for each key.
  const bool each = (kind_ == Kind::kMutable || kind_ == Kind::kMutableOfTensors) && default_value.num_elements() == n * width;
  std::shared_lock lock(mutex_);
  if (kind_ == Kind::kHash && !initialized_) return failed_precondition("Table not initialized.");
  const size_t value_bytes = is_simple(value_dtype_) && width == 1 ? dtype_size(value_dtype_) : 0;
  const auto copy = [&](int64_t row, int64_t i) {
    const Tensor& from = row >= 0 ? values_ : default_value;
    const int64_t at = row >= 0 ? row * width : each ? i * width : 0;
    // One number a key is the usual case.
    if (value_bytes == 8) out.data<uint64_t>()[i] = from.data<uint64_t>()[at];
    else if (value_bytes == 4) out.data<uint32_t>()[i] = from.data<uint32_t>()[at];
    else copy_elements(from, at, out, i * width, width);
  };
  if (kind_ != Kind::kDense && width > 0 && key_size() == 1 && dtype_size(key_dtype_) == 8 && is_simple(key_dtype_)) {
    const uint64_t* key = keys.data<uint64_t>();  // equal where their hashes are
    for (int64_t i = 0; i < n; ++i) copy(index_.find(kernels::hash_word(key[i]), [](int64_t) { return true; }), i);
    return {};
  }
  if (kind_ != Kind::kDense && width > 0 && key_size() == 1 && key_dtype_ == DType::kString) {
    const tstring *key = keys.data<tstring>(), *known = index_.size() ? keys_.data<tstring>() : nullptr;
    for (int64_t i = 0; i < n; ++i) {
      const std::string_view bytes = key[i].view();
      copy(index_.find(key_hash(bytes), [&](int64_t row) { return known[row].view() == bytes; }), i);
    }
    return {};
  }
  std::string scratch;
  for (int64_t i = 0; i < n; ++i) {
    const std::string_view bytes = key_bytes(keys, i, scratch);
    WEFT_RETURN_IF_ERROR(check_reserved(bytes));
    if (width > 0) copy(row_of(bytes), i);
  }
  return {};
}

Status LookupTable::grow_locked() {
  const int64_t wanted = std::max<int64_t>(16, capacity_ * 2);
  WEFT_ASSIGN(Tensor keys, Tensor::allocate(key_dtype_, rows_of(wanted, key_shape_)));
  WEFT_ASSIGN(Tensor values, Tensor::allocate(value_dtype_, rows_of(wanted, value_shape_)));
  const int64_t used = index_.size();
  if (used > 0) {
    copy_elements(keys_, 0, keys, 0, used * key_size());
    copy_elements(values_, 0, values, 0, used * value_size());
  }
  keys_ = std::move(keys);
  values_ = std::move(values);
  capacity_ = wanted;
  return {};
}

Status LookupTable::put_locked(std::string_view bytes, const Tensor& keys, const Tensor& values, int64_t i) {
  const int64_t width = value_size();
  if (index_.size() == capacity_) WEFT_RETURN_IF_ERROR(grow_locked());
  const int64_t count = index_.size();
  std::string scratch;
  const int64_t row = index_.find_or_add(key_hash(bytes), [&](int64_t r) { return key_bytes(keys_, r, scratch) == bytes; });
  if (row == count) copy_elements(keys, i * key_size(), keys_, row * key_size(), key_size());
  if (width > 0) copy_elements(values, i * width, values_, row * width, width);
  return {};
}

Status LookupTable::insert_locked(const Tensor& keys, const Tensor& values, bool skip_reserved) {
  const int64_t n = key_size() == 0 ? 0 : keys.num_elements() / key_size();
  std::string scratch;
  for (int64_t i = 0; i < n; ++i) {
    const std::string_view bytes = key_bytes(keys, i, scratch);
    if (Status s = check_reserved(bytes); !s.ok()) {
      if (skip_reserved) continue;
      return s;
    }
    WEFT_RETURN_IF_ERROR(put_locked(bytes, keys, values, i));
  }
  return {};
}

Status LookupTable::insert(op::KernelContext*, const Tensor& keys, const Tensor& values) {
  if (kind_ == Kind::kHash) return unimplemented("Insert not supported by InitializableLookupTable implementations");
  WEFT_RETURN_IF_ERROR(check_dense_keys(keys, true));
  std::unique_lock lock(mutex_);
  return insert_locked(keys, values, false);
}

Status LookupTable::remove(op::KernelContext*, const Tensor& keys) {
  if (kind_ == Kind::kHash) return unimplemented("Remove not supported by InitializableLookupTable implementations");
  WEFT_RETURN_IF_ERROR(check_dense_keys(keys, true));
  const int64_t n = key_size() == 0 ? 0 : keys.num_elements() / key_size();
  const int64_t width = value_size();
  std::unique_lock lock(mutex_);
  std::string scratch, last_scratch;
  for (int64_t i = 0; i < n; ++i) {
    const std::string_view bytes = key_bytes(keys, i, scratch);
    WEFT_RETURN_IF_ERROR(check_reserved(bytes));
    const int64_t row = row_of(bytes);
    if (row < 0) continue;
    // The last row fills the gap.
    const int64_t last = index_.size() - 1;
    index_.remove(key_hash(bytes), row, key_hash(key_bytes(keys_, last, last_scratch)));
    if (row != last) {
      copy_elements(keys_, last * key_size(), keys_, row * key_size(), key_size());
      if (width > 0) copy_elements(values_, last * width, values_, row * width, width);
    }
    if (!is_simple(value_dtype_) && width > 0) {  // releases what the value held
      WEFT_ASSIGN(Tensor nothing, Tensor::zeros(value_dtype_, value_shape_));
      copy_elements(nothing, 0, values_, last * width, width);
    }
  }
  return {};
}

Status LookupTable::import_all(op::KernelContext*, const Tensor& keys, const Tensor& values) {
  if (kind_ == Kind::kHash) return initialize(keys, values);
  WEFT_RETURN_IF_ERROR(check_dense_keys(keys, true));
  std::unique_lock lock(mutex_);
  index_.clear();
  keys_ = values_ = {};
  capacity_ = 0;
  return insert_locked(keys, values, true);
}

Status LookupTable::insert_once_locked(const Tensor& keys, const Tensor& values) {
  std::string scratch;
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    const std::string_view bytes = key_bytes(keys, i, scratch);
    const int64_t row = row_of(bytes);
    if (row < 0) {
      WEFT_RETURN_IF_ERROR(put_locked(bytes, keys, values, i));
    } else if (!equal_elements(values_, row, values, i, 1)) {
      return failed_precondition("HashTable has different value for same key. Key ", element_text(keys, i), " has ", element_text(values_, row),
                                 " and trying to add value ", element_text(values, i));
    }
  }
  return {};
}

Status LookupTable::initialize(const Tensor& keys, const Tensor& values) {
  if (keys.num_elements() == 0) return invalid_argument("keys and values cannot be empty tensors.");
  std::unique_lock lock(mutex_);
  if (initialized_) {
    if (keys.num_elements() != index_.size()) return failed_precondition("Table was already initialized with different data.");
    return {};
  }
  WEFT_RETURN_IF_ERROR(insert_once_locked(keys, values));
  initialized_ = true;
  return {};
}

Status LookupTable::export_all(op::KernelContext*, Tensor& keys, Tensor& values) const {
  std::shared_lock lock(mutex_);
  if (kind_ == Kind::kHash && !initialized_) return aborted("HashTable is not initialized.");
  const int64_t n = index_.size();
  WEFT_ASSIGN(keys, Tensor::allocate(key_dtype_, rows_of(n, key_shape_)));
  WEFT_ASSIGN(values, Tensor::allocate(value_dtype_, rows_of(n, value_shape_)));
  if (n > 0) {
    copy_elements(keys_, 0, keys, 0, n * key_size());
    if (value_size() > 0) copy_elements(values_, 0, values, 0, n * value_size());
  }
  return {};
}

}  // namespace weft_engine::ops
