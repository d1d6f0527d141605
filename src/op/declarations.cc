#include "op/declarations.h"

#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "op/op_traits.h"
#include "op/registry.h"

namespace weft_engine::op {
namespace {

// One table per process, as there is one engine. It is not a member of Registry, whose header every op file reads.
struct Declared {
  const Registry* owner = nullptr;
  Declarations table;
  std::once_flag indexed;
  std::unordered_map<std::string_view, uint32_t> index;  // made when a name is first not found elsewhere; calls of functions ask often
  std::shared_mutex mutex;
  std::unordered_map<std::string_view, std::unique_ptr<OpSpec>> made;
};
Declared& declared() {
  static auto* d = new Declared;
  return *d;
}

std::string_view line_at(size_t at) { return std::string_view(declared().table.text.data() + at); }

void read_properties(std::string_view words, OpSpec& spec) {
  const auto has = [&](std::string_view word) { return words.find(word) != std::string_view::npos; };
  spec.aggregate = has("aggregate");
  spec.stateful = has("stateful");
  spec.commutative = has("commutative");
  spec.allows_uninitialized_input = has("allows_uninitialized_input");
  spec.distributed_communication = has("distributed_communication");
}

std::unique_ptr<OpSpec> read_op(uint32_t begin) {
  auto spec = std::make_unique<OpSpec>();
  spec->name = declared_name(begin);
  OpBuilder builder(*spec);
  builder.traits({.impure = true});  // nobody knows what a kernel for it would do
  for (size_t at = begin + spec->name.size() + 2; at < declared().table.text.size();) {
    const std::string_view line = line_at(at), rest = line.substr(1);
    if (line[0] == '+') break;
    at += line.size() + 1;
    switch (line[0]) {
      case '<': builder.in(rest); break;
      case '>': builder.out(rest); break;
      case '&': builder.full_type(rest); break;
      case '=': builder.attr(rest); break;
      case '!': read_properties(rest, *spec); break;
      case '~': {
        const size_t space = rest.find(' ');
        builder.deprecated(std::atoi(rest.data()), space == std::string_view::npos ? std::string_view() : rest.substr(space + 1));
        break;
      }
    }
  }
  return spec;
}

}  // namespace

void declare(const Registry& registry, const Declarations& table) {
  declared().owner = &registry;
  declared().table = table;
}

std::span<const uint32_t> declared_begins(const Registry& registry) {
  const Declared& d = declared();
  return d.owner == &registry ? d.table.begins : std::span<const uint32_t>();
}

std::string_view declared_name(uint32_t begin) { return line_at(begin).substr(1); }

OpSpec* find_declared(const Registry& registry, std::string_view name) {
  Declared& d = declared();
  if (d.owner != &registry) return nullptr;
  std::call_once(d.indexed, [&] {
    for (uint32_t begin : d.table.begins) d.index.emplace(declared_name(begin), begin);
  });
  const auto at = d.index.find(name);
  if (at == d.index.end()) [[likely]]
    return nullptr;
  {
    std::shared_lock lock(d.mutex);
    if (auto it = d.made.find(name); it != d.made.end()) return it->second.get();
  }
  auto spec = read_op(at->second);
  const std::string_view key = spec->name;
  std::unique_lock lock(d.mutex);
  return d.made.emplace(key, std::move(spec)).first->second.get();
}

bool is_declared_only(const OpSpec& spec) {
  const std::string_view text = declared().table.text;
  return !text.empty() && std::less_equal<>()(text.data(), spec.name.data()) && std::less<>()(spec.name.data(), text.data() + text.size());
}

}  // namespace weft_engine::op
