#include "wire/tensor_bundle.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/error_notes.h"
#include "core/thread_pool.h"
#include "wire/bundle_entry.h"
#include "wire/crc32c.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"
#include "wire/varint.h"

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

namespace {

// Bytes are checked while they are still in the second-level cache.
constexpr size_t kStep = 256 << 10;
// What one thread takes at a time, and the least for which others are woken.
constexpr int64_t kPart = 1 << 20, kWorthThreads = 2 << 20;
// Tensors up to this size are read together with their neighbours: a call of the system costs more than copying them.
constexpr int64_t kSmall = 64 << 10, kGap = 4096;

std::string padded(uint32_t v) {
  char text[16];
  std::snprintf(text, sizeof text, "%08u", v);
  return text;
}

}  // namespace

Status BundleReader::Shard::read(int64_t offset, void* to, size_t n) const {
  if (offset < 0 || n > uint64_t(size) || offset > size - int64_t(n)) return out_of_range("Read less bytes than requested");
  if (file) return read_at(*file, offset, to, n);
  if (n) std::memcpy(to, memory.data() + offset, n);
  return {};
}

// Data files are opened at once where they are few, and the index is read again: an open file stays as it is when another writer puts a new bundle in the
// place of this one, so that index and data belong together.
Result<std::unique_ptr<BundleReader>> BundleReader::open(std::string_view prefix, VariantCodec variants) {
  constexpr int kMostOpened = 16, kMostAttempts = 20;
  WEFT_ASSIGN(const Place place, locate(prefix));
  for (int attempt = 1;; ++attempt) {
    std::unique_ptr<BundleReader> r(new BundleReader);
    r->prefix_ = place.path;
    r->variants_ = variants;
    const std::string name = bundle_index_name(r->prefix_);
    WEFT_RETURN_IF_ERROR(read_file(name, r->index_));
    WEFT_RETURN_IF_ERROR(r->open_index(name));
    if (!place.local || r->num_shards_ > kMostOpened || attempt == kMostAttempts) return r;
    for (int shard = 0; shard < r->num_shards_; ++shard) (void)r->shard(shard);  // one that is missing is told when it is read
    std::string now;
    if (!read_file(name, now).ok() || now == r->index_) return r;
  }
}

Result<std::unique_ptr<BundleReader>> BundleReader::from_memory(std::string index, std::vector<std::string> shards, bool version_1) {
  std::unique_ptr<BundleReader> r(new BundleReader);
  r->index_ = std::move(index);
  r->prefix_ = "<memory>";
  r->version_1_ = version_1;
  WEFT_RETURN_IF_ERROR(r->open_index("<memory>.index"));
  for (size_t i = 0; i < shards.size(); ++i) {
    auto shard = std::make_unique<Shard>();
    shard->memory = std::move(shards[i]);
    shard->size = int64_t(shard->memory.size());
    r->shards_[int(i)] = std::move(shard);
  }
  return r;
}

Status BundleReader::open_index(std::string_view name) {
  auto table = Table::open(index_);
  if (!table.ok()) {
    // TensorFlow sees a broken block only when it looks for a row, and says so.
    return core::find_note(table.status(), core::kNoteNoTable) ? table.status()
                                                               : corrupt_file(name, "failed to seek to header entry", table.status());
  }
  table_ = std::make_unique<Table>(std::move(table).value());
  return read_header(name);
}

Status BundleReader::read_header(std::string_view name) {
  if (table_->rows().empty() || !table_->rows()[0].key.empty()) return corrupt_file(name, "failed to seek to header entry", {});
  auto read = decode_header(table_->rows()[0].value);
  if (!read.ok()) return corrupt_file(name, "unable to parse header", read.status());
  const BundleHeader& h = *read;
  if (h.looks_like_v1) return v1_checkpoint(name);
  if (h.big_endian) return unimplemented("TensorBundle at ", prefix_, " was written on a big-endian machine; only little-endian bundles are read");
  if (h.min_consumer > kBundleVersion)
    return invalid_argument("Checkpoint min consumer version ", h.min_consumer, " above current version ", kBundleVersion,
                            " for TensorFlow 2.21.0.  Please upgrade TensorFlow.");
  if (h.producer < 0)
    return invalid_argument("Checkpoint producer version ", h.producer,
                            " below min producer 0 supported by TensorFlow 2.21.0.  Please regenerate your checkpoint.");
  if (std::find(h.bad_consumers.begin(), h.bad_consumers.end(), kBundleVersion) != h.bad_consumers.end())
    return invalid_argument("Checkpoint disallows consumer version ", kBundleVersion, ".  Please upgrade TensorFlow: this version is likely buggy.");
  if (h.num_shards < 0) return corrupt_file(name, "unable to parse header", data_loss("num_shards is ", h.num_shards));
  num_shards_ = h.num_shards;
  rows_ = table_->rows().subspan(1);
  return {};
}

Result<BundleEntry> BundleReader::entry(std::string_view key) const {
  const Table::Row* row = key.empty() ? nullptr : table_->find(key);
  if (!row) return not_found("Key ", key, " not found in checkpoint");
  return decode_entry(key, row->value);
}

Result<const BundleReader::Shard*> BundleReader::shard(int id) const {
  if (id < 0) return data_loss("Invalid shard id in bundle entry: ", id);
  std::lock_guard lock(mutex_);
  if (auto it = shards_.find(id); it != shards_.end()) return it->second.get();
  auto shard = std::make_unique<Shard>();
  WEFT_ASSIGN(shard->file, open_to_read(bundle_data_name(prefix_, id, num_shards_), shard->size));
  return (shards_[id] = std::move(shard)).get();
}

// Checks what the entry claims against the file before any memory is asked for.
Status BundleReader::allocate(Read& read) const {
  const BundleEntry& e = *read.entry;
  const int64_t n = e.shape.num_elements();
  if (is_simple(e.dtype)) {
    const int64_t bytes = multiply_without_overflow(n, int64_t(dtype_size(e.dtype)));
    if (bytes != e.size) return data_loss("Invalid size in bundle entry: key ", read.key, "; stored size ", e.size, "; expected size ", bytes);
  } else if (e.dtype == DType::kResource) {
    return data_loss("Invalid dtype in bundle entry: key ", read.key, "; a resource cannot be stored");
  } else if (n > e.size) {  // each string or variant has at least one byte for its length
    return data_loss("Invalid size in bundle entry: key ", read.key, "; stored size ", e.size, "; expected size is at least ", n);
  }
  WEFT_ASSIGN(read.shard, shard(e.shard));
  if (e.offset < 0 || e.size > read.shard->size || e.offset > read.shard->size - e.size) return out_of_range("Read less bytes than requested");
  WEFT_ASSIGN(*read.tensor, Tensor::allocate(e.dtype, e.shape));
  return {};
}

Status BundleReader::check(const Read& read, uint32_t crc) const {
  const uint32_t stored = crc32c_unmask(read.entry->crc32c);
  if (crc32c_agrees(stored, crc)) return {};
  return data_loss("TensorBundle at ", prefix_, " shard ", read.entry->shard, " (", read.entry->size, " bytes): Checksum does not match: stored ",
                   padded(stored), " vs. calculated on the restored bytes ", crc);
}

// Part by part, each checked while it is in the cache.
void BundleReader::read_piece(Part& part) const {
  const Read& read = part.reads[0];
  char* to = read.tensor->data<char>() + part.begin;
  for (int64_t done = 0; done < part.length && part.status.ok(); done += int64_t(kStep)) {
    const size_t n = std::min(kStep, size_t(part.length - done));
    part.status = read.shard->read(read.entry->offset + part.begin + done, to + done, n);
    if (part.status.ok()) part.crc = crc32c_extend(part.crc, to + done, n);
  }
}

Status BundleReader::read_adjacent(const Part& part) const {
  auto bytes = std::make_unique_for_overwrite<char[]>(size_t(part.length));
  const int64_t begin = part.reads[0].entry->offset;
  WEFT_RETURN_IF_ERROR(part.reads[0].shard->read(begin, bytes.get(), size_t(part.length)));
  for (const Read& read : part.reads) {
    const char* from = bytes.get() + (read.entry->offset - begin);
    const auto n = size_t(read.entry->size);
    WEFT_RETURN_IF_ERROR(check(read, crc32c(from, n)));
    if (n) std::memcpy(read.tensor->raw(), from, n);
  }
  return {};
}

Status BundleReader::read_all(std::span<Read> reads, ThreadPool* pool) const {
  std::vector<Part> parts;
  int64_t total = 0;
  for (size_t i = 0; i < reads.size(); ++i) {
    WEFT_RETURN_IF_ERROR(allocate(reads[i]));
    const BundleEntry& e = *reads[i].entry;
    if (!is_simple(e.dtype)) continue;
    total += e.size;
    if (!parts.empty() && e.size <= kSmall) {
      Part& last = parts.back();
      const BundleEntry &first = *last.reads[0].entry, &before = *last.reads.back().entry;
      const int64_t gap = e.offset - before.offset - before.size, length = e.offset + e.size - first.offset;
      if (&last.reads.back() + 1 == &reads[i] && first.size <= kSmall && before.shard == e.shard && gap >= 0 && gap <= kGap && length <= kPart) {
        last.reads = {last.reads.data(), last.reads.size() + 1};
        last.length = length;
        continue;
      }
    }
    int64_t begin = 0;
    do {
      const int64_t length = std::min(kPart, e.size - begin);
      parts.push_back({{&reads[i], 1}, begin, length, 0, {}});
      begin += length;
    } while (begin < e.size);
  }
  auto run = [&](int64_t i) {
    Part& part = parts[size_t(i)];
    if (part.reads.size() > 1) part.status = read_adjacent(part);
    else read_piece(part);
  };
  if (pool && total >= kWorthThreads) {
    pool->parallel_chunks(int64_t(parts.size()), run);
  } else {
    for (size_t i = 0; i < parts.size(); ++i) run(int64_t(i));
  }
  uint32_t crc = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    WEFT_RETURN_IF_ERROR(parts[i].status);
    if (parts[i].reads.size() > 1) continue;
    crc = parts[i].begin ? crc32c_combine(crc, parts[i].crc, uint64_t(parts[i].length)) : parts[i].crc;
    const Read& read = parts[i].reads[0];
    if (parts[i].begin + parts[i].length == read.entry->size) WEFT_RETURN_IF_ERROR(check(read, crc));
  }
  for (const Read& read : reads) {
    if (read.entry->dtype == DType::kString) WEFT_RETURN_IF_ERROR(read_strings(read));
    if (read.entry->dtype == DType::kVariant) WEFT_RETURN_IF_ERROR(read_variants(read));
  }
  return {};
}

// The lengths of all strings as varints, a checksum of the lengths, the bytes of all. Checksums count a
// length as four bytes (eight for one that needs them).
Status BundleReader::read_strings(const Read& read) const {
  const BundleEntry& e = *read.entry;
  if (e.size == 0) return check(read, 0);
  std::string bytes(size_t(e.size), '\0');
  WEFT_RETURN_IF_ERROR(read.shard->read(e.offset, bytes.data(), bytes.size()));
  std::string_view rest = bytes;
  std::vector<uint64_t> lengths(size_t(e.shape.num_elements()));
  uint32_t crc = 0;
  for (uint64_t& length : lengths) {
    if (!take_varint(rest, length)) return data_loss("String lengths longer than expected offset ", e.offset + e.size);
    crc = crc32c_extend(crc, &length, length <= UINT32_MAX ? 4 : 8);
  }
  if (rest.size() < 4) return data_loss("String lengths longer than expected offset ", e.offset + e.size);
  uint32_t masked;
  std::memcpy(&masked, rest.data(), 4);
  if (!crc32c_agrees(crc32c_unmask(masked), crc))
    return data_loss("The length checksum does not match: expected ", padded(crc32c_unmask(masked)), " but actual is ", padded(crc));
  WEFT_RETURN_IF_ERROR(check(read, crc32c_extend(crc, rest.data(), rest.size())));
  rest.remove_prefix(4);
  tstring* to = read.tensor->data<tstring>();
  for (uint64_t length : lengths) {
    if (length > rest.size()) return data_loss("Invalid size in bundle entry: key ", read.key, "; a string is longer than the entry");
    (to++)->assign(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  if (!rest.empty()) return data_loss("Invalid size in bundle entry: key ", read.key, "; ", rest.size(), " bytes are left over");
  return {};
}

// For each variant its length, a VariantTensorDataProto and the checksum of everything so far.
Status BundleReader::read_variants(const Read& read) const {
  const BundleEntry& e = *read.entry;
  if (e.size == 0) return check(read, 0);
  std::string bytes(size_t(e.size), '\0');
  WEFT_RETURN_IF_ERROR(read.shard->read(e.offset, bytes.data(), bytes.size()));
  std::string_view rest = bytes;
  uint32_t crc = 0;
  std::vector<std::string_view> messages;
  for (int64_t i = 0; i < e.shape.num_elements(); ++i) {
    uint64_t length;
    if (!take_varint(rest, length) || rest.size() < 4 || length > rest.size() - 4) return out_of_range("Read less bytes than requested");
    crc = crc32c_extend(crc32c_extend(crc, &length, 8), rest.data(), length);
    messages.push_back(rest.substr(0, length));
    uint32_t masked;
    std::memcpy(&masked, rest.data() + length, 4);
    if (!crc32c_agrees(crc32c_unmask(masked), crc))
      return data_loss("The checksum after Variant ", i, " does not match. Expected: ", padded(crc32c_unmask(masked)), " Actual: ", padded(crc));
    crc = crc32c_extend(crc, &masked, 4);
    rest.remove_prefix(length + 4);
  }
  WEFT_RETURN_IF_ERROR(check(read, crc));
  for (size_t i = 0; i < messages.size(); ++i) {
    auto v = EncodedVariant::parse(messages[i]);
    if (v.status().code() == Code::kDataLoss) return data_loss(v.status().message(), ". Bundle entry offset: ", e.offset, " size: ", e.size);
    WEFT_RETURN_IF_ERROR(v.status());
    if (!variants_.decode) return unimplemented("reading a variant of type ", v->type_name, " from a checkpoint");
    WEFT_ASSIGN(read.tensor->data<Variant>()[i], variants_.decode(std::move(v).value()));
  }
  return {};
}

Result<Tensor> BundleReader::lookup(std::string_view key, ThreadPool* pool) const {
  Tensor t;
  WEFT_RETURN_IF_ERROR(lookup_all({&key, 1}, {&t, 1}, pool));
  return t;
}

Status BundleReader::lookup_all(std::span<const std::string_view> keys, std::span<Tensor> tensors, ThreadPool* pool) const {
  std::vector<BundleEntry> entries(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    WEFT_ASSIGN(entries[i], entry(keys[i]));
  }
  return lookup_all(keys, entries, tensors, pool);
}

Status BundleReader::lookup_all(std::span<const std::string_view> keys, std::span<const BundleEntry> entries, std::span<Tensor> tensors,
                                ThreadPool* pool) const {
  std::vector<Read> reads;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (entries[i].slices.empty()) reads.push_back({keys[i], &entries[i], &tensors[i]});
  }
  std::sort(reads.begin(), reads.end(), [](const Read& a, const Read& b) {
    return a.entry->shard != b.entry->shard ? a.entry->shard < b.entry->shard : a.entry->offset < b.entry->offset;
  });
  WEFT_RETURN_IF_ERROR(read_all(reads, pool));
  for (size_t i = 0; i < keys.size(); ++i) {
    if (entries[i].slices.empty()) continue;
    WEFT_ASSIGN(tensors[i], assemble(keys[i], entries[i], TensorSlice::whole(entries[i].shape.rank()), pool));
  }
  return {};
}

Result<Tensor> BundleReader::lookup_slice(std::string_view key, const TensorSlice& slice, ThreadPool* pool) const {
  WEFT_ASSIGN(BundleEntry e, entry(key));
  return assemble(key, e, slice, pool);
}

}  // namespace weft_engine::wire
