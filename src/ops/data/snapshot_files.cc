#include "ops/data/snapshot_files.h"

#include <algorithm>
#include <chrono>

#include "ops/random/random_common.h"
#include "ops/list/variant_codec.h"
#include "wire/file.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::ops::data {

namespace {

constexpr std::string_view kMetadataFile = "/snapshot.metadata", kShardSuffix = ".shard", kChunkSuffix = ".snapshot";

std::string numbered(uint64_t n, std::string_view suffix) {
  std::string digits = std::to_string(n);
  if (digits.size() < 8) digits.insert(0, 8 - digits.size(), '0');
  return digits.append(suffix);
}

const wire::VariantCodec& codec() {
  static const auto& kCodec = *new wire::VariantCodec(variant_codec());
  return kCodec;
}

// A name that leads out of the folder is no run.
bool is_run_name(std::string_view name) { return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos; }

}  // namespace

Result<std::optional<SnapshotMetadata>> SnapshotMetadata::read(const std::string& folder) {
  const std::string path = folder + std::string(kMetadataFile);
  if (!wire::file_exists(path)) return std::optional<SnapshotMetadata>();
  std::string bytes;
  WEFT_RETURN_IF_ERROR(wire::read_file(path, bytes));
  SnapshotMetadata m;
  m.version = 0;
  wire::ProtoReader r(bytes);
  std::vector<int64_t> types;
  while (r.next()) {
    switch (r.field()) {
      case 1: m.graph_hash = r.string(); break;
      case 2: m.run_id = r.string(); break;
      case 3: m.created_us = r.int64(); break;
      case 4: m.version = r.int64(); break;
      case 5: r.append_varints(types); break;
      case 6: m.num_elements = r.int64(); break;
      case 1000: m.finalized = r.boolean(); break;
      default: break;
    }
  }
  for (int64_t type : types) {
    if (type < 0 || type > kRefOffset || !is_valid_dtype(int(type))) return data_loss("Can't parse ", path, " as binary proto");
    m.types.push_back(DType(type));
  }
  if (!r.ok() || !is_run_name(m.run_id)) return data_loss("Can't parse ", path, " as binary proto");
  return std::optional<SnapshotMetadata>(std::move(m));
}

Status SnapshotMetadata::write(const std::string& folder) const {
  using namespace std::chrono;
  wire::ProtoWriter w;
  if (!graph_hash.empty()) w.bytes(1, graph_hash);
  w.bytes(2, run_id);
  w.int64(3, duration_cast<microseconds>(system_clock::now().time_since_epoch()).count());
  w.int64(4, version);
  std::vector<int64_t> numbers;
  for (DType type : types) numbers.push_back(int64_t(type));
  w.packed_varints(5, numbers);
  if (num_elements) w.int64(6, num_elements);
  w.boolean(1000, finalized);
  return wire::write_file(folder + std::string(kMetadataFile), w.str());
}

Result<std::vector<std::string>> files_in(const std::string& folder, std::string_view suffix) {
  auto names = wire::children_of(folder);
  if (names.status().code() == Code::kNotFound) return std::vector<std::string>();
  WEFT_RETURN_IF_ERROR(names.status());
  std::vector<std::string> found;
  for (const std::string& name : *names) {
    if (name.ends_with(suffix) && name.size() > suffix.size()) found.push_back(cat(folder, "/", name));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string snapshot_compression(std::string_view name) {
  return name == "GZIP" || name == "ZLIB" || name == "SNAPPY" ? std::string(name) : std::string();
}

RunFolder::~RunFolder() {
  if (!published_ && !path_.empty() && temp_.path().empty()) (void)wire::delete_recursively(path_);
}

Result<std::string> RunFolder::path() {
  if (!path_.empty()) return path_;
  WEFT_RETURN_IF_ERROR(wire::create_folders(folder_));
  WEFT_ASSIGN(const core::Place place, core::locate(folder_));
  if (place.local) {
    const std::string beside = place.path + "/run";
    wire::remove_abandoned_of(beside);
    WEFT_ASSIGN(temp_, wire::TempFolder::create(beside));
  }
  const std::string path = place.local ? temp_.path() + "/new" : target_;
  WEFT_RETURN_IF_ERROR(wire::create_folders(path));
  return path_ = path;
}

Status RunFolder::publish() {
  WEFT_RETURN_IF_ERROR(path().status());
  if (!temp_.path().empty()) {
    (void)wire::delete_recursively(target_);  // an earlier run of this name
    WEFT_RETURN_IF_ERROR(wire::rename_file(path_, target_));
    temp_.remove();
  }
  published_ = true;
  return {};
}

SnapshotWriter::SnapshotWriter(std::string folder, std::string compression, SnapshotMetadata metadata)
    : folder_(std::move(folder)),
      compression_(std::move(compression)),
      metadata_(std::move(metadata)),
      run_(folder_, metadata_.run_id = std::to_string(entropy())) {}

Status SnapshotWriter::write(int64_t shard, const Element& element) {
  std::unique_ptr<wire::RecordWriter>& writer = shards_[shard];
  if (!writer) {
    WEFT_ASSIGN(const std::string run, run_.path());
    const std::string folder = cat(run, "/", numbered(uint64_t(shard), kShardSuffix));
    WEFT_RETURN_IF_ERROR(wire::create_folders(folder));
    WEFT_ASSIGN(writer, wire::RecordWriter::create(cat(folder, "/", numbered(0, kChunkSuffix)), compression_));
  }
  for (const Tensor& t : element) {
    WEFT_ASSIGN(std::string record, wire::encode_tensor_content(t, &codec()));
    WEFT_RETURN_IF_ERROR(writer->write(record));
  }
  ++metadata_.num_elements;
  return {};
}

Status SnapshotWriter::finish() {
  WEFT_RETURN_IF_ERROR(run_.path().status());
  for (auto& [shard, writer] : shards_) WEFT_RETURN_IF_ERROR(writer->finish());
  shards_.clear();
  WEFT_RETURN_IF_ERROR(run_.publish());
  metadata_.finalized = true;
  return metadata_.write(folder_);
}

namespace {

// Elements of chunks: one file, or those of a folder in order.
class ChunksDataset final : public Dataset {
 public:
  ChunksDataset(std::string_view kind, std::string path, bool folder, std::string compression, std::vector<DType> types,
                std::vector<PartialShape> shapes)
      : Dataset(kind, std::move(types), std::move(shapes)), path_(std::move(path)), folder_(folder), compression_(std::move(compression)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  class Walk final : public IteratorOf<ChunksDataset> {
   public:
    using IteratorOf::IteratorOf;

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      while (true) {
        if (!stream_) {
          const std::string file = file_name();
          end = chunk_ > 0 && (!d().folder_ || !wire::file_exists(file));
          if (end) return {};
          WEFT_ASSIGN(stream_, wire::ByteStream::open(file, d().compression_));
          reader_.emplace(*stream_);
        }
        WEFT_ASSIGN(bool found, read(out));
        if (found) return verify_element(d().types(), d().shapes(), out);
        stream_.reset();
        ++chunk_;
      }
    }

   private:
    std::string file_name() const { return d().folder_ ? cat(d().path_, "/", numbered(chunk_, kChunkSuffix)) : d().path_; }
    // False: the file has ended before an element.
    Result<bool> read(Element& out) {
      std::string record;
      for (size_t i = 0; i < d().types().size(); ++i) {
        WEFT_ASSIGN(bool found, reader_->next(record, true));
        if (!found && i == 0 && stream_->complete()) return false;
        if (!found) return data_loss(file_name(), " ends inside an element");
        auto tensor = wire::decode_tensor(record, &codec());
        if (!tensor.ok()) return data_loss("Unable to parse tensor from stored proto. ", tensor.status().message());
        out.push_back(std::move(tensor).value());
      }
      return true;
    }
    uint64_t chunk_ = 0;
    std::unique_ptr<wire::ByteStream> stream_;
    std::optional<wire::RecordReader> reader_;
  };
  const std::string path_;
  const bool folder_;
  const std::string compression_;
};

class DatasetOfDatasets final : public Dataset {
 public:
  explicit DatasetOfDatasets(std::vector<DatasetPtr> datasets)
      : Dataset("SnapshotNestedDatasetReader", {DType::kVariant}, {PartialShape::scalar()}), datasets_(std::move(datasets)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  class Walk final : public IteratorOf<DatasetOfDatasets> {
   public:
    using IteratorOf::IteratorOf;

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      end = at_ >= d().datasets_.size();
      if (!end) out.push_back(dataset_tensor(d().datasets_[at_++]));
      return {};
    }

   private:
    size_t at_ = 0;
  };
  const std::vector<DatasetPtr> datasets_;
};

}  // namespace

DatasetPtr shard_dataset(std::string folder, std::string compression, std::vector<DType> types, std::vector<PartialShape> shapes) {
  return std::make_shared<ChunksDataset>("SnapshotDatasetReader", std::move(folder), true, std::move(compression), std::move(types),
                                         std::move(shapes));
}

DatasetPtr chunk_dataset(std::string file, std::string compression, std::vector<DType> types, std::vector<PartialShape> shapes) {
  return std::make_shared<ChunksDataset>("SnapshotChunkDataset", std::move(file), false, std::move(compression), std::move(types), std::move(shapes));
}

DatasetPtr dataset_of_datasets(std::vector<DatasetPtr> datasets) { return std::make_shared<DatasetOfDatasets>(std::move(datasets)); }

Result<DatasetPtr> shards_of_run(const std::string& folder, const SnapshotMetadata& metadata, const std::string& compression,
                                 const std::vector<DType>& types, const std::vector<PartialShape>& shapes) {
  if (metadata.version != SnapshotMetadata::kVersion) return unimplemented("Snapshot reader version: ", metadata.version, " is not supported.");
  const std::string run = cat(folder, "/", metadata.run_id);
  // No pattern: the path may hold the signs of patterns itself.
  WEFT_ASSIGN(std::vector<std::string> found, files_in(run, kShardSuffix));
  if (found.empty() && metadata.num_elements > 0)
    return data_loss(run, " has no elements, where ", folder, kMetadataFile, " reports ", metadata.num_elements);
  std::vector<DatasetPtr> shards;
  for (std::string& shard : found) shards.push_back(shard_dataset(std::move(shard), compression, types, shapes));
  return dataset_of_datasets(std::move(shards));
}

}  // namespace weft_engine::ops::data
