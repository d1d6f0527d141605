// Ops of a program's own: signature, documentation, shapes, gradient, kernel and lowering in one place.
//
// Header-only over C functions, so that the same source serves a program that links libweft, a library that `tf.load_op_library` loads, and both at once:
// such a library needs no other.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorflow/core/weft_abi.h"

namespace weft::op {

// An error that a kernel or rule throws to say more than "Internal": the codes are those of TF_Code.
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& message, TF_Code code = TF_INVALID_ARGUMENT) : std::runtime_error(message), code_(code) {}
  TF_Code code() const { return code_; }

 private:
  TF_Code code_;
};

namespace detail {

inline weft_text text(std::string_view s) { return {s.data(), s.size()}; }
inline std::string string(weft_text t) { return t.data ? std::string(t.data, t.size) : std::string(); }
inline std::span<const int64_t> dims(weft_dims d) { return {d.dims, d.rank < 0 ? 0 : size_t(d.rank)}; }
inline TF_Status* status(TF_Code code, const std::string& message) {
  TF_Status* s = TF_NewStatus();
  TF_SetStatus(s, code, message.c_str());
  return s;
}
inline void check(TF_Status* s) {
  if (!s) return;
  const Failure f(TF_Message(s), TF_GetCode(s));
  TF_DeleteStatus(s);
  throw f;
}
// What f throws, as a status: nothing is thrown through a C function.
template <class F>
TF_Status* guarded(F&& f) {
  try {
    f();
    return nullptr;
  } catch (const Failure& e) {
    return status(e.code(), e.what());
  } catch (const std::exception& e) {
    return status(TF_INTERNAL, e.what());
  } catch (...) {
    return status(TF_INTERNAL, "an exception of unknown type");
  }
}

template <class T>
inline constexpr int kDtype = 0;
template <>
inline constexpr int kDtype<float> = TF_FLOAT;
template <>
inline constexpr int kDtype<double> = TF_DOUBLE;
template <>
inline constexpr int kDtype<int32_t> = TF_INT32;
template <>
inline constexpr int kDtype<uint8_t> = TF_UINT8;
template <>
inline constexpr int kDtype<int16_t> = TF_INT16;
template <>
inline constexpr int kDtype<int8_t> = TF_INT8;
template <>
inline constexpr int kDtype<int64_t> = TF_INT64;
template <>
inline constexpr int kDtype<bool> = TF_BOOL;
template <>
inline constexpr int kDtype<uint16_t> = TF_UINT16;
template <>
inline constexpr int kDtype<uint32_t> = TF_UINT32;
template <>
inline constexpr int kDtype<uint64_t> = TF_UINT64;

inline const weft_attr* attr_of(const weft_node* node, std::string_view name, int kind) {
  const weft_attr* a = weft_node_attr(node, text(name));
  if (!a) throw Failure("there is no attribute " + std::string(name), TF_NOT_FOUND);
  if (weft_attr_kind(a) != kind) throw Failure("attribute " + std::string(name) + " is of another kind: " + string(weft_attr_kind_name(a)));
  return a;
}
// int64_t, float, bool or std::string.
template <class T>
T attribute(const weft_node* node, std::string_view name) {
  if constexpr (std::is_same_v<T, bool>) {
    return weft_attr_int(attr_of(node, name, WEFT_ATTR_BOOL), 0) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return T(weft_attr_int(attr_of(node, name, WEFT_ATTR_INT), 0));
  } else if constexpr (std::is_floating_point_v<T>) {
    return T(weft_attr_float(attr_of(node, name, WEFT_ATTR_FLOAT), 0));
  } else {
    return string(weft_attr_text(attr_of(node, name, WEFT_ATTR_STRING), 0));
  }
}

}  // namespace detail

// The elements of a tensor, row by row.
template <class T>
struct View {
  T* data = nullptr;
  int64_t size = 0;
  std::span<const int64_t> shape;
  T& operator[](int64_t i) const { return data[i]; }
  T* begin() const { return data; }
  T* end() const { return data + size; }
};

// One run of a kernel.
class Run {
 public:
  explicit Run(weft_run* run) : run_(run) {}
  int inputs() const { return weft_run_num_inputs(run_); }
  // Another element type than the input's is an error.
  template <class T>
  View<const T> input(int i) const {
    return view<const T>(weft_run_input(run_, i), "input", i);
  }
  // Memory for output i.
  template <class T>
  View<T> output(int i, std::span<const int64_t> shape) {
    detail::check(weft_run_allocate(run_, i, {shape.data(), int(shape.size())}));
    return view<T>(weft_run_output(run_, i), "output", i);
  }
  template <class T>
  View<T> output(int i, std::initializer_list<int64_t> shape) {
    return output<T>(i, std::span<const int64_t>(shape.begin(), shape.size()));
  }
  template <class T>
  T attr(std::string_view name) const {
    return detail::attribute<T>(weft_run_node(run_), name);
  }
  // f(begin, end) on parts of [0, n), on the engine's threads; an element takes about so many nanoseconds.
  void parallel_for(int64_t n, double nanoseconds, const std::function<void(int64_t, int64_t)>& f) const {
    const auto part = [](void* data, int64_t begin, int64_t end) { (*static_cast<const std::function<void(int64_t, int64_t)>*>(data))(begin, end); };
    weft_pool_for(weft_run_pool(run_), n, nanoseconds, part, const_cast<void*>(static_cast<const void*>(&f)));
  }

 private:
  template <class T>
  static View<T> view(const TF_Tensor* t, const char* what, int i) {
    if (!t) throw Failure(std::string("there is no ") + what + " " + std::to_string(i));
    weft_tensor_info info;
    weft_tensor_describe(t, &info);
    static_assert(detail::kDtype<std::remove_const_t<T>> != 0, "an element type that ops do not have");
    if (info.dtype != detail::kDtype<std::remove_const_t<T>>)
      throw Failure(std::string(what) + " " + std::to_string(i) + " has another element type");
    return {static_cast<T*>(info.data), info.elements, detail::dims(info.shape)};
  }
  weft_run* run_;
};

// What a shape rule sees. A shape is none where the rank is unknown, a size -1 where it is.
class Shapes {
 public:
  using Shape = std::optional<std::vector<int64_t>>;
  explicit Shapes(weft_shapes* s) : s_(s) {}
  Shape input(int i) const {
    const weft_dims d = weft_shapes_input(s_, i);
    if (d.rank < 0) return {};
    return std::vector<int64_t>(d.dims, d.dims + d.rank);
  }
  void output(int i, const Shape& shape) { weft_shapes_set_output(s_, i, {shape ? shape->data() : nullptr, shape ? int(shape->size()) : -1}); }
  template <class T>
  T attr(std::string_view name) const {
    return detail::attribute<T>(weft_shapes_node(s_), name);
  }

 private:
  weft_shapes* s_;
};

class Rule;

// A tensor while a rule is written: an op on it runs, is traced or is compiled, as the rule is used.
class Value {
 public:
  Value() = default;
  Value(Rule* rule, weft_value* v) : rule_(rule), v_(v) {}
  Rule* rule() const { return rule_; }
  weft_value* c_value() const { return v_; }

 private:
  Rule* rule_ = nullptr;
  weft_value* v_ = nullptr;
};

// An attribute of an op in a rule.
struct Attr {
  Attr(std::string_view name, bool v) : name(name), kind(WEFT_ATTR_BOOL), number(v) {}
  Attr(std::string_view name, int v) : name(name), kind(WEFT_ATTR_INT), number(v) {}
  Attr(std::string_view name, int64_t v) : name(name), kind(WEFT_ATTR_INT), number(v) {}
  Attr(std::string_view name, TF_DataType v) : name(name), kind(WEFT_ATTR_TYPE), number(v) {}
  Attr(std::string_view name, float v) : name(name), kind(WEFT_ATTR_FLOAT), real(v) {}
  Attr(std::string_view name, const char* v) : name(name), kind(WEFT_ATTR_STRING), text(v) {}
  Attr(std::string_view name, std::vector<int64_t> v) : name(name), kind(int(WEFT_ATTR_LIST) + int(WEFT_ATTR_INT)), list(std::move(v)) {}
  std::string_view name;
  int kind;
  int64_t number = 0;
  float real = 0;
  std::string_view text;
  std::vector<int64_t> list;
};

// A gradient or a lowering: the op in terms of others.
class Rule {
 public:
  explicit Rule(weft_rule* r) : r_(r) {}
  Value x(int i = 0) { return value(WEFT_RULE_INPUT, i); }
  Value y(int i = 0) { return value(WEFT_RULE_OUTPUT, i); }  // of gradients
  Value dy(int i = 0) { return value(WEFT_RULE_GRADIENT, i); }  // of gradients; zeros where nothing flows
  // For input i (gradients; an input without one has none) or output i (lowerings).
  void result(int i, const Value& v) { weft_rule_result(r_, i, v.c_value()); }
  template <class T>
  T attr(std::string_view name) const {
    return detail::attribute<T>(weft_rule_node(r_), name);
  }
  // Output `output` of any op.
  Value call(std::string_view op, std::initializer_list<Value> inputs, std::initializer_list<Attr> attrs = {}, int output = 0) {
    std::vector<weft_value*> in;
    for (const Value& v : inputs) in.push_back(v.c_value());
    std::vector<weft_rule_attr> with;
    for (const Attr& a : attrs) with.push_back({detail::text(a.name), a.kind, a.number, a.real, detail::text(a.text), a.list.data(), a.list.size()});
    return made(weft_rule_apply(r_, detail::text(op), in.data(), in.size(), with.data(), with.size(), output));
  }
  // A scalar of the element type of another value.
  Value scalar(double v, const Value& like) {
    const int dtype = weft_value_dtype(like.c_value());
    const int kept = dtype == TF_DOUBLE || dtype == TF_INT32 || dtype == TF_INT64 ? dtype : TF_FLOAT;
    TF_Tensor* t = nullptr;
    detail::check(weft_tensor_allocate(kept, {nullptr, 0}, &t));
    weft_tensor_info info;
    weft_tensor_describe(t, &info);
    switch (kept) {
      case TF_DOUBLE: *static_cast<double*>(info.data) = v; break;
      case TF_INT32: *static_cast<int32_t*>(info.data) = int32_t(v); break;
      case TF_INT64: *static_cast<int64_t*>(info.data) = int64_t(v); break;
      default: *static_cast<float*>(info.data) = float(v);
    }
    weft_value* c = weft_rule_constant(r_, t);
    TF_DeleteTensor(t);
    return kept == dtype ? made(c) : call("Cast", {made(c)}, {{"DstT", TF_DataType(dtype)}});
  }

 private:
  // The reason is with the rule, whose end reports it.
  struct Stop {};
  friend struct Callbacks;
  Value made(weft_value* v) {
    if (!v) throw Stop();
    return {this, v};
  }
  Value value(int which, int i) { return made(weft_rule_value(r_, which, i)); }
  weft_rule* r_;
};

inline Value operator+(const Value& a, const Value& b) { return a.rule()->call("AddV2", {a, b}); }
inline Value operator-(const Value& a, const Value& b) { return a.rule()->call("Sub", {a, b}); }
inline Value operator*(const Value& a, const Value& b) { return a.rule()->call("Mul", {a, b}); }
inline Value operator/(const Value& a, const Value& b) { return a.rule()->call("RealDiv", {a, b}); }
inline Value operator+(const Value& a, double b) { return a + a.rule()->scalar(b, a); }
inline Value operator-(const Value& a, double b) { return a - a.rule()->scalar(b, a); }
inline Value operator*(const Value& a, double b) { return a * a.rule()->scalar(b, a); }
inline Value operator/(const Value& a, double b) { return a / a.rule()->scalar(b, a); }
inline Value operator+(double a, const Value& b) { return b.rule()->scalar(a, b) + b; }
inline Value operator-(double a, const Value& b) { return b.rule()->scalar(a, b) - b; }
inline Value operator*(double a, const Value& b) { return b.rule()->scalar(a, b) * b; }
inline Value operator/(double a, const Value& b) { return b.rule()->scalar(a, b) / b; }
inline Value operator-(const Value& a) { return a.rule()->call("Neg", {a}); }
inline Value abs(const Value& a) { return a.rule()->call("Abs", {a}); }
inline Value exp(const Value& a) { return a.rule()->call("Exp", {a}); }
inline Value log(const Value& a) { return a.rule()->call("Log", {a}); }
inline Value sqrt(const Value& a) { return a.rule()->call("Sqrt", {a}); }
inline Value square(const Value& a) { return a.rule()->call("Square", {a}); }
inline Value tanh(const Value& a) { return a.rule()->call("Tanh", {a}); }

using Kernel = std::function<void(Run&)>;

// How the engine calls what an op is made of.
struct Callbacks {
  static TF_Status* shape(void* f, weft_shapes* s) {
    return detail::guarded([&] {
      Shapes shapes(s);
      (*static_cast<std::function<void(Shapes&)>*>(f))(shapes);
    });
  }
  static TF_Status* rule(void* f, weft_rule* r) {
    return detail::guarded([&] {
      Rule rule(r);
      try {
        (*static_cast<std::function<void(Rule&)>*>(f))(rule);
      } catch (const Rule::Stop&) {
      }
    });
  }
  static void* create(void* kernel, weft_construction*, int* asynchronous) {
    *asynchronous = 0;
    return kernel;
  }
  static TF_Status* compute(void* kernel, weft_run* r) {
    return detail::guarded([&] {
      Run run(r);
      (*static_cast<Kernel*>(kernel))(run);
    });
  }
  static void destroy(void*) {}  // kernels have no state and stay
};

// What an op is made of; `static const weft::Op name = weft::define_op("Name")....;` registers it.
class Definition {
 public:
  explicit Definition(std::string name) : name_(std::move(name)) {}
  // As in TensorFlow's op definitions: "x: T", "values: N * T", "T: {float, double} = DT_FLOAT".
  Definition& input(std::string s) { return inputs_.push_back(std::move(s)), *this; }
  Definition& output(std::string s) { return outputs_.push_back(std::move(s)), *this; }
  Definition& attr(std::string s) { return attrs_.push_back(std::move(s)), *this; }
  Definition& doc(std::string s) { return doc_ = std::move(s), *this; }
  Definition& stateful() { return stateful_ = true, *this; }
  Definition& shape(std::function<void(Shapes&)> f) { return shape_ = std::move(f), *this; }
  // Every output has the shape of the first input.
  Definition& same_shape() {
    const int n = int(outputs_.size());
    return shape([n](Shapes& s) {
      for (int i = 0; i < n; ++i) s.output(i, s.input(0));
    });
  }
  Definition& gradient(std::function<void(Rule&)> f) { return gradient_ = std::move(f), *this; }
  // In terms of ops that the compiler knows: the op is then fused, compiled ahead of time, and runs where they do.
  Definition& lowering(std::function<void(Rule&)> f) { return lowering_ = std::move(f), *this; }
  // For all types.
  Definition& kernel(Kernel f) { return kernels_.push_back({"", 0, std::move(f)}), *this; }
  // f(run, T()) for each of these values of a type attribute.
  template <class... T, class F>
  Definition& kernel(const std::string& type_attr, F f) {
    static_assert(((detail::kDtype<T> != 0) && ...), "an element type that ops do not have");
    (kernels_.push_back({type_attr, detail::kDtype<T>, [f](Run& run) { f(run, T()); }}), ...);
    return *this;
  }

  void register_op() const {
    const auto inputs = texts(inputs_), outputs = texts(outputs_), attrs = texts(attrs_);
    weft_op_def def{};
    def.name = detail::text(name_), def.doc = detail::text(doc_);
    def.inputs = inputs.data(), def.num_inputs = inputs.size();
    def.outputs = outputs.data(), def.num_outputs = outputs.size();
    def.attrs = attrs.data(), def.num_attrs = attrs.size();
    def.stateful = stateful_;
    if (shape_) def.shape = Callbacks::shape, def.data = new std::function<void(Shapes&)>(shape_);
    if (gradient_) def.gradient = Callbacks::rule, def.gradient_data = new std::function<void(Rule&)>(gradient_);
    if (lowering_) def.lowering = Callbacks::rule, def.lowering_data = new std::function<void(Rule&)>(lowering_);
    weft_register_op(&def);
    for (const TypedKernel& k : kernels_) {
      weft_kernel_def kernel{};
      const weft_type_constraint constraint = {detail::text(k.attr), &k.dtype, 1};
      kernel.op = detail::text(name_), kernel.device = detail::text("CPU");
      if (!k.attr.empty()) kernel.constraints = &constraint, kernel.num_constraints = 1;
      kernel.data = new Kernel(k.f);
      kernel.create = Callbacks::create, kernel.compute = Callbacks::compute, kernel.destroy = Callbacks::destroy;
      weft_register_kernel(&kernel);
    }
  }

 private:
  struct TypedKernel {
    std::string attr;
    int dtype;
    Kernel f;
  };
  static std::vector<weft_text> texts(const std::vector<std::string>& list) {
    std::vector<weft_text> out;
    for (const std::string& s : list) out.push_back(detail::text(s));
    return out;
  }
  std::string name_, doc_;
  std::vector<std::string> inputs_, outputs_, attrs_;
  bool stateful_ = false;
  std::function<void(Shapes&)> shape_;
  std::function<void(Rule&)> gradient_, lowering_;
  std::vector<TypedKernel> kernels_;
};

}  // namespace weft::op

namespace weft {

// An op that is registered; for ever, as all ops.
class Op {
 public:
  Op(const op::Definition& definition) { definition.register_op(); }  // NOLINT: the end of a chain of calls
};

// ```cpp
// static const weft::Op double_it = weft::define_op("DoubleIt").input("x: float").output("y: float").same_shape().kernel([](weft::op::Run& run) {
//   const auto x = run.input<float>(0);
//   const auto y = run.output<float>(0, x.shape);
//   for (int64_t i = 0; i < x.size; ++i) y[i] = 2 * x[i];
// });
// ```
inline op::Definition define_op(std::string name) { return op::Definition(std::move(name)); }

}  // namespace weft
