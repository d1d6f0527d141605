// weft::GradientTape: records ops while it lives, and gives gradients.
//
//   weft::GradientTape tape;
//   weft::Tensor loss = weft::reduce_mean(weft::square(weft::matmul(x, w) - y));
//   auto [dw, db] = tape.gradient(loss, std::pair(w, b));
//
// Trainable variables are watched when they are read; tensors when watch() says so. Works inside weft::function, and over
// calls of such functions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "weft/variable.h"

namespace weft {

// A gradient: nothing (not connected), a tensor, or slices (of a gather), which become a tensor where one is needed.
class WEFT_API Gradient {
 public:
  Gradient() = default;
  Gradient(Tensor t) : tensor_(std::move(t)) {}                            // NOLINT: implicit on purpose
  Gradient(IndexedSlices s) : slices_(std::move(s)), is_slices_(true) {}   // NOLINT
  // Whether there is a gradient.
  bool has_value() const { return is_slices_ || tensor_.has_value(); }
  explicit operator bool() const { return has_value(); }
  // Whether it is of a gather: slices by index.
  bool is_slices() const { return is_slices_; }
  const IndexedSlices& slices() const { return slices_; }
  Tensor dense() const;  // throws where there is none
  operator Tensor() const { return dense(); }  // NOLINT

 private:
  Tensor tensor_;
  IndexedSlices slices_;
  bool is_slices_ = false;
};

enum class UnconnectedGradients { none, zero };

struct TapeOptions {
  bool persistent = false;  // several questions may be asked
  bool watch_accessed_variables = true;
};
struct GradientOptions {
  std::vector<Tensor> output_gradients = {};  // one for each target; empty: ones
  UnconnectedGradients unconnected = UnconnectedGradients::none;
};
struct JacobianOptions {
  UnconnectedGradients unconnected = UnconnectedGradients::none;
  bool vectorize = true;  // one batched walk back where every op on the way allows it; else, and where not, a loop
};

namespace tape_detail {

// Sources: a Tensor or a Variable, or containers of them; the result has the same form.
struct Source {
  Tensor tensor;
  Variable variable;
};
template <class S>
struct Form;
template <>
struct Form<Tensor> {
  using Result = Gradient;
  static void add(const Tensor& t, std::vector<Source>& out) { out.push_back({t, {}}); }
  static Gradient take(const Tensor&, std::vector<Gradient>& in, size_t& at) { return std::move(in[at++]); }
};
template <>
struct Form<Variable> {
  using Result = Gradient;
  static void add(const Variable& v, std::vector<Source>& out) { out.push_back({{}, v}); }
  static Gradient take(const Variable&, std::vector<Gradient>& in, size_t& at) { return std::move(in[at++]); }
};
template <class S>
struct Form<std::vector<S>> {
  using Result = std::vector<typename Form<S>::Result>;
  static void add(const std::vector<S>& list, std::vector<Source>& out) {
    for (const S& s : list) Form<S>::add(s, out);
  }
  static Result take(const std::vector<S>& list, std::vector<Gradient>& in, size_t& at) {
    Result r;
    for (const S& s : list) r.push_back(Form<S>::take(s, in, at));
    return r;
  }
};
template <class S>
struct Form<std::map<std::string, S>> {
  using Result = std::map<std::string, typename Form<S>::Result>;
  static void add(const std::map<std::string, S>& m, std::vector<Source>& out) {
    for (const auto& [name, s] : m) Form<S>::add(s, out);
  }
  static Result take(const std::map<std::string, S>& m, std::vector<Gradient>& in, size_t& at) {
    Result r;
    for (const auto& [name, s] : m) r.emplace(name, Form<S>::take(s, in, at));
    return r;
  }
};
template <class A, class B>
struct Form<std::pair<A, B>> {
  using Result = std::pair<typename Form<A>::Result, typename Form<B>::Result>;
  static void add(const std::pair<A, B>& p, std::vector<Source>& out) {
    Form<A>::add(p.first, out);
    Form<B>::add(p.second, out);
  }
  static Result take(const std::pair<A, B>& p, std::vector<Gradient>& in, size_t& at) {
    auto a = Form<A>::take(p.first, in, at);
    auto b = Form<B>::take(p.second, in, at);
    return {std::move(a), std::move(b)};
  }
};
template <class... S>
struct Form<std::tuple<S...>> {
  using Result = std::tuple<typename Form<S>::Result...>;
  static void add(const std::tuple<S...>& t, std::vector<Source>& out) {
    std::apply([&](const S&... s) { (Form<S>::add(s, out), ...); }, t);
  }
  static Result take(const std::tuple<S...>& t, std::vector<Gradient>& in, size_t& at) {
    return std::apply([&](const S&... s) { return Result{Form<S>::take(s, in, at)...}; }, t);
  }
};

}  // namespace tape_detail

class WEFT_API GradientTape {
 public:
  explicit GradientTape(const TapeOptions& options = {});  // records from here on
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  // Records what is computed from the tensor or variable.
  void watch(const Tensor& t);
  void watch(const Variable& v);
  std::vector<Variable> watched_variables() const;  // in the order of their first use
  void stop();   // records nothing any more; also what asking a tape that is not persistent does
  void reset();  // forgets all, and records again
  // Runs f without recording.
  void stop_recording(const std::function<void()>& f);

  // The gradient of the target, or of the sum of several, with respect to each source.
  template <class S>
  typename tape_detail::Form<S>::Result gradient(const Tensor& target, const S& sources, const GradientOptions& options = {}) {
    return gradient(std::vector<Tensor>{target}, sources, options);
  }
  template <class S>
  typename tape_detail::Form<S>::Result gradient(const std::vector<Tensor>& targets, const S& sources, const GradientOptions& options = {}) {
    std::vector<tape_detail::Source> flat;
    tape_detail::Form<S>::add(sources, flat);
    std::vector<Gradient> got = flat_gradient(targets, flat, options);
    size_t at = 0;
    return tape_detail::Form<S>::take(sources, got, at);
  }
  template <class S>
  typename tape_detail::Form<S>::Result gradient(const std::map<std::string, Tensor>& targets, const S& sources,
                                                 const GradientOptions& options = {}) {
    std::vector<Tensor> list;
    for (const auto& [name, t] : targets) list.push_back(t);
    return gradient(list, sources, options);
  }
  std::vector<Gradient> flat_gradient(const std::vector<Tensor>& targets, const std::vector<tape_detail::Source>& sources,
                                      const GradientOptions& options);

  // d target[i...] / d source[j...], of shape target.shape + source.shape.
  Tensor jacobian(const Tensor& target, const Tensor& source, const JacobianOptions& options = {});
  Tensor jacobian(const Tensor& target, const Variable& source, const JacobianOptions& options = {});
  // For each row b: d target[b, i...] / d source[b, j...], where rows do not depend on each other.
  Tensor batch_jacobian(const Tensor& target, const Tensor& source, const JacobianOptions& options = {});

 private:
  Tensor jacobian_of(const Tensor& target, const tape_detail::Source& source, const JacobianOptions& options);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Passes a tensor on and lets no gradient back.
WEFT_API Tensor stop_gradient(const Tensor& t);

// What a function with a gradient of its own gives: its results, and for gradients of these those of the inputs
// (a tensor without a value where there is none).
struct CustomGradient {
  std::vector<Tensor> outputs;
  std::function<std::vector<Tensor>(const std::vector<Tensor>& output_gradients)> gradient;
};
// f runs without being recorded; tapes take its gradient instead.
WEFT_API std::vector<Tensor> custom_gradient(const std::function<CustomGradient(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs);

// The gradient of an op, for ops that have none or to replace it: from the op's inputs, outputs and the gradients of its outputs, those of the
// inputs. AlreadyExists where one was registered before.
struct GradientInputs {
  std::vector<Tensor> inputs, outputs, output_gradients;  // no value where nothing flowed
};
// Gives an op a gradient, for all that follows in this process.
WEFT_API void register_gradient(const std::string& op, std::function<std::vector<Tensor>(const GradientInputs&)> gradient);

}  // namespace weft
