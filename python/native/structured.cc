#include "structured.h"

#include <nanobind/stl/string.h>

#include "core/own_memory.h"
#include "saved_model.h"

namespace weft_engine::python {
namespace {

using saved_model::StructuredValue;
using Kind = StructuredValue::Kind;

std::string text_of(nb::handle h) { return h.is_none() ? std::string() : nb::cast<std::string>(h); }

Tensor contents_of(nb::handle tensor) {
  if (!is_tensor(tensor.ptr())) throw nb::type_error("a structured value holds something that is no tensor");
  return unwrap(core::to_host(data_of(tensor.ptr())));
}

nb::object tensor_object(const Tensor& t) { return nb::steal(wrap(eager::TensorHandle::make(t, nullptr))); }

void add_items(nb::handle items, StructuredValue& v) {
  for (nb::handle item : items) v.items.emplace_back("", structured_of(item));
}
void add_pairs(nb::handle pairs, StructuredValue& v) {
  for (nb::handle pair : pairs) v.items.emplace_back(nb::cast<std::string>(pair[0]), structured_of(pair[1]));
}

StructuredValue plain_of(nb::handle tree) {
  StructuredValue v;
  PyObject* o = tree.ptr();
  if (PyBool_Check(o)) {
    v.kind = Kind::kBool;
    v.integer = o == Py_True;
  } else if (PyLong_Check(o)) {
    v.kind = Kind::kInt;
    int overflow = 0;
    v.integer = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) throw nb::value_error("Value out of range: a structured value holds whole numbers of 64 bits");
  } else if (PyFloat_Check(o)) {
    v.kind = Kind::kFloat;
    v.number = PyFloat_AS_DOUBLE(o);
  } else if (PyUnicode_Check(o)) {
    v.kind = Kind::kString;
    v.text = nb::cast<std::string>(tree);
  } else if (!tree.is_none()) {
    throw nb::type_error("not a tree of structured values");
  }
  return v;
}

nb::list item_trees(const StructuredValue& v) {
  nb::list out;
  for (const auto& [key, item] : v.items) out.append(structured_tree(item));
  return out;
}
nb::list pair_trees(const StructuredValue& v) {
  nb::list out;
  for (const auto& [key, item] : v.items) out.append(nb::make_tuple(key, structured_tree(item)));
  return out;
}

}  // namespace

nb::object checked_dtype(DType t) {
  PyObject* o = int(t) > 0 && int(t) < 256 ? dtype_object(t) : nullptr;
  if (!o) throw nb::type_error("a structured value has an unknown type");
  return nb::borrow(o);
}

StructuredValue structured_of(nb::handle tree) {
  if (!PyTuple_Check(tree.ptr())) return plain_of(tree);
  StructuredValue v;
  const std::string kind = nb::cast<std::string>(tree[0]);
  if (kind == "shape") {
    v.kind = Kind::kShape;
    v.shape = shape_of(tree[1].ptr());
  } else if (kind == "dtype") {
    v.kind = Kind::kType;
    v.dtype = dtype_of(tree[1].ptr());
  } else if (kind == "tensor" || kind == "bounded") {
    v.kind = Kind::kTensor;
    v.text = text_of(tree[1]);
    v.shape = shape_of(tree[2].ptr());
    v.dtype = dtype_of(tree[3].ptr());
    if (kind == "bounded") v.contents = {contents_of(tree[4]), contents_of(tree[5])};
  } else if (kind == "spec") {
    v.kind = Kind::kComposite;
    v.type_class = nb::cast<int>(tree[1]);
    v.text = nb::cast<std::string>(tree[2]);
    v.items.emplace_back("state", structured_of(tree[3]));
    v.components = nb::cast<int>(tree[4]);
  } else if (kind == "array" || kind == "constant") {
    v.kind = kind == "array" ? Kind::kArray : Kind::kConstant;
    v.contents = {contents_of(tree[1])};
  } else if (kind == "list" || kind == "tuple") {
    v.kind = kind == "list" ? Kind::kList : Kind::kTuple;
    add_items(tree[1], v);
  } else if (kind == "dict") {
    v.kind = Kind::kDict;
    add_pairs(tree[1], v);
  } else if (kind == "named") {
    v.kind = Kind::kNamedTuple;
    v.text = nb::cast<std::string>(tree[1]);
    add_pairs(tree[2], v);
  } else {
    throw nb::type_error("not a kind of structured values");
  }
  return v;
}

nb::object structured_tree(const StructuredValue& v) {
  switch (v.kind) {
    case Kind::kNone: return nb::none();
    case Kind::kFloat: return nb::float_(v.number);
    case Kind::kInt: return nb::int_(v.integer);
    case Kind::kString: return nb::cast(v.text);
    case Kind::kBool: return nb::bool_(v.integer != 0);
    case Kind::kShape: return nb::make_tuple("shape", nb::steal(shape_tuple(v.shape)));
    case Kind::kType: return nb::make_tuple("dtype", checked_dtype(v.dtype));
    case Kind::kTensor:
      if (v.contents.size() != 2) return nb::make_tuple("tensor", v.text, nb::steal(shape_tuple(v.shape)), checked_dtype(v.dtype));
      return nb::make_tuple("bounded", v.text, nb::steal(shape_tuple(v.shape)), checked_dtype(v.dtype), tensor_object(v.contents[0]),
                            tensor_object(v.contents[1]));
    case Kind::kComposite:
      return nb::make_tuple("spec", v.type_class, v.text, v.items.empty() ? nb::none() : structured_tree(v.items[0].second), v.components);
    case Kind::kArray: return nb::make_tuple("array", tensor_object(v.contents.at(0)));
    case Kind::kConstant: return nb::make_tuple("constant", tensor_object(v.contents.at(0)));
    case Kind::kList: return nb::make_tuple("list", item_trees(v));
    case Kind::kTuple: return nb::make_tuple("tuple", item_trees(v));
    case Kind::kDict: return nb::make_tuple("dict", pair_trees(v));
    case Kind::kNamedTuple: return nb::make_tuple("named", v.text, pair_trees(v));
  }
  return nb::none();
}

void bind_structured(nb::module_& m) {
  m.def(
      "encode_structured",
      [](nb::handle tree) {
        const std::string bytes = saved_model::encode_structured_value(structured_of(tree));
        return nb::bytes(bytes.data(), bytes.size());
      },
      nb::arg("tree").none(), "The StructuredValue message of a tree.");
  m.def(
      "decode_structured",
      [](nb::bytes b) { return structured_tree(unwrap(saved_model::decode_structured_value(std::string_view(b.c_str(), b.size())))); },
      nb::arg("message"));
}

}  // namespace weft_engine::python
