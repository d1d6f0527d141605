// TensorArrays and stacks of version 1: states that hold a list. Flows are scalars without meaning: the walk keeps the graph's order.
#include "op/lower_list.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using lists::List;

std::optional<List> held(LowerContext& l) {
  if (!l.ok()) return std::nullopt;
  if (l.input(0).kind() == Lowered::Kind::kState) {
    const Lowered* v = l.host.read(l.input(0).state());
    if (v && v->kind() == Lowered::Kind::kList) return v->list();
    if (!v) return std::nullopt;
  }
  l.fail(unimplemented("the compiler sees no TensorArray or stack in input 0 of ", l.node.op(), " '", l.node.name(), "'"));
  return std::nullopt;
}

void hold(LowerContext& l, List x) {
  if (l.ok()) l.host.write(l.input(0).state(), Lowered::list(std::move(x)));
}

Lowered flow(LowerContext& l) { return l.b.scalar(DType::kFloat, 0); }

std::optional<std::vector<ir::Dim>> dims_of(const core::PartialShape& s) {
  const auto shape = s.concrete();
  if (!shape) return std::nullopt;
  return std::vector<ir::Dim>(shape->dims().begin(), shape->dims().end());
}

std::optional<ir::Dim> count(LowerContext& l, ir::Value v) {
  const auto* k = l.b.known(v);
  if (!k || k->size() != 1 || ((*k)[0].is_const() && (*k)[0].value() < 0)) return std::nullopt;
  return (*k)[0];
}

LoweredList make_array(LowerContext& l) {
  const ir::Value size = l.x();
  const Lowered handle = l.host.named_state(l.node);
  if (!size || handle.kind() != Lowered::Kind::kState) return {};
  if (l.attr<bool>("dynamic_size")) return l.unsupported("dynamic_size (give the TensorArray its full size)");
  List x = lists::make(l.b, l.attr<DType>("dtype"), dims_of(l.attr<core::PartialShape>("element_shape")), count(l, size), size);
  l.host.write(handle.state(), Lowered::list(lists::with_buffer(l.b, x)));
  return {handle, flow(l)};
}

LoweredList make_gradients(LowerContext& l) {
  auto x = held(l);
  if (!x) return {};
  const Lowered handle = l.host.derived_state(l.input(0).state(), l.attr<std::string>("source"));
  if (!l.host.has_value(handle.state())) {
    x->buffer = nullptr;
    x->accumulates = true;
    if (l.node.op() == "TensorArrayGradWithShape") {
      const auto front = l.sizes(2);
      if (!front) return {};
      if (x->element) x->element->insert(x->element->begin(), front->begin(), front->end());
    }
    l.host.write(handle.state(), Lowered::list(lists::with_buffer(l.b, *x)));
  }
  return {handle, flow(l)};
}

LoweredList read(LowerContext& l) {
  auto x = held(l);
  if (!x) return {};
  return {lists::get(l.b, *x, l.x(1), "Tried to read from an index outside of a TensorArray")};
}

LoweredList write(LowerContext& l) {
  auto x = held(l);
  ir::Value value = l.x(2);
  if (!x || !value) return {};
  if (x->accumulates) {
    lists::know_element(l.b, *x, value->type.dims);
    *x = lists::with_buffer(l.b, *x);
    if (x->buffer) value = l.b.add(lists::get(l.b, *x, l.x(1), ""), value);
  }
  hold(l, lists::set(l.b, *x, l.x(1), value, "Tried to write to an index outside of a TensorArray"));
  return {flow(l)};
}

LoweredList gather(LowerContext& l) {
  auto x = held(l);
  if (!x) return {};
  if (const auto dims = dims_of(l.attr<core::PartialShape>("element_shape"))) lists::know_element(l.b, *x, *dims);
  const ir::Value buffer = lists::buffer(l.b, *x);
  return {l.b.gather(buffer, l.x(1), 0, 0, "Tried to read from an index outside of a TensorArray")};
}

LoweredList scatter(LowerContext& l) {
  auto x = held(l);
  const ir::Value value = l.x(2);
  if (!x || !value) return {};
  if (value->rank() < 1) return l.fail(invalid_argument("Input value for unpack must be at least a vector ('", l.node.name(), "')"));
  lists::know_element(l.b, *x, {value->type.dims.begin() + 1, value->type.dims.end()});
  // All of it in order, as unstack does: the value is the array.
  const ir::Value indices = l.x(1);
  const auto* k = l.b.known(indices);
  bool all = !x->accumulates && x->capacity && *x->capacity == value->dim(0);
  if (all && k) {
    for (size_t i = 0; i < k->size(); ++i) all = all && (*k)[i].is(int64_t(i));
  } else if (all) {
    all = indices && indices->op == ir::Op::kIota;
  }
  if (all) {
    x->buffer = value;
  } else {
    const ir::Value buffer = lists::buffer(l.b, *x);
    x->buffer = l.b.scatter(buffer, indices, value, x->accumulates ? ir::Reduce::kSum : ir::Reduce::kSet, "Max scatter index must be < array size");
  }
  hold(l, *x);
  return {flow(l)};
}

LoweredList size(LowerContext& l) {
  auto x = held(l);
  if (!x) return {};
  return {x->length};
}

LoweredList concat(LowerContext& l) {
  auto x = held(l);
  if (!x) return {};
  const ir::Value all = lists::stack(l.b, *x);
  if (!all) return {};
  if (all->rank() < 2) return l.fail(invalid_argument("Concat saw a scalar shape but requires at least vectors.  Did you mean to call pack?"));
  std::vector<ir::Dim> dims(all->type.dims.begin() + 1, all->type.dims.end());
  const ir::Dim each = dims[0];
  dims[0] = all->dim(0) * each;
  return {l.b.reshape(all, dims), l.b.broadcast_to(l.b.sizes({each}, DType::kInt64, true), {all->dim(0)})};
}

LoweredList split(LowerContext& l) {
  auto x = held(l);
  const ir::Value value = l.x(1);
  const auto lengths = l.sizes(2);
  if (!x || !value || !lengths) return {};
  for (const ir::Dim& d : *lengths) {
    if (!(d == (*lengths)[0])) return l.unsupported("lengths that differ");
  }
  if (lengths->empty() || value->rank() < 1) return l.unsupported("an empty TensorArray");
  std::vector<ir::Dim> dims = value->type.dims;
  dims[0] = (*lengths)[0];
  dims.insert(dims.begin(), ir::Dim(int64_t(lengths->size())));
  List all = lists::from_tensor(l.b, l.b.reshape(value, dims));
  if (x->accumulates) {
    List old = *x;
    if (all.element) lists::know_element(l.b, old, *all.element);
    all = lists::add(l.b, all, old);
    all.accumulates = true;
  }
  hold(l, all);
  return {flow(l)};
}

LoweredList make_stack(LowerContext& l) {
  const ir::Value most = l.x();
  const Lowered handle = l.host.named_state(l.node);
  if (!most || handle.kind() != Lowered::Kind::kState) return {};
  List x = lists::make(l.b, l.attr<DType>("elem_type"), std::nullopt, count(l, most), l.b.scalar_int(DType::kInt32, 0));
  x.same = List::Same::kNothingYet;
  l.host.write(handle.state(), Lowered::list(std::move(x)));
  return {handle};
}

LoweredList push(LowerContext& l) {
  auto x = held(l);
  if (!x) return {};
  hold(l, lists::push(l.b, *x, l.x(1)));
  return {l.input(1)};
}

LoweredList pop(LowerContext& l) {
  auto x = held(l);
  if (!x) return {};
  auto [rest, item] = lists::pop(l.b, *x);
  hold(l, rest);
  return {item};
}

}  // namespace

void lower_tensor_array(op::Registry& r) {
  r.lower("TensorArrayV3", make_array);
  r.lower("TensorArrayGradV3", make_gradients);
  r.lower("TensorArrayGradWithShape", make_gradients);
  r.lower("TensorArrayReadV3", read);
  r.lower("TensorArrayWriteV3", write);
  r.lower("TensorArrayGatherV3", gather);
  r.lower("TensorArrayScatterV3", scatter);
  r.lower("TensorArraySizeV3", size);
  r.lower("TensorArrayConcatV3", concat);
  r.lower("TensorArraySplitV3", split);
  r.lower("StackV2", make_stack);
  r.lower("StackPushV2", push);
  r.lower("StackPopV2", pop);
  r.lower("StackCloseV2", lower_to_nothing);
  r.lower("TensorArrayCloseV3", lower_to_nothing);
}

}  // namespace weft_engine::ops
