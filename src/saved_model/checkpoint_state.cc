#include "saved_model/checkpoint_state.h"

#include <filesystem>

#include "core/log.h"
#include "wire/new_file.h"
#include "wire/proto.h"
#include "wire/text_format.h"

namespace weft_engine::saved_model {

namespace {

std::string state_path(const std::string& folder, std::string_view file) {
  if (folder.empty()) return std::string(file);
  return folder.back() == '/' ? cat(folder, file) : cat(folder, "/", file);
}

bool is_absolute(std::string_view path) { return path.starts_with('/') || path.find("://") != path.npos; }

// As Python's os.path.relpath.
std::string relative_to(const std::string& path, const std::string& folder) {
  if (core::parse_uri(folder).scheme.empty() != core::parse_uri(path).scheme.empty()) return path;
  std::error_code error;
  const auto absolute = [&](const std::string& p) { return std::filesystem::absolute(p.empty() ? "." : p, error).lexically_normal(); };
  std::filesystem::path from = absolute(folder);
  if (!from.has_filename()) from = from.parent_path();
  const std::string out = absolute(path).lexically_relative(from).string();
  return error || out.empty() ? path : out;
}

Result<CheckpointState> parse(const std::string& text) {
  WEFT_ASSIGN(std::string bytes, wire::text_to_binary("tensorflow.CheckpointState", text));
  CheckpointState out;
  wire::ProtoReader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: out.model_checkpoint_path = r.string(); break;
      case 2: out.all_model_checkpoint_paths.push_back(r.string()); break;
      case 3:
        if (!r.append_fixed(out.all_model_checkpoint_timestamps)) return data_loss("malformed CheckpointState");
        break;
      case 4: out.last_preserved_timestamp = r.float64(); break;
      default: break;
    }
  }
  if (!r.ok()) return data_loss("malformed CheckpointState");
  return out;
}

}  // namespace

Result<std::optional<CheckpointState>> read_checkpoint_state(const std::string& folder, std::string_view file) {
  const std::string path = state_path(folder, file);
  std::string text;
  if (Status s = wire::read_file(path, text); !s.ok()) {
    if (s.code() != Code::kNotFound) log(LogLevel::kWarning, cat(s, "\n", path, ": Checkpoint ignored"));
    return std::optional<CheckpointState>();
  }
  auto parsed = parse(text);
  if (!parsed.ok()) {
    log(LogLevel::kWarning, cat(parsed.status(), "\n", path, ": Checkpoint ignored"));
    return std::optional<CheckpointState>();
  }
  CheckpointState state = std::move(parsed).value();
  if (state.model_checkpoint_path.empty()) return invalid_argument("Invalid checkpoint state loaded from ", folder);
  const auto complete = [&](std::string& p) {
    if (!is_absolute(p)) p = state_path(folder, p);
  };
  complete(state.model_checkpoint_path);
  for (std::string& p : state.all_model_checkpoint_paths) complete(p);
  return std::optional<CheckpointState>(std::move(state));
}

Status write_checkpoint_state(const std::string& folder, CheckpointState state, std::string_view file) {
  const std::string path = state_path(folder, file);
  if (state.model_checkpoint_path == path)
    return invalid_argument("Save path '", state.model_checkpoint_path,
                            "' conflicts with path used for checkpoint state.  Please use a different save path.");
  auto& all = state.all_model_checkpoint_paths;
  if (all.empty() || all.back() != state.model_checkpoint_path) all.push_back(state.model_checkpoint_path);
  if (!state.all_model_checkpoint_timestamps.empty() && state.all_model_checkpoint_timestamps.size() != all.size())
    return invalid_argument("Checkpoint timestamps, if provided, must match checkpoint paths (got ", all.size(), " paths and ",
                            state.all_model_checkpoint_timestamps.size(), " timestamps)");
  wire::ProtoWriter w;
  w.bytes(1, relative_to(state.model_checkpoint_path, folder));
  for (const std::string& p : all) w.bytes(2, relative_to(p, folder));
  for (double t : state.all_model_checkpoint_timestamps) w.float64(3, t);
  if (state.last_preserved_timestamp != 0) w.float64(4, state.last_preserved_timestamp);
  WEFT_ASSIGN(std::string text, wire::binary_to_text("tensorflow.CheckpointState", w.str()));
  return wire::replace_file(path, text);
}

Result<std::string> latest_checkpoint(const std::string& folder, std::string_view file) {
  WEFT_ASSIGN(auto state, read_checkpoint_state(folder, file));
  if (!state) return std::string();
  const std::string& path = state->model_checkpoint_path;
  if (wire::file_exists(path + ".index") || wire::file_exists(path)) return path;
  log(LogLevel::kError, cat("Couldn't match files for checkpoint ", path));
  return std::string();
}

}  // namespace weft_engine::saved_model
