// The dataset family; its parts stand in dataset/.
#include "op/registry.h"
#include "ops/all.h"
#include "ops/dataset/dataset.h"

namespace weft::ops {

void dataset(op::Registry& r) {
  data::sources(r);
  data::selections(r);
  data::combinations(r);
  data::batches(r);
  data::padded_batches(r);
  data::sparse_batches(r);
  data::map_and_batch(r);
  data::windows(r);
  data::maps(r);
  data::folds(r);
  data::flat_maps(r);
  data::groups(r);
  data::shuffles(r);
  data::caches(r);
  data::saves(r);
  data::snapshots(r);
  data::first_snapshots(r);
  data::fingerprints(r);
  data::pass_through(r);
  data::generators(r);
  data::record_files(r);
  data::csv_files(r);
  data::sql(r);
  data::iterators(r);
  data::saved_iterators(r);
  data::file_ops(r);
  data::multi_device_iterators(r);
  data::parse_examples(r);
  data::global_shuffles(r);
  data::index_flat_maps(r);
  data::compressed_elements(r);
  data::batch_size(r);
  data::stats(r);
  data::thread_pools(r);
  data::services(r);
  data::map_defun(r);
  data::choose_fastest(r);
  data::graphs(r);
  data::not_supported(r);
}

}  // namespace weft::ops
