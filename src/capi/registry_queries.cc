// What the engine knows of ops and kernels, and libraries that add to it.
#include "capi/internal.h"
#include "io/op_def.h"
#include "wire/proto.h"

using namespace weft::capi;  // NOLINT
using weft::engine::Engine;

const char* TF_Version() { return "2.21.0"; }

TF_Buffer* TF_GetAllOpList() {
  return guard_pointer<TF_Buffer>([] { return new_buffer(weft::io::encode_op_list(Engine::get().registry().all())); });
}

TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status) {
  TF_Buffer* out = nullptr;
  guard(status, [&]() -> Status {
    std::vector<std::string> defs;
    auto& registry = Engine::get().registry();
    for (const auto* spec : registry.all()) {
      for (const auto& k : registry.kernels(*spec)) defs.push_back(weft::io::encode_kernel_def(spec->name, k));
    }
    out = new_buffer(weft::io::encode_kernel_list(defs));
    return {};
  });
  return out;
}

TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status) {
  TF_Buffer* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(name);
    std::vector<std::string> defs;
    auto& registry = Engine::get().registry();
    if (const auto* spec = registry.find(name)) {
      for (const auto& k : registry.kernels(*spec)) defs.push_back(weft::io::encode_kernel_def(spec->name, k));
    }
    out = new_buffer(weft::io::encode_kernel_list(defs));
    return {};
  });
  return out;
}

// ---- ApiDefs ----

struct TF_ApiDefMap {
  std::map<std::string, std::string> defs;  // by op
};

TF_ApiDefMap* TF_NewApiDefMap(TF_Buffer* op_list, TF_Status* status) {
  TF_ApiDefMap* map = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(op_list);
    auto made = std::make_unique<TF_ApiDefMap>();
    weft::wire::ProtoReader r({static_cast<const char*>(op_list->data), op_list->length});
    while (r.next()) {
      if (r.field() != 1) continue;
      auto op = r.message();
      while (op.next()) {
        if (op.field() != 1) continue;
        const std::string name = op.string();
        const auto* spec = Engine::get().registry().find(name);
        weft::wire::ProtoWriter bare;
        bare.bytes(1, name);
        made->defs[name] = spec ? weft::io::encode_api_def(*spec) : bare.take();
      }
    }
    if (!r.ok()) return invalid_argument("Unparseable OpList");
    map = made.release();
    return {};
  });
  return map;
}
void TF_DeleteApiDefMap(TF_ApiDefMap* map) { delete map; }

// The text is an ApiDefs message in text form; of it the engine keeps the summaries and descriptions of
// known ops by merging whole definitions is not needed by any client, so a definition replaces nothing
// but is checked for ops that the map does not hold.
void TF_ApiDefMapPut(TF_ApiDefMap* map, const char* text, size_t length, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(map);
    WEFT_NOT_NULL(text);
    (void)length;
    return unimplemented("TF_ApiDefMapPut: ApiDefs in text form are not read yet");
  });
}

TF_Buffer* TF_ApiDefMapGet(TF_ApiDefMap* map, const char* name, size_t length, TF_Status* status) {
  TF_Buffer* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(map);
    WEFT_NOT_NULL(name);
    auto it = map->defs.find(std::string(name, length));
    if (it == map->defs.end()) return not_found("no ApiDef for op ", std::string_view(name, length));
    out = new_buffer(it->second);
    return {};
  });
  return out;
}

// ---- Libraries ----

struct TF_Library {
  Engine::LoadedLibrary library;
  TF_Buffer ops;
};

TF_Library* TF_LoadLibrary(const char* path, TF_Status* status) {
  TF_Library* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(path);
    WEFT_ASSIGN(Engine::LoadedLibrary loaded, Engine::get().load_library(path));
    out = new TF_Library{std::move(loaded), {}};
    out->ops = TF_Buffer{out->library.op_list.data(), out->library.op_list.size(), nullptr};
    return {};
  });
  return out;
}
TF_Buffer TF_GetOpList(TF_Library* library) { return library ? library->ops : TF_Buffer{nullptr, 0, nullptr}; }
// The library stays loaded: its ops and kernels may be in use.
void TF_DeleteLibraryHandle(TF_Library* library) { delete library; }
