// TensorMaps: maps from tensors to tensors as values.
#include "op/emit.h"
#include "op/gradient.h"
#include "op/registry.h"
#include "op/tensor_map.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// The bytes of a key tensor, with its type and shape before them; strings are kept apart by their lengths.
std::string key_bytes(const Tensor& t) {
  std::string out = cat(int(t.dtype()), t.shape());
  if (t.dtype() == DType::kString) {
    for (const tstring& s : t.span<tstring>()) out += cat(s.size(), ":", s.view());
  } else if (is_simple(t.dtype())) {
    out.append(t.data<char>(), t.byte_size());
  }
  return out;
}

Result<std::shared_ptr<const TensorMap>> map_input(KernelContext& c) {
  const Tensor& t = c.input(0);
  if (t.rank() != 0) return invalid_argument("Input map must be a scalar. Saw: ", t.shape());
  const Variant& v = t.data<Variant>()[0];
  if (auto map = v.share<TensorMap>()) return map;
  return invalid_argument("Input handle is not a map. Saw: '", v.type_name(), "'");
}

void set_map(KernelContext& c, std::shared_ptr<const TensorMap> map) { c.set_output(0, Tensor::scalar(Variant(std::move(map)))); }

Status check_key(const Tensor& key) {
  return key.dtype() == DType::kResource || key.dtype() == DType::kVariant ? invalid_argument("a key may not be of type ", dtype_name(key.dtype()))
                                                                           : Status();
}

Status run_empty(KernelContext& c) {
  set_map(c, std::make_shared<TensorMap>());
  return {};
}

Status run_size(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorMap> map, map_input(c));
  c.set_output(0, Tensor::scalar(int32_t(map->items.size())));
  return {};
}

Status run_insert(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorMap> map, map_input(c));
  WEFT_RETURN_IF_ERROR(check_key(c.input(1)));
  auto out = std::make_shared<TensorMap>(*map);
  out->items[key_bytes(c.input(1))] = {c.input(1), c.input(2)};
  set_map(c, std::move(out));
  return {};
}

Status run_lookup(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorMap> map, map_input(c));
  WEFT_RETURN_IF_ERROR(check_key(c.input(1)));
  const auto it = map->items.find(key_bytes(c.input(1)));
  if (it == map->items.end()) return invalid_argument("Trying to lookup non-existent key. Could not find key \"", c.input(1).summary(), "\".");
  const Tensor& value = it->second.second;
  if (value.dtype() != c.output_type(0)) return invalid_argument("the map holds ", dtype_name(value.dtype()), ", not ", dtype_name(c.output_type(0)));
  c.set_output(0, value);
  return {};
}

Status run_erase(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorMap> map, map_input(c));
  WEFT_RETURN_IF_ERROR(check_key(c.input(1)));
  auto out = std::make_shared<TensorMap>(*map);
  if (!out->items.erase(key_bytes(c.input(1))))
    return invalid_argument("Trying to erase non-existent item. Could not find key \"", c.input(1).summary(), "\".");
  set_map(c, std::move(out));
  return {};
}

Status run_has_key(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorMap> map, map_input(c));
  WEFT_RETURN_IF_ERROR(check_key(c.input(1)));
  c.set_output(0, Tensor::scalar(map->items.count(key_bytes(c.input(1))) > 0));
  return {};
}

Status run_stack_keys(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<const TensorMap> map, map_input(c));
  if (map->items.empty()) return invalid_argument("TensorMapStackKeys cannot be called on empty map.");
  const Tensor& first = map->items.begin()->second.first;
  Shape shape = first.shape();
  shape.insert_dim(0, int64_t(map->items.size()));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  int64_t at = 0;
  for (const auto& [bytes, item] : map->items) {
    const Tensor& key = item.first;
    if (key.dtype() != out->dtype()) return invalid_argument("Key does not match requested dtype.");
    if (key.shape() != first.shape()) return invalid_argument("Keys must all have the same shape.");
    copy_elements(key, 0, *out, at, key.num_elements());
    at += key.num_elements();
  }
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

Grads lookup_grad(const GradContext& g) { return {g.one("TensorMapInsert", {g.one("EmptyTensorMap", {}), g.x(1), g.dy()}), {}}; }

// Nothing may have flowed into this key. An eager run knows; a graph finds out when it runs.
Grads insert_grad(const GradContext& g) {
  const Value map = g.dy(), key = g.x(1), value = g.x(2), has = g.one("TensorMapHasKey", {map, key});
  if (!has.valid()) return g.none();
  const AttrMap type = {{"value_dtype", value.dtype()}};
  if (const Tensor* known = has.constant()) {
    if (known->data<uint8_t>()[0] == 0) return {map, {}, zeros_like(value)};
    return {g.one("TensorMapErase", {map, key}, type), {}, g.one("TensorMapLookup", {map, key}, type)};
  }
  auto side = [&](const Value& v, size_t i) {
    auto sides = g.emitter().apply("Switch", {v, has});
    return sides.size() == 2 ? sides[i] : Value();
  };
  const Value there = side(map, 1), at = side(key, 1);
  return {g.one("Merge", {side(map, 0), g.one("TensorMapErase", {there, at}, type)}),
          {},
          g.one("Merge", {zeros_like(side(value, 0)), g.one("TensorMapLookup", {there, at}, type)})};
}

}  // namespace

void tensor_map(Registry& r) {
  r.add("EmptyTensorMap").out("handle: variant").doc("Makes a map without items.").shape(shapes::scalar).no_grad().cpu(run_empty);

  r.add("TensorMapErase")
      .in("input_handle: variant")
      .in("key: key_dtype")
      .out("output_handle: variant")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .doc("Gives the map without one item.")
      .shape(shapes::scalar)
      .grad([](const GradContext& g) -> Grads { return {g.raw_dy(), {}}; })
      .cpu(run_erase);

  r.add("TensorMapHasKey")
      .in("input_handle: variant")
      .in("key: key_dtype")
      .out("has_key: bool")
      .attr("key_dtype: type")
      .doc("Tells whether the map has an item of that key.")
      .shape(shapes::scalar)
      .cpu(run_has_key);

  r.add("TensorMapInsert")
      .in("input_handle: variant")
      .in("key: key_dtype")
      .in("value: value_dtype")
      .out("output_handle: variant")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .doc("Gives the map with one item set.")
      .shape(shapes::scalar)
      .grad(insert_grad)
      .cpu(run_insert);

  r.add("TensorMapLookup")
      .in("input_handle: variant")
      .in("key: key_dtype")
      .out("value: value_dtype")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .doc("Reads the value of a key.")
      .shape(shapes::unknown)
      .grad(lookup_grad)
      .cpu(run_lookup);

  r.add("TensorMapSize").in("input_handle: variant").out("size: int32").doc("Tells how many items a map has.").shape(shapes::scalar).cpu(run_size);

  r.add("TensorMapStackKeys")
      .in("input_handle: variant")
      .out("keys: key_dtype")
      .attr("key_dtype: type")
      .doc("Stacks all keys of a map into one tensor.")
      .shape(shapes::unknown)
      .cpu(run_stack_keys);
}

}  // namespace weft_engine::ops
