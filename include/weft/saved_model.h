// SavedModels, and graphs from files: load, look at, run.
//
//   auto model = weft::load("mnist");
//   weft::Tensor y = model["serving_default"]({{"x", x}})["y"];
//   weft::Tensor z = model.function("predict")(x)[0];
//
// A Model is a handle: copies are cheap and mean the same loaded model, which any number of threads may run at once.
// Everything throws weft::Error when the engine reports a failure.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "weft/tensor.h"

namespace weft {

class TraceEvents;  // weft/trace.h

// A tensor that goes in or comes out: "x: float [?,784]".
struct TensorSpec {
  std::string name;
  DType dtype = DType::invalid;
  PartialShape shape;
  std::string tensor;  // of a signature: the tensor of the graph, "node:0"
};
WEFT_API std::string to_string(const PartialShape& shape);  // "[?,784]", "<unknown>"
// "float [?,2]".
WEFT_API std::string to_string(const TensorSpec& spec);

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// What a call gives: tensors by name and in order.
class WEFT_API Outputs {
 public:
  Outputs() = default;
  explicit Outputs(NamedTensors tensors) : tensors_(std::move(tensors)) {}
  const Tensor& operator[](std::string_view name) const;  // throws, saying which there are
  const Tensor& operator[](const char* name) const { return (*this)[std::string_view(name)]; }
  const Tensor& operator[](int index) const;
  const Tensor& only() const;  // of one output
  // How many there are.
  int size() const { return int(tensors_.size()); }
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }

 private:
  NamedTensors tensors_;
};

struct SignatureInfo {
  std::string name, method_name;
  std::vector<TensorSpec> inputs, outputs;
};
// The signature as one line.
WEFT_API std::string to_string(const SignatureInfo& info);

// One signature of a loaded model, which it keeps alive.
class WEFT_API Signature {
 public:
  // Inputs and outputs.
  const SignatureInfo& info() const;
  // Inputs by name: each must be given, of its type and a shape that fits.
  Outputs operator()(const NamedTensors& inputs) const;
  // As above, adding what ran when.
  Outputs operator()(const NamedTensors& inputs, TraceEvents& trace) const;

 private:
  friend class Model;
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

// A Python value that a function was specialised to: None, True, 3, 0.5, "same".
using PlainValue = std::variant<std::nullptr_t, bool, int64_t, double, std::string>;

// One way in which a function was called before it was saved.
struct FunctionForm {
  std::string name;                                         // in the function library
  std::vector<TensorSpec> inputs, outputs;                  // named by parameter and place: "x", "state.0"
  std::vector<std::pair<std::string, std::string>> values;  // arguments that are no tensors, as Python prints them
};
struct FunctionInfo {
  std::string name;  // the path in the object graph: "predict", "encoder.call"
  std::vector<FunctionForm> forms;
};
// The function's forms as text.
WEFT_API std::string to_string(const FunctionInfo& info);

// A function of the object graph. Tensors go in flat, in the order of its parameters; the form that they fit is
// called, where several do the one whose other arguments are Python's defaults.
class WEFT_API Function {
 public:
  // The forms that it can be called in.
  const FunctionInfo& info() const;
  // Chooses among forms by an argument that is no tensor: f.with("training", false)(x).
  template <class T>
  Function with(std::string_view parameter, const T& value) const {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, PlainValue> || std::is_same_v<T, std::nullptr_t>) return with_value(parameter, value);
    else if constexpr (std::is_integral_v<T>) return with_value(parameter, int64_t(value));
    else if constexpr (std::is_floating_point_v<T>) return with_value(parameter, double(value));
    else return with_value(parameter, std::string(value));
  }
  template <class... T>
  Outputs operator()(const T&... tensors) const {
    return call(std::vector<Tensor>{Tensor(tensors)...});
  }
  Outputs call(const std::vector<Tensor>& tensors) const;

 private:
  friend class Model;
  struct Impl;
  Function with_value(std::string_view parameter, PlainValue value) const;
  std::shared_ptr<const Impl> impl_;
};

struct VariableInfo {
  std::string name;            // as Python named it
  std::string path;            // in the object graph
  std::string checkpoint_key;  // empty: not in the checkpoint
  DType dtype = DType::invalid;
  PartialShape shape;
  bool trainable = false;
};

struct LoadOptions {
  std::vector<std::string> tags = {"serve"};
  int intra_threads = 0;       // inside one op; 0: one per core
  int inter_threads = 0;       // between ops; 0: one per core
  int cpu_devices = 1;         // virtual CPU devices
  bool soft_placement = true;  // run on another device where the one named does not exist
  bool log_device_placement = false;
  bool verify = false;  // an error where fingerprint.pb or a checksum of the variables tells of damage, before anything is used
  bool verify_fingerprint = false;  // an error where fingerprint.pb was made for other files
  int64_t timeout_ms = 0;  // of every run; 0: none
  std::vector<std::string> disabled_passes;  // optimisations to leave out, by name (`weft optimize --list`)
  bool jit_compile = false;  // runs become machine code where they can; the log tells of those that cannot
};

class WEFT_API Model {
 public:
  Model() = default;  // no model; using it is an error

  // The signatures of the model.
  const std::vector<SignatureInfo>& signatures() const;
  Signature operator[](std::string_view signature) const;  // throws, saying which there are
  Signature operator[](const char* signature) const { return (*this)[std::string_view(signature)]; }

  // The functions of the object graph: those that the user's objects held when they were saved.
  const std::vector<FunctionInfo>& functions() const;
  Function function(std::string_view name) const;  // throws, saying which there are

  // The variables of the model.
  const std::vector<VariableInfo>& variables() const;
  Tensor variable(std::string_view name) const;  // the value now, by name or path

  // Version 1's way: any tensors of the graph ("node:0") may be fed and fetched; targets run for their effects.
  Outputs run(const NamedTensors& feeds, const std::vector<std::string>& fetches, const std::vector<std::string>& targets = {}) const;
  Outputs run(const NamedTensors& feeds, const std::vector<std::string>& fetches, const std::vector<std::string>& targets, TraceEvents& trace) const;

  // Where it was loaded from, and by which tags.
  const std::string& path() const;
  const std::vector<std::string>& tags() const;
  std::string tensorflow_version() const;  // that saved it; empty: not told

  // For the library itself.
  struct Impl;
  // For the library itself.
  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  friend WEFT_API Model load(const std::string& path, const LoadOptions& options);
  std::shared_ptr<Impl> impl_;
};

// Loads a SavedModel from its folder, or a graph (a GraphDef, .pb or .pbtxt). A graph has one signature,
// "serving_default": its placeholders, and what no other node reads. Variables are restored and initialisers have run.
WEFT_API Model load(const std::string& path, const LoadOptions& options = {});

}  // namespace weft
