// Branches, loops, messages and checks that work the same eagerly and inside weft::function. Eagerly they run the C++ code;
// while a function is traced each branch and body is traced once and becomes part of the graph, so what they do is decided when the
// function runs.
//
//   Tensor y = weft::cond(reduce_sum(x) > 0.f, [&] { return x * 2.f; }, [&] { return -x; });
//   auto [i, total] = weft::while_loop([&](Tensor i, Tensor) { return i < 10; },
//                                      [&](Tensor i, Tensor total) { return std::tuple(i + 1, total * x); }, std::tuple(Tensor(0), x));
//   Tensor squares = weft::map_fn([](Tensor row) { return row * row; }, rows);
//
// Results and loop variables are structures (weft/nest.h). Branches must give the same number of tensors of the same types.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/nest.h"
#include "weft/variable.h"

namespace weft {

struct WhileOptions {
  Tensor maximum_iterations = {};             // an int32; none: no limit
  int64_t parallel_iterations = 10;           // kept in the graph
  std::vector<PartialShape> shape_invariants = {};  // one for each tensor of the loop variables, for shapes that change
  std::string name = "while";
};
struct LoopOptions {
  int64_t parallel_iterations = 10;
  bool reverse = false;  // of scan and the folds: from the last element on
};

// For the library itself.
namespace flow {

// Structures as rows of tensors, with what is needed to put them together again.
struct Row {
  std::vector<Tensor> tensors;
  std::vector<std::string> layout;
  std::string key;
};
using Branch = std::function<Row()>;
using Step = std::function<Row(const std::vector<Tensor>&)>;
using Test = std::function<Tensor(const std::vector<Tensor>&)>;

WEFT_API Row cond(const Tensor& pred, const Branch& true_fn, const Branch& false_fn, const std::string& name);
WEFT_API Row switch_case(const Tensor& index, const std::vector<Branch>& branches, const std::string& name);
WEFT_API std::vector<Tensor> while_loop(const Test& condition, const Step& body, const Row& vars, const WhileOptions& options);
WEFT_API Row map_fn(const Step& f, const std::vector<Tensor>& elements, const LoopOptions& options);
// f gets the state's tensors, then those of an element; gives the state. No initial state: the first element.
WEFT_API Row scan(const Step& f, const std::vector<Tensor>& elements, const Row* initial, const LoopOptions& options);
WEFT_API Row fold(const Step& f, const std::vector<Tensor>& elements, const Row* initial, const LoopOptions& options);

// What is like a tensor (a variable, a gradient) is one; a number stays a plain value in structures, but is a tensor by itself.
template <class T>
using Structure = std::conditional_t<std::is_convertible_v<T, Tensor>, Tensor, std::decay_t<T>>;

template <class T>
Row row_of(const T& value) {
  nest::Flat flat;
  if constexpr (std::is_convertible_v<T, Tensor>) nest::flatten<Tensor>(Tensor(value), flat);
  else nest::flatten<T>(value, flat);
  return {std::move(flat.tensors), std::move(flat.layout), std::move(flat.key)};
}
template <class T>
Structure<T> read(const std::vector<Tensor>& tensors, const std::vector<std::string>& layout) {
  nest::Reader reader{tensors, layout};
  return nest::rebuild<Structure<T>>(reader);
}
template <class R, class F>
Branch branch(F& f) {
  return [&f]() -> Row {
    if constexpr (std::is_void_v<R>) {
      f();
      return {};
    } else {
      return row_of<Structure<R>>(Structure<R>(f()));
    }
  };
}
// The elements of a tuple or pair are arguments of their own; anything else is one argument.
template <class T>
struct Arguments {
  template <class F>
  static decltype(auto) call(F& f, T args) {
    return f(std::move(args));
  }
};
template <class... T>
struct Arguments<std::tuple<T...>> {
  template <class F>
  static decltype(auto) call(F& f, std::tuple<T...> args) {
    return std::apply(f, std::move(args));
  }
};
template <class A, class B>
struct Arguments<std::pair<A, B>> {
  template <class F>
  static decltype(auto) call(F& f, std::pair<A, B> args) {
    return f(std::move(args.first), std::move(args.second));
  }
};

}  // namespace flow

// true_fn() if pred is true, else false_fn().
template <class F, class G>
auto cond(const Tensor& pred, F&& true_fn, G&& false_fn, const std::string& name = "cond") {
  using R = std::invoke_result_t<F&>;
  static_assert(std::is_void_v<R> == std::is_void_v<std::invoke_result_t<G&>>, "both branches of cond must give a value, or none");
  flow::Row out = flow::cond(pred, flow::branch<R>(true_fn), flow::branch<R>(false_fn), name);
  if constexpr (!std::is_void_v<R>) return flow::read<R>(out.tensors, out.layout);
}

// branches[index](); the last one for an index that is out of range.
template <class F>
auto switch_case(const Tensor& index, const std::vector<F>& branches, const std::string& name = "switch_case") {
  using R = std::invoke_result_t<const F&>;
  std::vector<flow::Branch> list;
  for (const F& f : branches) list.push_back(flow::branch<R>(f));
  flow::Row out = flow::switch_case(index, list, name);
  if constexpr (!std::is_void_v<R>) return flow::read<R>(out.tensors, out.layout);
}

// As long as condition(vars...) is true, vars = body(vars...). The elements of a tuple or pair are arguments of their own.
template <class C, class B, class S>
flow::Structure<S> while_loop(C&& condition, B&& body, const S& vars, const WhileOptions& options = {}) {
  using State = flow::Structure<S>;
  const flow::Row row = flow::row_of<State>(State(vars));
  auto test = [&](const std::vector<Tensor>& t) -> Tensor { return flow::Arguments<State>::call(condition, flow::read<State>(t, row.layout)); };
  auto step = [&](const std::vector<Tensor>& t) -> flow::Row {
    return flow::row_of<State>(State(flow::Arguments<State>::call(body, flow::read<State>(t, row.layout))));
  };
  return flow::read<State>(flow::while_loop(test, step, row, options), row.layout);
}

// f of each row of the elements (a structure: the rows of its tensors together), stacked.
template <class F, class E>
auto map_fn(F&& f, const E& elements, const LoopOptions& options = {}) {
  using Element = flow::Structure<E>;
  const flow::Row row = flow::row_of<Element>(Element(elements));
  using R = decltype(flow::Arguments<Element>::call(f, std::declval<Element>()));
  using Result = flow::Structure<R>;
  auto step = [&](const std::vector<Tensor>& t) -> flow::Row {
    return flow::row_of<Result>(Result(flow::Arguments<Element>::call(f, flow::read<Element>(t, row.layout))));
  };
  const flow::Row out = flow::map_fn(step, row.tensors, options);
  return flow::read<Result>(out.tensors, out.layout);
}

// For the library itself.
namespace flow {

template <class State, class Element, class F>
Step state_step(F& f, const Row& elements, const Row& state, size_t n) {
  return [&f, &elements, &state, n](const std::vector<Tensor>& t) -> Row {
    const std::vector<Tensor> first(t.begin(), t.begin() + int64_t(n)), rest(t.begin() + int64_t(n), t.end());
    return row_of<State>(State(f(read<State>(first, state.layout), read<Element>(rest, elements.layout))));
  };
}

}  // namespace flow

// state = f(state, row) for each row of the elements; every state, stacked. Without an initial state it is the first row.
template <class F, class E, class S>
flow::Structure<S> scan(F&& f, const E& elements, const S& initial, const LoopOptions& options = {}) {
  using State = flow::Structure<S>;
  using Element = flow::Structure<E>;
  const flow::Row row = flow::row_of<Element>(Element(elements)), state = flow::row_of<State>(State(initial));
  const flow::Row out = flow::scan(flow::state_step<State, Element>(f, row, state, state.tensors.size()), row.tensors, &state, options);
  return flow::read<State>(out.tensors, state.layout);
}
template <class F, class E>
flow::Structure<E> scan(F&& f, const E& elements, const LoopOptions& options = {}) {
  using Element = flow::Structure<E>;
  const flow::Row row = flow::row_of<Element>(Element(elements));
  const flow::Row out = flow::scan(flow::state_step<Element, Element>(f, row, row, row.tensors.size()), row.tensors, nullptr, options);
  return flow::read<Element>(out.tensors, row.layout);
}
// The last state alone.
template <class F, class E, class S>
flow::Structure<S> foldl(F&& f, const E& elements, const S& initial, const LoopOptions& options = {}) {
  using State = flow::Structure<S>;
  using Element = flow::Structure<E>;
  const flow::Row row = flow::row_of<Element>(Element(elements)), state = flow::row_of<State>(State(initial));
  const flow::Row out = flow::fold(flow::state_step<State, Element>(f, row, state, state.tensors.size()), row.tensors, &state, options);
  return flow::read<State>(out.tensors, state.layout);
}
template <class F, class E>
flow::Structure<E> foldl(F&& f, const E& elements, const LoopOptions& options = {}) {
  using Element = flow::Structure<E>;
  const flow::Row row = flow::row_of<Element>(Element(elements));
  const flow::Row out = flow::fold(flow::state_step<Element, Element>(f, row, row, row.tensors.size()), row.tensors, nullptr, options);
  return flow::read<Element>(out.tensors, row.layout);
}
template <class F, class E, class... S>
auto foldr(F&& f, const E& elements, const S&... initial) {
  return foldl(std::forward<F>(f), elements, initial..., LoopOptions{.reverse = true});
}

struct PrintOptions {
  std::string output_stream = "stderr";  // "stdout", "log(info)", "log(warning)", "log(error)", "file:///path"
  std::string end = "\n", separator = " ";
  int64_t summarize = 3;  // elements at each end of a dimension; -1: all
};
// One thing to print: text as it is, a number, a tensor's value when the program gets here.
class WEFT_API Printed {
 public:
  Printed(const char* text) : text_(text) {}                    // NOLINT: implicit on purpose
  Printed(std::string text) : text_(std::move(text)) {}         // NOLINT
  Printed(Tensor t) : tensor_(std::move(t)) {}                  // NOLINT
  Printed(const Variable& v) : tensor_(v.value()) {}            // NOLINT
  Printed(bool v) : text_(v ? "True" : "False") {}              // NOLINT
  template <class T>
    requires std::is_integral_v<T>
  Printed(T v) : text_(std::to_string(v)) {}  // NOLINT
  template <class T>
    requires std::is_floating_point_v<T>
  Printed(T v) : text_(number(double(v))) {}  // NOLINT
  // What is printed: a text, or a tensor.
  const std::string& text() const { return text_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  static std::string number(double v);
  std::string text_;
  Tensor tensor_;
};
// As tf.print does: what is there, separated by spaces, tensors with their first and last elements.
WEFT_API void print(const std::vector<Printed>& what, const PrintOptions& options = {});

struct AssertOptions {
  std::string message = {};
  int64_t summarize = 3;
};
// InvalidArgument, with the data, unless the condition is true.
WEFT_API void assert_that(const Tensor& condition, const std::vector<Printed>& data, const AssertOptions& options = {});
// Of every pair of elements.
WEFT_API void assert_equal(const Tensor& x, const Tensor& y, const AssertOptions& options = {});
WEFT_API void assert_less(const Tensor& x, const Tensor& y, const AssertOptions& options = {});
WEFT_API void assert_less_equal(const Tensor& x, const Tensor& y, const AssertOptions& options = {});
WEFT_API void assert_greater(const Tensor& x, const Tensor& y, const AssertOptions& options = {});
WEFT_API void assert_greater_equal(const Tensor& x, const Tensor& y, const AssertOptions& options = {});

}  // namespace weft
