// OpSpec: all that is known of an op. The Registry holds one per op; OpDef lists, bindings and docs come
// from it. Signatures are written in TensorFlow's notation and parsed when the op is first used.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "op/attr_value.h"
#include "op/on_gpu.h"

namespace weft_engine::op {

class Kernel;
class NodeInfo;
struct OpTraits;  // op/op_traits.h
class ShapeContext;

struct ArgSpec {
  std::string name;
  DType type = DType::kInvalid;   // fixed type, or kInvalid
  int type_attr = -1;             // index of the attr that gives the type
  int number_attr = -1;           // ... the count of tensors
  int type_list_attr = -1;        // ... the list of types
  bool is_ref = false;
};

struct AttrSpec {
  std::string name;
  std::string type;               // "int", "list(type)", ...
  std::optional<AttrValue> default_value;
  std::vector<DType> allowed_types;
  std::vector<std::string> allowed_strings;
  std::optional<int64_t> minimum; // of an int, or the least length of a list
};

struct TypeConstraint {
  std::string_view attr;
  std::span<const DType> types;
};

using KernelFactory = std::function<Result<std::unique_ptr<Kernel>>(const NodeInfo&)>;

// One kernel of an op on one kind of device.
struct KernelDef {
  std::string device_type = "CPU";
  std::vector<TypeConstraint> constraints;
  std::vector<std::string> host_memory_args;
  int priority = 0;
  KernelFactory make;
  bool matches(const NodeInfo& node) const;
};

using ShapeRule = Status (*)(ShapeContext&);
class GradContext;
class Value;
// The gradient of an op: for each input a value, or an empty one (see op/gradient.h).
using GradRule = std::vector<Value> (*)(const GradContext&);
class LowerContext;
class Lowered;
// The op in terms of the compiler's IR: a value for each output (see op/lower.h).
using LowerRule = std::vector<Lowered> (*)(LowerContext&);
class BatchContext;
// The op on values that carry a row for each of many runs: a value for each output (see op/batching.h).
using BatchRule = Result<std::vector<Value>> (*)(BatchContext&);

struct Signature {
  std::vector<ArgSpec> inputs, outputs;
  std::vector<AttrSpec> attrs;
  int attr_index(std::string_view name) const;  // -1 if there is none
};

class OpSpec {
 public:
  OpSpec() = default;
  ~OpSpec();
  OpSpec(const OpSpec&) = delete;
  OpSpec& operator=(const OpSpec&) = delete;

  std::string_view name;
  std::string_view summary;  // one sentence of documentation
  bool stateful = false, commutative = false, aggregate = false, allows_uninitialized_input = false, distributed_communication = false;
  // Stateful only in what it reads or makes (a handle, a random number): unused, it need not run.
  bool effect_free = false;
  bool has_side_effect() const { return stateful && !effect_free; }
  int deprecated_since = 0;  // GraphDef version; 0: not deprecated
  std::string_view deprecation;
  ShapeRule shape = nullptr;
  // For ops added at run time, whose rule carries state.
  std::function<Status(ShapeContext&)> dynamic_shape;
  std::vector<KernelDef> kernels;  // in order of preference
  OnGpu on_gpu = OnGpu::kUsual;
  LibraryCall library;  // on GPUs
  // The gradient. Neither this nor no_gradient: not written yet, and reported as such.
  GradRule grad = nullptr;
  bool no_gradient = false;  // on purpose: nothing flows back through this op
  LowerRule lower = nullptr;  // null: the compiler refuses the op, or leaves it to the engine
  BatchRule batch = nullptr;  // null: batching runs the op row by row
  // What optimisations, tracing and batching ask of an op; never null.
  const OpTraits& traits() const { return *traits_; }
  void set_traits(const OpTraits& traits);
  // Makes a dataset: so the full type of its output says.
  bool makes_dataset() const {
    return std::any_of(full_types.begin(), full_types.end(), [](const auto& t) { return t.second.starts_with("DATASET("); });
  }

  // The declarations as written.
  std::vector<std::string_view> declared_inputs, declared_outputs, declared_attrs;
  // What a variant or resource output holds, in TensorFlow's experimental full types:
  // {output, "OPTIONAL(PRODUCT(...))"}. Only handed on in OpDefs.
  std::vector<std::pair<int, std::string_view>> full_types;

  const Signature& signature() const;  // parsed once; a bad declaration is a bug found by check()
  Status check() const;
  Status infer_shapes(ShapeContext& c) const;

 private:
  struct Parsed {
    Signature signature;
    Status status;
  };
  const Parsed& parsed() const;
  mutable std::atomic<const Parsed*> parsed_{nullptr};  // made once, kept as long as the spec
  static const OpTraits kNoTraits;
  std::shared_ptr<const OpTraits> owned_traits_;
  const OpTraits* traits_ = &kNoTraits;
};

// Parses one signature in TensorFlow's notation: "x: T", "values: N * T", "T: {float, int32} = DT_FLOAT".
Result<Signature> parse_signature(std::span<const std::string_view> inputs, std::span<const std::string_view> outputs,
                                  std::span<const std::string_view> attrs);

}  // namespace weft_engine::op
