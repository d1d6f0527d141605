// Elements of datasets in files, as TensorFlow's Dataset.save and Dataset.snapshot lay them out
// (tensorflow/core/data/snapshot_utils.h, file format 2):
//
//   FOLDER/snapshot.metadata                         which run is the one to read
//   FOLDER/RUN/00000000.shard/00000000.snapshot      a chunk: TFRecords of TensorProtos, one for each component
//
// A run is written under a name of its own and becomes visible by the metadata, which are replaced as a whole.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ops/data/dataset.h"
#include "wire/new_file.h"
#include "wire/record.h"

namespace weft_engine::ops::data {

// SnapshotMetadataRecord (tensorflow/core/protobuf/snapshot.proto).
struct SnapshotMetadata {
  static constexpr int64_t kVersion = 2;
  std::string graph_hash, run_id;
  int64_t version = kVersion, num_elements = 0, created_us = 0;  // created_us: of what was read
  std::vector<DType> types;
  bool finalized = false;

  // Nothing where there is no such file; DataLoss for one that makes no sense.
  static Result<std::optional<SnapshotMetadata>> read(const std::string& folder);
  Status write(const std::string& folder) const;
};

// What files are compressed by; names that are not known mean not at all, as in TensorFlow.
std::string snapshot_compression(std::string_view name);

// The files of a folder whose names end so, in order; none where there is no folder.
Result<std::vector<std::string>> files_in(const std::string& folder, std::string_view suffix);

// A run that is being written. One that is not finished leaves nothing behind.
// The folder of a run, which takes its name when it is complete. Until then it lies in a temporary folder (wire/new_file.h), so that nothing stays of
// a writer that was killed; on other file systems, where folders may not be renamed, under its name.
class RunFolder {
 public:
  RunFolder(std::string folder, const std::string& run) : folder_(std::move(folder)), target_(cat(folder_, "/", run)) {}
  RunFolder(const RunFolder&) = delete;
  ~RunFolder();
  // Where to write; made at the first call.
  Result<std::string> path();
  Status publish();

 private:
  const std::string folder_, target_;
  std::string path_;
  wire::TempFolder temp_;
  bool published_ = false;
};

class SnapshotWriter {
 public:
  SnapshotWriter(std::string folder, std::string compression, SnapshotMetadata metadata);
  Status write(int64_t shard, const Element& element);
  // Closes the files; readers of the folder find this run from now on.
  Status finish();

 private:
  const std::string folder_, compression_;
  SnapshotMetadata metadata_;
  RunFolder run_;
  std::map<int64_t, std::unique_ptr<wire::RecordWriter>> shards_;
};

// The elements of one shard: of its chunks, one after the other.
DatasetPtr shard_dataset(std::string folder, std::string compression, std::vector<DType> types, std::vector<PartialShape> shapes);
// The elements of one chunk.
DatasetPtr chunk_dataset(std::string file, std::string compression, std::vector<DType> types, std::vector<PartialShape> shapes);
// Datasets as elements.
DatasetPtr dataset_of_datasets(std::vector<DatasetPtr> datasets);
// A dataset of the shards of the run that the metadata name.
Result<DatasetPtr> shards_of_run(const std::string& folder, const SnapshotMetadata& metadata, const std::string& compression,
                                 const std::vector<DType>& types, const std::vector<PartialShape>& shapes);

}  // namespace weft_engine::ops::data
