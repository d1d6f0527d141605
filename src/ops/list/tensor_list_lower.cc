// TensorLists: values, rows of a buffer (op/lower_list.h).
#include "op/lower_list.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using lists::List;

// Input i as a list.
std::optional<List> list(LowerContext& l, int i = 0) {
  if (!l.ok()) return std::nullopt;
  if (l.input(i).kind() == Lowered::Kind::kList) return l.input(i).list();
  l.fail(unimplemented("the compiler sees no list in input ", i, " of ", l.node.op(), " '", l.node.name(), "'"));
  return std::nullopt;
}

// What an input that tells the elements' shape says, if that is all of it.
std::optional<std::vector<ir::Dim>> told(LowerContext& l, int i) {
  const ir::Value v = l.x(i);
  const auto* k = l.b.known(v);
  if (!k || v->rank() != 1) return std::nullopt;
  return lists::element_of(*k);
}

void know(LowerContext& l, List& x, int i) {
  if (const auto dims = told(l, i)) lists::know_element(l.b, x, *dims);
}

std::optional<ir::Dim> count(LowerContext& l, int i) {
  const auto* k = l.b.known(l.x(i));
  if (!k || k->size() != 1) return std::nullopt;
  if ((*k)[0].is_const() && (*k)[0].value() < 0) return std::nullopt;
  return (*k)[0];
}

LoweredList give(List l) { return {Lowered::list(std::move(l))}; }

// A list of lists, as gradients of nested loops have them, is one of tensors: inner lists of one known length, stacked.
bool of_lists(LowerContext& l) { return l.attr<DType>("element_dtype") == DType::kVariant; }
DType element_type(LowerContext& l) { return of_lists(l) ? DType::kInvalid : l.attr<DType>("element_dtype"); }
ir::Value item(LowerContext& l, int i) { return l.ok() && l.input(i).kind() == Lowered::Kind::kList ? lists::stack(l.b, l.input(i).list()) : l.x(i); }
Lowered item_out(LowerContext& l, ir::Value v, bool is_list) { return is_list && v ? Lowered::list(lists::from_tensor(l.b, v)) : Lowered(v); }

LoweredList empty(LowerContext& l) {
  List x = lists::make(l.b, element_type(l), of_lists(l) ? std::nullopt : told(l, 0), count(l, 1), l.b.scalar_int(DType::kInt32, 0));
  x.same = List::Same::kNothingYet;
  return give(lists::with_buffer(l.b, std::move(x)));
}

LoweredList reserve(LowerContext& l) {
  return give(lists::with_buffer(l.b, lists::make(l.b, element_type(l), of_lists(l) ? std::nullopt : told(l, 0), count(l, 1), l.x(1))));
}

LoweredList from_tensor(LowerContext& l) { return give(lists::from_tensor(l.b, l.x())); }

LoweredList get_item(LowerContext& l) {
  auto x = list(l);
  if (!x) return {};
  if (!of_lists(l)) know(l, *x, 2);
  return {item_out(l, lists::get(l.b, *x, l.x(1), "Trying to access an element outside of a list."), of_lists(l))};
}

LoweredList set_item(LowerContext& l) {
  auto x = list(l);
  if (!x) return {};
  if (l.attr<bool>("resize_if_index_out_of_bounds") && !x->capacity) return l.unsupported("a list that grows as it is written");
  return give(lists::set(l.b, *x, l.x(1), item(l, 2), "Trying to modify an element outside of a list."));
}

LoweredList push_back(LowerContext& l) {
  auto x = list(l);
  if (!x) return {};
  return give(lists::push(l.b, *x, item(l, 1)));
}

LoweredList pop_back(LowerContext& l) {
  auto x = list(l);
  if (!x) return {};
  if (!of_lists(l)) know(l, *x, 1);
  auto [rest, last] = lists::pop(l.b, *x);
  if (!l.ok()) return {};
  return {Lowered::list(rest), item_out(l, last, of_lists(l))};
}

LoweredList stack(LowerContext& l) {
  auto x = list(l);
  if (!x) return {};
  know(l, *x, 1);
  const int64_t n = l.attr<int64_t>("num_elements");
  std::optional<ir::Dim> length;
  if (n >= 0) length = ir::Dim(n);
  return {lists::stack(l.b, *x, length)};
}

LoweredList length(LowerContext& l) {
  auto x = list(l);
  if (!x) return {};
  return {x->length};
}

LoweredList element_shape(LowerContext& l) {
  auto x = list(l);
  if (!x) return {};
  if (!x->element) return l.unsupported("a list whose elements are not known yet");
  return {l.b.sizes(*x->element, l.attr<DType>("shape_type"))};
}

LoweredList gather(LowerContext& l) {
  auto x = list(l);
  if (!x) return {};
  know(l, *x, 2);
  const ir::Value buffer = lists::buffer(l.b, *x);
  return {l.b.gather(buffer, l.x(1), 0, 0, "Index out o range; list has fewer elements.")};
}

LoweredList scatter_into(LowerContext& l, List x, ir::Value tensor, ir::Value indices) {
  if (!tensor || tensor->rank() < 1) return l.fail(invalid_argument("Tensor must be at least a vector ('", l.node.name(), "')"));
  lists::know_element(l.b, x, {tensor->type.dims.begin() + 1, tensor->type.dims.end()});
  const ir::Value buffer = lists::buffer(l.b, x);
  x.same = List::Same::kMixed;
  x.buffer = l.b.scatter(buffer, indices, tensor, ir::Reduce::kSet, "TensorListScatter: Trying to scatter outside of the list");
  return give(x);
}

LoweredList scatter_existing(LowerContext& l) {
  auto x = list(l);
  if (!x) return {};
  return scatter_into(l, *x, l.x(1), l.x(2));
}

LoweredList scatter(LowerContext& l) {
  const ir::Value tensor = l.x(0), indices = l.x(1);
  if (!tensor || !indices) return {};
  std::optional<ir::Dim> n = l.num_inputs() > 3 ? count(l, 3) : std::nullopt;
  if (!n) {
    // The largest index and one.
    const auto* k = l.b.known(indices);
    if (!k) return l.unsupported("a list whose length depends on data");
    n = ir::Dim(0);
    for (const ir::Dim& d : *k) n = ir::max(*n, d + ir::Dim(1));
  }
  return scatter_into(l, lists::make(l.b, l.attr<DType>("element_dtype"), told(l, 2), n, l.b.sizes({*n}, DType::kInt32, true)), tensor, indices);
}

LoweredList resize(LowerContext& l) {
  auto x = list(l);
  if (!x) return {};
  const auto n = count(l, 1);
  if (!n) return l.unsupported("a size that depends on data");
  x->length = l.b.sizes({*n}, DType::kInt32, true);
  x->same = List::Same::kMixed;
  if (x->buffer) {
    std::vector<ir::Dim> zero(x->buffer->type.dims.size(), ir::Dim(0)), high = zero;
    high[0] = *n - x->buffer->dim(0);
    x->buffer = l.b.pad(x->buffer, l.b.scalar(x->dtype, 0), zero, high);
  }
  x->capacity = n;
  return give(lists::with_buffer(l.b, *x));
}

// Of elements [n, ...] that all have one size.
LoweredList concat(LowerContext& l) {
  auto x = list(l);
  if (!x) return {};
  if (l.num_inputs() > 1) know(l, *x, 1);
  const ir::Value all = lists::stack(l.b, *x);
  if (!all) return {};
  if (all->rank() < 2) return l.fail(invalid_argument("Concat requires elements to be at least vectors, found scalars instead."));
  std::vector<ir::Dim> dims(all->type.dims.begin() + 1, all->type.dims.end());
  const ir::Dim each = dims[0];
  dims[0] = all->dim(0) * each;
  const ir::Value lengths = l.b.broadcast_to(l.b.sizes({each}, DType::kInt64, true), {all->dim(0)});
  return {l.b.reshape(all, dims), lengths};
}

LoweredList split(LowerContext& l) {
  const ir::Value x = l.x();
  const auto lengths = l.sizes(2);
  if (!x || !lengths) return {};
  for (const ir::Dim& d : *lengths) {
    if (!(d == (*lengths)[0])) return l.unsupported("lengths that differ");
  }
  if (lengths->empty() || x->rank() < 1) return l.unsupported("an empty list");
  std::vector<ir::Dim> dims = x->type.dims;
  dims[0] = (*lengths)[0];
  dims.insert(dims.begin(), ir::Dim(int64_t(lengths->size())));
  return give(lists::from_tensor(l.b, l.b.reshape(x, dims)));
}

LoweredList concat_lists(LowerContext& l) {
  auto x = list(l, 0), y = list(l, 1);
  if (!x || !y) return {};
  const ir::Value a = lists::stack(l.b, *x), b = lists::stack(l.b, *y);
  return give(lists::from_tensor(l.b, l.b.concat({a, b}, 0)));
}

// ---- optionals: lists of one element or none. Gradients of branches pass their intermediate values in them.

LoweredList some(LowerContext& l) {
  if (l.num_inputs() != 1) return l.unsupported("an optional of several values");
  const ir::Value x = item(l, 0);
  if (!x) return {};
  List all = lists::make(l.b, x->type.dtype, x->type.dims, ir::Dim(1), l.b.scalar_int(DType::kInt32, 0));
  all.same = List::Same::kNothingYet;
  all = lists::push(l.b, std::move(all), x);
  all.buffer = l.b.expand_dims(x, 0);
  return give(all);
}
LoweredList none(LowerContext&) { return LoweredList(1); }  // the code that joins branches gives it a form
LoweredList value_of(LowerContext& l) {
  auto x = list(l);
  if (!x) return {};
  const ir::Value v = lists::get(l.b, *x, l.b.scalar_int(DType::kInt32, 0), "The given optional does not have a value.");
  return {item_out(l, v, l.out_type() == DType::kVariant)};
}
LoweredList has_value(LowerContext& l) {
  auto x = list(l);
  if (!x) return {};
  return {l.b.compare(ir::Compare::kGt, x->length, l.b.scalar_int(DType::kInt32, 0))};
}

}  // namespace

void lower_tensor_list(op::Registry& r) {
  r.lower("EmptyTensorList", empty);
  r.lower("TensorListReserve", reserve);
  r.lower("TensorListFromTensor", from_tensor);
  r.lower("TensorListGetItem", get_item);
  r.lower("TensorListSetItem", set_item);
  r.lower("TensorListPushBack", push_back);
  r.lower("TensorListPopBack", pop_back);
  r.lower("TensorListStack", stack);
  r.lower("TensorListLength", length);
  r.lower("TensorListElementShape", element_shape);
  r.lower("TensorListGather", gather);
  r.lower("TensorListScatter", scatter);
  r.lower("TensorListScatterV2", scatter);
  r.lower("TensorListScatterIntoExistingList", scatter_existing);
  r.lower("TensorListResize", resize);
  r.lower("TensorListConcat", concat);
  r.lower("TensorListConcatV2", concat);
  r.lower("TensorListConcatLists", concat_lists);
  r.lower("TensorListSplit", split);
  r.lower("OptionalFromValue", some);
  r.lower("OptionalNone", none);
  r.lower("OptionalGetValue", value_of);
  r.lower("OptionalHasValue", has_value);
}

}  // namespace weft_engine::ops
