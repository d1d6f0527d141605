#include "op/emit.h"
#include "trace/control_flow.h"

#include "api/unwrap.h"
#include "weft/control_flow.h"
#include "weft/math.h"
#include "weft/raw/array.h"
#include "weft/raw/control_flow.h"
#include "weft/raw/list.h"
#include "weft/raw/math.h"
#include "weft/raw/strings.h"

namespace weft::flow {

using api::check;

namespace {

trace::FuncGraph* here() { return trace::FuncGraph::current(); }

// A condition as C++ has it.
bool bool_value(const Tensor& t) {
  const core::Tensor& v = api::value_of(t);
  if (v.num_elements() != 1)
    check(core::invalid_argument(v.num_elements() == 0
                                     ? "The truth value of an empty array is ambiguous."
                                     : "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"));
  if (v.dtype() == core::DType::kBool) return v.data<bool>()[0];
  if (v.dtype() == core::DType::kString) return !v.data<core::tstring>()[0].str().empty();
  return cast(t, DType::boolean).item<bool>();
}

// Code over tensors as the engine calls it.
trace::TracedCode traced(const Step& f, Row* shape_of_result = nullptr) {
  return [&f, shape_of_result](std::span<const op::Value> in) {
    std::vector<Tensor> tensors;
    for (const op::Value& v : in) tensors.push_back(api::from_value(v));
    Row out = f(tensors);
    for (size_t i = 0; i < out.tensors.size(); ++i) {
      if (!out.tensors[i].has_value()) check(core::invalid_argument("result ", i, " of a branch or loop body has no value"));
    }
    std::vector<op::Value> values = api::to_values(out.tensors);
    if (shape_of_result) *shape_of_result = std::move(out);
    return values;
  };
}

Row branches(const Tensor& choice, bool as_if, const std::vector<const Branch*>& list, const std::string& name) {
  std::vector<Row> rows(list.size());
  std::vector<Step> steps;
  for (const Branch* b : list) steps.push_back([b](const std::vector<Tensor>&) { return (*b)(); });
  std::vector<trace::TracedCode> code;
  for (size_t i = 0; i < list.size(); ++i) code.push_back(traced(steps[i], &rows[i]));
  auto out = api::unwrap(trace::add_branches(*here(), api::to_value(choice), as_if, code, name));
  for (size_t k = 1; k < rows.size(); ++k) {
    if (rows[k].key != rows[0].key || rows[k].layout != rows[0].layout) {
      const std::string first = as_if ? "true_fn" : "branches[0]", other = as_if ? "false_fn" : core::cat("branches[", k, "]");
      check(core::invalid_argument(first, " and ", other, " arguments to tf.", as_if ? "cond" : "switch_case",
                                   " must have the same number, type, and overall structure of return values."));
    }
  }
  return {api::from_values(out), std::move(rows[0].layout), std::move(rows[0].key)};
}

}  // namespace

Row cond(const Tensor& pred, const Branch& true_fn, const Branch& false_fn, const std::string& name) {
  if (!here()) return bool_value(pred) ? true_fn() : false_fn();
  return branches(pred, true, {&true_fn, &false_fn}, name);
}

Row switch_case(const Tensor& index, const std::vector<Branch>& list, const std::string& name) {
  if (list.empty()) check(core::invalid_argument("Must provide at least one item in 'branch_fns'"));
  if (index.dtype() != DType::int32 && index.dtype() != DType::int64)
    check(core::invalid_argument("'branch_index' must be an integer Tensor, got ", weft::to_string(index.dtype())));
  const Tensor i = index.dtype() == DType::int32 ? index : cast(index, DType::int32);
  if (!here()) {
    const int32_t at = i.item<int32_t>();
    return at < 0 || at >= int32_t(list.size()) ? list.back()() : list[size_t(at)]();
  }
  std::vector<const Branch*> pointers;
  for (const Branch& b : list) pointers.push_back(&b);
  return branches(i, false, pointers, name);
}

namespace {

Row as_row(std::vector<Tensor> t) { return {std::move(t), {}, {}}; }

std::vector<Tensor> loop_in_graph(const Test& condition, const Step& body, const std::vector<Tensor>& vars, const WhileOptions& o) {
  trace::LoopOptions inner;
  if (o.maximum_iterations.has_value()) {
    Tensor limit = o.maximum_iterations.dtype() == DType::int32 ? o.maximum_iterations : cast(o.maximum_iterations, DType::int32);
    const core::PartialShape shape = api::rep_of(limit)->shape();
    if (shape.has_rank() && shape.rank() > 0) check(core::invalid_argument("maximum_iterations must be a scalar, saw shape: ", shape));
    inner.maximum_iterations = api::to_value(limit);
  }
  inner.parallel_iterations = o.parallel_iterations;
  for (const PartialShape& s : o.shape_invariants) inner.shape_invariants.push_back(api::inner_shape(s));
  inner.name = o.name;
  const Step test = [&](const std::vector<Tensor>& t) { return as_row({condition(t)}); };
  return api::from_values(api::unwrap(trace::add_loop(*here(), traced(test), traced(body), api::to_values(vars), inner)));
}

}  // namespace

std::vector<Tensor> while_loop(const Test& condition, const Step& body, const Row& vars, const WhileOptions& o) {
  if (vars.tensors.empty()) check(core::invalid_argument("No loop variables provided"));
  const Step checked = [&](const std::vector<Tensor>& t) {
    Row out = body(t);
    if (out.key != vars.key || out.layout != vars.layout)
      check(core::invalid_argument(
          "The two structures don't have the same nested structure.\n\nThe body of the loop gives another structure than its variables have: ",
          out.tensors.size(), " tensors for ", vars.tensors.size()));
    return out;
  };
  if (here()) return loop_in_graph(condition, checked, vars.tensors, o);
  std::vector<Tensor> state = vars.tensors;
  int64_t left = -1;
  if (o.maximum_iterations.has_value()) left = std::max<int64_t>(0, cast(o.maximum_iterations, DType::int64).item<int64_t>());
  while (left != 0 && bool_value(condition(state))) {
    state = checked(state).tensors;
    if (left > 0) --left;
  }
  return state;
}

// ---- loops over rows ----------------------------------------------------------------------------

namespace {

Tensor ints(const std::vector<int32_t>& v) { return Tensor::of<int32_t>({int64_t(v.size())}, std::span<const int32_t>(v)); }

// The shape of what is put into a list, -1 where it is open.
Tensor element_shape(const PartialShape& s) {
  if (!s.known_rank) return Tensor(int32_t(-1));
  std::vector<int32_t> dims;
  for (int64_t d : s.dims) dims.push_back(int32_t(d));
  return ints(dims);
}

struct Rows {
  std::vector<Tensor> elements;
  int64_t known = -1;           // how many rows, where that is known
  Tensor count;                 // the same as an int32
  std::vector<PartialShape> row_shapes;
  std::vector<DType> types;

  explicit Rows(const std::vector<Tensor>& e) : elements(e) {
    if (e.empty()) check(core::invalid_argument("elems must be a Tensor or (possibly nested) sequence of Tensors. Got none"));
    for (const Tensor& t : e) {
      const PartialShape s = t.partial_shape();
      if (s.known_rank && s.dims.empty()) check(core::invalid_argument("Elements in elems must be 1+ dimensional Tensors, not scalars"));
      if (s.known_rank && s.dims[0] >= 0) {
        if (known >= 0 && known != s.dims[0]) check(core::invalid_argument("Dimensions ", known, " and ", s.dims[0], " are not compatible"));
        known = s.dims[0];
      }
      row_shapes.push_back(s.known_rank ? PartialShape(std::vector<int64_t>(s.dims.begin() + 1, s.dims.end())) : PartialShape());
      types.push_back(t.dtype());
    }
    if (known > INT32_MAX) check(core::invalid_argument(known, " rows are more than a loop can count"));
    if (known >= 0) count = Tensor(int32_t(known));
    else count = raw::StridedSlice(raw::Shape(e[0]), ints({0}), ints({1}), ints({1}), {.shrink_axis_mask = 1});
  }

  // Lists of the rows, made in front of a loop. (A gather in the loop would add up gradients as large as all rows, each time.)
  std::vector<Tensor> lists() const {
    std::vector<Tensor> out;
    for (size_t i = 0; i < elements.size(); ++i) out.push_back(raw::TensorListFromTensor(elements[i], element_shape(row_shapes[i])));
    return out;
  }
  std::vector<Tensor> row(const std::vector<Tensor>& lists, const Tensor& i) const {
    std::vector<Tensor> out;
    for (size_t k = 0; k < lists.size(); ++k) out.push_back(raw::TensorListGetItem(lists[k], i, element_shape(row_shapes[k]), types[k]));
    return out;
  }
  // Eagerly: all rows, by element.
  std::vector<std::vector<Tensor>> unstacked() const {
    std::vector<std::vector<Tensor>> by_row(size_t(std::max<int64_t>(known, 0)));
    for (const Tensor& t : elements) {
      auto rows = raw::Unpack(t, known, {.axis = 0});
      for (size_t i = 0; i < by_row.size(); ++i) by_row[i].push_back(std::move(rows[i]));
    }
    return by_row;
  }
};

// What a step gives for rows of these types and shapes: traced, and thrown away.
struct Given {
  Row row;
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
};
Given ask(const Step& f, const std::vector<DType>& types, const std::vector<PartialShape>& shapes) {
  auto g = trace::FuncGraph::make(api::context(), "asked", here());
  std::vector<Tensor> arguments;
  for (size_t i = 0; i < types.size(); ++i)
    arguments.push_back(api::from_value(api::unwrap(g->add_argument("row", api::inner_type(types[i]), api::inner_shape(shapes[i])))));
  Given out;
  trace::Entered inside(g.get());
  out.row = f(arguments);
  for (const Tensor& t : out.row.tensors) {
    if (!t.has_value()) check(core::invalid_argument("a function over rows gave a result without a value"));
    out.types.push_back(t.dtype());
    out.shapes.push_back(t.partial_shape());
  }
  return out;
}

Tensor reserve(const Tensor& count, DType type, const PartialShape& shape) { return raw::TensorListReserve(element_shape(shape), count, type); }
Tensor set_item(const Tensor& list, const Tensor& i, const Tensor& item) { return raw::TensorListSetItem(list, i, item); }
Tensor stacked(const Tensor& list, DType type, const PartialShape& shape, int64_t known) {
  return raw::TensorListStack(list, element_shape(shape), type, {.num_elements = known});
}
Tensor no_rows(DType type, const PartialShape& shape) {
  std::vector<int64_t> dims{0};
  for (int64_t d : shape.dims) dims.push_back(std::max<int64_t>(d, 0));
  return zeros(dims, type);
}

std::vector<Tensor> slice(const std::vector<Tensor>& v, size_t from, size_t to) { return {v.begin() + int64_t(from), v.begin() + int64_t(to)}; }

}  // namespace

Row map_fn(const Step& f, const std::vector<Tensor>& elements, const LoopOptions& o) {
  const Rows rows(elements);
  if (!here()) {
    if (rows.known == 0) {
      Given g = ask(f, rows.types, rows.row_shapes);
      Row out{{}, std::move(g.row.layout), std::move(g.row.key)};
      for (size_t i = 0; i < g.types.size(); ++i) out.tensors.push_back(no_rows(g.types[i], g.shapes[i]));
      return out;
    }
    std::vector<std::vector<Tensor>> columns;
    Row first;
    for (const auto& row : rows.unstacked()) {
      Row got = f(row);
      columns.resize(got.tensors.size());
      for (size_t k = 0; k < got.tensors.size(); ++k) columns[k].push_back(got.tensors[k]);
      first = std::move(got);
    }
    for (size_t k = 0; k < columns.size(); ++k) first.tensors[k] = stack(columns[k]);
    return first;
  }
  Given g = ask(f, rows.types, rows.row_shapes);
  std::vector<Tensor> vars{Tensor(int32_t(0))};
  for (size_t k = 0; k < g.types.size(); ++k) vars.push_back(reserve(rows.count, g.types[k], g.shapes[k]));
  const auto lists = rows.lists();
  const Test more = [&](const std::vector<Tensor>& v) { return v[0] < rows.count; };
  const Step body = [&](const std::vector<Tensor>& v) {
    Row got = f(rows.row(lists, v[0]));
    std::vector<Tensor> out{v[0] + Tensor(int32_t(1))};
    for (size_t k = 0; k < got.tensors.size(); ++k) out.push_back(set_item(v[k + 1], v[0], got.tensors[k]));
    return as_row(std::move(out));
  };
  auto done = loop_in_graph(more, body, vars, {.parallel_iterations = o.parallel_iterations, .name = "map"});
  Row out{{}, std::move(g.row.layout), std::move(g.row.key)};
  for (size_t k = 0; k < g.types.size(); ++k) out.tensors.push_back(stacked(done[k + 1], g.types[k], g.shapes[k], rows.known));
  return out;
}

namespace {

// Scan and the folds: with and without what was on the way.
Row accumulate(const Step& f, const std::vector<Tensor>& elements, const Row* initial, const LoopOptions& o, bool keep_all) {
  const Rows rows(elements);
  const size_t n = initial ? initial->tensors.size() : elements.size();
  if (rows.known == 0 && !initial) check(core::Status(core::Code::kOutOfRange, "Tried to read from index 0 but array size is: 0"));
  if (!here()) {
    auto list = rows.unstacked();
    if (o.reverse) std::reverse(list.begin(), list.end());
    std::vector<Tensor> state = initial ? initial->tensors : list[0];
    std::vector<std::vector<Tensor>> all;
    if (!initial) all.push_back(state);
    for (size_t i = initial ? 0 : 1; i < list.size(); ++i) {
      std::vector<Tensor> arguments = state;
      arguments.insert(arguments.end(), list[i].begin(), list[i].end());
      state = f(arguments).tensors;
      if (keep_all) all.push_back(state);
    }
    if (!keep_all) return as_row(std::move(state));
    if (o.reverse) std::reverse(all.begin(), all.end());
    std::vector<Tensor> out;
    for (size_t k = 0; k < n; ++k) {
      std::vector<Tensor> column;
      for (const auto& s : all) column.push_back(s[k]);
      out.push_back(column.empty() ? no_rows(state[k].dtype(), state[k].partial_shape()) : stack(column));
    }
    return as_row(std::move(out));
  }
  const auto lists = rows.lists();
  const Tensor one(int32_t(1)), last = rows.count - one;
  const Tensor first_row = o.reverse ? last : Tensor(int32_t(0));
  const Tensor step = o.reverse ? -one : one;
  std::vector<Tensor> state = initial ? initial->tensors : rows.row(lists, first_row);
  std::vector<Tensor> vars{initial ? first_row : first_row + step};
  vars.insert(vars.end(), state.begin(), state.end());
  if (keep_all) {
    for (size_t k = 0; k < n; ++k) {
      Tensor list = reserve(rows.count, state[k].dtype(), state[k].partial_shape());
      vars.push_back(initial ? list : set_item(list, first_row, state[k]));
    }
  }
  const Test more = [&](const std::vector<Tensor>& v) { return o.reverse ? v[0] >= Tensor(int32_t(0)) : v[0] < rows.count; };
  const Step body = [&](const std::vector<Tensor>& v) {
    std::vector<Tensor> arguments = slice(v, 1, 1 + n);
    for (Tensor& t : rows.row(lists, v[0])) arguments.push_back(std::move(t));
    const std::vector<Tensor> next = f(arguments).tensors;
    std::vector<Tensor> out{v[0] + step};
    out.insert(out.end(), next.begin(), next.end());
    for (size_t k = 0; keep_all && k < n; ++k) out.push_back(set_item(v[1 + n + k], v[0], next[k]));
    return as_row(std::move(out));
  };
  auto done = loop_in_graph(more, body, vars, {.parallel_iterations = o.parallel_iterations, .name = keep_all ? "scan" : "fold"});
  if (!keep_all) return as_row(slice(done, 1, 1 + n));
  std::vector<Tensor> out;
  for (size_t k = 0; k < n; ++k) out.push_back(stacked(done[1 + n + k], state[k].dtype(), state[k].partial_shape(), rows.known));
  return as_row(std::move(out));
}

}  // namespace

Row scan(const Step& f, const std::vector<Tensor>& elements, const Row* initial, const LoopOptions& o) {
  return accumulate(f, elements, initial, o, true);
}
Row fold(const Step& f, const std::vector<Tensor>& elements, const Row* initial, const LoopOptions& o) {
  return accumulate(f, elements, initial, o, false);
}

}  // namespace weft::flow

namespace weft {

std::string Printed::number(double v) {
  char digits[40];
  for (int precision = 1; precision <= 17; ++precision) {
    snprintf(digits, sizeof digits, "%.*g", precision, v);
    if (std::strtod(digits, nullptr) == v) break;
  }
  std::string text = digits;
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

void print(const std::vector<Printed>& what, const PrintOptions& o) {
  std::string all;
  for (const Printed& p : what) all += p.text();
  std::string placeholder = "{}";
  while (all.find(placeholder) != std::string::npos || o.separator.find(placeholder) != std::string::npos) placeholder = "{" + placeholder + "}";
  std::string text;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < what.size(); ++i) {
    if (i) text += o.separator;
    if (what[i].tensor().has_value()) tensors.push_back(what[i].tensor());
    text += what[i].tensor().has_value() ? placeholder : what[i].text();
  }
  Tensor line = raw::StringFormat(tensors, {.template_ = text, .placeholder = placeholder, .summarize = o.summarize});
  raw::PrintV2(line, {.output_stream = o.output_stream, .end = o.end});
}

void assert_that(const Tensor& condition, const std::vector<Printed>& data, const AssertOptions& o) {
  std::vector<Tensor> tensors;
  if (!o.message.empty()) tensors.emplace_back(o.message);
  for (const Printed& p : data) tensors.push_back(p.tensor().has_value() ? p.tensor() : Tensor(p.text()));
  if (tensors.empty()) tensors.emplace_back("");
  raw::Assert(condition, tensors, {.summarize = o.summarize});
}

namespace {

void assert_all(const Tensor& each, const char* sign, const Tensor& x, const Tensor& y, const AssertOptions& o) {
  const Tensor axes = raw::Range(Tensor(int32_t(0)), raw::Rank(each), Tensor(int32_t(1)));
  const Tensor all = raw::All(each, axes);
  assert_that(all, {core::cat("Condition x ", sign, " y did not hold element-wise:"), "x = ", x, "y = ", y}, o);
}

}  // namespace

void assert_equal(const Tensor& x, const Tensor& y, const AssertOptions& o) { assert_all(x == y, "==", x, y, o); }
void assert_less(const Tensor& x, const Tensor& y, const AssertOptions& o) { assert_all(x < y, "<", x, y, o); }
void assert_less_equal(const Tensor& x, const Tensor& y, const AssertOptions& o) { assert_all(x <= y, "<=", x, y, o); }
void assert_greater(const Tensor& x, const Tensor& y, const AssertOptions& o) { assert_all(x > y, ">", x, y, o); }
void assert_greater_equal(const Tensor& x, const Tensor& y, const AssertOptions& o) { assert_all(x >= y, ">=", x, y, o); }

}  // namespace weft
