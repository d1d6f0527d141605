#include "core/buffer.h"

#include <new>

#include "core/allocator.h"
#include "core/resource.h"
#include "core/shape.h"
#include "core/tstring.h"
#include "core/variant.h"

namespace weft_engine::core {
namespace {

static_assert(sizeof(Buffer) <= kAlignment);

template <class T>
void construct(void* data, int64_t count) {
  T* t = static_cast<T*>(data);
  for (int64_t i = 0; i < count; ++i) new (t + i) T();
}
template <class T>
void destruct(void* data, size_t bytes) {
  T* t = static_cast<T*>(data);
  for (size_t i = 0; i < bytes / sizeof(T); ++i) t[i].~T();
}

}  // namespace

RefPtr<Buffer> Buffer::allocate(DType dtype, int64_t count) noexcept {
  const int64_t bytes = multiply_without_overflow(count, int64_t(dtype_size(dtype)));
  if (bytes < 0 || bytes > (int64_t(1) << 58)) return nullptr;
  const size_t block = kAlignment + size_t(bytes);
  void* p = host_allocate(block);
  if (!p) return nullptr;
  Buffer* b = new (p) Buffer();
  b->dtype_ = dtype;
  b->data_ = static_cast<char*>(p) + kAlignment;
  b->size_ = size_t(bytes);
  b->block_ = block;
  switch (dtype) {
    case DType::kString: construct<tstring>(b->data_, count); break;
    case DType::kResource: construct<ResourceHandle>(b->data_, count); break;
    case DType::kVariant: construct<Variant>(b->data_, count); break;
    default: break;
  }
  return RefPtr<Buffer>::adopt(b);
}

RefPtr<Buffer> Buffer::wrap(void* data, size_t size, Deallocator deallocator, void* arg) {
  Buffer* b = new Buffer();
  b->data_ = data;
  b->size_ = size;
  b->deallocator_ = deallocator ? deallocator : +[](void*, size_t, void*) {};
  b->arg_ = arg;
  return RefPtr<Buffer>::adopt(b);
}

void Buffer::destroy() {
  if (deallocator_) {
    deallocator_(data_, size_, arg_);
    delete this;
    return;
  }
  switch (dtype_) {
    case DType::kString: destruct<tstring>(data_, size_); break;
    case DType::kResource: destruct<ResourceHandle>(data_, size_); break;
    case DType::kVariant: destruct<Variant>(data_, size_); break;
    default: break;
  }
  const size_t block = block_;
  this->~Buffer();
  host_free(this, block);
}

}  // namespace weft_engine::core
