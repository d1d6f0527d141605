// Checkpoints read without a session: names, types, shapes and tensors.
#include "capi/internal.h"
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
