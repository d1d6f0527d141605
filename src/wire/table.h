// Sorted string tables, the format of a checkpoint's PREFIX.index: rows of key and value in blocks,
// ascending by key. Each block shares key prefixes between neighbours, ends with restart points and is
// followed by a type byte and a masked CRC-32C; a footer at the end of the file points at the index
// block. The format is LevelDB's (doc/table_format.md there).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace weft_engine::wire {

// A whole table, every checksum verified and every row unpacked when it is opened; immutable after that.
class Table {
 public:
  struct Row {
    std::string_view key, value;
  };

  Table(Table&&) = default;  // rows point into the other members, so there is no copy
  Table& operator=(Table&&) = default;

  static constexpr size_t kFooterSize = 48;
  // Whether the last bytes of a file (48, or all of a shorter one) are those of a table.
  static core::Status check_footer(std::string_view footer);

  // The bytes must stay as long as the table. DataLoss for anything out of place.
  static core::Result<Table> open(std::string_view file);

  std::span<const Row> rows() const { return rows_; }
  const Row* find(std::string_view key) const;  // null if there is none

 private:
  Table() = default;
  core::Status add_block(std::string_view block);

  std::vector<Row> rows_;
  std::vector<char> keys_;             // what the keys of rows_ point into
  std::vector<std::string> unpacked_;  // compressed blocks, what the values point into
};

// Writes a table, byte for byte as TensorFlow does (uncompressed).
class TableBuilder {
 public:
  // Keys must come in ascending order.
  void add(std::string_view key, std::string_view value);
  // The whole file. Nothing may be added after it.
  std::string finish();

 private:
  class Block {
   public:
    explicit Block(int restart_interval) : interval_(restart_interval) {}
    void add(std::string_view key, std::string_view value);
    std::string finish();  // and starts the next
    bool empty() const { return bytes_.empty(); }
    size_t size() const { return bytes_.size() + 4 * restarts_.size() + 4; }

   private:
    int interval_, since_restart_ = 0;
    std::string bytes_, last_key_;
    std::vector<uint32_t> restarts_{0};
  };
  struct Handle {
    uint64_t offset = 0, size = 0;
    std::string encode() const;
  };

  void flush();
  Handle write(const std::string& block);

  std::string file_, last_key_;
  Block data_{16}, index_{1};
  Handle pending_;
  bool has_pending_ = false;  // a written block whose row in the index waits for the next key
};

}  // namespace weft_engine::wire
