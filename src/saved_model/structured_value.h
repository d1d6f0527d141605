// StructuredValue: how a SavedModel writes down the arguments and results of a Python function: nested lists, tuples
// and dictionaries of tensors, numbers, texts and types. The one codec of the message; Python makes its own values of these
// (python/native/structured.cc).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dtype.h"
#include "core/shape.h"
#include "core/status.h"
#include "core/tensor.h"

namespace weft_engine::saved_model {

using namespace weft_engine::core;

struct StructuredValue {
  enum class Kind { kNone, kFloat, kInt, kString, kBool, kShape, kType, kTensor, kComposite, kArray, kConstant, kList, kTuple, kDict, kNamedTuple };
  Kind kind = Kind::kNone;
  double number = 0;
  int64_t integer = 0;  // of kInt and kBool
  std::string text;     // of kString; the name of a tensor; the class of a composite
  DType dtype = DType::kInvalid;
  PartialShape shape;
  int type_class = 0;            // of kComposite: TypeSpecProto.TypeSpecClass
  int components = 0;            // of kComposite: how many tensors it is made of; 0: not said
  std::vector<Tensor> contents;  // of kArray and kConstant: the value; of a kTensor with limits: minimum and maximum
  // Lists and tuples without keys; dictionaries sorted by key, the order in which they are flattened; a composite's state.
  std::vector<std::pair<std::string, StructuredValue>> items;

  bool is_plain() const { return kind < Kind::kTensor; }  // a value that Python code would have branched on
  // As Python prints it: [1, 'a'], TensorSpec(shape=(None, 3), dtype=tf.float32, name='x').
  std::string to_string() const;
};
bool operator==(const StructuredValue& a, const StructuredValue& b);  // of plain values and nests of them

Result<StructuredValue> decode_structured_value(std::string_view bytes);
std::string encode_structured_value(const StructuredValue& v);
std::string encode_type_spec(const StructuredValue& composite);  // TypeSpecProto

// Short ways to make some.
StructuredValue none_value();
StructuredValue text_value(std::string text);
StructuredValue tensor_value(std::string name, DType dtype, PartialShape shape);
StructuredValue list_value(StructuredValue::Kind kind, std::vector<StructuredValue> items);

// One tensor of a structure. `path` tells where it stands: "x", "0.y"; empty where the structure is one tensor.
struct Leaf {
  std::string path, name;
  DType dtype = DType::kInvalid;  // kInvalid: any
  PartialShape shape;
};
// The tensors of a structure in the order in which functions take them. Plain values are left out.
Status flatten(const StructuredValue& v, const std::string& path, std::vector<Leaf>& out);

// "(2, None)", "<unknown>": shapes as Python writes them.
std::string python_shape(const PartialShape& shape);

}  // namespace weft_engine::saved_model
