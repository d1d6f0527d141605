// Whole files read, written and found by pattern.
#include <algorithm>

#include "core/file_system.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"
#include "wire/file.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Status run_matching_files(KernelContext& c) {
  const Tensor& patterns = c.input(0);
  if (patterns.rank() > 1) return invalid_argument("Input patterns tensor must be scalar or vector, but had shape: ", patterns.shape());
  std::vector<std::string> found;
  for (const tstring& pattern : patterns.span<tstring>()) {
    if (pattern.empty()) continue;
    WEFT_ASSIGN(std::vector<std::string> matches, wire::match_paths(pattern.view()));
    for (std::string& match : matches) found.push_back(std::move(match));
  }
  std::sort(found.begin(), found.end());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({int64_t(found.size())})));
  for (size_t i = 0; i < found.size(); ++i) out->data<tstring>()[i] = found[i];
  return {};
}

Status run_read_file(KernelContext& c) {
  const Tensor& name = c.input(0);
  if (name.rank() != 0) return invalid_argument("Input filename tensor must be scalar, but had shape: ", name.shape());
  std::string contents;
  WEFT_RETURN_IF_ERROR(wire::read_file(name.data<tstring>()[0].str(), contents));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape()));
  out->data<tstring>()[0] = contents;
  return {};
}

// As TensorFlow does it: in place, by the file system's own rules.
Status write_other(core::FileSystem& system, const std::string& name, std::string_view contents) {
  const std::string folder(wire::folder_of(name));
  if (!folder.ends_with("://")) WEFT_RETURN_IF_ERROR(system.create_folders(folder));
  WEFT_ASSIGN(std::unique_ptr<core::WritableFile> file, system.create(name));
  WEFT_RETURN_IF_ERROR(file->append(contents));
  return file->close();
}

Status run_write_file(KernelContext& c) {
  const Tensor &name = c.input(0), &contents = c.input(1);
  if (name.rank() != 0) return invalid_argument("Input filename tensor must be scalar, but had shape: ", name.shape());
  if (contents.rank() != 0) return invalid_argument("Contents tensor must be scalar, but had shape: ", contents.shape());
  WEFT_ASSIGN(core::Place place, core::locate(name.data<tstring>()[0].view()));
  const std::string_view bytes = contents.data<tstring>()[0].view();
  return place.local ? wire::write_file(place.path, bytes) : write_other(place.system, place.path, bytes);
}

// No file system here has options, nor have those that TensorFlow links.
Status run_set_configuration(KernelContext& c) {
  static constexpr const char* kNames[] = {"scheme", "key", "value"};
  for (int i = 0; i < 3; ++i) {
    if (c.input(i).rank() != 0) return invalid_argument(kNames[i], " must be scalar, got shape ", c.input(i).shape());
  }
  const std::string scheme = c.input(0).data<tstring>()[0].str();
  const bool known = scheme.empty() || scheme == "file" || scheme == "ram" || core::locate(cat(scheme, "://host/path")).ok();
  if (!known) return unimplemented("File system scheme '", scheme, "' not found to set configuration");
  return unimplemented("SetOption");
}

Status matching_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(0, 1).status());
  c.output(0, PartialShape::vector(kUnknownDim));
  return {};
}

Status scalars_only(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  return shapes::scalar(c);
}

}  // namespace

void file(Registry& r) {
  r.add("FileSystemSetConfiguration")
      .doc("Sets an option of a file system; those that are there have none.")
      .in("scheme: string")
      .in("key: string")
      .in("value: string")
      .stateful()
      .shape(scalars_only)
      .cpu(run_set_configuration);

  r.add("MatchingFiles")
      .doc("The files whose names match some patterns, sorted.")
      .in("pattern: string")
      .out("filenames: string")
      .traits({.impure = true})
      .shape(matching_shape)
      .cpu(run_matching_files);

  r.add("ReadFile")
      .doc("The contents of a file.")
      .in("filename: string")
      .out("contents: string")
      .traits({.impure = true})
      .shape(scalars_only)
      .cpu(run_read_file);

  r.add("WriteFile")
      .doc("Writes a file as a whole, creating its folder if need be.")
      .in("filename: string")
      .in("contents: string")
      .stateful()
      .shape(scalars_only)
      .cpu(run_write_file);
}

}  // namespace weft_engine::ops
