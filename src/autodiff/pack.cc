#include "autodiff/pack.h"

#include <map>
#include <set>

#include "graph/passes/loops.h"
#include "op/emit.h"

namespace weft_engine::autodiff {

Result<Pack> pack(BodyGradient& g, std::vector<Endpoint>& values) {
  Pack out;
  std::set<const Node*> callers;
  size_t by_callers = 0;
  for (const Endpoint& v : values) {
    if (!calls_functions(*v.node)) continue;
    callers.insert(v.node);
    ++by_callers;
  }
  const bool all = values.size() > kMostSaved;
  if (!all && (callers.size() < 2 || by_callers <= kMostSavedByCalls)) return out;
  const auto chosen = [&](const Endpoint& v) { return all || callers.contains(v.node); };
  // A list for each type and shape, which compiled code needs to know; for each type where that are too many.
  std::set<std::string> shapes;
  for (const Endpoint& v : values) {
    if (chosen(v)) shapes.insert(cat(shape_of(v)));
  }
  const bool by_shape = shapes.size() <= kMostShapes;
  std::map<std::pair<DType, std::string>, std::vector<Endpoint>> groups;
  for (const Endpoint& v : values) {
    if (chosen(v)) groups[{base_type(type_of(v)), by_shape ? cat(shape_of(v)) : std::string()}].push_back(v);
  }
  std::erase_if(values, chosen);
  GraphEmitter& e = *g.emitter;
  const size_t before = e.added().size();
  for (auto& [key, members] : groups) {
    const DType type = key.first;
    if (type == DType::kResource || members.size() == 1) {
      values.insert(values.end(), members.begin(), members.end());
      continue;
    }
    const PartialShape shape = by_shape ? shape_of(members[0]) : PartialShape::unknown();
    Value list = empty_list(e, shape, scalar(e, DType::kInt32, double(members.size())), type);
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
