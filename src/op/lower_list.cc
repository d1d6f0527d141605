#include "op/lower_list.h"

namespace weft_engine::op::lists {
namespace {

using ir::Dim;
using ir::Value;

std::vector<Dim> buffer_dims(const List& l) {
  std::vector<Dim> dims{*l.capacity};
  dims.insert(dims.end(), l.element->begin(), l.element->end());
  return dims;
}

// The scalars at which row `index` of a buffer starts.
std::vector<Value> row(ir::Builder& b, Value index, int rank) {
  std::vector<Value> at{b.convert(index, DType::kInt64)};
  const Value zero = rank > 1 ? b.scalar_int(DType::kInt64, 0) : nullptr;
  for (int d = 1; d < rank; ++d) at.push_back(zero);
  return at;
}

void check_inside(ir::Builder& b, const List& l, Value index, const std::string& message) {
  if (message.empty()) return;
  const Value i = b.convert(index, DType::kInt32);
  b.check(b.compare(ir::Compare::kGe, i, b.scalar_int(DType::kInt32, 0)), message);
  b.check(b.compare(ir::Compare::kLt, i, l.length), message);
}

// An element that is known without looking.
Value known_item(ir::Builder& b, const List& l) {
  if (l.same == List::Same::kKnown && l.item) return l.item;
  if (l.same != List::Same::kKnown || !l.element || l.element->size() > 1 || (l.dtype != DType::kInt32 && l.dtype != DType::kInt64)) return nullptr;
  return b.sizes(l.known, l.dtype, l.element->empty());
}

void see(ir::Builder& b, List& l, Value item) {
  List one;
  if (item->known) {
    one.same = List::Same::kKnown;
    one.known = *item->known;
  } else if (item->parent == b.module().main.get()) {
    one.same = List::Same::kKnown;
    one.item = item;
  }
  join_known(l, one);
}

}  // namespace

void join_known(List& l, const List& other) {
  using Same = List::Same;
  if (other.same == Same::kNothingYet || (l.same == other.same && l.known == other.known && l.item == other.item)) return;
  if (l.same == Same::kNothingYet) {
    l.same = other.same;
    l.known = other.known;
    l.item = other.item;
    return;
  }
  l.same = Same::kMixed;
  l.known.clear();
  l.item = nullptr;
}

std::optional<std::vector<Dim>> element_of(const std::vector<Dim>& shape) {
  for (const Dim& d : shape) {
    if (d.is_const() && d.value() < 0) return std::nullopt;
  }
  return shape;
}

void know_element(ir::Builder& b, List& l, const std::vector<Dim>& dims) {
  if (!l.element) {
    l.element = dims;
    return;
  }
  if (l.element->size() != dims.size()) {
    b.fail(invalid_argument("an element of rank ", dims.size(), " in a list of elements of rank ", l.element->size(), " at '", b.node(), "'"));
    return;
  }
  for (size_t i = 0; i < dims.size(); ++i) b.same((*l.element)[i], dims[i]);
}

List with_buffer(ir::Builder& b, List l) {
  if (l.buffer || !l.element || !l.capacity || l.dtype == DType::kInvalid || !b.status().ok()) return l;
  l.buffer = b.fill(l.dtype, buffer_dims(l), 0);
  return l;
}

Value buffer(ir::Builder& b, List& l) {
  l = with_buffer(b, std::move(l));
  if (l.buffer || !b.status().ok()) return l.buffer;
  if (!l.capacity)
    return b.fail(unimplemented("a list at '", b.node(),
                                "' has no bound: compiled code needs to know how long it can get. Give the loop "
                                "maximum_iterations, or the list a size (max_num_elements)"));
  return b.fail(unimplemented("the shape of the elements of a list is not known at '", b.node(), "'; give element_shape where the list is made"));
}

List make(ir::Builder& b, DType dtype, std::optional<std::vector<Dim>> element, std::optional<Dim> capacity, Value length) {
  List l;
  l.dtype = dtype;
  l.element = std::move(element);
  l.capacity = std::move(capacity);
  l.length = b.convert(length, DType::kInt32);
  return l;
}

List from_tensor(ir::Builder& b, Value x) {
  List l;
  if (!x) return l;
  if (x->rank() < 1) {
    b.fail(invalid_argument("a list is made of a scalar at '", b.node(), "'"));
    return l;
  }
  l.dtype = x->type.dtype;
  l.buffer = x;
  l.capacity = x->dim(0);
  l.element.emplace(x->type.dims.begin() + 1, x->type.dims.end());
  l.length = b.sizes({x->dim(0)}, DType::kInt32, true);
  return l;
}

Value get(ir::Builder& b, List l, Value index, const std::string& message) {
  const Value x = buffer(b, l);
  if (!x || !index) return nullptr;
  check_inside(b, l, index, message);
  if (const Value item = known_item(b, l)) return item;
  std::vector<Dim> sizes = x->type.dims;
  sizes[0] = Dim(1);
  return b.reshape(b.dynamic_slice(x, row(b, index, x->rank()), sizes), *l.element);
}

List set(ir::Builder& b, List l, Value index, Value item, const std::string& message) {
  if (!item || !index) return l;
  know_element(b, l, item->type.dims);
  if (l.dtype == DType::kInvalid) l.dtype = item->type.dtype;
  const Value x = buffer(b, l);
  if (!x) return l;
  check_inside(b, l, index, message);
  l.same = List::Same::kMixed;
  l.buffer = b.dynamic_update(x, b.expand_dims(item, 0), row(b, index, x->rank()));
  return l;
}

List push(ir::Builder& b, List l, Value item) {
  if (!item || !l.length) return l;
  know_element(b, l, item->type.dims);
  if (l.dtype == DType::kInvalid) l.dtype = item->type.dtype;
  const Value at = l.length;
  see(b, l, item);
  l = with_buffer(b, std::move(l));
  if (l.buffer && at->known && *l.capacity == (*at->known)[0]) {
    // A list that was made full may still grow where its length is known.
    std::vector<Dim> none(l.buffer->type.dims.size(), Dim(0)), one = none;
    one[0] = Dim(1);
    l.buffer = b.pad(l.buffer, b.scalar(l.dtype, 0), none, one);
    l.capacity = *l.capacity + Dim(1);
  }
  if (l.buffer) {
    if (!at->known || !(*l.capacity - (*at->known)[0] - Dim(1)).nonnegative())
      b.check(b.compare(ir::Compare::kLt, at, b.sizes({*l.capacity}, DType::kInt32, true)),
              "Tried to push item into a full list. list size and max_num_elements are equal");
    l.buffer = b.dynamic_update(l.buffer, b.expand_dims(item, 0), row(b, at, l.buffer->rank()));
  }
  l.length = b.add(at, 1);  // without a buffer: the loop around learns that it grows
  return l;
}

std::pair<List, Value> pop(ir::Builder& b, List l) {
  const Value x = buffer(b, l);
  if (!x) return {l, nullptr};
  b.check(b.compare(ir::Compare::kGt, l.length, b.scalar_int(DType::kInt32, 0)), "Trying to pop from an empty list.");
  l.length = b.sub(l.length, 1);
  const Value item = get(b, l, l.length, "");
  return {l, item};
}

Value stack(ir::Builder& b, List l, std::optional<Dim> length) {
  const Value x = buffer(b, l);
  if (!x) return nullptr;
  if (!length && l.length && l.length->known) length = (*l.length->known)[0];
  if (!length)
    return b.fail(unimplemented("the length of the list that '", b.node(), "' stacks depends on data, which compiled code cannot have as a shape"));
  return b.slice_axis(x, 0, Dim(0), *length);
}

List add(ir::Builder& b, const List& x, const List& y) {
  List p = with_buffer(b, x), q = with_buffer(b, y);
  if (!p.buffer) return q;
  if (!q.buffer) return p;
  p.buffer = b.add(p.buffer, q.buffer);
  p.same = List::Same::kMixed;
  return p;
}

}  // namespace weft_engine::op::lists
