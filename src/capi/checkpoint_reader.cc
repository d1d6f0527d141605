// Checkpoints read without a session: names, types, shapes and tensors.
#include "capi/cc_internal.h"
#include "tensorflow/c/c_api_experimental.h"
#include "wire/tensor_bundle.h"

using namespace weft_engine;        // NOLINT
using namespace weft_engine::capi;  // NOLINT

struct TF_CheckpointReader {
  std::unique_ptr<wire::BundleReader> reader;
  std::vector<std::string> names;  // ended by a zero byte, as C wants them

  // The entry of a name; nothing where there is none.
  std::optional<wire::BundleEntry> entry(const char* name) const {
    if (!name) return std::nullopt;
    auto e = reader->entry(name);
    if (!e.ok()) return std::nullopt;
    return std::move(e).value();
  }
};

TF_CheckpointReader* TF_NewCheckpointReader(const char* filename, TF_Status* status) {
  TF_CheckpointReader* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(filename);
    auto made = std::make_unique<TF_CheckpointReader>();
    WEFT_ASSIGN(made->reader, wire::open_checkpoint(filename));
    for (size_t i = 0; i < made->reader->size(); ++i) {
      const std::string_view key = made->reader->key(i);
      if (key[0] != '\0') made->names.emplace_back(key);  // what begins so is a part of a partitioned tensor
    }
    out = made.release();
    return {};
  });
  return out;
}

void TF_DeleteCheckpointReader(TF_CheckpointReader* reader) { delete reader; }

int TF_CheckpointReaderHasTensor(TF_CheckpointReader* reader, const char* name) { return reader && name && reader->reader->contains(name) ? 1 : 0; }

const char* TF_CheckpointReaderGetVariable(TF_CheckpointReader* reader, int index) {
  if (!reader || index < 0 || size_t(index) >= reader->names.size()) return nullptr;
  return reader->names[size_t(index)].c_str();
}

int TF_CheckpointReaderSize(TF_CheckpointReader* reader) { return reader ? int(reader->names.size()) : 0; }

TF_DataType TF_CheckpointReaderGetVariableDataType(TF_CheckpointReader* reader, const char* name) {
  int type = 0;
  guard(nullptr, [&]() -> Status {
    if (auto e = reader ? reader->entry(name) : std::nullopt) type = int(e->dtype);
    return {};
  });
  return TF_DataType(type);
}

void TF_CheckpointReaderGetVariableShape(TF_CheckpointReader* reader, const char* name, int64_t* dims, int num_dims, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(reader);
    WEFT_NOT_NULL(name);
    WEFT_ASSIGN(wire::BundleEntry e, reader->reader->entry(name));
    if (num_dims != e.shape.rank()) return invalid_argument("Expected rank is ", num_dims, " but actual rank is ", e.shape.rank());
    if (num_dims > 0) WEFT_NOT_NULL(dims);
    for (int i = 0; i < num_dims; ++i) dims[i] = e.shape.dim(i);
    return {};
  });
}

int TF_CheckpointReaderGetVariableNumDims(TF_CheckpointReader* reader, const char* name) {
  int rank = -1;
  guard(nullptr, [&]() -> Status {
    if (auto e = reader ? reader->entry(name) : std::nullopt) rank = e->shape.rank();
    return {};
  });
  return rank;
}

TF_Tensor* TF_CheckpointReaderGetTensor(TF_CheckpointReader* reader, const char* name, TF_Status* status) {
  TF_Tensor* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(reader);
    WEFT_NOT_NULL(name);
    WEFT_ASSIGN(Tensor t, reader->reader->lookup(name));
    out = new TF_Tensor{std::move(t)};
    return {};
  });
  return out;
}

// ---- Writing and parts of tensors, for core/util/tensor_bundle.

struct weft_bundle_writer {
  wire::BundleWriter writer;
};

weft_bundle_writer* weft_bundle_writer_new(weft_text prefix) {
  return guard_pointer<weft_bundle_writer>([&] { return new weft_bundle_writer{wire::BundleWriter(view_of(prefix))}; });
}
void weft_bundle_writer_delete(weft_bundle_writer* w) { delete w; }
TF_Status* weft_bundle_writer_add(weft_bundle_writer* w, weft_text key, const TF_Tensor* tensor) {
  return returned(caught([&]() -> Status {
    if (!w) return resource_exhausted("out of memory");
    if (!tensor || !tensor->tensor.valid()) return invalid_argument("the tensor for ", view_of(key), " has no value");
    return w->writer.add(view_of(key), tensor->tensor);
  }));
}
TF_Status* weft_bundle_writer_add_slice(weft_bundle_writer* w, weft_text key, weft_dims whole, weft_text slice, const TF_Tensor* part) {
  return returned(caught([&]() -> Status {
    if (!w) return resource_exhausted("out of memory");
    if (!part || !part->tensor.valid()) return invalid_argument("the tensor for ", view_of(key), " has no value");
    WEFT_ASSIGN(const Shape shape, shape_from(whole.dims, whole.rank));
    WEFT_ASSIGN(const wire::TensorSlice box, wire::TensorSlice::parse(view_of(slice)));
    return w->writer.add_slice(view_of(key), shape, box, part->tensor);
  }));
}
TF_Status* weft_bundle_writer_finish(weft_bundle_writer* w) {
  return returned(caught([&]() -> Status { return w ? w->writer.finish() : resource_exhausted("out of memory"); }));
}
TF_Status* weft_merge_bundles(const weft_text* prefixes, size_t n, weft_text merged, int allow_missing) {
  return returned(caught([&]() -> Status {
    std::vector<std::string> names;
    for (size_t i = 0; i < n; ++i) names.push_back(string_of(prefixes[i]));
    return wire::merge_bundles(names, view_of(merged), allow_missing != 0);
  }));
}
TF_Status* weft_checkpoint_slice(TF_CheckpointReader* reader, weft_text key, weft_text slice, TF_Tensor** out) {
  return returned(caught([&]() -> Status {
    if (!reader) return failed_precondition("the checkpoint could not be opened");
    WEFT_ASSIGN(const wire::TensorSlice box, wire::TensorSlice::parse(view_of(slice)));
    WEFT_ASSIGN(Tensor t, reader->reader->lookup_slice(view_of(key), box));
    *out = new TF_Tensor{std::move(t)};
    return {};
  }));
}
TF_Status* weft_checkpoint_slices(TF_CheckpointReader* reader, weft_text key, void* sink, weft_add_text add) {
  return returned(caught([&]() -> Status {
    if (!reader) return failed_precondition("the checkpoint could not be opened");
    WEFT_ASSIGN(const wire::BundleEntry entry, reader->reader->entry(view_of(key)));
    for (const wire::TensorSlice& s : entry.slices) {
      const std::string text = s.to_string();
      add(sink, text_of(text), {nullptr, 0});
    }
    return {};
  }));
}
