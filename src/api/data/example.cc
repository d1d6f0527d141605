#include "wire/example.h"

#include <limits>

#include "api/unwrap.h"
#include "weft/call.h"
#include "weft/data.h"
#include "weft/math.h"
#include "wire/proto.h"

namespace weft::data {
namespace {

template <class To, class From>
Tensor converted(const Tensor& t, const std::string& name) {
  std::vector<To> out;
  out.reserve(size_t(t.size()));
  for (const From v : t.data<From>()) {
    if constexpr (std::is_same_v<From, uint64_t>) {
      if (v > uint64_t(std::numeric_limits<int64_t>::max()))
        throw Error(Code::kOutOfRange, "feature '" + name + "': a tf.Example holds int64, which is too small for " + std::to_string(v));
    }
    out.push_back(To(v));
  }
  return Tensor::of<To>({t.size()}, out);
}

// One of the three types that a tf.Example knows, as a vector.
Tensor as_feature(const Tensor& t, const std::string& name) {
  switch (t.dtype()) {
    case DType::string: return Tensor::of_strings({t.size()}, t.strings());
    case DType::float32: return converted<float, float>(t, name);
    case DType::float64: return converted<float, double>(t, name);
    case DType::float16:
    case DType::bfloat16: return converted<float, float>(weft::cast(t, DType::float32), name);
    case DType::int8: return converted<int64_t, int8_t>(t, name);
    case DType::int16: return converted<int64_t, int16_t>(t, name);
    case DType::int32: return converted<int64_t, int32_t>(t, name);
    case DType::int64: return converted<int64_t, int64_t>(t, name);
    case DType::uint8: return converted<int64_t, uint8_t>(t, name);
    case DType::uint16: return converted<int64_t, uint16_t>(t, name);
    case DType::uint32: return converted<int64_t, uint32_t>(t, name);
    case DType::uint64: return converted<int64_t, uint64_t>(t, name);
    case DType::boolean: return converted<int64_t, bool>(t, name);
    default: throw Error(Code::kInvalidArgument, "feature '" + name + "': a tf.Example holds no " + to_string(t.dtype()));
  }
}

}  // namespace

Example& Example::set(const std::string& name, const Tensor& values) {
  features_[name] = as_feature(values, name);
  return *this;
}

Tensor Example::get(const std::string& name) const {
  const auto it = features_.find(name);
  if (it != features_.end()) return it->second;
  std::string there;
  for (const auto& [n, t] : features_) there += (there.empty() ? "" : ", ") + n;
  throw Error(Code::kNotFound, "the example has no feature '" + name + "'; it has: " + (there.empty() ? "none" : there));
}

std::vector<std::string> Example::names() const {
  std::vector<std::string> out;
  for (const auto& [name, t] : features_) out.push_back(name);
  return out;
}

std::string Example::serialize() const {
  wire::ProtoWriter features;
  for (const auto& [name, t] : features_) {
    wire::ProtoWriter list, feature, entry;
    if (t.dtype() == DType::string) {
      for (const std::string& s : t.strings()) list.bytes(1, s);
    } else if (t.dtype() == DType::float32) {
      if (t.size()) list.packed_floats(1, t.to_vector<float>());
    } else if (t.size()) {
      list.packed_varints(1, t.to_vector<int64_t>());
    }
    feature.message(t.dtype() == DType::string ? 1 : t.dtype() == DType::float32 ? 2 : 3, list);
    entry.bytes(1, name);
    entry.message(2, feature);
    features.message(1, entry);
  }
  wire::ProtoWriter example;
  example.message(1, features);
  return example.take();
}

Example Example::parse(std::string_view bytes) {
  const auto broken = [](std::string_view what) { return Error(Code::kDataLoss, "not a tf.Example" + std::string(what)); };
  wire::FeatureMap features;
  if (!wire::read_example(bytes, features)) throw broken("");
  Example out;
  for (const auto& [name, feature] : features) {
    if (!feature.present()) continue;
    const std::string key(name);
    if (feature.kind == wire::FeatureKind::kUnsupported) throw broken(": feature '" + key + "' is of no known kind");
    wire::FeatureValues values(feature.dtype());
    if (!values.append(feature)) throw broken(": feature '" + key + "' cannot be read");
    auto t = api::unwrap(core::Tensor::allocate(feature.dtype(), api::unwrap(core::Shape::make(std::vector<int64_t>{values.size()}))));
    values.copy_to(0, values.size(), t, 0);
    out.features_[key] = api::adopt(eager::TensorHandle::make(std::move(t), nullptr));
  }
  return out;
}

Arrays parse_example(const Tensor& serialized, const std::map<std::string, FeatureSpec>& features) {
  std::vector<std::string> dense_keys, ragged_keys;
  std::vector<Tensor> defaults;
  std::vector<DType> dense_types, ragged_types;
  std::vector<PartialShape> dense_shapes;
  for (const auto& [name, spec] : features) {
    const auto wrong = [&](const std::string& what) { return Error(Code::kInvalidArgument, "feature '" + name + "': " + what); };
    if (spec.dtype != DType::float32 && spec.dtype != DType::int64 && spec.dtype != DType::string)
      throw wrong("a tf.Example holds float, int64 or string, not " + to_string(spec.dtype));
    if (spec.ragged) {
      if (!spec.shape.empty() || spec.default_value) throw wrong("a ragged feature has no shape and no default");
      ragged_keys.push_back(name);
      ragged_types.push_back(spec.dtype);
      continue;
    }
    for (size_t i = 0; i < spec.shape.size(); ++i) {
      if (spec.shape[i] < (i == 0 ? -1 : 0)) throw wrong("the shape is negative; only the first dimension may be -1");
    }
    const bool padded = !spec.shape.empty() && spec.shape[0] < 0;
    Tensor value;
    if (spec.default_value) {
      value = *spec.default_value;
      if (value.dtype() != spec.dtype) throw wrong("the default is " + to_string(value.dtype()) + ", not " + to_string(spec.dtype));
    } else if (spec.dtype == DType::string) {
      value = padded ? Tensor("") : Tensor::of_strings({0}, {});
    } else {
      const char zeros[8] = {};
      value = Tensor::from_bytes(spec.dtype, padded ? std::vector<int64_t>{} : std::vector<int64_t>{0}, zeros,
                                 !padded                        ? 0
                                 : spec.dtype == DType::float32 ? 4
                                                                : 8);
    }
    dense_keys.push_back(name);
    dense_types.push_back(spec.dtype);
    dense_shapes.emplace_back(spec.shape);
    defaults.push_back(std::move(value));
  }
  const auto keys = [](const std::vector<std::string>& k) { return Tensor::of_strings({int64_t(k.size())}, k); };
  std::vector<Tensor> parts = Call("ParseExampleV2")
                                  .in(serialized)
                                  .in(keys({}))
                                  .in(keys({}))
                                  .in(keys(dense_keys))
                                  .in(keys(ragged_keys))
                                  .in(defaults)
                                  .attr("Tdense", dense_types)
                                  .attr("num_sparse", 0)
                                  .attr("sparse_types", std::vector<DType>())
                                  .attr("ragged_value_types", ragged_types)
                                  .attr("ragged_split_types", std::vector<DType>(ragged_keys.size(), DType::int64))
                                  .attr("dense_shapes", dense_shapes)
                                  .run();
  Arrays out;
  for (size_t i = 0; i < dense_keys.size(); ++i) out[dense_keys[i]] = parts.at(i);
  for (size_t i = 0; i < ragged_keys.size(); ++i) {
    out[ragged_keys[i]] = parts.at(dense_keys.size() + i);
    out[ragged_keys[i] + "/row_splits"] = parts.at(dense_keys.size() + ragged_keys.size() + i);
  }
  return out;
}

}  // namespace weft::data
