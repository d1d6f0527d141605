// Datasets that write their elements to files once and read them from there after that (Dataset.snapshot), and the
// readers of such files as datasets of their own.
#include <algorithm>

#include "kernels/cpu/hash.h"
#include "op/registry.h"
#include "ops/data/fingerprint.h"
#include "ops/data/flat_map.h"
#include "ops/data/snapshot_files.h"
#include "wire/file.h"

namespace weft_engine::ops::data {

namespace {

// What is under PATH/HASH; the hash tells how the elements are made.
class SnapshotDataset final : public UnaryDataset {
 public:
  struct Parts {
    std::string folder, hash, compression;
    FunctionPtr reader, shard;
  };
  SnapshotDataset(const DatasetPtr& input, Parts parts) : UnaryDataset("SnapshotV2", input), parts_(std::move(parts)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  class Walk final : public IteratorOf<SnapshotDataset> {
   public:
    using IteratorOf::IteratorOf;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      if (!started_) WEFT_RETURN_IF_ERROR(start(c));
      end = !input_;
      if (end) return {};
      WEFT_RETURN_IF_ERROR(input_->next(c, out, end));
      if (end) input_.reset();
      if (!writer_) return end ? Status() : verify_element(d().types(), d().shapes(), out);
      if (end) return writer_->finish();
      int64_t shard = 0;
      WEFT_RETURN_IF_ERROR(d().parts_.shard->call_number(c, out, "`shard_func` must return a scalar int64.", shard));
      return writer_->write(shard, out);
    }

   private:
    // Whether to read or to write is seen when the first element is asked for.
    Status start(IteratorContext& c) {
      const Parts& p = d().parts_;
      WEFT_ASSIGN(std::optional<SnapshotMetadata> found, SnapshotMetadata::read(p.folder));
      if (found && found->finalized) {
        WEFT_ASSIGN(DatasetPtr shards, shards_of_run(p.folder, *found, p.compression, d().types(), d().shapes()));
        DatasetPtr elements;
        WEFT_RETURN_IF_ERROR(call_for_dataset(*p.reader, c, {dataset_tensor(std::move(shards))}, "reader_func", elements));
        WEFT_ASSIGN(input_, make_input(c, *elements));
      } else {
        SnapshotMetadata metadata;
        metadata.graph_hash = p.hash;
        metadata.types = d().types();
        WEFT_ASSIGN(input_, make_input(c, d().input()));
        writer_ = std::make_unique<SnapshotWriter>(p.folder, p.compression, std::move(metadata));
      }
      started_ = true;
      return {};
    }
    bool started_ = false;
    IteratorPtr input_;
    std::unique_ptr<SnapshotWriter> writer_;
  };
  const Parts parts_;
};

Status run_snapshot(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(tstring path, scalar_input<tstring>(c, "path"));
  WEFT_ASSIGN(std::string folder, wire::path_of(path.view()));
  SnapshotDataset::Parts parts;
  const std::string& compression = c.attr<std::string>("compression");
  parts.compression = snapshot_compression(compression == "AUTO" ? "SNAPPY" : compression);
  uint64_t hash = uint64_t(c.attr<int64_t>("hash"));
  if (!c.attr<bool>("hash_valid")) {
    WEFT_ASSIGN(hash, fingerprint_of(*input, c.env().functions));
    hash = kernels::fingerprint_cat64(hash, kernels::fingerprint64(parts.compression));
  }
  parts.hash = std::to_string(hash);
  parts.folder = cat(folder, "/", parts.hash);
  WEFT_ASSIGN(parts.reader, CapturedFunction::make(c, "reader_func", "reader_func_other_args"));
  WEFT_ASSIGN(parts.shard, CapturedFunction::make(c, "shard_func", "shard_func_other_args"));
  return emit(c, std::make_shared<SnapshotDataset>(input, std::move(parts)));
}

Status run_chunk(KernelContext& c) {
  WEFT_ASSIGN(tstring file, scalar_input<tstring>(c, "chunk_file"));
  return emit(c, chunk_dataset(file.str(), snapshot_compression(c.attr<std::string>("compression")), attr_types(c), attr_shapes(c)));
}

// The files that are there when it is walked, by name.
class ChunkFilesDataset final : public Dataset {
 public:
  explicit ChunkFilesDataset(std::string folder)
      : Dataset("ListSnapshotChunks", {DType::kString}, {PartialShape::scalar()}), folder_(std::move(folder)) {}

 protected:
  // Known once the snapshot is complete.
  int64_t count() const override {
    if (!wire::file_exists(folder_ + "/../DONE")) return kUnknownCardinality;
    auto files = files_in(folder_, "");
    return files.ok() ? int64_t(files->size()) : kUnknownCardinality;
  }
  Result<IteratorPtr> walk(IteratorContext&) const override {
    auto it = std::make_unique<Walk>(*this);
    WEFT_ASSIGN(it->files, files_in(folder_, ""));
    return IteratorPtr(std::move(it));
  }

 private:
  class Walk final : public IteratorOf<ChunkFilesDataset> {
   public:
    using IteratorOf::IteratorOf;
    std::vector<std::string> files;

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      end = at_ >= files.size();
      if (!end) out.push_back(Tensor::scalar(tstring(files[at_++])));
      return {};
    }

   private:
    size_t at_ = 0;
  };
  const std::string folder_;
};

Status run_chunk_files(KernelContext& c) {
  WEFT_ASSIGN(tstring path, scalar_input<tstring>(c, "snapshot_path"));
  WEFT_ASSIGN(std::string folder, wire::path_of(path.view()));
  return emit(c, std::make_shared<ChunkFilesDataset>(folder + "/chunks"));
}

Status run_shard(KernelContext& c) {
  WEFT_ASSIGN(tstring folder, scalar_input<tstring>(c, "shard_dir"));
  WEFT_ASSIGN(std::string path, wire::path_of(folder.view()));
  WEFT_ASSIGN(int64_t start, scalar_input<int64_t>(c, "start_index"));
  if (start != 0) return unimplemented("SnapshotDatasetReader from another element than the first");
  if (c.attr<int64_t>("version") != SnapshotMetadata::kVersion)
    return unimplemented("Snapshot reader version: ", c.attr<int64_t>("version"), " is not supported.");
  return emit(c, shard_dataset(std::move(path), snapshot_compression(c.attr<std::string>("compression")), attr_types(c), attr_shapes(c)));
}

Status run_nested(KernelContext& c) {
  std::vector<DatasetPtr> datasets(size_t(c.num_inputs()));
  for (int i = 0; i < c.num_inputs(); ++i) {
    WEFT_ASSIGN(datasets[size_t(i)], dataset_input(c, i));
  }
  return emit(c, dataset_of_datasets(std::move(datasets)));
}

}  // namespace

void snapshots(Registry& r) {
  r.add("SnapshotDatasetV2")
      .in("input_dataset: variant")
      .in("path: string")
      .in("reader_func_other_args: Treader_func_args")
      .in("shard_func_other_args: Tshard_func_args")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("compression: string = ''")
      .attr("reader_prefix: string = ''")
      .attr("writer_prefix: string = ''")
      .attr("hash_valid: bool = false")
      .attr("hash: int = 0")
      .attr("reader_func: func")
      .attr("shard_func: func")
      .attr("Treader_func_args: list(type) >= 0")
      .attr("Tshard_func_args: list(type) >= 0")
      .attr("metadata: string = ''")
      .doc("A dataset that writes its elements to disk once and reads them after that.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"path"}); })
      .cpu(run_snapshot);

  r.add("SnapshotChunkDataset")
      .in("chunk_file: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("compression: string = ''")
      .doc("The elements of one file of a snapshot.")
      .shape(shapes::scalar)
      .cpu(run_chunk);

  r.add("ListSnapshotChunksDataset")
      .in("snapshot_path: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The names of the files of a snapshot that workers wrote.")
      .shape(shapes::scalar)
      .cpu(run_chunk_files);

  r.add("SnapshotDatasetReader")
      .in("shard_dir: string")
      .in("start_index: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("compression: string = ''")
      .attr("version: int")
      .doc("The elements of one shard of a snapshot.")
      .shape(shapes::scalar)
      .cpu(run_shard);

  r.add("SnapshotNestedDatasetReader")
      .in("inputs: N * variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("N: int >= 1")
      .doc("A dataset of datasets.")
      .shape(shapes::scalar)
      .cpu(run_nested);
}

}  // namespace weft_engine::ops::data
