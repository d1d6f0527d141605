#include "wire/checkpoint_v1.h"

#include <climits>

#include "wire/bundle_entry.h"
#include "wire/crc32c.h"
#include "wire/new_file.h"
#include "wire/proto.h"
#include "wire/table.h"
#include "wire/tensor_proto.h"
#include "wire/varint.h"

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

namespace {

template <class T>
std::string varints(const Tensor& t) {
  std::string out;
  for (T v : t.span<T>()) put_varint(out, uint64_t(int64_t(v)));
  return out;
}
std::string raw_bytes(const Tensor& t) { return std::string(t.data<char>(), t.byte_size()); }

// A TensorProto that has the elements alone, each kind in its own field.
Result<std::string> encode_values(const Tensor& t) {
  ProtoWriter w;
  auto packed = [&](int field, const std::string& bytes) -> Result<std::string> {
    if (!bytes.empty()) w.bytes(field, bytes);
    return w.take();
  };
  switch (t.dtype()) {
    case DType::kFloat: return packed(5, raw_bytes(t));
    case DType::kDouble: return packed(6, raw_bytes(t));
    case DType::kComplex64: return packed(9, raw_bytes(t));
    case DType::kComplex128: return packed(12, raw_bytes(t));
    case DType::kHalf: return packed(13, varints<uint16_t>(t));
    case DType::kInt32:
    case DType::kQint32: return packed(7, varints<int32_t>(t));
    case DType::kInt16: return packed(7, varints<int16_t>(t));
    case DType::kUint16: return packed(7, varints<uint16_t>(t));
    case DType::kInt8:
    case DType::kQint8: return packed(7, varints<int8_t>(t));
    case DType::kUint8:
    case DType::kQuint8: return packed(7, varints<uint8_t>(t));
    case DType::kInt64: return packed(10, varints<int64_t>(t));
    case DType::kBool: return packed(11, varints<uint8_t>(t));
    case DType::kString:
      for (const tstring& s : t.span<tstring>()) w.bytes(8, s.view());
      return w.take();
    case DType::kUint32:
    case DType::kUint64: return invalid_argument("Tensor slice serialization not implemented for dtype ", int(t.dtype()));
    default: return unimplemented("Saving data type ", dtype_name(t.dtype()), " not yet supported");
  }
}

struct ListedTensor {
  std::string name;
  Shape shape;
  DType dtype = DType::kInvalid;
  std::vector<TensorSlice> slices;
};

Status broken(std::string_view path) { return data_loss(path, " is not a checkpoint of version 1"); }

Result<ListedTensor> decode_listed(std::string_view bytes, std::string_view path) {
  ListedTensor t;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 1) t.name = r.bytes();
    if (r.field() == 3) t.dtype = DType(r.int32());
    if (r.field() == 2) {
      WEFT_ASSIGN(PartialShape shape, decode_shape(r.bytes()));
      auto known = shape.concrete();
      if (!known) return broken(path);
      WEFT_ASSIGN(t.shape, Shape::make(known->vec()));
    }
    if (r.field() == 4) {
      WEFT_ASSIGN(TensorSlice slice, TensorSlice::decode(r.bytes()));
      t.slices.push_back(std::move(slice));
    }
  }
  if (!r.ok() || t.name.empty() || !is_valid_dtype(int(t.dtype)) || base_type(t.dtype) != t.dtype) return broken(path);
  return t;
}

// The message in a field of another, the last one; empty if there is none.
Result<std::string_view> message_in(std::string_view bytes, int field, std::string_view path) {
  std::string_view found;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == field) found = r.bytes();
  }
  if (!r.ok()) return broken(path);
  return found;
}

// A bundle under construction, in memory.
struct Bundle {
  std::map<std::string, BundleEntry> entries;
  std::string data;

  Status add(const std::string& key, const Tensor& t) {
    BundleEntry e;
    e.dtype = t.dtype();
    e.shape = t.shape();
    e.offset = int64_t(data.size());
    uint32_t crc = 0;
    if (t.dtype() == DType::kString) {
      data += encode_lengths(t, crc);
      for (const tstring& s : t.span<tstring>()) {
        crc = crc32c_extend(crc, s.data(), s.size());
        data += s.view();
      }
    } else {
      crc = crc32c_extend(0, t.data<char>(), t.byte_size());
      data.append(t.data<char>(), t.byte_size());
    }
    e.size = int64_t(data.size()) - e.offset;
    e.crc32c = crc32c_mask(crc);
    entries[key] = std::move(e);
    return {};
  }
};

Status add_file(const std::string& path, Bundle& bundle) {
  std::string bytes;
  WEFT_RETURN_IF_ERROR(read_file(path, bytes));
  WEFT_ASSIGN(Table table, Table::open(bytes));
  const Table::Row* first = table.find("");
  if (!first) return broken(path);
  WEFT_ASSIGN(std::string_view meta, message_in(first->value, 1, path));
  ProtoReader r(meta);
  while (r.next()) {
    if (r.field() != 1) continue;
    WEFT_ASSIGN(ListedTensor listed, decode_listed(r.bytes(), path));
    for (const TensorSlice& slice : listed.slices) {
      WEFT_ASSIGN(Shape shape, slice.shape_of(listed.shape));
      const Table::Row* row = table.find(slice_key(listed.name, slice));
      if (!row) return broken(path);
      WEFT_ASSIGN(std::string_view saved, message_in(row->value, 2, path));
      WEFT_ASSIGN(std::string_view values, message_in(saved, 3, path));
      // Each element takes a byte at least.
      if (shape.num_elements() > int64_t(values.size())) return broken(path);
      ProtoWriter head;
      head.varint(1, uint64_t(listed.dtype));
      head.bytes(2, encode_shape(shape));
      WEFT_ASSIGN(Tensor part, decode_tensor(head.take() + std::string(values)));
      if (slice.full()) {
        WEFT_RETURN_IF_ERROR(bundle.add(listed.name, part));
        continue;
      }
      BundleEntry& whole = bundle.entries[listed.name];
      if (!whole.slices.empty() && (whole.shape != listed.shape || whole.dtype != listed.dtype)) return broken(path);
      whole.shape = listed.shape;
      whole.dtype = listed.dtype;
      whole.slices.push_back(slice);
      WEFT_RETURN_IF_ERROR(bundle.add(slice_key(listed.name, slice), part));
    }
  }
  return r.ok() ? Status() : broken(path);
}

}  // namespace

Status OldCheckpointWriter::add(std::string_view name, const Shape& whole, const TensorSlice& slice, const Tensor& part) {
  auto [it, fresh] = tensors_.try_emplace(std::string(name), Entry{whole, part.dtype(), {}});
  Entry& e = it->second;
  if (e.shape != whole) return internal_error("Mismatching shapes: existing tensor = ", e.shape, ", trying to add name ", name, ", shape = ", whole);
  if (e.dtype != part.dtype())
    return internal_error("Mismatching types: existing type = ", dtype_name(e.dtype), ", trying to add name ", name,
                          ", type = ", dtype_name(part.dtype()));
  WEFT_ASSIGN(std::string values, encode_values(part));
  if (values.size() > size_t(INT_MAX))
    return invalid_argument("Tensor slice is too large to serialize (conservative estimate: ", values.size(), " bytes)");
  e.slices.push_back(slice);
  ProtoWriter saved, row;
  saved.bytes(1, name);
  saved.bytes(2, slice.encode());
  saved.bytes(3, values);
  row.bytes(2, saved.take());
  rows_.try_emplace(slice_key(name, slice), row.take());
  return {};
}

Status OldCheckpointWriter::finish(std::string_view path) const {
  ProtoWriter meta, first, versions;
  for (const auto& [name, e] : tensors_) {
    ProtoWriter w;
    w.bytes(1, name);
    w.bytes(2, encode_shape(e.shape));
    w.varint(3, uint64_t(e.dtype));
    for (const TensorSlice& slice : e.slices) w.bytes(4, slice.encode());
    meta.bytes(1, w.take());
  }
  versions.varint(1, 1);
  meta.bytes(2, versions.take());
  first.bytes(1, meta.take());
  TableBuilder table;
  table.add("", first.take());
  for (const auto& [key, value] : rows_) table.add(key, value);
  WEFT_ASSIGN(std::string target, path_of(path));
  WEFT_ASSIGN(NewFile file, NewFile::create(std::move(target)));
  WEFT_RETURN_IF_ERROR(file.write(table.finish()));
  return file.publish();
}

Result<std::unique_ptr<BundleReader>> open_old_checkpoint(const std::vector<std::string>& paths) {
  Bundle bundle;
  for (const std::string& path : paths) WEFT_RETURN_IF_ERROR(add_file(path, bundle));
  TableBuilder index;
  index.add("", encode_header({.num_shards = 1, .producer = kBundleVersion}));
  for (const auto& [key, entry] : bundle.entries) index.add(key, encode_entry(entry));
  std::vector<std::string> shards;
  shards.push_back(std::move(bundle.data));
  return BundleReader::from_memory(index.finish(), std::move(shards), true);
}

}  // namespace weft_engine::wire
