// Datasets written to files (Dataset.save) and read from them (Dataset.load).
#include "op/cancellation.h"
#include "op/registry.h"
#include "ops/data/flat_map.h"
#include "ops/data/snapshot_files.h"
#include "wire/file.h"

namespace weft_engine::ops::data {

namespace {

constexpr std::string_view kBadShard = "`shard_func` must return a scalar int64.";

// What SaveDataset and SaveDatasetV2 are told.
struct Target {
  std::string folder, compression;
  FunctionPtr shard_func;  // null: there is one shard

  static Result<Target> of(const KernelContext& c) {
    Target t;
    WEFT_ASSIGN(tstring path, scalar_input<tstring>(c, "path"));
    WEFT_ASSIGN(t.folder, wire::path_of(path.view()));
    t.compression = snapshot_compression(c.attr<std::string>("compression"));
    if (c.attr<bool>("use_shard_func")) {
      WEFT_ASSIGN(t.shard_func, CapturedFunction::make(c, "shard_func", "shard_func_other_args"));
    }
    return t;
  }
  std::unique_ptr<SnapshotWriter> writer(const std::vector<DType>& types) const {
    SnapshotMetadata metadata;
    metadata.types = types;
    return std::make_unique<SnapshotWriter>(folder, compression, std::move(metadata));
  }
  Status write(IteratorContext& c, SnapshotWriter& to, const Element& element) const {
    int64_t shard = 0;
    if (shard_func) WEFT_RETURN_IF_ERROR(shard_func->call_number(c, element, kBadShard, shard));
    return to.write(shard, element);
  }
};

Status run_save(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  WEFT_ASSIGN(Target target, Target::of(c));
  IteratorContext ic(c.env());
  WEFT_ASSIGN(IteratorPtr iterator, dataset->make_iterator(ic));
  auto writer = target.writer(dataset->types());
  while (true) {
    Element element;
    bool end = false;
    WEFT_RETURN_IF_ERROR(iterator->next(ic, element, end));
    if (end) return writer->finish();
    WEFT_RETURN_IF_ERROR(target.write(ic, *writer, element));
  }
}

// Writes what it gives on. A walk that is restored walks again, and so writes all of it again.
class SaveDataset final : public UnaryDataset {
 public:
  SaveDataset(const DatasetPtr& input, Target target) : UnaryDataset("SaveV2", input), target_(std::move(target)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<SaveDataset> {
   public:
    Walk(const SaveDataset& d, IteratorPtr input) : UnaryIterator(d, std::move(input)), writer_(d.target_.writer(d.types())) {}

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      end = !input_;
      if (end) return {};
      WEFT_RETURN_IF_ERROR(pull(c, out, end));
      return end ? writer_->finish() : d().target_.write(c, *writer_, out);
    }

   private:
    const std::unique_ptr<SnapshotWriter> writer_;
  };
  const Target target_;
};

Status run_save_v2(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(Target target, Target::of(c));
  return emit(c, std::make_shared<SaveDataset>(input, std::move(target)));
}

class LoadDataset final : public Dataset {
 public:
  LoadDataset(std::string folder, std::string compression, SnapshotMetadata metadata, FunctionPtr reader, const std::vector<DType>& types,
              const std::vector<PartialShape>& shapes)
      : Dataset("Load", types, shapes),
        folder_(std::move(folder)),
        compression_(std::move(compression)),
        metadata_(std::move(metadata)),
        reader_(std::move(reader)) {}

 protected:
  int64_t count() const override { return metadata_.num_elements >= kInfiniteCardinality ? metadata_.num_elements : kUnknownCardinality; }
  Result<IteratorPtr> walk(IteratorContext& c) const override {
    WEFT_ASSIGN(DatasetPtr shards, shards_of_run(folder_, metadata_, compression_, types(), shapes()));
    DatasetPtr elements;
    WEFT_RETURN_IF_ERROR(call_for_dataset(*reader_, c, {dataset_tensor(std::move(shards))}, "reader_func", elements));
    WEFT_ASSIGN(IteratorPtr input, elements->make_iterator(c));
    return IteratorPtr(std::make_unique<Walk>(*this, std::move(input)));
  }

 private:
  class Walk final : public UnaryIterator<LoadDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      WEFT_RETURN_IF_ERROR(pull(c, out, end));
      return end ? Status() : verify_element(d().types(), d().shapes(), out);
    }
  };
  const std::string folder_, compression_;
  const SnapshotMetadata metadata_;
  const FunctionPtr reader_;
};

Status run_load(KernelContext& c) {
  WEFT_ASSIGN(tstring path, scalar_input<tstring>(c, "path"));
  WEFT_ASSIGN(std::string folder, wire::path_of(path.view()));
  WEFT_ASSIGN(FunctionPtr reader, CapturedFunction::make(c, "reader_func", "reader_func_other_args"));
  WEFT_ASSIGN(std::optional<SnapshotMetadata> metadata, SnapshotMetadata::read(folder));
  if (!metadata) return not_found("Could not find metadata file [", path.view(), "]");
  return emit(c, std::make_shared<LoadDataset>(std::move(folder), snapshot_compression(c.attr<std::string>("compression")), std::move(*metadata),
                                               std::move(reader), attr_types(c), attr_shapes(c)));
}

}  // namespace

void saves(Registry& r) {
  r.add("SaveDataset")
      .in("input_dataset: variant")
      .in("path: string")
      .in("shard_func_other_args: Tshard_func_args")
      .attr("compression: string = ''")
      .attr("shard_func: func")
      .attr("use_shard_func: bool = true")
      .attr("Tshard_func_args: list(type) >= 0")
      .stateful()
      .doc("Writes the elements of a dataset to disk.")
      .shape(shapes::no_outputs)
      .cpu(run_save);

  r.add("SaveDatasetV2")
      .in("input_dataset: variant")
      .in("path: string")
      .in("shard_func_other_args: Tshard_func_args")
      .out("handle: variant")
      .attr("compression: string = ''")
      .attr("shard_func: func")
      .attr("use_shard_func: bool = true")
      .attr("Tshard_func_args: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("A dataset that writes its elements to disk.")
      .shape(shapes::scalar)
      .cpu(run_save_v2);

  r.add("LoadDataset")
      .in("path: string")
      .in("reader_func_other_args: Treader_func_args")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("compression: string = ''")
      .attr("reader_func: func")
      .attr("Treader_func_args: list(type) >= 0")
      .stateful()
      .doc("A dataset of elements that were written to disk.")
      .shape(shapes::scalar)
      .cpu(run_load);
}

}  // namespace weft_engine::ops::data
