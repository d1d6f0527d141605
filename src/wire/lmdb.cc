#include "wire/lmdb.h"

#include <sys/stat.h>

#include <cstring>

namespace weft::wire {

using namespace weft::core;  // NOLINT

namespace {

// Where things lie in a page: its header, then (in the first two pages) the meta data.
constexpr size_t kPageHeader = 16, kFlagsAt = 10, kLowerAt = 12, kNodeHeader = 8;
constexpr size_t kMetaBytes = 152, kMagicAt = 16, kVersionAt = 20, kFreeDbAt = 40, kMainDbAt = 88, kTxnAt = 144;
constexpr size_t kDbFlagsAt = 4, kDbRootAt = 40;
constexpr uint32_t kMagic = 0xBEEFC0DE, kVersion = 1;
constexpr uint16_t kBranch = 1, kLeaf = 2, kOverflow = 4;         // flags of pages
constexpr uint16_t kBigData = 1, kDupData = 4, kSortedDups = 4;   // flags of nodes; of databases
constexpr uint64_t kNoPage = ~uint64_t(0);
constexpr size_t kDeepest = 32;  // mdb.c's own limit

template <class T>
T load(std::string_view bytes, size_t at) {
  T v;
  std::memcpy(&v, bytes.data() + at, sizeof v);
  return v;
}

}  // namespace

template <class... Why>
Status LmdbFile::damaged(const Why&... why) const {
  return data_loss("LMDB database ", path_, ": ", why...);
}

Status LmdbFile::read_meta(int64_t at, Meta& out) const {
  char raw[kMetaBytes];
  if (at + int64_t(kMetaBytes) > size_) return damaged("the file is too short");
  WEFT_RETURN_IF_ERROR(read_at(file_.get(), path_, at, raw, sizeof raw));
  const std::string_view bytes(raw, sizeof raw);
  if (load<uint32_t>(bytes, kMagicAt) != kMagic) return damaged("the meta page has no LMDB signature");
  if (const auto version = load<uint32_t>(bytes, kVersionAt); version != kVersion) return unimplemented("LMDB database ", path_, " has format version ", version);
  out.page_size = load<uint32_t>(bytes, kFreeDbAt);
  out.db_flags = load<uint16_t>(bytes, kMainDbAt + kDbFlagsAt);
  out.root = load<uint64_t>(bytes, kMainDbAt + kDbRootAt);
  out.txn = load<uint64_t>(bytes, kTxnAt);
  if (out.page_size < 512 || out.page_size > 65536 || (out.page_size & (out.page_size - 1))) return damaged("a page size of ", out.page_size);
  return {};
}

Result<std::unique_ptr<LmdbFile>> LmdbFile::open(const std::string& name) {
  WEFT_ASSIGN(std::string path, local_path(name));
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) path += "/data.mdb";
  int64_t size = 0;
  WEFT_ASSIGN(Descriptor file, open_to_read(path, size));
  std::unique_ptr<LmdbFile> db(new LmdbFile(path, std::move(file), size));
  // Writers take the two meta pages in turn: the one of the last transaction counts.
  Meta first, second;
  WEFT_RETURN_IF_ERROR(db->read_meta(0, first));
  const bool newer = db->read_meta(first.page_size, second).ok() && second.txn > first.txn;
  const Meta& meta = newer ? second : first;
  db->page_size_ = meta.page_size;
  if (meta.db_flags & kSortedDups) return unimplemented("LMDB databases with several values for a key: ", path);
  if (meta.root != kNoPage) WEFT_RETURN_IF_ERROR(db->push_page(meta.root));
  return db;
}

Status LmdbFile::push_page(uint64_t number) {
  if (open_.size() == kDeepest) return damaged("the tree of pages is too deep");
  if (number >= uint64_t(size_) / page_size_) return damaged("page ", number, " is outside of the file");
  Page page;
  page.bytes.resize(page_size_);
  WEFT_RETURN_IF_ERROR(read_at(file_.get(), path_, int64_t(number * page_size_), page.bytes.data(), page.bytes.size()));
  page.flags = load<uint16_t>(page.bytes, kFlagsAt);
  const size_t lower = load<uint16_t>(page.bytes, kLowerAt);
  if (!(page.flags & (kBranch | kLeaf)) || lower < kPageHeader || lower > page_size_) return damaged("page ", number, " is not part of a tree");
  page.num_nodes = (lower - kPageHeader) / sizeof(uint16_t);
  open_.push_back(std::move(page));
  return {};
}

// From the node's header to the end of its page; header and key are inside.
Result<std::string_view> LmdbFile::node(const Page& page, size_t i) const {
  const size_t at = load<uint16_t>(page.bytes, kPageHeader + i * sizeof(uint16_t));
  if (at < kPageHeader || at + kNodeHeader > page.bytes.size()) return damaged("a node lies outside of its page");
  const std::string_view n = std::string_view(page.bytes).substr(at);
  if (kNodeHeader + load<uint16_t>(n, 6) > n.size()) return damaged("a key lies outside of its page");
  return n;
}

Status LmdbFile::read_value(std::string_view n, size_t key_size, std::string& value) const {
  const uint64_t size = load<uint16_t>(n, 0) | uint64_t(load<uint16_t>(n, 2)) << 16;
  const uint16_t flags = load<uint16_t>(n, 4);
  const std::string_view data = n.substr(kNodeHeader + key_size);
  if (flags & kDupData) return unimplemented("LMDB databases with several values for a key: ", path_);
  if (!(flags & kBigData)) {
    if (size > data.size()) return damaged("a value lies outside of its page");
    value.assign(data.substr(0, size));
    return {};
  }
  if (data.size() < sizeof(uint64_t)) return damaged("a value lies outside of its page");
  const uint64_t number = load<uint64_t>(data, 0);
  if (number >= uint64_t(size_) / page_size_) return damaged("page ", number, " is outside of the file");
  const int64_t begin = int64_t(number * page_size_);
  char header[kPageHeader];
  WEFT_RETURN_IF_ERROR(read_at(file_.get(), path_, begin, header, sizeof header));
  if (!(load<uint16_t>({header, sizeof header}, kFlagsAt) & kOverflow)) return damaged("page ", number, " does not hold a large value");
  if (size > uint64_t(size_ - begin) - kPageHeader) return damaged("a large value lies outside of the file");
  value.resize(size);
  return read_at(file_.get(), path_, begin + int64_t(kPageHeader), value.data(), size);
}

Result<bool> LmdbFile::next(std::string& key, std::string& value) {
  while (!open_.empty()) {
    Page& page = open_.back();
    if (page.next == page.num_nodes) {
      open_.pop_back();
      continue;
    }
    WEFT_ASSIGN(std::string_view n, node(page, page.next));
    ++page.next;
    if (page.flags & kBranch) {
      const uint64_t child = load<uint16_t>(n, 0) | uint64_t(load<uint16_t>(n, 2)) << 16 | uint64_t(load<uint16_t>(n, 4)) << 32;
      WEFT_RETURN_IF_ERROR(push_page(child));
      continue;
    }
    const size_t key_size = load<uint16_t>(n, 6);
    key.assign(n.substr(kNodeHeader, key_size));
    WEFT_RETURN_IF_ERROR(read_value(n, key_size, value));
    return true;
  }
  return false;
}

}  // namespace weft::wire
