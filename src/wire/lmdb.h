// LmdbFile: the records of an LMDB database in the order of their keys, read from its pages (format version 1,
// as mdb.c describes it). Only the unnamed main database; no locks are taken, so a writer must not be at work.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wire/file.h"

namespace weft::wire {

class LmdbFile {
 public:
  // `path` names the file, or a folder with a data.mdb in it. DataLoss for what is not a database or is damaged.
  static core::Result<std::unique_ptr<LmdbFile>> open(const std::string& path);
  // False: there are no more.
  core::Result<bool> next(std::string& key, std::string& value);

 private:
  struct Page {
    std::string bytes;
    uint16_t flags = 0;
    size_t num_nodes = 0, next = 0;
  };
  struct Meta {
    uint32_t page_size = 0;
    uint16_t db_flags = 0;
    uint64_t root = 0, txn = 0;
  };
  LmdbFile(std::string path, Descriptor file, int64_t size) : path_(std::move(path)), file_(std::move(file)), size_(size) {}
  template <class... Why>
  core::Status damaged(const Why&... why) const;
  core::Status read_meta(int64_t at, Meta& out) const;
  core::Status push_page(uint64_t number);
  core::Result<std::string_view> node(const Page& page, size_t i) const;
  core::Status read_value(std::string_view node, size_t key_size, std::string& value) const;

  const std::string path_;
  const Descriptor file_;
  const int64_t size_;
  uint64_t page_size_ = 0;
  std::vector<Page> open_;  // from the root to the leaf that is being read
};

}  // namespace weft::wire
