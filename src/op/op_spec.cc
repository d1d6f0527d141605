#include "op/op_spec.h"

#include "op/node_info.h"
#include "op/op_traits.h"
#include "op/shape_context.h"

namespace weft_engine::op {

bool KernelDef::matches(const NodeInfo& node) const {
  for (const auto& c : constraints) {
    const AttrValue* value = node.find_attr(c.attr);
    if (!value) return false;
    auto allowed = [&](DType t) { return std::find(c.types.begin(), c.types.end(), t) != c.types.end(); };
    if (const DType* t = value->get<DType>()) {
      if (!allowed(*t)) return false;
    } else if (const auto* list = value->get<std::vector<DType>>()) {
      for (DType t : *list) {
        if (!allowed(t)) return false;
      }
    }
  }
  return true;
}

int Signature::attr_index(std::string_view name) const {
  for (size_t i = 0; i < attrs.size(); ++i) {
    if (attrs[i].name == name) return int(i);
  }
  return -1;
}

const OpTraits OpSpec::kNoTraits;

OpSpec::~OpSpec() { delete parsed_.load(); }

const OpSpec::Parsed& OpSpec::parsed() const {
  if (const Parsed* p = parsed_.load(std::memory_order_acquire)) [[likely]]
    return *p;
  auto made = std::make_unique<Parsed>();
  auto result = parse_signature(declared_inputs, declared_outputs, declared_attrs);
  if (result.ok()) made->signature = std::move(result).value();
  else made->status = result.status().with_suffix(cat("; in the signature of ", name));
  // Several threads may parse; the first to store wins.
  const Parsed* expected = nullptr;
  if (parsed_.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *expected;
}

const Signature& OpSpec::signature() const { return parsed().signature; }
Status OpSpec::check() const { return parsed().status; }

Status OpSpec::infer_shapes(ShapeContext& c) const {
  if (dynamic_shape) return dynamic_shape(c);
  if (shape) return shape(c);
  return {};  // no rule: every output stays unknown
}

}  // namespace weft_engine::op
