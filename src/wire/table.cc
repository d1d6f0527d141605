#include "wire/table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error_notes.h"
#include "wire/crc32c.h"
#include "wire/snappy.h"
#include "wire/varint.h"

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

namespace {

constexpr uint64_t kMagic = 0xdb4775248b80fb57u;
constexpr size_t kFooterSize = Table::kFooterSize, kTrailerSize = 5;  // trailer of a block: type, checksum
constexpr size_t kBlockSize = 262144;
enum BlockType : uint8_t { kPlain = 0, kSnappy = 1 };

uint32_t load32(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}

void put32(std::string& out, uint32_t v) { out.append(reinterpret_cast<const char*>(&v), 4); }

struct BlockHandle {
  uint64_t offset = 0, size = 0;
  bool take(std::string_view& in) { return take_varint(in, offset) && take_varint(in, size); }
};

Status bad_handle() { return data_loss("bad block handle").with_payload(core::kNoteNoTable, ""); }

// The bytes of a block as stored and its type, the checksum verified.
Result<std::string_view> read_block(std::string_view file, const BlockHandle& handle, BlockType& type) {
  if (file.size() < kTrailerSize || handle.offset > file.size() - kTrailerSize || handle.size > file.size() - kTrailerSize - handle.offset)
    return data_loss("truncated block read");
  const std::string_view block = file.substr(handle.offset, handle.size);
  const char* trailer = block.data() + block.size();
  if (!crc32c_agrees(crc32c_unmask(load32(trailer + 1)), crc32c(block.data(), block.size() + 1))) return data_loss("block checksum mismatch");
  type = BlockType(*trailer);
  if (type != kPlain && type != kSnappy) return data_loss("bad block type");
  return block;
}

// Calls row(key, value) for each row of a block.
template <class F>
Status for_each_row(std::string_view block, F row) {
  if (block.size() < 4) return data_loss("bad block contents");
  const size_t restarts = load32(block.data() + block.size() - 4);
  if (restarts > (block.size() - 4) / 4) return data_loss("bad block contents");
  // Restart points are shortcuts for a search inside the block; who reads all rows does not need them.
  std::string_view rest = block.substr(0, block.size() - 4 - 4 * restarts);
  std::string key;
  while (!rest.empty()) {
    uint32_t shared, own, length;
    if (!take_varint32(rest, shared) || !take_varint32(rest, own) || !take_varint32(rest, length) || shared > key.size() || own > rest.size() ||
        length > rest.size() - own)
      return data_loss("bad entry in block");
    key.resize(shared);
    key.append(rest.substr(0, own));
    WEFT_RETURN_IF_ERROR(row(std::string_view(key), rest.substr(own, length)));
    rest.remove_prefix(size_t(own) + length);
  }
  return {};
}

}  // namespace

Status Table::add_block(std::string_view block) {
  // Every sixteenth key is stored whole, so unpacked keys are not much larger than their block; a file
  // where they are was made to fill memory.
  const size_t most = keys_.size() + 64 * block.size();
  return for_each_row(block, [&](std::string_view key, std::string_view value) -> Status {
    if (keys_.size() + key.size() > most) return data_loss("bad entry in block");
    keys_.insert(keys_.end(), key.begin(), key.end());
    rows_.push_back({std::string_view(nullptr, key.size()), value});
    return {};
  });
}

Status Table::check_footer(std::string_view footer) {
  if (footer.size() < kFooterSize) return data_loss("file is too short to be an sstable");
  uint64_t magic;
  std::memcpy(&magic, footer.data() + footer.size() - 8, 8);
  if (magic != kMagic) return data_loss("not an sstable (bad magic number)");
  return {};
}

Result<Table> Table::open(std::string_view file) {
  std::string_view footer = file.substr(file.size() - std::min(file.size(), kFooterSize));
  if (Status s = check_footer(footer); !s.ok()) return s.with_payload(core::kNoteNoTable, "");
  BlockHandle meta, index;
  if (!meta.take(footer) || !index.take(footer)) return bad_handle();
  BlockType type;
  WEFT_ASSIGN(std::string_view index_block, read_block(file, index, type));
  std::string unpacked_index;
  auto unpack = [&type](std::string_view block, std::string& out) -> Result<std::string_view> {
    if (type == kPlain) return block;
    auto plain = snappy_uncompress(block);
    if (!plain) return data_loss("corrupted compressed block contents");
    out = std::move(*plain);
    return std::string_view(out);
  };
  WEFT_ASSIGN(index_block, unpack(index_block, unpacked_index));

  Table table;
  std::vector<BlockHandle> handles;
  uint64_t end = 0;
  WEFT_RETURN_IF_ERROR(for_each_row(index_block, [&](std::string_view, std::string_view value) -> Status {
    BlockHandle handle;
    if (!handle.take(value)) return bad_handle();
    // Blocks follow one another; one that is named twice would make the table larger than its file.
    if (handle.offset < end) return bad_handle();
    if (handle.size > file.size()) return data_loss("truncated block read");
    end = handle.offset + handle.size;
    handles.push_back(handle);
    return {};
  }));
  table.unpacked_.reserve(handles.size());  // short blocks live inside their string and must not move
  for (const BlockHandle& handle : handles) {
    WEFT_ASSIGN(std::string_view block, read_block(file, handle, type));
    if (type == kSnappy) table.unpacked_.emplace_back();
    WEFT_ASSIGN(block, unpack(block, type == kSnappy ? table.unpacked_.back() : unpacked_index));
    WEFT_RETURN_IF_ERROR(table.add_block(block));
  }
  const char* key = table.keys_.data();
  for (size_t i = 0; i < table.rows_.size(); ++i) {
    Row& row = table.rows_[i];
    row.key = std::string_view(key, row.key.size());
    key += row.key.size();
    if (i > 0 && !(table.rows_[i - 1].key < row.key)) return data_loss("keys of a table must be ascending");
  }
  return table;
}

const Table::Row* Table::find(std::string_view key) const {
  const auto it = std::lower_bound(rows_.begin(), rows_.end(), key, [](const Row& row, std::string_view k) { return row.key < k; });
  return it != rows_.end() && it->key == key ? &*it : nullptr;
}

void TableBuilder::Block::add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (since_restart_ < interval_) {
    const size_t most = std::min(last_key_.size(), key.size());
    while (shared < most && last_key_[shared] == key[shared]) ++shared;
  } else {
    restarts_.push_back(uint32_t(bytes_.size()));
    since_restart_ = 0;
  }
  put_varint(bytes_, shared);
  put_varint(bytes_, key.size() - shared);
  put_varint(bytes_, value.size());
  bytes_.append(key.substr(shared));
  bytes_.append(value);
  last_key_ = key;
  ++since_restart_;
}

std::string TableBuilder::Block::finish() {
  for (uint32_t restart : restarts_) put32(bytes_, restart);
  put32(bytes_, uint32_t(restarts_.size()));
  restarts_ = {0};
  since_restart_ = 0;
  last_key_.clear();
  return std::exchange(bytes_, {});
}

std::string TableBuilder::Handle::encode() const {
  std::string out;
  put_varint(out, offset);
  put_varint(out, size);
  return out;
}

TableBuilder::Handle TableBuilder::write(const std::string& block) {
  const Handle handle{file_.size(), block.size()};
  file_ += block;
  file_.push_back(char(kPlain));
  put32(file_, crc32c_mask(crc32c(file_.data() + handle.offset, block.size() + 1)));
  return handle;
}

void TableBuilder::flush() {
  if (data_.empty()) return;
  pending_ = write(data_.finish());
  has_pending_ = true;
}

void TableBuilder::add(std::string_view key, std::string_view value) {
  if (key.size() + value.size() >= 2 * kBlockSize) flush();
  if (has_pending_) {
    // Any text from the block's last key up to, not including, this one may stand for the block in the
    // index: the shortest is taken.
    size_t same = 0;
    const size_t most = std::min(last_key_.size(), key.size());
    while (same < most && last_key_[same] == key[same]) ++same;
    if (same < most) {
      const auto byte = uint8_t(last_key_[same]);
      if (byte < 255 && byte + 1 < uint8_t(key[same])) {
        last_key_[same] = char(byte + 1);
        last_key_.resize(same + 1);
      }
    }
    index_.add(last_key_, pending_.encode());
    has_pending_ = false;
  }
  last_key_ = key;
  data_.add(key, value);
  if (data_.size() >= kBlockSize) flush();
}

std::string TableBuilder::finish() {
  flush();
  const Handle meta = write(Block(16).finish());
  if (has_pending_) {
    // The shortest text that is not less than the last key.
    for (size_t i = 0; i < last_key_.size(); ++i) {
      if (uint8_t(last_key_[i]) == 255) continue;
      last_key_[i] = char(uint8_t(last_key_[i]) + 1);
      last_key_.resize(i + 1);
      break;
    }
    index_.add(last_key_, pending_.encode());
    has_pending_ = false;
  }
  const Handle index = write(index_.finish());
  std::string footer = meta.encode() + index.encode();
  footer.resize(kFooterSize - 8);
  file_ += footer;
  put32(file_, uint32_t(kMagic));
  put32(file_, uint32_t(kMagic >> 32));
  return std::move(file_);
}

}  // namespace weft_engine::wire
