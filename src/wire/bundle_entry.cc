#include "wire/bundle_entry.h"

#include <algorithm>
#include <cstdio>

#include "wire/checkpoint_v1.h"
#include "wire/crc32c.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"
#include "wire/varint.h"

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

std::string bundle_index_name(std::string_view prefix) { return cat(prefix, ".index"); }

std::string bundle_data_name(std::string_view prefix, int shard, int num_shards) {
  char tail[48];
  std::snprintf(tail, sizeof tail, ".data-%05d-of-%05d", shard, num_shards);
  return cat(prefix, tail);
}

Result<BundleHeader> decode_header(std::string_view proto) {
  const Status malformed = data_loss("Entry for key  not parseable.");
  BundleHeader h;
  ProtoReader r(proto);
  while (r.next()) {
    if (r.field() == 1) {
      h.num_shards = r.int32();
      h.looks_like_v1 = r.type() == WireType::kBytes;
    } else if (r.field() == 2) {
      h.big_endian = r.varint() == 1;
    } else if (r.field() == 3) {
      ProtoReader v = r.message();
      while (v.next()) {
        if (v.field() == 1) h.producer = v.int32();
        if (v.field() == 2) h.min_consumer = v.int32();
        if (v.field() == 3) v.append_varints(h.bad_consumers);
      }
      if (!v.ok()) return malformed;
    }
  }
  if (!r.ok()) return malformed;
  return h;
}

std::string encode_header(const BundleHeader& h) {
  ProtoWriter w, version;
  if (h.num_shards) w.int64(1, h.num_shards);
  if (h.big_endian) w.varint(2, 1);
  if (h.producer) version.int64(1, h.producer);
  if (h.min_consumer) version.int64(2, h.min_consumer);
  if (!h.bad_consumers.empty()) version.packed_varints(3, std::vector<int64_t>(h.bad_consumers.begin(), h.bad_consumers.end()));
  w.message(3, version);
  return w.take();
}

Result<BundleEntry> decode_entry(std::string_view key, std::string_view proto) {
  BundleEntry e;
  int dtype = 0;
  ProtoReader r(proto);
  PartialShape shape = PartialShape::scalar();
  while (r.next()) {
    switch (r.field()) {
      case 1: dtype = r.int32(); break;
      case 2: {
        auto read = decode_shape(r.bytes());
        if (!read.ok()) return data_loss("Invalid tensor shape: ", key, " ", read.status().message());
        shape = std::move(read).value();
        break;
      }
      case 3: e.shard = r.int32(); break;
      case 4: e.offset = r.int64(); break;
      case 5: e.size = r.int64(); break;
      case 6: e.crc32c = r.fixed32(); break;
      case 7: {
        WEFT_ASSIGN(TensorSlice slice, TensorSlice::decode(r.bytes()));
        e.slices.push_back(std::move(slice));
        break;
      }
      default: break;
    }
  }
  if (!r.ok()) return data_loss("Entry for key ", key, " not parseable.");
  if (!is_valid_dtype(dtype) || dtype > kRefOffset || dtype == 0) return data_loss("Invalid dtype in bundle entry: key ", key, "; dtype ", dtype);
  e.dtype = DType(dtype);
  if (!shape.fully_known()) return data_loss("Invalid tensor shape: ", key, " ", shape);
  e.shape = Shape(shape.dims());
  if (!e.shape.valid()) return data_loss("Invalid tensor shape: ", key, " ", shape);
  return e;
}

std::string encode_entry(const BundleEntry& e) {
  ProtoWriter w;
  w.varint(1, uint64_t(e.dtype));
  w.bytes(2, encode_shape(e.shape));
  if (e.shard) w.int64(3, e.shard);
  if (e.offset) w.int64(4, e.offset);
  if (e.size) w.int64(5, e.size);
  if (e.crc32c) w.fixed32(6, e.crc32c);
  for (const TensorSlice& slice : e.slices) w.bytes(7, slice.encode());
  return w.take();
}

Status corrupt_file(std::string_view name, std::string_view detail, const Status& why) {
  std::string text = cat("Unable to read file (", name,
                         "). Perhaps the file is corrupt or was produced by a newer version of TensorFlow with format changes (", detail, ")");
  if (why.ok()) return internal_error(text);
  return Status(why.code(), cat(text, ": ", why.message()));
}

Status v1_checkpoint(std::string_view name) {
  return unimplemented(name,
                       " is a checkpoint in the old V1 format (one file), where the index of a checkpoint in the V2 format (PREFIX.index with "
                       "PREFIX.data-*) is expected.");
}

std::string encode_lengths(const Tensor& strings, uint32_t& crc) {
  std::string lengths;
  for (const tstring& s : strings.span<tstring>()) {
    const uint64_t length = s.size();
    put_varint(lengths, length);
    crc = crc32c_extend(crc, &length, length <= UINT32_MAX ? 4 : 8);
  }
  const uint32_t masked = crc32c_mask(crc);
  lengths.append(reinterpret_cast<const char*>(&masked), 4);
  crc = crc32c_extend(crc, &masked, 4);
  return lengths;
}

namespace {

Result<std::unique_ptr<BundleReader>> without_index(std::string_view pattern, const std::string& path) {
  WEFT_ASSIGN(std::vector<std::string> found, match_paths(path));
  if (found.empty()) return not_found("Unsuccessful TensorSliceReader constructor: Failed to find any matching files for ", pattern);
  std::sort(found.begin(), found.end());
  auto look = [&](const std::string& name) -> Status {
    int64_t size = 0;
    WEFT_ASSIGN(std::unique_ptr<RandomAccessFile> file, open_to_read(name, size));
    std::string footer(size_t(std::min<int64_t>(size, int64_t(Table::kFooterSize))), '\0');
    WEFT_RETURN_IF_ERROR(read_at(*file, size - int64_t(footer.size()), footer.data(), footer.size()));
    return Table::check_footer(footer);
  };
  for (const std::string& name : found) {
    if (Status s = look(name); !s.ok())
      return data_loss("Unable to open table file ", name, ": ", s.code() == Code::kDataLoss ? "DATA_LOSS" : code_name(s.code()), ": ", s.message(),
                       ": perhaps your file is in a different file format and you need to use a different restore operator?");
  }
  return open_old_checkpoint(found);
}

}  // namespace

Result<std::unique_ptr<BundleReader>> open_checkpoint(std::string_view prefix, VariantCodec variants) {
  WEFT_ASSIGN(std::string path, path_of(prefix));
  if (!file_exists(bundle_index_name(path))) return without_index(prefix, path);
  return BundleReader::open(prefix, std::move(variants));
}

}  // namespace weft_engine::wire
