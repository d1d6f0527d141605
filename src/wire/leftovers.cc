#include "wire/leftovers.h"

#include <algorithm>
#include <map>
#include <vector>

#include "wire/new_file.h"
#include "wire/table.h"
#include "wire/tensor_bundle.h"

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

namespace {

bool all_digits(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "PREFIX.data-00000-of-00001": PREFIX and 1; "PREFIX.index": PREFIX and 0. False for other names.
bool split_name(std::string_view name, std::string_view& prefix, int& shards) {
  if (name.ends_with(".index")) {
    prefix = name.substr(0, name.size() - 6);
    shards = 0;
    return true;
  }
  constexpr std::string_view kForm = ".data-00000-of-00000";
  if (name.size() < kForm.size()) return false;
  const std::string_view tail = name.substr(name.size() - kForm.size());
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == '0' ? !(tail[i] >= '0' && tail[i] <= '9') : tail[i] != kForm[i]) return false;
  }
  prefix = name.substr(0, name.size() - kForm.size());
  shards = 0;
  for (char c : tail.substr(tail.size() - 5)) shards = shards * 10 + (c - '0');
  return true;
}

// "BASE-7".
bool is_numbered(std::string_view name, std::string_view base) {
  return name.size() > base.size() + 1 && name.starts_with(base) && name[base.size()] == '-' && all_digits(name.substr(base.size() + 1));
}

// "" for a name without a slash: what is joined to it is found from here too.
std::string folder_with_slash(std::string_view path) { return std::string(path.substr(0, path.rfind('/') + 1)); }

std::vector<std::string> names_in(const std::string& folder) {
  auto names = children_of(folder.empty() ? "." : folder);
  return names.ok() ? std::move(names).value() : std::vector<std::string>();
}

struct Found {
  bool index = false, alive = false;
  std::vector<std::pair<std::string, int>> data;  // names and shard counts
};

void remove_data(const std::string& folder, const std::string& prefix, const Found& found) {
  if (found.alive || found.data.empty()) return;
  int wanted = 0;
  if (found.index) {
    const int first = found.data[0].second;
    if (std::all_of(found.data.begin(), found.data.end(), [&](const auto& d) { return d.second == first; })) return;
    wanted = bundle_shards(folder + prefix + ".index");
    if (wanted <= 0) return;  // a damaged index: nothing is certain
  }
  for (const auto& [name, shards] : found.data) {
    if (shards != wanted) (void)delete_file(folder + name);
  }
}

}  // namespace

std::vector<std::string> numbered_checkpoints(std::string_view prefix) {
  const std::string folder = folder_with_slash(prefix);
  std::vector<std::string> out;
  for (const std::string& name : names_in(folder)) {
    std::string_view p;
    int shards = 0;
    if (split_name(name, p, shards) && shards == 0 && is_numbered(p, prefix.substr(folder.size()))) out.push_back(folder + std::string(p));
  }
  return out;
}

bool is_file_of_checkpoint(std::string_view name, std::string_view prefix) {
  std::string_view p;
  int shards = 0;
  return split_name(name, p, shards) && p == prefix;
}

// Names are compared and not matched: a prefix may hold what means something in a pattern.
void remove_checkpoint(const std::string& prefix) {
  (void)delete_file(bundle_index_name(prefix));
  const std::string folder = folder_with_slash(prefix);
  const std::string base = prefix.substr(folder.size());
  for (const std::string& name : names_in(folder)) {
    std::string_view p;
    int shards = 0;
    if (split_name(name, p, shards) && p == base) (void)delete_file(folder + name);
  }
}

void remove_leftovers(std::string_view prefix, bool numbered) {
  const FolderLock lock(prefix);  // not while another's data has its name and its index not yet
  const std::string folder = folder_with_slash(prefix);
  const std::string_view base = prefix.substr(folder.size());
  const auto ours = [&](std::string_view p) { return p == base || (numbered && is_numbered(p, base)); };
  std::map<std::string, Found, std::less<>> found;
  for (const std::string& name : names_in(folder)) {
    const std::string_view target = target_of_unfinished(name);
    std::string_view p;
    int shards = 0;
    if (numbered && target == "checkpoint") remove_abandoned(folder + name);
    if (!target.empty() && ours(target)) remove_abandoned(folder + name);  // the folder of a save in parts
    if (!split_name(target.empty() ? std::string_view(name) : target, p, shards) || !ours(p)) continue;
    Found& f = found[std::string(p)];
    if (!target.empty()) f.alive |= !remove_abandoned(folder + name);
    else if (shards == 0) f.index = true;
    else f.data.emplace_back(name, shards);
  }
  for (const auto& [p, f] : found) remove_data(folder, p, f);
}

}  // namespace weft_engine::wire
