#include "op/api_traits.h"

#include <cassert>
#include <mutex>
#include <unordered_map>

#include "op/registry.h"

namespace weft_engine::op {
namespace {

// The same for every registry, as families say the same to each.
struct ApiTraitTable {
  std::mutex mutex;
  std::unordered_map<std::string_view, uint8_t> bits;
};
ApiTraitTable& api_trait_table() {
  static auto* table = new ApiTraitTable;
  return *table;
}

}  // namespace

void set_api_trait([[maybe_unused]] Registry& r, std::initializer_list<std::string_view> ops, ApiTrait trait) {
  ApiTraitTable& table = api_trait_table();
  std::lock_guard lock(table.mutex);
  for (const std::string_view name : ops) {
    assert(r.find(name) && "a trait of an op that is not there");
    table.bits[name] |= uint8_t(trait);
  }
}

bool has_api_trait(const OpSpec& spec, ApiTrait trait) {
  ApiTraitTable& table = api_trait_table();
  std::lock_guard lock(table.mutex);
  const auto it = table.bits.find(spec.name);
  return it != table.bits.end() && (it->second & uint8_t(trait));
}

}  // namespace weft_engine::op
