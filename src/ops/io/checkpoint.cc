// Checkpoints: tensors saved into and restored from tensor bundles (wire/tensor_bundle.h) and old checkpoints (wire/checkpoint_v1.h).
#include <algorithm>
#include <numeric>

#include "op/layout_rule.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/list/variant_codec.h"
#include "wire/checkpoint_v1.h"
#include "wire/file.h"
#include "wire/tensor_bundle.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using wire::BundleReader;

// What SaveV2 and RestoreV2 ask of their first three inputs.
Status check_inputs(const Tensor& prefix, const Tensor& names, const Tensor& slices) {
  if (prefix.num_elements() != 1) return invalid_argument("Input prefix should have a single element, got ", prefix.num_elements(), " instead.");
  if (names.rank() != 1 || slices.rank() != 1)
    return invalid_argument("Input tensor_names and shape_and_slices should be an 1-D tensors, got ", names.shape(), " and ", slices.shape(),
                            " instead.");
  if (names.num_elements() != slices.num_elements())
    return invalid_argument("tensor_names and shape_and_slices have different number of elements: ", names.num_elements(), " vs. ",
                            slices.num_elements());
  return {};
}

// One tensor to restore.
struct Request {
  std::string_view name, slice;
  DType dtype;
};

// From a checkpoint of version 1, one after the other.
Status restore_v1(KernelContext& c, const BundleReader& reader, std::string_view pattern, const std::vector<Request>& requests) {
  for (size_t i = 0; i < requests.size(); ++i) {
    const Request& request = requests[i];
    if (!reader.contains(request.name)) return not_found("Tensor name \"", request.name, "\" not found in checkpoint files ", pattern);
    WEFT_ASSIGN(wire::BundleEntry entry, reader.entry(request.name));
    if (entry.dtype != request.dtype)
      return invalid_argument("Expected to restore a tensor of type ", dtype_name(request.dtype), ", got a tensor of type ", dtype_name(entry.dtype),
                              " instead: tensor_name = ", request.name);
    Tensor t;
    if (request.slice.empty()) {
      WEFT_ASSIGN(t, reader.lookup(request.name, &c.pool()));
    } else {
      WEFT_ASSIGN(wire::ShapeAndSlice parsed, wire::parse_shape_and_slice(request.slice));
      if (parsed.shape != entry.shape)
        return invalid_argument("Shape in shape_and_slice spec does not match the shape in the save file: ", parsed.shape,
                                ", save file shape: ", entry.shape);
      WEFT_ASSIGN(t, reader.lookup_slice(request.name, parsed.slice, &c.pool()));
    }
    c.set_output(int(i), std::move(t));
  }
  return {};
}

Status restore(KernelContext& c, std::string_view prefix, const std::vector<Request>& requests) {
  WEFT_ASSIGN(std::unique_ptr<BundleReader> reader, wire::open_checkpoint(prefix, variant_codec()));
  if (reader->version_1()) return restore_v1(c, *reader, prefix, requests);
  std::vector<wire::BundleEntry> entries;
  for (const Request& request : requests) {
    WEFT_ASSIGN(wire::BundleEntry entry, reader->entry(request.name));
    entries.push_back(std::move(entry));
  }
  // In the order of the file; errors come in this order too.
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return entries[a].shard != entries[b].shard ? entries[a].shard < entries[b].shard : entries[a].offset < entries[b].offset;
  });
  std::string mismatches;
  for (size_t i : order) {
    if (requests[i].dtype == entries[i].dtype) continue;
    mismatches += cat(mismatches.empty() ? "" : "\n", "tensor_name = ", requests[i].name, "; expected dtype ", requests[i].dtype,
                      " does not equal original dtype ", entries[i].dtype);
  }
  if (!mismatches.empty()) return invalid_argument(mismatches);

  std::vector<std::string_view> whole;
  std::vector<wire::BundleEntry> whole_entries;
  std::vector<size_t> outputs;
  for (size_t i : order) {
    if (requests[i].slice.empty()) {
      whole.push_back(requests[i].name);
      whole_entries.push_back(std::move(entries[i]));
      outputs.push_back(i);
      continue;
    }
    WEFT_ASSIGN(wire::ShapeAndSlice parsed, wire::parse_shape_and_slice(requests[i].slice));
    if (parsed.shape != entries[i].shape)
      return invalid_argument("tensor_name = ", requests[i].name, "; shape in shape_and_slice spec ", parsed.shape,
                              " does not match the shape stored in checkpoint: ", entries[i].shape);
    WEFT_ASSIGN(Tensor t, reader->lookup_slice(requests[i].name, parsed.slice, &c.pool()));
    c.set_output(int(i), std::move(t));
  }
  std::vector<Tensor> tensors(whole.size());
  WEFT_RETURN_IF_ERROR(reader->lookup_all(whole, whole_entries, tensors, &c.pool()));
  for (size_t i = 0; i < outputs.size(); ++i) c.set_output(int(outputs[i]), std::move(tensors[i]));
  return {};
}

Status run_restore_v2(KernelContext& c) {
  const Tensor &prefix = c.input(0), &names = c.input(1), &slices = c.input(2);
  if (names.num_elements() != c.num_outputs())
    return invalid_argument("Got ", names.num_elements(), " tensor names, but ", c.num_outputs(), " expected dtypes.");
  WEFT_RETURN_IF_ERROR(check_inputs(prefix, names, slices));
  std::vector<Request> requests;
  for (int i = 0; i < c.num_outputs(); ++i) requests.push_back({names.data<tstring>()[i], slices.data<tstring>()[i], c.output_type(i)});
  return restore(c, prefix.data<tstring>()[0], requests);
}

// Restore and RestoreSlice read old checkpoints; the prefix of a bundle will do, too.
Status run_restore(KernelContext& c) {
  static constexpr const char* kNames[] = {"file_pattern", "tensor_name", "shape_and_slice"};
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.input(i).num_elements() != 1)
      return invalid_argument("Input ", i, " (", kNames[i], ") must be a string scalar; got a tensor of ", c.input(i).num_elements(), "elements");
  }
  const std::string_view slice = c.num_inputs() > 2 ? c.input(2).data<tstring>()[0].view() : std::string_view();
  return restore(c, c.input(0).data<tstring>()[0], {{c.input(1).data<tstring>()[0], slice, c.output_type(0)}});
}

Status check_slice(std::string_view spec, const wire::ShapeAndSlice& parsed, const Tensor& tensor) {
  if (parsed.slice_shape == tensor.shape()) return {};
  return invalid_argument("Slice in shape_and_slice specification does not match the shape of the tensor to  save: ", spec,
                          ", tensor: ", tensor.shape());
}

Status run_save_v2(KernelContext& c) {
  constexpr int kFixed = 3;
  const Tensor &prefix = c.input(0), &names = c.input(1), &slices = c.input(2);
  WEFT_RETURN_IF_ERROR(check_inputs(prefix, names, slices));
  if (names.num_elements() != c.num_inputs() - kFixed)
    return invalid_argument("Got ", names.num_elements(), " tensor names but ", c.num_inputs() - kFixed, " tensors.");
  wire::BundleWriter writer(prefix.data<tstring>()[0], variant_codec());
  for (int i = 0; i < c.num_inputs() - kFixed; ++i) {
    const std::string_view name = names.data<tstring>()[i], spec = slices.data<tstring>()[i];
    const Tensor& tensor = c.input(kFixed + i);
    if (spec.empty()) {
      WEFT_RETURN_IF_ERROR(writer.add(name, tensor));
      continue;
    }
    WEFT_ASSIGN(wire::ShapeAndSlice parsed, wire::parse_shape_and_slice(spec));
    WEFT_RETURN_IF_ERROR(check_slice(spec, parsed, tensor));
    WEFT_RETURN_IF_ERROR(writer.add_slice(name, parsed.shape, parsed.slice, tensor));
  }
  return writer.finish();
}

// Save and SaveSlices: a checkpoint of version 1.
Status run_save_v1(KernelContext& c) {
  const bool slices = c.node().op() == "SaveSlices";
  const int fixed = slices ? 3 : 2;
  const Tensor &filename = c.input(0), &names = c.input(1);
  if (filename.num_elements() != 1)
    return invalid_argument("Input 0 (filename) must be a string scalar; got a tensor of ", filename.num_elements(), "elements");
  const int64_t n = names.num_elements();
  if (slices && c.input(2).num_elements() != n)
    return invalid_argument("Expected ", n, " elements for the tensor shapes and slices but got ", c.input(2).num_elements());
  if (c.num_inputs() != n + fixed)
    return invalid_argument("Expected totally ", n + fixed, " inputs as input #1 (which is a string tensor of saved names) contains ", n,
                            " names, but received ", c.num_inputs(), " inputs");
  wire::OldCheckpointWriter writer;
  for (int i = 0; i < int(n); ++i) {
    const Tensor& tensor = c.input(fixed + i);
    const std::string_view name = names.data<tstring>()[i], spec = slices ? c.input(2).data<tstring>()[i].view() : std::string_view();
    if (spec.empty()) {
      WEFT_RETURN_IF_ERROR(writer.add(name, tensor.shape(), wire::TensorSlice::whole(tensor.rank()), tensor));
      continue;
    }
    WEFT_ASSIGN(wire::ShapeAndSlice parsed, wire::parse_shape_and_slice(spec));
    WEFT_RETURN_IF_ERROR(check_slice(spec, parsed, tensor));
    WEFT_RETURN_IF_ERROR(writer.add(name, parsed.shape, parsed.slice, tensor));
  }
  return writer.finish(filename.data<tstring>()[0]);
}

Status run_merge(KernelContext& c) {
  const Tensor &prefixes = c.input(0), &merged = c.input(1);
  if (prefixes.rank() != 1) return invalid_argument("Input checkpoint_prefixes should be an 1-D tensor, got ", prefixes.shape(), " instead.");
  if (merged.rank() != 0) return invalid_argument("Input destination_prefix should be a scalar tensor, got ", merged.shape(), " instead.");
  std::vector<std::string> names;
  for (const tstring& name : prefixes.span<tstring>()) names.push_back(name.str());
  const std::string_view target = merged.data<tstring>()[0];
  WEFT_RETURN_IF_ERROR(wire::merge_bundles(names, target, c.attr<bool>("allow_missing_files")));
  if (!c.attr<bool>("delete_old_dirs")) return {};
  // Only folders that are empty now go; several prefixes may share one.
  for (const std::string& name : names) {
    const std::string_view folder = wire::folder_of(name);
    if (folder.empty() || folder == wire::folder_of(target)) continue;
    WEFT_ASSIGN(core::Place place, core::locate(folder));
    (void)place.system.delete_folder(place.path);
  }
  return {};
}

Status ranks(ShapeContext& c, std::initializer_list<int> wanted) {
  int i = 0;
  for (int rank : wanted) WEFT_RETURN_IF_ERROR(c.with_rank(i++, rank).status());
  return {};
}

// The names (and slices) in inputs 1 to `last` are vectors with one entry for each tensor after them.
Status save_shape(ShapeContext& c, int last) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  const int64_t tensors = c.num_inputs() - 1 - last;
  for (int i = 1; i <= last; ++i) {
    WEFT_ASSIGN(PartialShape s, c.with_rank(i, 1));
    if (s.dim(0) >= 0 && s.dim(0) != tensors) return invalid_argument("Dimension must be ", tensors, " but is ", s.dim(0));
  }
  return {};
}

// The empty text stands for the whole tensor, whose shape only the checkpoint knows.
Status slice_shape(ShapeContext& c, int output, std::string_view text) {
  if (text.empty()) return {};
  WEFT_ASSIGN(wire::ShapeAndSlice parsed, wire::parse_shape_and_slice(text));
  c.output(output, parsed.slice_shape);
  return {};
}

Status restore_shape(ShapeContext& c) { return ranks(c, {0, 0}); }

Status restore_slice_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(ranks(c, {0, 0, 0}));
  if (const Tensor* t = c.constant(2); t && t->num_elements() == 1) return slice_shape(c, 0, t->data<tstring>()[0]);
  return {};
}

Status restore_v2_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(ranks(c, {0, 1, 1}));
  WEFT_RETURN_IF_ERROR(ShapeContext::merge_dim(c.input(1).dim(0), c.input(2).dim(0)).status());
  const Tensor* t = c.constant(2);
  if (!t) return {};
  if (t->num_elements() != c.num_outputs()) return invalid_argument("The number of shape_and_slice doesn't match tensor outputs.");
  for (int i = 0; i < c.num_outputs(); ++i) WEFT_RETURN_IF_ERROR(slice_shape(c, i, t->data<tstring>()[i]));
  return {};
}

Status merge_shape(ShapeContext& c) { return ranks(c, {1, 0}); }

}  // namespace

void checkpoint(Registry& r) {
  r.add("MergeV2Checkpoints")
      .in("checkpoint_prefixes: string")
      .in("destination_prefix: string")
      .attr("delete_old_dirs: bool = true")
      .attr("allow_missing_files: bool = false")
      .stateful()
      .doc("Makes one checkpoint of several by joining their indices.")
      .shape(merge_shape)
      .cpu(run_merge);

  r.add("Restore")
      .in("file_pattern: string")
      .in("tensor_name: string")
      .out("tensor: dt")
      .attr("dt: type")
      .attr("preferred_shard: int = -1")
      .stateful()
      .effect_free()
      .doc("Reads a tensor from an old checkpoint.")
      .shape(restore_shape)
      .cpu(run_restore);

  r.add("RestoreSlice")
      .in("file_pattern: string")
      .in("tensor_name: string")
      .in("shape_and_slice: string")
      .out("tensor: dt")
      .attr("dt: type")
      .attr("preferred_shard: int = -1")
      .stateful()
      .effect_free()
      .doc("Reads a slice of a tensor from an old checkpoint.")
      .shape(restore_slice_shape)
      .cpu(run_restore);

  r.add("RestoreV2")
      .in("prefix: string")
      .in("tensor_names: string")
      .in("shape_and_slices: string")
      .out("tensors: dtypes")
      .attr("dtypes: list(type) >= 1")
      .stateful()
      .effect_free()
      .traits({.role = Role::kRestore, .made = Made::kAlways})
      .doc("Reads tensors, or slices of them, from a checkpoint.")
      .shape(restore_v2_shape)
      .cpu(run_restore_v2);

  r.add("Save")
      .in("filename: string")
      .in("tensor_names: string")
      .in("data: T")
      .attr("T: list(type) >= 1")
      .stateful()
      .doc("Writes tensors into an old checkpoint.")
      .shape([](ShapeContext& c) { return save_shape(c, 1); })
      .cpu(run_save_v1);

  r.add("SaveSlices")
      .in("filename: string")
      .in("tensor_names: string")
      .in("shapes_and_slices: string")
      .in("data: T")
      .attr("T: list(type) >= 1")
      .stateful()
      .doc("Writes slices of tensors into an old checkpoint.")
      .shape([](ShapeContext& c) { return save_shape(c, 2); })
      .cpu(run_save_v1);

  r.add("SaveV2")
      .in("prefix: string")
      .in("tensor_names: string")
      .in("shape_and_slices: string")
      .in("tensors: dtypes")
      .attr("dtypes: list(type) >= 1")
      .stateful()
      .traits({.role = Role::kSave, .made = Made::kAlways})
      .doc("Writes tensors, or slices of them, into a checkpoint.")
      .shape([](ShapeContext& c) { return save_shape(c, 2); })
      .cpu(run_save_v2);

  set_layout(r, {"RestoreV2"}, layouts::kReplicated);
}

}  // namespace weft_engine::ops
