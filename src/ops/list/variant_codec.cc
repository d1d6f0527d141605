#include "ops/list/variant_codec.h"

#include "core/own_memory.h"
#include "op/composite_variant.h"
#include "op/optional.h"
#include "op/ragged_variant.h"
#include "op/tensor_list.h"
#include "op/tensor_variant.h"
#include "ops/data/compressed_element.h"
#include "ops/data/iterator_state.h"
#include "wire/tensor_proto.h"
#include "wire/varint.h"

namespace weft_engine::ops {

using namespace weft_engine::core;  // NOLINT

namespace {

// Metadata of a list: how many elements are not initialised and which, the element type, the bound, the
// element shape. The tensors are those that are there.
Result<Variant> decode_list(wire::EncodedVariant v) {
  const Status malformed = data_loss("malformed metadata of a TensorList");
  std::string_view rest = v.metadata;
  uint64_t missing, dtype, bound;
  if (!wire::take_varint(rest, missing) || missing > rest.size()) return malformed;
  const size_t size = v.tensors.size() + missing;
  auto list = std::make_shared<op::TensorList>();
  std::vector<bool> absent(size);
  for (uint64_t i = 0; i < missing; ++i) {
    uint64_t index;
    if (!wire::take_varint(rest, index) || index >= size || absent[index]) return malformed;
    absent[index] = true;
  }
  if (!wire::take_varint(rest, dtype) || !wire::take_varint(rest, bound) || dtype > uint64_t(kRefOffset) || !is_valid_dtype(int(dtype)))
    return malformed;
  WEFT_ASSIGN(list->element_shape, wire::decode_shape(rest));
  list->element_dtype = DType(dtype);
  list->max_num_elements = int64_t(bound);
  list->tensors.resize(size);
  size_t next = 0;
  for (size_t i = 0; i < size; ++i) {
    if (absent[i]) continue;
    list->tensors[i] = std::move(v.tensors[next++]);
    if (list->tensors[i].dtype() != list->element_dtype) return malformed;
  }
  return Variant(std::move(list));
}

Result<wire::EncodedVariant> encode_list(const op::TensorList& list) {
  wire::EncodedVariant v;
  std::string absent;
  uint64_t missing = 0;
  for (size_t i = 0; i < list.tensors.size(); ++i) {
    if (list.tensors[i].valid()) {
      v.tensors.push_back(list.tensors[i]);
    } else {
      wire::put_varint(absent, i);
      ++missing;
    }
  }
  wire::put_varint(v.metadata, missing);
  v.metadata += absent;
  wire::put_varint(v.metadata, uint64_t(list.element_dtype));
  wire::put_varint(v.metadata, uint64_t(list.max_num_elements));
  v.metadata += wire::encode_shape(list.element_shape);
  return v;
}

// The splits of the ragged dimensions, then the values.
Result<Variant> decode_ragged(wire::EncodedVariant v) {
  if (v.tensors.empty()) return data_loss("a ragged tensor in a variant has no values");
  auto ragged = std::make_shared<op::RaggedTensorVariant>();
  ragged->values = std::move(v.tensors.back());
  v.tensors.pop_back();
  for (const Tensor& splits : v.tensors) {
    if (splits.rank() != 1 || splits.num_elements() < 1 || (splits.dtype() != DType::kInt32 && splits.dtype() != DType::kInt64))
      return data_loss("malformed splits of a ragged tensor");
  }
  ragged->splits = std::move(v.tensors);
  return Variant(std::move(ragged));
}

Result<Variant> decode(wire::EncodedVariant v) {
  if (v.type_name == op::TensorList().type_name()) return decode_list(std::move(v));
  if (v.type_name == op::Optional().type_name()) {
    auto optional = std::make_shared<op::Optional>();
    optional->has_value = v.metadata == "\1";
    optional->values = std::move(v.tensors);
    return Variant(std::move(optional));
  }
  if (v.type_name == op::CompositeTensorVariant().type_name()) {
    auto composite = std::make_shared<op::CompositeTensorVariant>();
    composite->metadata = std::move(v.metadata);
    composite->components = std::move(v.tensors);
    return Variant(std::move(composite));
  }
  if (v.type_name == data::IteratorState().type_name() && v.tensors.size() == 1) {
    WEFT_ASSIGN(data::IteratorState state, data::IteratorState::from_tensor(v.tensors[0]));
    return Variant(std::make_shared<const data::IteratorState>(std::move(state)));
  }
  if (v.type_name == data::CompressedElement().type_name()) {
    WEFT_ASSIGN(data::CompressedElement element, data::CompressedElement::parse(v.metadata));
    return Variant(std::make_shared<const data::CompressedElement>(std::move(element)));
  }
  if (v.type_name == op::RaggedTensorVariant().type_name()) return decode_ragged(std::move(v));
  if (v.type_name == "tensorflow::Tensor") {
    if (v.tensors.size() != 1) return data_loss("a tensor in a variant holds ", v.tensors.size(), " tensors");
    return op::wrap_tensor(std::move(v.tensors[0]));
  }
  return internal_error("Could not decode variant with type_name: \"", v.type_name,
                        "\".  Perhaps you forgot to register a decoder via REGISTER_UNARY_VARIANT_DECODE_FUNCTION?");
}

Result<wire::EncodedVariant> encode(const Variant& variant) {
  wire::EncodedVariant v;
  if (const auto* list = variant.get<op::TensorList>()) {
    WEFT_ASSIGN(v, encode_list(*list));
  } else if (const auto* optional = variant.get<op::Optional>()) {
    v.metadata = std::string(1, char(optional->has_value));
    v.tensors = optional->values;
    WEFT_RETURN_IF_ERROR(core::all_to_host(v.tensors));
  } else if (const auto* composite = variant.get<op::CompositeTensorVariant>()) {
    v.metadata = composite->metadata;
    v.tensors = composite->components;
  } else if (const auto* state = variant.get<data::IteratorState>()) {
    v.tensors.push_back(state->to_tensor());
  } else if (const auto* compressed = variant.get<data::CompressedElement>()) {
    v.metadata = compressed->to_string();
  } else if (const auto* ragged = variant.get<op::RaggedTensorVariant>()) {
    v.tensors = ragged->splits;
    v.tensors.push_back(ragged->values);
  } else if (const Tensor* tensor = op::unwrap_tensor(variant)) {
    v.tensors.push_back(*tensor);
  } else {
    return unimplemented("writing a variant of type ", variant.type_name(), " to a file");
  }
  v.type_name = variant.type_name();
  return v;
}

}  // namespace

wire::VariantCodec variant_codec() { return {decode, encode}; }

}  // namespace weft_engine::ops
