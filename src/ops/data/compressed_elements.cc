// Elements of datasets in compressed form.
#include <cstring>

#include "op/registry.h"
#include "ops/data/compressed_element.h"
#include "ops/data/dataset.h"
#include "ops/control_flow/summarize.h"
#include "ops/list/variant_codec.h"
#include "wire/proto.h"
#include "wire/snappy.h"
#include "wire/tensor_proto.h"

namespace weft_engine::ops::data {

Result<CompressedElement> CompressedElement::compress(const Element& element) {
  CompressedElement out;
  std::string bytes;
  for (const Tensor& t : element) {
    Component component{t.dtype(), t.shape(), {}};
    const size_t before = bytes.size();
    if (t.dtype() == DType::kString) {
      for (const tstring& s : t.span<tstring>()) {
        component.sizes.push_back(s.size());
        bytes.append(s.data(), s.size());
      }
    } else {
      if (is_simple(t.dtype())) {
        bytes.append(static_cast<const char*>(t.raw()), t.byte_size());
      } else {
        const wire::VariantCodec codec = variant_codec();
        WEFT_ASSIGN(std::string message, wire::encode_tensor_content(t, &codec));
        bytes += message;
      }
      if (bytes.size() > before) component.sizes.push_back(bytes.size() - before);  // of an empty tensor none, as TensorFlow writes it
    }
    out.components.push_back(std::move(component));
  }
  if (bytes.size() > UINT32_MAX) return out_of_range("Encountered dataset element of size ", bytes.size(), ", exceeding the 4GB Snappy limit.");
  out.data = wire::snappy_compress(bytes);
  return out;
}

Result<Element> CompressedElement::uncompress() const {
  const std::optional<std::string> bytes = wire::snappy_uncompress(data);
  if (!bytes) return internal_error("Failed to perform snappy decompression.");
  std::string_view rest = *bytes;
  const auto take = [&](uint64_t n, std::string_view& out) {
    if (n > rest.size()) return false;
    out = rest.substr(0, n);
    rest.remove_prefix(n);
    return true;
  };
  const Status mismatch =
      internal_error("Uncompressed size mismatch. Snappy expects ", bytes->size(), " whereas the tensor metadata suggests another size.");
  Element out;
  for (const Component& component : components) {
    std::string_view part;
    if (component.dtype == DType::kString || is_simple(component.dtype)) {
      WEFT_ASSIGN(Tensor t, Tensor::allocate(component.dtype, component.shape));
      if (component.dtype == DType::kString) {
        if (int64_t(component.sizes.size()) != t.num_elements()) return mismatch;
        for (size_t i = 0; i < component.sizes.size(); ++i) {
          if (!take(component.sizes[i], part)) return mismatch;
          t.data<tstring>()[i] = part;
        }
      } else {
        const uint64_t size = component.sizes.empty() ? 0 : component.sizes[0];
        if (component.sizes.size() > 1 || size != t.byte_size() || !take(size, part)) return mismatch;
        if (!part.empty()) std::memcpy(t.raw(), part.data(), part.size());
      }
      out.push_back(std::move(t));
      continue;
    }
    if (component.sizes.size() != 1 || !take(component.sizes[0], part)) return mismatch;
    const wire::VariantCodec codec = variant_codec();
    WEFT_ASSIGN(Tensor t, wire::decode_tensor(part, &codec));
    out.push_back(std::move(t));
  }
  if (!rest.empty()) return mismatch;
  return out;
}

std::string CompressedElement::to_string() const {
  wire::ProtoWriter w;
  w.bytes(1, data);
  for (const Component& component : components) {
    wire::ProtoWriter m;
    m.varint(1, uint64_t(component.dtype));
    m.bytes(2, wire::encode_shape(component.shape));
    m.packed_varints(4, std::vector<int64_t>(component.sizes.begin(), component.sizes.end()));
    w.message(2, m);
  }
  return w.take();
}

Result<CompressedElement> CompressedElement::parse(std::string_view bytes) {
  const Status malformed = data_loss("malformed CompressedElement");
  CompressedElement out;
  wire::ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 1) out.data = r.string();
    if (r.field() != 2) continue;
    Component component{};
    wire::ProtoReader m = r.message();
    while (m.next()) {
      if (m.field() == 1) {
        if (m.varint() > uint64_t(kRefOffset) || !is_valid_dtype(int(m.varint()))) return malformed;
        component.dtype = DType(m.varint());
      } else if (m.field() == 2) {
        WEFT_ASSIGN(PartialShape shape, wire::decode_shape(m.bytes()));
        if (!shape.fully_known()) return malformed;
        component.shape = *shape.concrete();
      } else if (m.field() == 4 && !m.append_varints(component.sizes)) {
        return malformed;
      }
    }
    if (!m.ok()) return malformed;
    out.components.push_back(std::move(component));
  }
  if (!r.ok()) return malformed;
  return out;
}

namespace {

Status run_compress(KernelContext& c) {
  WEFT_ASSIGN(CompressedElement compressed, CompressedElement::compress(inputs_of(c, "components")));
  c.set_output(0, Tensor::scalar(Variant(std::make_shared<const CompressedElement>(std::move(compressed)))));
  return {};
}

Status run_uncompress(KernelContext& c) {
  const Tensor& t = c.input(0);
  if (t.rank() != 0)
    return invalid_argument("UncompressElement requires its input to be a scalar, but encountered an input with ", t.rank(), " dimensions.");
  const Variant& variant = t.data<Variant>()[0];
  const auto* compressed = variant.get<CompressedElement>();
  if (!compressed) {
    const auto* dataset = variant.get<Dataset>();
    return invalid_argument("Input does not contain a compressed element. Instead got tensor Tensor<type: variant shape: [] values: <",
                            dataset ? dataset->debug_string() : variant.type_name(), ">>");
  }
  WEFT_ASSIGN(Element components, compressed->uncompress());
  const auto& types = attr_types(c);
  if (components.size() != types.size())
    return failed_precondition("Expected ", types.size(), " outputs from uncompress, but got ", components.size());
  for (size_t i = 0; i < components.size(); ++i) {
    if (components[i].dtype() != types[i])
      return failed_precondition("Expected a tensor of type ", dtype_name(types[i]), " but got a tensor of type ", dtype_name(components[i].dtype()));
    c.set_output(int(i), std::move(components[i]));
  }
  return {};
}

}  // namespace

void compressed_elements(Registry& r) {
  r.add("CompressElement")
      .in("components: input_types")
      .out("compressed: variant")
      .attr("input_types: list(type) >= 1")
      .doc("The tensors of a dataset element, compressed.")
      .shape(shapes::scalar)
      .cpu(run_compress);

  r.add("UncompressElement")
      .in("compressed: variant")
      .out("components: output_types")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The tensors of a compressed dataset element.")
      .shape(components_shape)
      .cpu(run_uncompress);
}

}  // namespace weft_engine::ops::data
