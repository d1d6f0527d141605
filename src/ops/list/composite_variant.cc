// Composite tensors (ragged, sparse, extension types) as one variant: their components and what describes them.
#include "op/composite_variant.h"

#include "op/emit.h"
#include "op/gradient.h"
#include "op/registry.h"
#include "ops/all.h"
#include "wire/proto.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// The type_spec_class of CompositeTensorVariantMetadata.type_spec_proto; nothing where the bytes are no such message.
std::optional<int> type_spec_class(std::string_view metadata) {
  wire::ProtoReader r(metadata);
  int found = 0;
  while (r.next()) {
    if (r.field() != 1 || r.type() != wire::WireType::kBytes) continue;
    wire::ProtoReader spec = r.message();
    while (spec.next()) {
      if (spec.field() == 1) found = spec.int32();
    }
    if (!spec.ok()) return std::nullopt;
  }
  if (!r.ok()) return std::nullopt;
  return found;
}

std::string class_name(int number) {
  static constexpr const char* kNames[] = {"UNKNOWN",
                                           "SPARSE_TENSOR_SPEC",
                                           "INDEXED_SLICES_SPEC",
                                           "RAGGED_TENSOR_SPEC",
                                           "TENSOR_ARRAY_SPEC",
                                           "DATA_DATASET_SPEC",
                                           "DATA_ITERATOR_SPEC",
                                           "OPTIONAL_SPEC",
                                           "PER_REPLICA_SPEC",
                                           "VARIABLE_SPEC",
                                           "ROW_PARTITION_SPEC",
                                           "",
                                           "REGISTERED_TYPE_SPEC",
                                           "EXTENSION_TYPE_SPEC"};
  return number >= 0 && number < int(std::size(kNames)) ? kNames[number] : "";
}

Status run_from_components(KernelContext& c) {
  const std::string& metadata = c.attr<std::string>("metadata");
  if (!type_spec_class(metadata)) return invalid_argument("Error parsing metadata");
  auto made = std::make_shared<CompositeTensorVariant>();
  made->metadata = metadata;
  for (int i = 0; i < c.num_inputs(); ++i) made->components.push_back(c.input(i));
  c.set_output(0, Tensor::scalar(Variant(std::move(made))));
  return {};
}

Status run_to_components(KernelContext& c) {
  const auto expected = type_spec_class(c.attr<std::string>("metadata"));
  if (!expected) return invalid_argument("Error parsing `metadata`");
  const Tensor& in = c.input(0);
  if (in.num_elements() < 1) return invalid_argument("Input `encoded` must not be an empty variant tensor, but got a tensor of shape ", in.shape());
  const auto encoded = in.data<Variant>()[0].share<CompositeTensorVariant>();
  if (!encoded) return invalid_argument("The input `encoded` is not a valid CompositeTensorVariant tensor, got ", in.data<Variant>()[0].type_name());
  const int actual = type_spec_class(encoded->metadata).value_or(0);
  if (actual != *expected)
    return invalid_argument("Expected a ", class_name(*expected), " (based on `type_spec`), but `encoded` contains a ", class_name(actual));
  const auto& types = c.attr<std::vector<DType>>("Tcomponents");
  if (types.size() != encoded->components.size())
    return invalid_argument("Encoded value has ", encoded->components.size(), " tensor components; expected ", types.size(),
                            " components based on type_spec");
  for (size_t i = 0; i < types.size(); ++i) {
    const Tensor& t = encoded->components[i];
    if (t.dtype() != types[i])
      return invalid_argument("Tensor component ", i, " had dtype ", dtype_enum_name(t.dtype()), "; expected dtype ", dtype_enum_name(types[i]));
    c.set_output(int(i), t);
  }
  return {};
}

Grads from_components_grad(const GradContext& g) {
  std::vector<DType> types;
  for (int i = 0; i < g.num_inputs(); ++i) types.push_back(g.x(i).dtype());
  return g.emitter().apply("CompositeTensorVariantToComponents", {g.dy()}, {{"metadata", g.attr<std::string>("metadata")}, {"Tcomponents", types}});
}

Grads to_components_grad(const GradContext& g) {
  std::vector<Value> parts;
  for (int i = 0; i < g.num_outputs(); ++i) parts.push_back(g.dy(i));
  return g.apply("CompositeTensorVariantFromComponents", parts, {{"metadata", g.attr<std::string>("metadata")}});
}

}  // namespace

void composite_variant(Registry& r) {
  r.add("CompositeTensorVariantFromComponents")
      .doc("The components of a composite tensor as one variant.")
      .in("components: Tcomponents")
      .out("encoded: variant")
      .attr("metadata: string")
      .attr("Tcomponents: list(type) >= 0")
      .shape(shapes::scalar)
      .grad(from_components_grad)
      .cpu(run_from_components);

  r.add("CompositeTensorVariantToComponents")
      .doc("The components of a composite tensor from a variant.")
      .in("encoded: variant")
      .out("components: Tcomponents")
      .attr("metadata: string")
      .attr("Tcomponents: list(type) >= 0")
      .shape(shapes::unknown)
      .grad(to_components_grad)
      .cpu(run_to_components);
}

}  // namespace weft_engine::ops
