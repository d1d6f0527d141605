// Few: an array whose length is known when it is made and seldom above N, so that it seldom needs the heap. Its elements are
// default-initialised: numbers and pointers are not.
#pragma once

#include <cstddef>
#include <memory>

namespace weft::core {

template <class T, size_t N>
class Few {
 public:
  explicit Few(size_t n) : size_(n) {
    if (n > N) far_ = std::make_unique_for_overwrite<T[]>(n);
  }
  Few(const Few&) = delete;
  T* data() { return size_ > N ? far_.get() : near_; }
  T& operator[](size_t i) { return data()[i]; }
  size_t size() const { return size_; }

 private:
  size_t size_;
  T near_[N];
  std::unique_ptr<T[]> far_;
};

}  // namespace weft::core
