// Datasets and files: names that match patterns, datasets written as TFRecord files, tables filled.
#include <algorithm>

#include "op/registry.h"
#include "ops/data/dataset.h"
#include "ops/state/lookup_table.h"
#include "wire/file.h"
#include "wire/record.h"

namespace weft_engine::ops::data {

namespace {

class MatchingFilesDataset final : public Dataset {
 public:
  explicit MatchingFilesDataset(std::vector<std::string> patterns)
      : Dataset("MatchingFiles", {DType::kString}, {PartialShape::scalar()}), patterns_(std::move(patterns)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  class Walk final : public IteratorOf<MatchingFilesDataset> {
   public:
    using IteratorOf::IteratorOf;

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      while (at_ >= found_.size()) {
        if (pattern_ >= d().patterns_.size()) {
          if (!any_) return not_found("Don't find any matched files");
          end = true;
          return {};
        }
        WEFT_ASSIGN(std::string pattern, wire::path_of(d().patterns_[pattern_++]));
        // The part of the path that is no pattern must be there.
        const std::string folder(wire::folder_of(std::string_view(pattern).substr(0, pattern.find_first_of("*?[\\"))));
        if (!folder.empty() && !wire::file_exists(folder)) return wire::io_error(folder, ENOENT);
        WEFT_ASSIGN(found_, wire::match_paths(pattern));
        std::sort(found_.begin(), found_.end());
        at_ = 0;
        any_ |= !found_.empty();
      }
      out.push_back(Tensor::scalar(tstring(found_[at_++])));
      return {};
    }

   private:
    std::vector<std::string> found_;
    size_t at_ = 0, pattern_ = 0;
    bool any_ = false;
  };
  const std::vector<std::string> patterns_;
};

Status run_matching_files(KernelContext& c) {
  const Tensor& t = c.input(0);
  if (t.rank() > 1) return invalid_argument("`patterns` must be a scalar or a vector.");
  WEFT_ASSIGN(std::vector<std::string> patterns, strings_input(c, "patterns"));
  return emit(c, std::make_shared<MatchingFilesDataset>(std::move(patterns)));
}

Status run_to_tf_record(KernelContext& c) {
  WEFT_ASSIGN(tstring name, scalar_input<tstring>(c, "filename"));
  WEFT_ASSIGN(tstring compression, scalar_input<tstring>(c, "compression_type"));
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  WEFT_ASSIGN(auto writer, wire::RecordWriter::create(name.str(), compression));
  IteratorContext ic(c.env());
  WEFT_ASSIGN(IteratorPtr iterator, dataset->make_iterator(ic));
  while (true) {
    Element e;
    bool end = false;
    WEFT_RETURN_IF_ERROR(iterator->next(ic, e, end));
    if (end) return writer->finish();
    if (e.size() != 1 || e[0].dtype() != DType::kString || e[0].num_elements() != 1)
      return invalid_argument("DatasetToTFRecord needs elements of one string");
    WEFT_RETURN_IF_ERROR(writer->write(e[0].data<tstring>()[0]));
  }
}

Status run_initialize_table(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Table> any, c.resource<Table>(0));
  const auto table = std::dynamic_pointer_cast<LookupTable>(std::move(any));
  if (!table) return unimplemented("a table that a program brings is not filled from a dataset");
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c, 1));
  IteratorContext ic(c.env());
  WEFT_ASSIGN(IteratorPtr iterator, dataset->make_iterator(ic));
  std::vector<Element> rows;
  for (bool end = false;;) {
    Element e;
    WEFT_RETURN_IF_ERROR(iterator->next(ic, e, end));
    if (end) break;
    if (e.size() != 2 || e[0].dtype() != table->key_dtype() || e[1].dtype() != table->value_dtype() || e[0].rank() != 0 || e[1].rank() != 0)
      return invalid_argument("A table of ", table->key_dtype(), " to ", table->value_dtype(), " needs a dataset of pairs of such scalars.");
    rows.push_back(std::move(e));
  }
  WEFT_ASSIGN(Tensor keys, Tensor::allocate(table->key_dtype(), {int64_t(rows.size())}));
  WEFT_ASSIGN(Tensor values, Tensor::allocate(table->value_dtype(), {int64_t(rows.size())}));
  for (size_t i = 0; i < rows.size(); ++i) {
    copy_elements(rows[i][0], 0, keys, int64_t(i), 1);
    copy_elements(rows[i][1], 0, values, int64_t(i), 1);
  }
  return table->initialize(keys, values);
}

Status patterns_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(0, 1).status());
  return shapes::scalar(c);
}

}  // namespace

void file_ops(Registry& r) {
  r.add("MatchingFilesDataset")
      .in("patterns: string")
      .out("handle: variant")
      .full_type("DATASET(TENSOR(STRING))")
      .stateful()
      .doc("A dataset of the names of files that match patterns.")
      .shape(patterns_shape)
      .cpu(run_matching_files);

  r.add("ExperimentalMatchingFilesDataset")
      .in("patterns: string")
      .out("handle: variant")
      .full_type("DATASET(TENSOR(STRING))")
      .stateful()
      .doc("The former name of MatchingFilesDataset.")
      .shape(patterns_shape)
      .cpu(run_matching_files);

  r.add("DatasetToTFRecord")
      .in("input_dataset: variant")
      .in("filename: string")
      .in("compression_type: string")
      .stateful()
      .doc("Writes a dataset of strings as a TFRecord file.")
      .shape(shapes::no_outputs)
      .cpu(run_to_tf_record);

  r.add("ExperimentalDatasetToTFRecord")
      .in("input_dataset: variant")
      .in("filename: string")
      .in("compression_type: string")
      .stateful()
      .doc("The former name of DatasetToTFRecord.")
      .shape(shapes::no_outputs)
      .cpu(run_to_tf_record);

  r.add("InitializeTableFromDataset")
      .in("table_handle: resource")
      .in("dataset: variant")
      .stateful()
      .doc("Fills a table with the pairs of a dataset.")
      .shape(shapes::no_outputs)
      .cpu(run_initialize_table);
}

}  // namespace weft_engine::ops::data
