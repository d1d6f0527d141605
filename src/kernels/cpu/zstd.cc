#include "kernels/cpu/zstd.h"

#include <dlfcn.h>

#include <memory>

namespace weft_engine::kernels {
namespace {

// The stable part of zstd.h (version 1.0 on), declared here since only the library itself is common.
struct InBuffer {
  const void* data;
  size_t size, at;
};
struct OutBuffer {
  void* data;
  size_t size, at;
};

struct Zstd {
  void* (*create)() = nullptr;
  size_t (*free)(void*) = nullptr;
  size_t (*decompress)(void*, OutBuffer*, InBuffer*) = nullptr;
  unsigned (*is_error)(size_t) = nullptr;
  const char* (*error_name)(size_t) = nullptr;

  Zstd() {
    void* library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    auto find = [&](const char* name, auto& f) { f = reinterpret_cast<std::decay_t<decltype(f)>>(dlsym(library, name)); };
    find("ZSTD_createDStream", create);
    find("ZSTD_freeDStream", free);
    find("ZSTD_decompressStream", decompress);
    find("ZSTD_isError", is_error);
    find("ZSTD_getErrorName", error_name);
  }
  bool loaded() const { return create && free && decompress && is_error && error_name; }
};

const Zstd& zstd() {
  static const Zstd* loaded = new Zstd();
  return *loaded;
}

}  // namespace

core::Status zstd_decompress(std::string_view bytes, std::string& out, size_t most) {
  const Zstd& z = zstd();
  if (!z.loaded()) return core::unavailable("this needs Zstandard (libzstd.so.1), which could not be loaded");
  std::unique_ptr<void, size_t (*)(void*)> stream(z.create(), z.free);
  if (!stream) return core::resource_exhausted("ZSTD_createDStream() failed");
  out.clear();
  InBuffer in{bytes.data(), bytes.size(), 0};
  char buffer[1 << 15];
  while (true) {
    OutBuffer to{buffer, sizeof buffer, 0};
    const size_t result = z.decompress(stream.get(), &to, &in);
    if (z.is_error(result)) return core::data_loss("ZSTD_decompressStream() failed: ", z.error_name(result));
    out.append(buffer, to.at);
    if (out.size() > most) return core::resource_exhausted("Decompressed data of more than ", most, " bytes does not fit into memory");
    if (in.at == in.size && to.at < to.size) return {};
  }
}

}  // namespace weft_engine::kernels
