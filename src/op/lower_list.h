// Lists in compiled code: rows [0, length) of a buffer [capacity, element...]. TensorLists, and the version 1 TensorArrays and stacks,
// whose states hold them. A list whose elements or capacity are not known yet has no buffer: the first element, or the loop around
// it, tells.
#pragma once

#include "op/lower.h"

namespace weft_engine::op::lists {

using List = Lowered::List;

// With a buffer of zeros, if there is none and all that it takes is known.
List with_buffer(ir::Builder& b, List l);
// The buffer; null and an error that names the node and says what is missing.
ir::Value buffer(ir::Builder& b, List& l);
// A list of known length, its elements perhaps not known yet.
List make(ir::Builder& b, DType dtype, std::optional<std::vector<ir::Dim>> element, std::optional<ir::Dim> capacity, ir::Value length);
List from_tensor(ir::Builder& b, ir::Value x);
ir::Value get(ir::Builder& b, List l, ir::Value index, const std::string& message);
List set(ir::Builder& b, List l, ir::Value index, ir::Value item, const std::string& message);
List push(ir::Builder& b, List l, ir::Value item);
// What is left, and the last element.
std::pair<List, ir::Value> pop(ir::Builder& b, List l);
// [length, element...]; the length must be known.
ir::Value stack(ir::Builder& b, List l, std::optional<ir::Dim> length = std::nullopt);
List add(ir::Builder& b, const List& x, const List& y);
// What is known of the elements if they come from either.
void join_known(List& l, const List& other);
inline void take_known(List& l, const List& from) {
  l.same = from.same;
  l.known = from.known;
  l.item = from.item;
}
// The element's dims where they are given in full: an input that tells a shape (-1: not known).
std::optional<std::vector<ir::Dim>> element_of(const std::vector<ir::Dim>& shape);
// Takes what is known of the element's dims; an error where both know and differ.
void know_element(ir::Builder& b, List& l, const std::vector<ir::Dim>& dims);

}  // namespace weft_engine::op::lists
