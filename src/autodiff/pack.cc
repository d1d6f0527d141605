#include "autodiff/pack.h"

#include <map>

#include "graph/passes/loops.h"
#include "op/emit.h"

namespace weft_engine::autodiff {

Result<Pack> pack(BodyGradient& g, std::vector<Endpoint>& values) {
  Pack out;
  if (values.size() <= kMostSaved) return out;
  std::map<DType, std::vector<Endpoint>> by_type;
  for (const Endpoint& v : values) by_type[base_type(type_of(v))].push_back(v);
  values.clear();
  GraphEmitter& e = *g.emitter;
  const size_t before = e.added().size();
  for (auto& [type, members] : by_type) {
    if (type == DType::kResource || members.size() == 1) {
      values.insert(values.end(), members.begin(), members.end());
      continue;
    }
    Value list = empty_list(e, PartialShape::unknown(), scalar(e, DType::kInt32, -1), type);
    for (const Endpoint& v : members) list = pushed_back(list, e.wrap(v), type);
    WEFT_RETURN_IF_ERROR(e.take_status());
    values.push_back(GraphEmitter::unwrap(list));
    out.lists.push_back({values.back(), type, std::move(members)});
  }
  out.nodes.assign(e.added().begin() + long(before), e.added().end());
  return out;
}

Status unpack(BodyGradient& g, const Split& parts, std::vector<Endpoint>& results, const Packed& packed, Endpoint list) {
  GraphEmitter& e = *g.emitter;
  for (size_t i = packed.values.size(); i-- > 0;) {
    const Endpoint& v = packed.values[i];
    const auto popped = popped_back(e.wrap(list), packed.type == DType::kVariant ? PartialShape::scalar() : shape_of(v), packed.type);
    WEFT_RETURN_IF_ERROR(e.take_status());
    list = GraphEmitter::unwrap(popped[0]);
    read_instead(g.graph(), parts, results, v, GraphEmitter::unwrap(popped[1]));
  }
  return {};
}

}  // namespace weft_engine::autodiff
