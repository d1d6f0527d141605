// copy_bundle plain|sliced|sharded FROM TO: a checkpoint read and written again: as it was, every tensor of two rows or more cut in
// two, or its tensors in turn in one of two shards. check_with_tensorflow.py compares what TensorFlow reads from the copies.
#include <algorithm>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include "wire/tensor_bundle.h"

using namespace weft_engine;        // NOLINT
using namespace weft_engine::core;  // NOLINT
using namespace weft_engine::wire;  // NOLINT

namespace {

Status add(BundleWriter& writer, std::string_view key, const Tensor& t, bool cut) {
  const int64_t rows = t.rank() ? t.dim(0) : 0;
  if (!cut || rows < 2 || t.num_elements() == 0) return writer.add(key, t);
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, rows / 2}, {rows / 2, rows}}) {
    TensorSlice slice = TensorSlice::whole(t.rank());
    slice.extents[0] = {begin, end - begin};
    WEFT_ASSIGN(Tensor part, Tensor::allocate(t.dtype(), t.shape().with_dim(0, end - begin)));
    const int64_t row = t.num_elements() / rows;
    copy_elements(t, begin * row, part, 0, (end - begin) * row);
    WEFT_RETURN_IF_ERROR(writer.add_slice(key, t.shape(), slice, part));
  }
  return {};
}

Status copy(const std::string& mode, const std::string& from, const std::string& to) {
  WEFT_ASSIGN(std::unique_ptr<BundleReader> reader, BundleReader::open(from));
  std::vector<std::tuple<int64_t, int64_t, std::string_view>> order;  // offset; size, since empty tensors share theirs with the next
  for (size_t i = 0; i < reader->size(); ++i) {
    WEFT_ASSIGN(BundleEntry e, reader->entry(reader->key(i)));
    if (reader->key(i)[0] != '\0') order.emplace_back(e.offset, e.size, reader->key(i));
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> parts{to};
  if (mode == "sharded") parts = {to + "_parts/0", to + "_parts/1"};
  std::vector<std::unique_ptr<BundleWriter>> writers;
  for (const std::string& part : parts) writers.push_back(std::make_unique<BundleWriter>(part));
  size_t next = 0;
  for (const auto& [offset, size, key] : order) {
    WEFT_ASSIGN(Tensor t, reader->lookup(key));
    WEFT_RETURN_IF_ERROR(add(*writers[next++ % writers.size()], key, t, mode == "sliced"));
  }
  for (auto& writer : writers) WEFT_RETURN_IF_ERROR(writer->finish());
  return parts.size() > 1 ? merge_bundles(parts, to, false) : Status();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: copy_bundle plain|sliced|sharded FROM TO\n");
    return 2;
  }
  const Status s = copy(argv[1], argv[2], argv[3]);
  if (!s.ok()) std::fprintf(stderr, "%s\n", s.to_string().c_str());
  return s.ok() ? 0 : 1;
}
