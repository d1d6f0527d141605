#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "wire/bundle_entry.h"
#include "wire/crc32c.h"
#include "wire/leftovers.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"
#include "wire/varint.h"

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

namespace {

constexpr size_t kBuffer = 256 << 10;  // what is larger is written straight from where it is

// As TensorFlow's: the last folder is made, those above it must be there.
Status make_folder_of(std::string_view prefix) {
  const std::string folder(folder_of(prefix));
  if (folder.empty() || folder.ends_with("://")) return {};
  WEFT_ASSIGN(Place place, locate(folder));
  Status made = place.system.create_folder(place.path);
  return made.code() == Code::kAlreadyExists ? Status() : made;
}

template <class Entries>
std::string encode_index(const BundleHeader& header, const Entries& entries) {
  TableBuilder table;
  table.add("", encode_header(header));
  for (const auto& [key, entry] : entries) table.add(key, encode_entry(entry));
  return table.finish();
}

}  // namespace

int bundle_shards(const std::string& index_path) {
  std::string bytes;
  if (!read_file(index_path, bytes).ok()) return 0;
  auto table = Table::open(bytes);
  if (!table.ok() || table->rows().empty() || !table->rows()[0].key.empty()) return 0;
  auto header = decode_header(table->rows()[0].value);
  return header.ok() ? header->num_shards : 0;
}

namespace {

// How many data files a new bundle of `needed` ones has, so that none takes the name of one that the present index refers to. On other file systems
// than this machine's, which have no links, they do.
int other_shards_than(const std::string& prefix, int needed) {
  const std::string index = bundle_index_name(prefix);
  const auto place = locate(prefix);
  return place.ok() && place->local && file_exists(index) && bundle_shards(index) == needed ? needed + 1 : needed;
}

void delete_shards(const std::string& prefix, int shards) {
  for (int shard = 0; shard < shards; ++shard) (void)delete_file(bundle_data_name(prefix, shard, shards));
}

// Gives the data of a bundle that was just written over another the names of `needed` files. The data have both names until an index that refers to the
// new ones is there, so that the bundle is whole all the while; where there are no links it stays as it is.
template <class Entries>
void drop_empty_shard(const std::string& prefix, BundleHeader header, const Entries& entries, int needed) {
  const int shards = header.num_shards;
  if (shards == needed) return;
  delete_shards(prefix, needed);  // those of the bundle before
  for (int shard = 0; shard < needed; ++shard) {
    if (::link(bundle_data_name(prefix, shard, shards).c_str(), bundle_data_name(prefix, shard, needed).c_str()) != 0)
      return delete_shards(prefix, needed);
  }
  header.num_shards = needed;
  const auto write_index = [&]() -> Status {
    WEFT_ASSIGN(NewFile index, NewFile::create(bundle_index_name(prefix)));
    WEFT_RETURN_IF_ERROR(index.write(encode_index(header, entries)));
    return index.publish();
  };
  delete_shards(prefix, write_index().ok() ? shards : needed);
}

Status make_empty_shards(const std::string& prefix, int from, int shards) {
  for (int shard = from; shard < shards; ++shard) {
    WEFT_ASSIGN(NewFile empty, NewFile::create(bundle_data_name(prefix, shard, shards)));
    WEFT_RETURN_IF_ERROR(empty.publish());
  }
  return {};
}

}  // namespace

BundleWriter::BundleWriter(std::string_view prefix, VariantCodec variants, BundleOptions options)
    : variants_(std::move(variants)), options_(options) {
  auto path = path_of(prefix);
  if (!path.ok()) {
    status_ = path.status();
    return;
  }
  prefix_ = std::move(path).value();
  status_ = start();
}

Status BundleWriter::start() {
  WEFT_RETURN_IF_ERROR(make_folder_of(prefix_));
  remove_leftovers(prefix_, false);
  WEFT_ASSIGN(file_, NewFile::create(bundle_data_name(prefix_, 0, 1)));
  return {};
}

Status BundleWriter::flush() {
  WEFT_RETURN_IF_ERROR(file_.write(buffer_));
  buffer_.clear();
  return {};
}

Status BundleWriter::append(std::string_view bytes) {
  size_ += int64_t(bytes.size());
  if (buffer_.size() + bytes.size() > kBuffer) WEFT_RETURN_IF_ERROR(flush());
  if (bytes.size() >= kBuffer) return file_.write(bytes);
  buffer_ += bytes;
  return {};
}

Status BundleWriter::add(std::string_view key, const Tensor& tensor) {
  if (!status_.ok()) return status_;
  return status_ = write(key, tensor);
}

Status BundleWriter::write(std::string_view key, const Tensor& tensor) {
  if (key.empty()) return invalid_argument("The name of a tensor in a checkpoint must not be empty");
  if (entries_.find(key) != entries_.end()) return invalid_argument("Adding duplicate key: ", key);
  BundleEntry e;
  e.dtype = tensor.dtype();
  e.shape = tensor.shape();
  e.offset = size_;
  uint32_t crc = 0;
  if (tensor.dtype() == DType::kString) {
    WEFT_RETURN_IF_ERROR(append(encode_lengths(tensor, crc)));
    for (const tstring& s : tensor.span<tstring>()) {
      crc = crc32c_extend(crc, s.data(), s.size());
      WEFT_RETURN_IF_ERROR(append(s.view()));
    }
  } else if (tensor.dtype() == DType::kVariant) {
    for (const Variant& v : tensor.span<Variant>()) {
      if (!variants_.encode) return unimplemented("writing a variant of type ", v.type_name(), " into a checkpoint");
      WEFT_ASSIGN(EncodedVariant encoded, variants_.encode(v));
      WEFT_ASSIGN(std::string message, encoded.to_string());
      std::string out;
      const uint64_t length = message.size();
      put_varint(out, length);
      out += message;
      crc = crc32c_extend(crc32c_extend(crc, &length, 8), message.data(), length);
      const uint32_t masked = crc32c_mask(crc);
      out.append(reinterpret_cast<const char*>(&masked), 4);
      crc = crc32c_extend(crc, &masked, 4);
      WEFT_RETURN_IF_ERROR(append(out));
    }
  } else if (is_simple(tensor.dtype()) && tensor.valid()) {
    // In steps, so that the bytes are still in the cache when they are written.
    const std::string_view bytes(tensor.data<char>(), tensor.byte_size());
    for (size_t at = 0; at < bytes.size(); at += kBuffer) {
      const std::string_view step = bytes.substr(at, kBuffer);
      crc = crc32c_extend(crc, step.data(), step.size());
      WEFT_RETURN_IF_ERROR(append(step));
    }
  } else {
    return invalid_argument("A tensor of type ", tensor.dtype(), " cannot be written into a checkpoint: ", key);
  }
  e.size = size_ - e.offset;
  e.crc32c = crc32c_mask(crc);
  entries_.emplace(key, std::move(e));
  return {};
}

Status BundleWriter::add_slice(std::string_view key, const Shape& whole, const TensorSlice& slice, const Tensor& part) {
  if (!status_.ok()) return status_;
  auto shape = slice.shape_of(whole);
  if (!shape.ok()) return status_ = shape.status();
  if (*shape != part.shape())
    return status_ = invalid_argument("Slice ", slice, " of a tensor of shape ", whole, " cannot have the shape ", part.shape());
  if (*shape == whole) return add(key, part);
  if (key.empty()) return status_ = invalid_argument("The name of a tensor in a checkpoint must not be empty");
  auto [it, fresh] = entries_.try_emplace(std::string(key));
  BundleEntry& entry = it->second;
  if (!fresh && (entry.dtype != part.dtype() || entry.shape != whole || entry.slices.empty()))
    return status_ = invalid_argument("Slices of tensor ", key, " do not agree: ", part.dtype(), " of shape ", whole, " after ", entry.dtype,
                                      " of shape ", entry.shape);
  entry.dtype = part.dtype();
  entry.shape = whole;
  entry.slices.push_back(slice);
  return add(slice_key(key, slice), part);
}

Status BundleWriter::finish() {
  if (!status_.ok()) return status_;
  status_ = publish();
  if (!status_.ok()) {
    file_.discard();
    return status_;
  }
  status_ = internal_error("BundleWriter is closed");
  return {};
}

// The index is renamed last: a checkpoint is there when its index is, and an index never points at nothing.
Status BundleWriter::publish() {
  WEFT_RETURN_IF_ERROR(flush());
  if (options_.durable) WEFT_RETURN_IF_ERROR(file_.sync());
  {
    WEFT_ASSIGN(NewFile index, NewFile::create(bundle_index_name(prefix_)));
    const FolderLock lock(prefix_);
    const int shards = other_shards_than(prefix_, 1);
    file_.retarget(bundle_data_name(prefix_, 0, shards));
    WEFT_RETURN_IF_ERROR(index.write(encode_index({.num_shards = shards, .producer = kBundleVersion}, entries_)));
    if (options_.durable) WEFT_RETURN_IF_ERROR(index.sync());
    Status s = make_empty_shards(prefix_, 1, shards);
    if (s.ok()) s = file_.publish();
    if (s.ok()) s = index.publish();
    if (!s.ok()) {
      delete_shards(prefix_, shards);  // data that an index does not refer to is of no use
      return s;
    }
    // A durable one keeps the names: other ones would have to be waited for, too.
    if (!options_.durable) drop_empty_shard(prefix_, {.num_shards = shards, .producer = kBundleVersion}, entries_, 1);
  }
  if (options_.durable) WEFT_RETURN_IF_ERROR(sync_folder_of(bundle_index_name(prefix_)));
  remove_leftovers(prefix_, false);
  return {};
}

namespace {

struct Merge {
  BundleHeader header;
  bool any = false;
  std::map<std::string, BundleEntry, std::less<>> entries;
  std::map<std::string, int> shards;  // a data file and its number in the merged bundle
};

Status merge_entry(Merge& merge, std::string_view prefix, const BundleHeader& header, const Table::Row& row) {
  auto it = merge.entries.find(row.key);
  if (it != merge.entries.end() && it->second.slices.empty())
    return invalid_argument("Duplicate tensor keyed by ", row.key, " encountered, when merging prefix: ", prefix);
  WEFT_ASSIGN(BundleEntry e, decode_entry(row.key, row.value));
  if (it == merge.entries.end()) {
    e.shard = merge.shards.try_emplace(bundle_data_name(prefix, e.shard, header.num_shards), int(merge.shards.size())).first->second;
    merge.entries.emplace(row.key, std::move(e));
    return {};
  }
  if (e.slices.empty()) return internal_error("Duplicate tensor keyed by ", row.key, "; attempting to merge in a non-slice bundle entry");
  BundleEntry& old = it->second;
  if (old.dtype != e.dtype || old.shape != e.shape)
    return invalid_argument("Slices of tensor ", row.key, " do not agree: ", e.dtype, " of shape ", e.shape, " and ", old.dtype, " of shape ",
                            old.shape, ", when merging prefix: ", prefix);
  for (TensorSlice& slice : e.slices) old.slices.push_back(std::move(slice));
  return {};
}

Status merge_one(Merge& merge, const std::string& prefix) {
  const std::string name = bundle_index_name(prefix);
  std::string bytes;
  WEFT_RETURN_IF_ERROR(read_file(name, bytes));
  WEFT_ASSIGN(Table table, Table::open(bytes));
  if (table.rows().empty() || !table.rows()[0].key.empty()) return corrupt_file(name, "failed to seek to header entry", {});
  auto read = decode_header(table.rows()[0].value);
  if (!read.ok()) return corrupt_file(name, "unable to parse header", read.status());
  if (read->looks_like_v1) return v1_checkpoint(name);
  if (merge.any && merge.header.big_endian != read->big_endian)
    return invalid_argument("Merging bundles with conflicting endianness; inputs corrupted?");
  if (merge.any && !same_version(merge.header, *read))
    return invalid_argument("Merging bundles with different format versions: merged ", merge.header.producer, " vs. curr ", read->producer);
  merge.header = *read;
  merge.any = true;
  for (const Table::Row& row : table.rows().subspan(1)) WEFT_RETURN_IF_ERROR(merge_entry(merge, prefix, *read, row));
  return {};
}

}  // namespace

Status merge_bundles(std::span<const std::string> prefixes, std::string_view merged_name, bool allow_missing) {
  WEFT_ASSIGN(const std::string merged, path_of(merged_name));
  std::vector<std::string> present;
  for (const std::string& name : prefixes) {
    WEFT_ASSIGN(std::string prefix, path_of(name));
    if (file_exists(bundle_index_name(prefix))) present.push_back(std::move(prefix));
    else if (!allow_missing)
      return invalid_argument("allow_missing_files was set to false and ", name, " did not exist.NOT_FOUND: ", name, " not found");
  }
  if (present.empty()) return invalid_argument("At least one prefix checkpoint file must exist, but none existed.");
  WEFT_RETURN_IF_ERROR(make_folder_of(merged));
  Merge merge;
  for (const std::string& prefix : present) WEFT_RETURN_IF_ERROR(merge_one(merge, prefix));
  {
    WEFT_ASSIGN(NewFile index, NewFile::create(bundle_index_name(merged)));
    const FolderLock lock(merged);
    const bool in_place = std::find(present.begin(), present.end(), merged) != present.end();
    const int used = int(merge.shards.size()), shards = in_place ? used : other_shards_than(merged, used);
    merge.header.num_shards = shards;
    WEFT_RETURN_IF_ERROR(index.write(encode_index(merge.header, merge.entries)));
    for (const auto& [path, id] : merge.shards) {
      const std::string target = bundle_data_name(merged, id, shards);
      if (path != target) WEFT_RETURN_IF_ERROR(rename_file(path, target));
    }
    WEFT_RETURN_IF_ERROR(make_empty_shards(merged, used, shards));
    WEFT_RETURN_IF_ERROR(index.publish());
    drop_empty_shard(merged, merge.header, merge.entries, used);
  }
  for (const std::string& prefix : present) {
    if (prefix != merged) remove_checkpoint(prefix);
  }
  remove_leftovers(merged, false);
  return {};
}

}  // namespace weft_engine::wire
