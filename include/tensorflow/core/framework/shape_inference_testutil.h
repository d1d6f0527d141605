// SPDX-License-Identifier: Apache-2.0
//
// INFER_OK and INFER_ERROR: what an op's shape function gives for inputs of these shapes, as text. An expected output is "?" (unknown), "in0|in1" (the
// shape of one of these inputs, handed on), or "[1,?,d0_0|d1_1]": numbers, unknown sizes, and sizes handed on from dimension 0 of input 0 or 1 of 1.
// "e" expects an error. Of the rules of the engine's own ops only sizes are known, not where they come from: such a size fits any input's of the list.
#ifndef TENSORFLOW_CORE_FRAMEWORK_SHAPE_INFERENCE_TESTUTIL_H_
#define TENSORFLOW_CORE_FRAMEWORK_SHAPE_INFERENCE_TESTUTIL_H_

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/str_util.h"
#include "tensorflow/core/platform/strcat.h"
#include "tensorflow/core/public/version.h"

namespace tensorflow {

struct ShapeInferenceTestOp {
  using ShapeAndType = std::pair<std::string, DataType>;
  explicit ShapeInferenceTestOp(std::string_view name) : name(name) {}
  std::string name;
  NodeDef node_def;
  std::vector<const Tensor*> input_tensors;
  std::vector<std::vector<ShapeAndType>*> input_resource_handle_shapes_and_types;
  int graph_def_version = TF_GRAPH_DEF_VERSION;
};

namespace shape_inference {

class ShapeInferenceTestutil {
 public:
  // OK where the shapes are inferred as expected. Shapes are separated by ";".
  static Status InferShapes(ShapeInferenceTestOp op, const std::string& ins, const std::string& expected_outs) {
    const OpDef* def = nullptr;
    TF_RETURN_IF_ERROR(OpRegistry::Global()->LookUpOpDef(op.name, &def));
    op.node_def.set_op(op.name);
    Complete(*def, &op.node_def);
    const std::string bytes = op.node_def.SerializeAsString();
    weft_lone_node* made = nullptr;
    TF_RETURN_IF_ERROR(internal::FromC(weft_lone_node_new(internal::Text(bytes), weft_text{nullptr, 0}, op.graph_def_version, &made)));
    const std::unique_ptr<weft_lone_node, void (*)(weft_lone_node*)> node(made, weft_lone_node_delete);

    const std::vector<std::string> specs = ins.empty() ? std::vector<std::string>() : str_util::Split(ins, ';');
    const size_t n = specs.size();
    std::vector<Dims> shapes(n), held(n);
    std::vector<weft_dims> inputs;
    std::vector<const TF_Tensor*> values;
    std::vector<weft_held> holds;
    for (size_t i = 0; i < n; ++i) {
      TF_RETURN_IF_ERROR(Read(specs[i], &shapes[i]));
      inputs.push_back(shapes[i].c());
      values.push_back(i < op.input_tensors.size() && op.input_tensors[i] ? op.input_tensors[i]->c_tensor() : nullptr);
      holds.push_back({0, {nullptr, -1}});
      const auto& of_handles = op.input_resource_handle_shapes_and_types;
      if (i >= of_handles.size() || !of_handles[i] || of_handles[i]->empty()) continue;
      TF_RETURN_IF_ERROR(Read(of_handles[i]->front().first, &held[i]));
      holds.back() = {of_handles[i]->front().second, held[i].c()};
    }
    weft_shapes* begun = nullptr;
    TF_RETURN_IF_ERROR(internal::FromC(weft_shapes_begin(node.get(), inputs.data(), values.data(), holds.data(), n, &begun)));
    const std::unique_ptr<weft_shapes, void (*)(weft_shapes*)> context(begun, weft_shapes_end);

    // A shape function of C++ sources is looked at while its context is there; else there is what it gave.
    bool looked = false;
    Status seen;
    const OpShapeInferenceFn look = [&](InferenceContext* c) {
      looked = true;
      seen = Compare(c, expected_outs);
      return OkStatus();
    };
    const auto* before = std::exchange(internal::look_at_shapes, &look);
    const Status inferred = internal::FromC(weft_shapes_infer(context.get()));
    internal::look_at_shapes = before;
    TF_RETURN_IF_ERROR(inferred);
    if (looked) return seen;
    InferenceContext c(context.get());
    c.TakeOutputs();
    return Compare(&c, expected_outs);
  }

 private:
  struct Dims {
    std::vector<int64> sizes;
    bool known = false;
    weft_dims c() const { return {sizes.data(), known ? static_cast<int>(sizes.size()) : -1}; }
  };
  static Status Read(const std::string& text, Dims* out) {
    if (text == "?") return OkStatus();
    out->known = true;
    if (text.size() < 2 || text.front() != '[' || text.back() != ']')
      return errors::InvalidArgument("a shape is \"?\" or a list in brackets, not \"", text, "\"");
    if (text.size() == 2) return OkStatus();
    for (const std::string& size : str_util::Split(text.substr(1, text.size() - 2), ',')) {
      char* end = nullptr;
      out->sizes.push_back(size == "?" ? -1 : std::strtoll(size.c_str(), &end, 10));
      if (size.empty() || (end && *end)) return errors::InvalidArgument("Could not parse number in ", text);
    }
    return OkStatus();
  }
  // Tests may leave out what the shape function does not read: the first type that is allowed, the smallest number.
  static void Complete(const OpDef& op, NodeDef* node) {
    for (const OpDef::AttrDef& attr : op.attr()) {
      if (node->attr().contains(attr.name())) continue;
      AttrValue value = attr.default_value();
      if (!attr.has_default_value()) {
        if (attr.type() == "type") value.set_type(attr.allowed_values().list().type_size() ? attr.allowed_values().list().type(0) : DT_FLOAT);
        else if (attr.type() == "int") value.set_i(attr.has_minimum() ? attr.minimum() : 0);
        else if (attr.type() == "float") value.set_f(0);
        else if (attr.type() == "bool") value.set_b(false);
        else if (attr.type() == "string")
          value.set_s(attr.allowed_values().list().s_size() ? std::string(attr.allowed_values().list().s(0)) : std::string());
        else continue;
      }
      (*node->mutable_attr())[attr.name()] = value;
    }
  }

  static Status Compare(InferenceContext* c, const std::string& expected_outs) {
    if (expected_outs == "e") return errors::Unknown("Shape inference should have returned error");
    const std::vector<std::string> expected = expected_outs.empty() ? std::vector<std::string>() : str_util::Split(expected_outs, ';');
    if (static_cast<int>(expected.size()) != c->num_outputs())
      return errors::InvalidArgument("The expected output string lists the wrong number of outputs. It lists ", expected.size(), " but should list ",
                                     c->num_outputs());
    for (int i = 0; i < c->num_outputs(); ++i) TF_RETURN_IF_ERROR(CompareOutput(c, i, expected[static_cast<size_t>(i)]));
    return OkStatus();
  }
  static Status CompareOutput(InferenceContext* c, int i, const std::string& expected) {
    const ShapeHandle out = c->output(i);
    const std::string prefix = strings::StrCat("Output ", i), suffix = strings::StrCat(". Output shape was ", c->DebugString(out));
    int of_input = -1;
    for (int k = 0; k < c->num_inputs(); ++k) {
      if (c->input(k).SameHandle(out)) of_input = k;
    }
    if (expected.compare(0, 2, "in") == 0) {
      const std::vector<std::string> names = str_util::Split(expected, '|');
      for (int k = 0; k < c->num_inputs(); ++k) {
        const bool fits = InferenceContext::OfEngine(out) ? c->DebugString(c->input(k)) == c->DebugString(out) : c->input(k).SameHandle(out);
        if (fits && std::count(names.begin(), names.end(), strings::StrCat("in", k))) return OkStatus();
      }
      if (of_input < 0) return errors::Unknown(prefix, " should have matched an input shape by handle, but matched no input shape", suffix);
      return errors::Unknown(prefix, " matched input ", of_input, " by handle, but should have matched one of (", expected, ") instead", suffix);
    }
    if (of_input >= 0)
      return errors::Unknown(prefix, " matched input ", of_input, " by ShapeHandle, but was expected to not match an input shape by handle", suffix);
    if (expected == "?") return c->RankKnown(out) ? errors::Unknown(prefix, " expected to be unknown", suffix) : OkStatus();
    if (expected.size() < 2 || expected.front() != '[' || expected.back() != ']')
      return errors::InvalidArgument("an expected output is \"?\", inputs or a list in brackets, not \"", expected, "\"");
    const std::vector<std::string> dims =
        expected.size() == 2 ? std::vector<std::string>() : str_util::Split(expected.substr(1, expected.size() - 2), ',');
    if (!c->RankKnown(out)) return errors::Unknown(prefix, " expected rank ", dims.size(), " but was ?", suffix);
    if (c->Rank(out) != static_cast<int>(dims.size()))
      return errors::Unknown(prefix, " expected rank ", dims.size(), " but was ", c->Rank(out), suffix);
    for (size_t k = 0; k < dims.size(); ++k)
      TF_RETURN_IF_ERROR(CompareDim(c, c->Dim(out, static_cast<int64>(k)), dims[k], strings::StrCat("Output dim ", i, ",", k), suffix));
    return OkStatus();
  }
  static Status CompareDim(InferenceContext* c, DimensionHandle dim, const std::string& expected, const std::string& prefix,
                           const std::string& suffix) {
    const bool of_engine = InferenceContext::OfEngine(dim), handed_on = !expected.empty() && expected[0] == 'd';
    const std::vector<std::string> names = handed_on ? str_util::Split(expected, '|') : std::vector<std::string>();
    std::string from;  // the input's dimension that it is
    for (int k = 0; k < c->num_inputs(); ++k) {
      for (int m = 0; m < c->Rank(c->input(k)); ++m) {
        const DimensionHandle in = c->Dim(c->input(k), m);
        const std::string name = strings::StrCat("d", k, "_", m);
        if (in.SameHandle(dim)) from = name;
        const bool fits = of_engine ? c->Value(in) == c->Value(dim) : in.SameHandle(dim);
        if (fits && std::count(names.begin(), names.end(), name)) return OkStatus();
      }
    }
    if (handed_on) {
      if (from.empty())
        return errors::Unknown(prefix, " was expected to match the dimension of an input, but did not match any input dimension", suffix);
      return errors::Unknown(prefix, " matched input ", from, ", but should have matched one of (", expected, ")", suffix);
    }
    if (expected == "?") {
      if (!from.empty()) return errors::Unknown(prefix, " expected to be an unknown but matched input ", from, suffix);
      return c->ValueKnown(dim) ? errors::Unknown(prefix, " expected to be unknown but was ", c->Value(dim), suffix) : OkStatus();
    }
    char* end = nullptr;
    const int64 size = std::strtoll(expected.c_str(), &end, 10);
    if (expected.empty() || *end) return errors::Unknown(prefix, ": the expected dimension value '", expected, "' failed to parse as int64", suffix);
    if (!from.empty()) return errors::Unknown(prefix, " expected to be ", size, " but matched input ", from, suffix);
    if (c->Value(dim) != size) return errors::Unknown(prefix, " expected to be ", size, " but was ", c->DebugString(dim), suffix);
    return OkStatus();
  }
};

}  // namespace shape_inference
}  // namespace tensorflow

#define INFER_OK(op, ins, outs) EXPECT_EQ(::tensorflow::OkStatus(), ::tensorflow::shape_inference::ShapeInferenceTestutil::InferShapes(op, ins, outs))
#define INFER_ERROR(part, op, ins)                                                                                                                 \
  {                                                                                                                                                \
    const ::tensorflow::Status weft_status = ::tensorflow::shape_inference::ShapeInferenceTestutil::InferShapes(op, ins, "e");                     \
    EXPECT_FALSE(weft_status.ok());                                                                                                                \
    EXPECT_NE(weft_status.ToString().find(part), std::string::npos) << "Expected to see '" << (part) << "' in '" << weft_status.ToString() << "'"; \
  }

#endif  // TENSORFLOW_CORE_FRAMEWORK_SHAPE_INFERENCE_TESTUTIL_H_
