// FunctionLibrary: functions by name. Thread-safe: functions are added while others run; a function that
// was found stays valid for whoever holds it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/defs.h"

namespace weft_engine::graph {

class FunctionLibrary {
 public:
  FunctionLibrary() = default;
  FunctionLibrary(const FunctionLibrary&) = delete;

  // InvalidArgument when another definition has the name (an equal one is fine). Where there is an owner, whoever holds it
  // keeps the function in the library: it removes the function when it goes.
  Status add(FunctionDef def, std::weak_ptr<const void> owner = {});
  // What was made of the function `of` (a part of its gradient, a loop with less in it) has the same owner and leaves the library with it.
  // Functions of other owners that it names stay as long as it does.
  Status add_derived(FunctionDef def, std::string_view of);
  // Decoded at first use. A name that is there already keeps its definition.
  Status add(std::string name, LazyFunction def);
  Status add_gradient(GradientDef def);
  // Adds what the other has and this has not.
  Status add_all(const FunctionLibrary& other);
  // With what was derived from it; `gone` gets all their names.
  Status remove(std::string_view name, std::vector<std::string>* gone = nullptr);

  bool contains(std::string_view name) const;
  // NotFound when there is none; the error of decoding when the file was bad.
  Result<std::shared_ptr<const FunctionDef>> find(std::string_view name) const;
  // Null where it has none: it stays until it is removed.
  std::shared_ptr<const void> owner(std::string_view name) const;
  // The function as an op, for calls by name; null if there is none. Valid as long as the library.
  const OpSpec* find_spec(std::string_view name) const;
  std::string gradient_of(std::string_view function) const;  // empty if none
  std::vector<GradientDef> gradients() const;
  std::vector<std::string> names() const;
  int size() const;
  // Changes with every addition or removal: who found something may keep it as long as this stays the same.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  struct Entry;
  struct Slot {
    std::shared_ptr<Entry> entry;  // libraries share them
    std::weak_ptr<const void> owner;
    std::vector<std::string> derived;
    std::vector<std::shared_ptr<const void>> held;  // other owners
  };
  std::shared_ptr<Entry> entry(std::string_view name) const;
  mutable std::shared_mutex mutex_;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  std::unordered_map<std::string, Slot, Hash, std::equal_to<>> functions_;
  std::vector<std::shared_ptr<Entry>> removed_;  // their specs may still be in use
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> gradients_;
  std::atomic<uint64_t> version_{0};
};

// Calls f with the names of the functions in a node's attributes.
template <class F>
void for_functions(const AttrMap& attrs, F f) {
  for (const auto& entry : attrs) {
    if (const auto* one = entry.second.template get<FunctionAttr>()) {
      f(one->name);
    } else if (const auto* list = entry.second.template get<std::vector<FunctionAttr>>()) {
      for (const FunctionAttr& a : *list) f(a.name);
    }
  }
}

// Equal in what they compute; used to tell a repeated definition from a conflicting one.
bool same_function(const FunctionDef& a, const FunctionDef& b);

}  // namespace weft_engine::graph
