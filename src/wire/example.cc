#include "wire/example.h"

#include <algorithm>

#include "wire/proto.h"

namespace weft_engine::wire {

using core::DType;
using core::Tensor;
using core::tstring;

namespace {

bool read_feature(std::string_view bytes, Feature& feature) {
  feature = {};
  if (bytes.empty()) return true;
  ProtoReader r(bytes);
  if (!r.next()) return false;
  const bool known = r.field() >= 1 && r.field() <= 3 && r.type() == WireType::kBytes;
  feature.kind = known ? static_cast<FeatureKind>(r.field()) : FeatureKind::kUnsupported;
  feature.list = r.bytes();
  return true;
}

// A map entry is a message with a key (1) and a value (2), both of which must be there.
bool read_entry(std::string_view bytes, std::string_view& key, std::string_view& value) {
  ProtoReader r(bytes);
  bool has_key = false, has_value = false;
  while (r.next()) {
    if (r.type() != WireType::kBytes) continue;
    if (r.field() == 1) key = r.bytes(), has_key = true;
    if (r.field() == 2) value = r.bytes(), has_value = true;
  }
  return r.ok() && has_key && has_value;
}

// Calls f(key, value) for each entry of a message whose field 1 is a map.
template <class F>
bool each_entry(std::string_view bytes, F f) {
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() != 1 || r.type() != WireType::kBytes) continue;
    std::string_view key, value;
    if (!read_entry(r.bytes(), key, value) || !f(key, value)) return false;
  }
  return r.ok();
}

bool read_features(std::string_view bytes, FeatureMap& features) {
  return each_entry(bytes, [&](std::string_view key, std::string_view value) {
    features.emplace_back(key, Feature());
    return read_feature(value, features.back().second);
  });
}

}  // namespace

DType Feature::dtype() const {
  switch (kind) {
    case FeatureKind::kBytes: return DType::kString;
    case FeatureKind::kFloat: return DType::kFloat;
    case FeatureKind::kInt64: return DType::kInt64;
    default: return DType::kInvalid;
  }
}

bool read_example(std::string_view bytes, FeatureMap& features) {
  ProtoReader r(bytes);
  while (r.next())
    if (r.field() == 1 && r.type() == WireType::kBytes && !read_features(r.bytes(), features)) return false;
  return r.ok();
}

bool read_sequence_example(std::string_view bytes, FeatureMap& context, FeatureLists& lists) {
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.type() != WireType::kBytes) continue;
    if (r.field() == 1 && !read_features(r.bytes(), context)) return false;
    if (r.field() != 2) continue;
    const bool read = each_entry(r.bytes(), [&](std::string_view key, std::string_view value) {
      lists.emplace_back(key, std::vector<Feature>());
      ProtoReader steps(value);
      while (steps.next()) {
        if (steps.field() != 1 || steps.type() != WireType::kBytes) continue;
        Feature feature;
        if (!read_feature(steps.bytes(), feature)) return false;
        lists.back().second.push_back(feature);
      }
      return steps.ok();
    });
    if (!read) return false;
  }
  return r.ok();
}

int64_t FeatureValues::size() const {
  return static_cast<int64_t>(type_ == DType::kFloat ? floats_.size() : type_ == DType::kInt64 ? ints_.size() : strings_.size());
}

bool FeatureValues::append(const Feature& feature) {
  ProtoReader r(feature.list);
  while (r.next()) {
    if (r.field() != 1) continue;
    if (type_ == DType::kFloat) {
      if ((r.type() != WireType::kFixed32 && r.type() != WireType::kBytes) || !r.append_fixed(floats_)) return false;
    } else if (type_ == DType::kInt64) {
      if ((r.type() != WireType::kVarint && r.type() != WireType::kBytes) || !r.append_varints(ints_)) return false;
    } else {
      if (r.type() != WireType::kBytes) return false;
      strings_.push_back(r.bytes());
    }
  }
  return r.ok();
}

void FeatureValues::copy_to(int64_t from, int64_t n, Tensor& t, int64_t to) const {
  if (type_ == DType::kFloat) std::copy_n(floats_.begin() + from, n, t.data<float>() + to);
  else if (type_ == DType::kInt64) std::copy_n(ints_.begin() + from, n, t.data<int64_t>() + to);
  else
    for (int64_t i = 0; i < n; ++i) t.data<tstring>()[to + i] = strings_[size_t(from + i)];
}

}  // namespace weft_engine::wire
