// FunctionLibrary: functions by name. Thread-safe: functions are added while others run; a function that
// was found stays valid for whoever holds it.
#pragma once

#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/defs.h"

namespace weft::graph {

class FunctionLibrary {
 public:
  FunctionLibrary() = default;
  FunctionLibrary(const FunctionLibrary&) = delete;

  // InvalidArgument when another definition has the name (an equal one is fine).
  Status add(FunctionDef def);
  // Decoded at first use. A name that is there already keeps its definition.
  Status add(std::string name, LazyFunction def);
  Status add_gradient(GradientDef def);
  // Adds what the other has and this has not.
  Status add_all(const FunctionLibrary& other);
  Status remove(std::string_view name);

  bool contains(std::string_view name) const;
  // NotFound when there is none; the error of decoding when the file was bad.
  Result<std::shared_ptr<const FunctionDef>> find(std::string_view name) const;
  // The function as an op, for calls by name; null if there is none. Valid as long as the library.
  const OpSpec* find_spec(std::string_view name) const;
  std::string gradient_of(std::string_view function) const;  // empty if none
  std::vector<GradientDef> gradients() const;
  std::vector<std::string> names() const;
  int size() const;
  // Changes with every addition or removal.
  uint64_t version() const;

 private:
  struct Entry;
  std::shared_ptr<Entry> entry(std::string_view name) const;
  mutable std::shared_mutex mutex_;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  std::unordered_map<std::string, std::shared_ptr<Entry>, Hash, std::equal_to<>> functions_;
  std::vector<std::shared_ptr<Entry>> removed_;  // their specs may still be in use
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> gradients_;
  uint64_t version_ = 0;
};

// Equal in what they compute; used to tell a repeated definition from a conflicting one.
bool same_function(const FunctionDef& a, const FunctionDef& b);

}  // namespace weft::graph
