// SmallArray: an array whose length is known when it is made and seldom above N, so that it seldom needs the heap. It constructs as many elements as it has,
// default-initialised: numbers and pointers are not.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace weft_engine::core {

template <class T, size_t N>
class SmallArray {
 public:
  explicit SmallArray(size_t n) : size_(n) {
    if (n > N) far_ = std::make_unique_for_overwrite<T[]>(n);
    else std::uninitialized_default_construct_n(near(), n);
  }
  ~SmallArray() {
    if (size_ <= N) std::destroy_n(near(), size_);
  }
  SmallArray(const SmallArray&) = delete;
  T* data() { return size_ > N ? far_.get() : near(); }
  T& operator[](size_t i) { return data()[i]; }
  size_t size() const { return size_; }
  operator std::span<T>() { return {data(), size_}; }  // NOLINT: it is one

 private:
  T* near() { return reinterpret_cast<T*>(near_); }
  size_t size_;
  std::unique_ptr<T[]> far_;
  alignas(T) std::byte near_[N * sizeof(T)];
};

}  // namespace weft_engine::core
