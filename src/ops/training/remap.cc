// Warm starts: rows and columns of a matrix in a checkpoint, put where another vocabulary has them.
#include <unordered_map>

#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/state/lookup_text_file.h"
#include "wire/tensor_bundle.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// The lines of a vocabulary file, in order; -1: all.
Result<Tensor> read_lines(KernelContext& c, int input, const char* name, int64_t count) {
  if (c.input(input).rank() != 0) return invalid_argument(name, " should be a single string, but got ", c.input(input).shape());
  const std::string path = c.input(input).data<tstring>()[0].str();
  if (path.empty()) return invalid_argument("new vocab filename cannot be empty.");
  Tensor lines, numbers;
  const TextFileColumns columns{.key_index = TextFileColumns::kWholeLine, .value_index = TextFileColumns::kLineNumber, .vocab_size = count};
  WEFT_RETURN_IF_ERROR(read_text_file(path, columns, DType::kString, DType::kInt64, lines, numbers));
  return lines;
}

Status run_generate(KernelContext& c) {
  const int64_t offset = c.attr<int64_t>("new_vocab_offset"), count = c.attr<int64_t>("num_new_vocab");
  WEFT_ASSIGN(Tensor fresh, read_lines(c, 0, "new_vocab_file", -1));
  if (offset > fresh.num_elements() || count > fresh.num_elements() - offset)
    return invalid_argument("lookup table size must be larger than last new vocab entry's line");
  WEFT_ASSIGN(Tensor old, read_lines(c, 1, "old_vocab_file", c.attr<int64_t>("old_vocab_size")));
  std::unordered_map<std::string_view, int64_t> ids;
  for (int64_t i = 0; i < old.num_elements(); ++i) {
    const std::string_view word = old.data<tstring>()[i].view();
    if (!ids.emplace(word, i).second)
      return failed_precondition("HashTable has different value for same key. Key ", word, " has ", ids[word], " and trying to add value ", i);
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({count})));
  int32_t present = 0;
  for (int64_t i = 0; i < count; ++i) {
    auto found = ids.find(fresh.data<tstring>()[offset + i].view());
    out->data<int64_t>()[i] = found == ids.end() ? -1 : found->second;
    present += found != ids.end();
  }
  c.set_output(1, Tensor::scalar(present));
  return {};
}

struct Remapping {
  std::vector<bool> present;                     // by new number
  std::unordered_map<int64_t, int64_t> new_ids;  // by old number
};

Result<Remapping> read_remapping(const Tensor& t) {
  Remapping r;
  const auto old_ids = t.span<int64_t>();
  for (size_t i = 0; i < old_ids.size(); ++i) {
    r.present.push_back(old_ids[i] >= 0);
    if (old_ids[i] < 0) continue;
    auto [at, fresh] = r.new_ids.emplace(old_ids[i], int64_t(i));
    if (!fresh) return unimplemented("Old ID ", old_ids[i], " is mapped to both new ID ", at->second, " and ", i, ", which is not supported.");
  }
  return r;
}

Status run_load(KernelContext& c) {
  const int64_t num_rows = c.attr<int64_t>("num_rows"), num_cols = c.attr<int64_t>("num_cols");
  const Tensor &path = c.input(0), &name_input = c.input(1), &row_input = c.input(2), &col_input = c.input(3), &fill = c.input(4);
  if (row_input.rank() != 1) return invalid_argument("The `row_remapping` tensor must be 1-D, got a tensor of shape ", row_input.shape());
  if (row_input.dim(0) != num_rows)
    return invalid_argument("Size of row_remapping is ", row_input.dim(0), " instead of being equal to num_rows=", num_rows);
  WEFT_ASSIGN(Remapping rows, read_remapping(row_input));
  if (col_input.rank() != 1) return invalid_argument("The `col_remapping` tensor must be 1-D, got a tensor of shape ", col_input.shape());
  const bool remap_cols = col_input.num_elements() > 0;
  if (remap_cols && col_input.dim(0) != num_cols)
    return invalid_argument("Provided col_remapping, but its size is ", col_input.dim(0), " instead of being equal to num_cols=", num_cols);
  WEFT_ASSIGN(Remapping cols, read_remapping(col_input));
  if (path.num_elements() != 1) return invalid_argument("The `ckpt_path` tensor must have exactly one element, got tensor of shape ", path.shape());
  if (name_input.num_elements() != 1)
    return invalid_argument("The `old_tensor_name` tensor must have exactly one element, got tensor of shape ", name_input.shape());
  const std::string name = name_input.data<tstring>()[0].str();
  WEFT_ASSIGN(auto reader, wire::BundleReader::open(path.data<tstring>()[0].view()));
  WEFT_ASSIGN(wire::BundleEntry entry, reader->entry(name));
  if (entry.dtype != DType::kFloat) return invalid_argument("Tensor ", name, " has invalid type ", entry.dtype, " instead of expected type float");
  if (entry.shape.rank() != 2)
    return invalid_argument("Tensor ", name, " has shape ", entry.shape, " of invalid rank ", entry.shape.rank(),
                            " instead of expected shape of rank 2.");
  if (!remap_cols && num_cols != entry.shape.dim(1))
    return invalid_argument("Tensor ", name, " has shape ", entry.shape, ", where the size of its 2nd dimension is ", entry.shape.dim(1),
                            " instead of being equal to num_cols=", num_cols);
  for (int64_t id : row_input.span<int64_t>()) {
    if (id >= entry.shape.dim(0)) return invalid_argument("Row ", id, " of tensor ", name, " is outside of its shape ", entry.shape);
  }
  WEFT_ASSIGN(Tensor old, reader->lookup(name, &c.pool()));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({num_rows, num_cols})));
  float* to = out->data<float>();
  for (const auto& [old_row, row] : rows.new_ids) {
    const float* from = old.data<float>() + old_row * old.dim(1);
    const auto put = [&](int64_t old_col, int64_t col) { to[row * num_cols + col] = from[old_col]; };
    if (!remap_cols) {
      for (int64_t j = 0; j < num_cols; ++j) put(j, j);
    } else {
      for (const auto& [old_col, col] : cols.new_ids) {
        if (old_col < old.dim(1)) put(old_col, col);
      }
    }
  }
  int64_t used = 0;
  for (int64_t i = 0; i < num_rows; ++i) {
    for (int64_t j = 0; j < num_cols; ++j) {
      if (rows.present[size_t(i)] && (!remap_cols || cols.present[size_t(j)])) continue;
      if (used >= fill.num_elements())
        return invalid_argument("initializing_values contained ", fill.num_elements(), " elements, but more missing values remain.");
      to[i * num_cols + j] = fill.data<float>()[used++];
    }
  }
  if (used != fill.num_elements())
    return invalid_argument("initializing_values contained ", fill.num_elements(), " elements, but only ", used,
                            " elements were used to fill in missing values.");
  return {};
}

Status generate_shape(ShapeContext& c) {
  for (int i = 0; i < 2; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  c.output(0, PartialShape::vector(c.attr<int64_t>("num_new_vocab")));
  c.output(1, PartialShape::scalar());
  return {};
}

Status load_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(2, 1).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(3, 1).status());
  c.output(0, {c.attr<int64_t>("num_rows"), c.attr<int64_t>("num_cols")});
  return {};
}

}  // namespace

void remap(Registry& r) {
  r.add("GenerateVocabRemapping")
      .doc("For each word of a new vocabulary its line in an old one, or -1.")
      .in("new_vocab_file: string")
      .in("old_vocab_file: string")
      .out("remapping: int64")
      .out("num_present: int32")
      .attr("new_vocab_offset: int >= 0")
      .attr("num_new_vocab: int >= 0")
      .attr("old_vocab_size: int >= -1 = -1")
      .traits({.impure = true})
      .shape(generate_shape)
      .no_grad()
      .cpu(run_generate);

  r.add("LoadAndRemapMatrix")
      .doc("A matrix of a checkpoint with its rows and columns put elsewhere, and given values where there are none.")
      .in("ckpt_path: string")
      .in("old_tensor_name: string")
      .in("row_remapping: int64")
      .in("col_remapping: int64")
      .in("initializing_values: float")
      .out("output_matrix: float")
      .attr("num_rows: int >= 0")
      .attr("num_cols: int >= 1")
      .attr("max_rows_in_memory: int = -1")
      .stateful()
      .shape(load_shape)
      .no_grad()
      .cpu(run_load);
}

}  // namespace weft_engine::ops
