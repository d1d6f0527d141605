// Tensor bundles, TensorFlow's checkpoint format (V2): PREFIX.index is a table from tensor names to
// entries, PREFIX.data-00000-of-00001 and so on hold the bytes. SaveV2, RestoreV2 and the variables of a
// SavedModel go through here.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"
#include "wire/file.h"
#include "wire/new_file.h"
#include "wire/table.h"
#include "wire/tensor_slice.h"
#include "wire/variant_data.h"

namespace weft_engine::core {
class ThreadPool;
}

namespace weft_engine::wire {

std::string bundle_index_name(std::string_view prefix);
std::string bundle_data_name(std::string_view prefix, int shard, int num_shards);
// How many data files an index speaks of; 0 if it cannot be read.
int bundle_shards(const std::string& index_path);

// What the index knows of one tensor.
struct BundleEntry {
  core::DType dtype = core::DType::kInvalid;
  core::Shape shape;
  int shard = 0;
  int64_t offset = 0, size = 0;
  uint32_t crc32c = 0;              // masked
  std::vector<TensorSlice> slices;  // not empty: a partitioned tensor, whose parts have entries of their own
};

// Reads a bundle from any thread. Data files are opened when they are first needed, and every byte that
// is handed out has passed its checksum.
class BundleReader {
 public:
  static core::Result<std::unique_ptr<BundleReader>> open(std::string_view prefix, VariantCodec variants = {});
  // The same from bytes in memory.
  static core::Result<std::unique_ptr<BundleReader>> from_memory(std::string index, std::vector<std::string> shards, bool version_1 = false);

  int num_shards() const { return num_shards_; }
  bool version_1() const { return version_1_; }  // made of an old checkpoint, whose readers have texts of their own
  // Names in order. Parts of partitioned tensors have keys of their own, which begin with a zero byte.
  size_t size() const { return rows_.size(); }
  std::string_view key(size_t i) const { return rows_[i].key; }
  bool contains(std::string_view key) const { return table_->find(key) && !key.empty(); }
  // NotFound: "Key X not found in checkpoint".
  core::Result<BundleEntry> entry(std::string_view key) const;

  core::Result<core::Tensor> lookup(std::string_view key, core::ThreadPool* pool = nullptr) const;
  // A part of a tensor, however the tensor was cut when it was saved.
  core::Result<core::Tensor> lookup_slice(std::string_view key, const TensorSlice& slice, core::ThreadPool* pool = nullptr) const;
  // Many at once, read in the order of the files and over the pool.
  core::Status lookup_all(std::span<const std::string_view> keys, std::span<core::Tensor> tensors, core::ThreadPool* pool) const;
  // The same for who has asked for the entries before.
  core::Status lookup_all(std::span<const std::string_view> keys, std::span<const BundleEntry> entries, std::span<core::Tensor> tensors,
                          core::ThreadPool* pool) const;

 private:
  struct Shard {
    std::unique_ptr<core::RandomAccessFile> file;
    std::string memory;  // instead of a file
    int64_t size = 0;
    core::Status read(int64_t offset, void* to, size_t n) const;
  };
  struct Read {  // one stored tensor on its way into memory
    std::string_view key;
    const BundleEntry* entry;
    core::Tensor* tensor;
    const Shard* shard = nullptr;
  };
  struct Part {  // what one thread reads at a time: a piece of one large tensor, or several small ones that lie side by side
    std::span<const Read> reads;
    int64_t begin, length;  // of the piece inside the tensor; of the bytes from the first tensor to the end of the last
    uint32_t crc = 0;
    core::Status status;
  };

  BundleReader() = default;
  core::Status open_index(std::string_view name);
  core::Status read_header(std::string_view name);
  core::Result<const Shard*> shard(int id) const;
  core::Status allocate(Read& read) const;
  core::Status read_all(std::span<Read> reads, core::ThreadPool* pool) const;
  void read_piece(Part& part) const;
  core::Status read_adjacent(const Part& part) const;
  core::Status check(const Read& read, uint32_t crc) const;
  core::Status read_strings(const Read& read) const;
  core::Status read_variants(const Read& read) const;
  core::Result<core::Tensor> assemble(std::string_view key, const BundleEntry& entry, const TensorSlice& wanted, core::ThreadPool* pool) const;

  std::string prefix_, index_;
  std::unique_ptr<Table> table_;
  std::span<const Table::Row> rows_;  // without the header
  int num_shards_ = 0;
  bool version_1_ = false;
  VariantCodec variants_;
  mutable std::mutex mutex_;
  mutable std::map<int, std::unique_ptr<Shard>> shards_;
};

// Opens the bundle of a prefix. Where it has no index, the prefix is the name, or pattern of names, of an old checkpoint (wire/checkpoint_v1.h);
// the errors are those of TensorFlow: NotFound, DataLoss for a file of another kind.
core::Result<std::unique_ptr<BundleReader>> open_checkpoint(std::string_view prefix, VariantCodec variants = {});

// Reads every stored tensor and compares its checksum; DataLoss names the first that is damaged. Variants are only checked when they are read.
core::Status verify_bundle(std::string_view prefix);

struct BundleOptions {
  // All is on the disk before the index is renamed, so that what was there stays whole even if the machine stops.
  bool durable = false;
};

// Writes a bundle of one shard. Files appear under their names when finish() succeeds; until then, and
// after an error or a kill, readers see what was there before: the new data does not take the place of the old as long as an index speaks of that (it
// counts as the first of two data files where the old was the only one, the second being empty), and the old data is removed last. After the first error every call returns it.
class BundleWriter {
 public:
  explicit BundleWriter(std::string_view prefix, VariantCodec variants = {}, BundleOptions options = {});
  BundleWriter(const BundleWriter&) = delete;

  core::Status add(std::string_view key, const core::Tensor& tensor);
  // One part of a tensor of the given shape.
  core::Status add_slice(std::string_view key, const core::Shape& whole, const TensorSlice& slice, const core::Tensor& part);
  core::Status finish();

 private:
  core::Status start();
  core::Status write(std::string_view key, const core::Tensor& tensor);
  core::Status append(std::string_view bytes);
  core::Status flush();
  core::Status publish();

  std::string prefix_;
  VariantCodec variants_;
  BundleOptions options_;
  core::Status status_;
  NewFile file_;
  std::string buffer_;
  int64_t size_ = 0;
  std::map<std::string, BundleEntry, std::less<>> entries_;
};

// Makes one bundle of several: their data files are renamed, their indices joined and removed. A prefix
// without an index is passed over where allow_missing says so. What was there stays whole as with BundleWriter.
core::Status merge_bundles(std::span<const std::string> prefixes, std::string_view merged, bool allow_missing);

}  // namespace weft_engine::wire
