#include "cuda/kernels.h"

#include <algorithm>
#include <set>

#include "compiler/codegen.h"
#include "core/log.h"
#include "core/own_memory.h"
#include "cuda/library_kernel.h"
#include "cuda/lowered_kernel.h"
#include "op/lower.h"

namespace weft_engine::cuda {

using namespace weft_engine::op;  // NOLINT: specs and kernels throughout

namespace {

// What a GPU computes with; other types have no kernels there. TensorFlow has none of quantised numbers either.
constexpr DType kTypes[] = {DType::kFloat,      DType::kDouble, DType::kHalf,   DType::kBfloat16, DType::kInt8,    DType::kInt16, DType::kInt32,
                            DType::kInt64,      DType::kUint8,  DType::kUint16, DType::kUint32,   DType::kUint64,  DType::kBool,  DType::kComplex64,
                            DType::kComplex128, DType::kQint8,  DType::kQuint8, DType::kQint16,   DType::kQuint16, DType::kQint32};
constexpr DType kInt32Only[] = {DType::kInt32};

std::vector<std::string> all_arguments(const OpSpec& spec) {
  std::vector<std::string> out;
  for (const ArgSpec& a : spec.signature().inputs) out.push_back(a.name);
  for (const ArgSpec& a : spec.signature().outputs) out.push_back(a.name);
  return out;
}

// May the op be a kernel by itself? It computes with plain tensors and variables.
bool computes(const OpSpec& spec) {
  if (!spec.lower || spec.lower == shape_from_data || spec.lower == lower_to_nothing || spec.lower == forward_inputs) return false;
  switch (spec.traits().role) {
    case Role::kNone:
    case Role::kFakeParam:
    case Role::kAddToVariable:
    case Role::kSubtractFromVariable: break;
    default: return false;
  }
  const Signature& s = spec.signature();
  for (const AttrSpec& a : s.attrs) {
    if (a.type == "func" || a.type == "list(func)") return false;
  }
  for (const ArgSpec& a : s.inputs) {
    if (a.is_ref || a.type == DType::kVariant || a.type == DType::kString) return false;
  }
  for (const ArgSpec& a : s.outputs) {
    if (a.is_ref || a.type == DType::kVariant || a.type == DType::kString || a.type == DType::kResource) return false;
  }
  return true;
}

bool has_default(const OpSpec& spec) {
  return std::any_of(spec.kernels.begin(), spec.kernels.end(), [](const KernelDef& k) { return k.device_type == "DEFAULT"; });
}

// The value is brought to the device once.
class ConstKernel final : public Kernel {
 public:
  ConstKernel(Tensor value, bool on_host) : value_(std::move(value)), on_host_(on_host) {}
  Status run(KernelContext& c) override {
    if (on_host_) {
      c.set_output(0, value_);
      return {};
    }
    const std::lock_guard lock(mutex_);
    if (core::memory_of(value_) != &c.device()) {
      WEFT_ASSIGN(value_, core::to_device(value_, c.device()));
    }
    c.set_output(0, value_);
    return {};
  }

 private:
  std::mutex mutex_;
  Tensor value_;
  const bool on_host_;
};

KernelDef gpu_kernel(std::vector<TypeConstraint> constraints, std::vector<std::string> host, KernelFactory make, int priority = 0) {
  return KernelDef{"GPU", std::move(constraints), std::move(host), priority, std::move(make)};
}

}  // namespace

void add_kernels(Registry& registry) {
  // Without the compiler there are none: ops go to the CPU, or fail where they may not.
  if (const auto api = compiler::codegen(); !api.ok()) {
    core::log(core::LogLevel::kWarning,
              core::cat("there is a GPU, but no kernels for it: weft's compiler, which makes them, cannot be loaded: ", api.status().message(),
                        ". Put libweft_jit.so beside weft's library, or name it in WEFT_JIT_LIBRARY"));
    return;
  }
  for (const OpSpec* spec : registry.all()) {
    if (has_default(*spec)) continue;
    const bool by_cpu = spec->on_gpu == OnGpu::kByCpu;
    if (!spec->lower && !by_cpu) continue;
    if (spec->on_gpu == OnGpu::kAllOnHost) {
      (void)registry.add_kernel(
          spec->name, gpu_kernel({}, all_arguments(*spec), [&registry](const NodeInfo& node) { return make_host_kernel(registry, node, true); }));
      continue;
    }
    const bool lowered = spec->on_gpu != OnGpu::kNever && computes(*spec);
    if (!lowered && !by_cpu) continue;
    std::vector<TypeConstraint> constraints;
    for (const AttrSpec& a : spec->signature().attrs) {
      if (a.type == "type" || a.type == "list(type)") constraints.push_back({a.name, kTypes});
    }
    if (!lowered) {
      std::vector<std::string> inputs;
      for (const ArgSpec& a : spec->signature().inputs) inputs.push_back(a.name);
      (void)registry.add_kernel(
          spec->name, gpu_kernel(constraints, inputs, [&registry](const NodeInfo& node) { return make_host_kernel(registry, node, false); }));
      continue;
    }
    const std::vector<std::string> host = host_inputs(*spec);
    const LibraryCall library = spec->library;
    (void)registry.add_kernel(spec->name,
                              gpu_kernel(constraints, host, [&registry, host, library](const NodeInfo& node) -> Result<std::unique_ptr<Kernel>> {
      WEFT_ASSIGN(std::unique_ptr<Kernel> lowered, make_lowered_kernel(registry, node, host));
                                if (library.kind == LibraryCall::Kind::kNone) return lowered;
                                return make_library_kernel(library, node, std::move(lowered));
                              }));
    if (spec->on_gpu == OnGpu::kInt32OnHost) {
      (void)registry.add_kernel(spec->name, gpu_kernel(
                                                {{"T", kInt32Only}}, all_arguments(*spec),
                                                [&registry](const NodeInfo& node) { return make_host_kernel(registry, node, true); }, 1));
    }
  }
  const std::string_view constant = op_of(Role::kConst);
  const auto make_const = [](const NodeInfo& node) -> Result<std::unique_ptr<Kernel>> {
    const Tensor& value = node.attr<Tensor>("value");
    return std::unique_ptr<Kernel>(std::make_unique<ConstKernel>(value, value.dtype() == DType::kInt32));
  };
  (void)registry.add_kernel(constant, gpu_kernel({{"dtype", kTypes}}, {}, make_const));
  (void)registry.add_kernel(constant, gpu_kernel({{"dtype", kInt32Only}}, {"output"}, make_const, 1));
}

}  // namespace weft_engine::cuda
