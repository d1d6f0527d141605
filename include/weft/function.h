// weft::function: C++ code traced into a graph, once for each signature of its arguments, and run by the engine.
//
//   auto step = weft::function([&](const weft::Tensor& x, const weft::Tensor& y) {
//     weft::GradientTape tape;
//     weft::Tensor loss = weft::reduce_mean(weft::square(model(x) - y));
//     optimizer.apply(tape.gradient(loss, variables), variables);
//     return loss;
//   });
//   step(x, y);   // traced here
//   step(x2, y2); // runs the graph
//
// Arguments and results are structures (weft/nest.h); plain values among the arguments are baked into the graph, which is
// traced again for others. Variables are captured; they may be made in the first call only, and must be kept by the program.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/nest.h"
#include "weft/saved_model.h"
#include "weft/variable.h"

namespace weft {

class Graph;

struct TraceOptions {
  std::string name = "function";
  std::vector<TensorSpec> input_signature = {};  // one graph for all calls: the tensors must fit these
  bool reduce_retracing = false;                 // give dimensions that change an open size
  bool jit_compile = false;                      // machine code for the shapes of each call, or an error that says why not
};

// One graph of a function, with what it was traced for.
class WEFT_API ConcreteFunction {
 public:
  ConcreteFunction() = default;
  // The name in the function library.
  const std::string& name() const;
  std::vector<TensorSpec> inputs() const;   // without captures
  // What comes out.
  std::vector<TensorSpec> outputs() const;
  std::vector<Variable> variables() const;  // that it uses
  // How many values from outside it uses.
  int num_captures() const;
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const;
  Graph graph() const;             // the library with this function and all that it calls; the body is graph().function(name())
  std::string signature() const;   // for people

  struct Impl;
  // For the library itself.
  const std::shared_ptr<const Impl>& impl() const { return impl_; }
  static ConcreteFunction adopt(std::shared_ptr<const Impl> impl);

 private:
  std::shared_ptr<const Impl> impl_;
};

// A function with its types taken away: tensors in, tensors out.
class WEFT_API FunctionCore {
 public:
  // The user's code on flat tensors; gives its results, flat.
  using Body = std::function<nest::Flat(const std::vector<Tensor>& inputs)>;
  explicit FunctionCore(TraceOptions options);
  struct Results {
    std::vector<Tensor> tensors;
    std::shared_ptr<const std::vector<std::string>> layout;
  };
  // `key`: everything about the arguments but the tensors.
  Results call(const std::vector<Tensor>& inputs, const std::string& key, const Body& body) const;
  ConcreteFunction concrete(const std::vector<TensorSpec>& inputs, const std::string& key, const Body& body) const;
  std::vector<ConcreteFunction> concrete_functions() const;
  int num_traces() const;
  std::string pretty_printed_signatures() const;
  const std::string& name() const;

  std::shared_ptr<weft_engine::trace::TrackableState> tracking() const;  // as something that is saved

  struct Impl;
  // For the library itself.
  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

template <class Signature>
class TracedFunction;

// What weft::function gives. Copies share the graphs.
template <class R, class... A>
class TracedFunction<R(A...)> {
 public:
  TracedFunction() : core_(TraceOptions{}) {}
  TracedFunction(std::function<R(A...)> f, TraceOptions options) : f_(std::move(f)), core_(std::move(options)) {}

  R operator()(std::type_identity_t<A>... args) const {
    nest::Flat flat;
    (nest::flatten<std::decay_t<A>>(args, flat), ...);
    auto results = core_.call(flat.tensors, flat.key, body(flat.layout));
    if constexpr (!std::is_void_v<R>) {
      nest::Reader reader{results.tensors, *results.layout};
      return nest::rebuild<std::decay_t<R>>(reader);
    }
  }
  // The graph for these types and shapes; names become those of its arguments. For functions of tensors alone.
  ConcreteFunction concrete_function(const std::vector<TensorSpec>& inputs = {}) const
    requires(std::is_same_v<std::decay_t<A>, Tensor> && ...)
  {
    return core_.concrete(inputs, std::string(sizeof...(A), 't'), body({}));
  }
  // The same for example arguments.
  ConcreteFunction concrete_function_for(std::type_identity_t<A>... args) const {
    nest::Flat flat;
    (nest::flatten<std::decay_t<A>>(args, flat), ...);
    std::vector<TensorSpec> specs;
    for (const Tensor& t : flat.tensors) specs.push_back({"", t.dtype(), t.partial_shape(), ""});
    return core_.concrete(specs, flat.key, body(flat.layout));
  }
  int num_traces() const { return core_.num_traces(); }
  std::vector<ConcreteFunction> concrete_functions() const { return core_.concrete_functions(); }
  std::string pretty_printed_signatures() const { return core_.pretty_printed_signatures(); }
  const FunctionCore& core() const { return core_; }

 private:
  FunctionCore::Body body(std::vector<std::string> layout) const {
    return [f = f_, layout = std::move(layout)](const std::vector<Tensor>& tensors) -> nest::Flat {
      [[maybe_unused]] nest::Reader reader{tensors, layout};
      std::tuple<std::decay_t<A>...> args{nest::rebuild<std::decay_t<A>>(reader)...};
      if constexpr (std::is_void_v<R>) {
        std::apply(f, std::move(args));
        return {};
      } else {
        return nest::flatten<std::decay_t<R>>(std::apply(f, std::move(args)));
      }
    };
  }
  std::function<R(A...)> f_;
  FunctionCore core_;
};

namespace function_detail {
template <class F>
struct SignatureOf;
template <class R, class... A>
struct SignatureOf<std::function<R(A...)>> {
  using type = R(A...);
};
}  // namespace function_detail

// Makes a function of C++ code; it is traced when it is first called, and again for other types of arguments.
template <class F>
auto function(F f, TraceOptions options = {}) {
  using Std = decltype(std::function(std::move(f)));
  return TracedFunction<typename function_detail::SignatureOf<Std>::type>(Std(std::move(f)), std::move(options));
}

// Calls run the code of every function directly, op by op: for debugging.
WEFT_API void run_functions_eagerly(bool on);
WEFT_API bool functions_run_eagerly();
// Inside a function that is being traced.
WEFT_API bool is_tracing();
// Runs f outside any trace: ops in it run at once.
WEFT_API void init_scope(const std::function<void()>& f);

}  // namespace weft
