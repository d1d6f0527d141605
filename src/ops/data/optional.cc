// Optionals: some tensors, or nothing, as a value.
#include "op/optional.h"
#include "core/own_memory.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/placed_kernel.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops::data {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Result<std::shared_ptr<const Optional>> optional_input(KernelContext& c) {
  const Tensor& t = c.input(0);
  if (t.num_elements() >= 1) {
    if (auto o = t.data<Variant>()[0].share<Optional>()) return o;
  }
  return invalid_argument("Input to ", c.node().op(), " must be an OptionalVariant object.");
}

Status run_from_value(KernelContext& c) {
  auto o = std::make_shared<Optional>();
  o->has_value = true;
  for (int i = 0; i < c.num_inputs(); ++i) o->values.push_back(c.input(i));
  c.set_output(0, Tensor::scalar(Variant(std::move(o))));
  return {};
}

Status run_none(KernelContext& c) {
  c.set_output(0, Tensor::scalar(Variant(std::make_shared<Optional>())));
  return {};
}

Status run_has_value(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const Optional> o, optional_input(c));
  c.set_output(0, Tensor::scalar(o->has_value));
  return {};
}

Status run_get_value(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const Optional> o, optional_input(c));
  if (!o->has_value) return invalid_argument("The given optional does not have a value.");
  const auto& types = c.attr<std::vector<DType>>("output_types");
  const auto& wanted = c.attr<std::vector<PartialShape>>("output_shapes");
  if (o->values.size() != types.size()) return invalid_argument("The given optional has ", o->values.size(), " components, expected ", types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    const Tensor& t = o->values[i];
    if (t.dtype() != types[i])
      return invalid_argument("The given optional does not match the expected type for component ", i, ". Expected: ", dtype_name(types[i]),
                              ". Actual: ", dtype_name(t.dtype()), ".");
    if (i < wanted.size() && !wanted[i].compatible_with(t.shape()))
      return invalid_argument("The given optional does not match the expected shape for component ", i, ". Expected: ", wanted[i],
                              ". Actual: ", t.shape(), ".");
    // What reads it on a CPU expects it in host memory; on other devices it stays where it lies.
    WEFT_ASSIGN(Tensor value, c.device().type() == "CPU" ? core::to_host(t) : Result<Tensor>(t));
    c.set_output(int(i), std::move(value));
  }
  return {};
}

Status get_value_shape(ShapeContext& c) {
  const auto& wanted = c.attr<std::vector<PartialShape>>("output_shapes");
  for (int i = 0; i < c.num_outputs() && size_t(i) < wanted.size(); ++i) c.output(i, wanted[size_t(i)]);
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

Grads from_value_grad(const GradContext& g) {
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
  for (int i = 0; i < g.num_inputs(); ++i) {
    types.push_back(g.x(i).dtype());
    shapes.push_back(g.x(i).shape());
  }
  return g.emitter().apply("OptionalGetValue", {g.dy()}, {{"output_types", types}, {"output_shapes", shapes}});
}

Grads get_value_grad(const GradContext& g) {
  std::vector<Value> parts;
  for (int i = 0; i < g.num_outputs(); ++i) parts.push_back(g.dy(i));
  return g.apply("OptionalFromValue", parts);
}

}  // namespace

void optional(Registry& r) {
  r.add("OptionalFromValue")
      .in("components: Toutput_types")
      .out("optional: variant")
      .full_type("OPTIONAL(FOR_EACH(PRODUCT, TENSOR(VAR:Toutput_types), VAR:Toutput_types))")
      .attr("Toutput_types: list(type) >= 1")
      .doc("Wraps tensors into an optional that has a value.")
      .shape(shapes::scalar)
      .grad(from_value_grad)
      .cpu(run_from_value);

  r.add("OptionalGetValue")
      .in("optional: variant")
      .out("components: output_types")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("Takes the tensors out of an optional; it is an error if there are none.")
      .shape(get_value_shape)
      .grad(get_value_grad)
      .cpu(run_get_value);

  r.add("OptionalHasValue")
      .in("optional: variant")
      .out("has_value: bool")
      .doc("Tells whether an optional has a value.")
      .shape(shapes::scalar)
      .cpu(run_has_value);

  // Values stay on the device that made them: nobody waits for what is only passed on.
  any_device(r, "OptionalFromValue");
  any_device(r, "OptionalGetValue");
  any_device(r, "OptionalHasValue", {"has_value"});

  r.add("OptionalNone").out("optional: variant").doc("Makes an optional without a value.").shape(shapes::scalar).cpu(run_none);
}

}  // namespace weft_engine::ops::data
