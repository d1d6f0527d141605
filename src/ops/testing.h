// What the unit tests of op families share: the shapes that an op's rule gives, and calls of ops through the public API.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <weft/weft.h>

#include "engine/engine.h"
#include "op/registry.h"
#include "op/shape_context.h"

namespace weft_engine::ops::testing {

inline core::PartialShape scalar() { return core::PartialShape::scalar(); }  // {} is a shape of unknown rank

struct Given {
  core::DType type;
  core::PartialShape shape;
  const core::Tensor* value = nullptr;  // of an input that is constant
};

// The shapes of the outputs, as in "[2,?] []", or the message of the rule's error.
inline std::string shapes_of(std::string_view op, std::vector<Given> inputs, op::AttrMap attrs = {}) {
  std::vector<core::DType> types;
  std::vector<core::PartialShape> shapes;
  std::vector<const core::Tensor*> values;
  for (const Given& in : inputs) {
    types.push_back(in.type);
    shapes.push_back(in.shape);
    values.push_back(in.value);
  }
  const auto spec = engine::Engine::get().registry().get(op);
  if (!spec.ok()) return spec.status().message();
  const auto node = op::NodeInfo::make(**spec, "n", std::move(attrs), types);
  if (!node.ok()) return node.status().message();
  op::ShapeContext context(*node, std::move(shapes), std::move(values));
  const core::Status status = (*spec)->infer_shapes(context);
  if (!status.ok()) return status.message();
  std::string out;
  for (const auto& shape : context.outputs()) out += (out.empty() ? "" : " ") + shape.to_string();
  return out;
}

template <class T>
core::Tensor constant(std::vector<T> values) {
  return core::Tensor::of<T>(core::Shape{int64_t(values.size())}, std::span<const T>(values));
}

// The message of the error that f ends with; empty: none.
template <class F>
std::string error_of(F f) {
  try {
    f();
    return {};
  } catch (const weft::Error& e) {
    return e.what();
  }
}

inline bool says(const std::string& message, std::string_view part) { return message.find(part) != std::string::npos; }

template <class T>
std::vector<T> list(const weft::Tensor& t) {
  const auto data = t.data<T>();
  return {data.begin(), data.end()};
}

// The gradient of the sum of f(x) * weights by x; the weights tell the elements apart.
template <class F>
std::vector<float> gradient(F f, const weft::Tensor& x, const std::vector<float>& weights) {
  weft::GradientTape tape;
  tape.watch(x);
  const weft::Tensor y = f(x);
  weft::GradientOptions options;
  options.output_gradients = {weft::Tensor::of<float>(y.shape(), std::span<const float>(weights))};
  return list<float>(tape.gradient(y, x, options).dense());
}

}  // namespace weft_engine::ops::testing
