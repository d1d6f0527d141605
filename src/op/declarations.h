// Ops of which only the signature is known: they stand in files and lists that others write, and plugins may bring kernels for them. Such ops are
// constant data until one is asked for; the registry then shows them like any other. An op that is added to the registry hides its declaration.
#pragma once

#include <span>
#include <string_view>

#include "op/op_spec.h"

namespace weft_engine::op {

class Registry;

struct Declarations {
  // Op after op, in lines that end with a zero byte. The first character says what a line is (see ops/declared/declared.txt).
  std::string_view text;
  std::span<const uint32_t> begins;  // where each op begins, by name
};

// The table that belongs to the registry of the engine; called once, before anybody else knows the registry.
void declare(const Registry& registry, const Declarations& table);

// The declared op of that name, made now or before; null where there is none, or the registry has no table.
OpSpec* find_declared(const Registry& registry, std::string_view name);
std::span<const uint32_t> declared_begins(const Registry& registry);
std::string_view declared_name(uint32_t begin);

// Whether a spec comes from the table: no documentation, shape rule, gradient, and no kernel unless one was added.
bool is_declared_only(const OpSpec& spec);

}  // namespace weft_engine::op
