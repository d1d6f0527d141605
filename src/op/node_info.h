// NodeInfo: one use of an op with every attribute known and checked, and the types of its inputs and
// outputs worked out. Kernels and shape rules read attributes from here; what the signature promises
// (presence, type, allowed values, minimum) holds and need not be checked again.
#pragma once

#include <cassert>

#include "op/op_spec.h"

namespace weft_engine::op {

class NodeInfo {
 public:
  struct Range {
    int begin = 0, end = 0;
    int size() const { return end - begin; }
  };

  // Fills in defaults, infers type and count attributes from `input_types` where they are not given,
  // and checks everything against the signature. `given` may hold "_"-attributes, which are kept.
  static Result<NodeInfo> make(const OpSpec& spec, std::string name, AttrMap given, std::span<const DType> input_types);

  const OpSpec& spec() const { return *spec_; }
  std::string_view op() const { return spec_->name; }
  const std::string& name() const { return name_; }

  template <class T>
  const T& attr(std::string_view name) const {
    const AttrValue* v = find_attr(name);
    const T* t = v ? v->get<T>() : nullptr;
    assert(t && "attribute that the signature does not declare with this type");
    static const T kNone{};
    return t ? *t : kNone;
  }
  const AttrValue* find_attr(std::string_view name) const;
  const std::vector<AttrValue>& attrs() const { return attrs_; }  // in signature order
  const AttrMap& extra_attrs() const { return extra_; }

  // For passes over graphs. A declared attribute must keep its kind and must not change the types of inputs and outputs.
  void set_attr(std::string_view name, AttrValue value);
  void clear_attr(std::string_view name);  // one that the signature does not declare
  void set_name(std::string name) { name_ = std::move(name); }

  const std::vector<DType>& input_types() const { return input_types_; }
  const std::vector<DType>& output_types() const { return output_types_; }
  int num_inputs() const { return int(input_types_.size()); }
  int num_outputs() const { return int(output_types_.size()); }
  // Where the argument of that name lies in the flat list of inputs or outputs.
  Range input_range(std::string_view name) const;
  Range output_range(std::string_view name) const;
  Range input_range(int arg) const { return input_ranges_[size_t(arg)]; }
  Range output_range(int arg) const { return output_ranges_[size_t(arg)]; }

  // "MatMul[T=DT_FLOAT, transpose_a=false]"
  std::string to_string() const;

 private:
  const OpSpec* spec_ = nullptr;
  std::string name_;
  std::vector<AttrValue> attrs_;
  AttrMap extra_;
  std::vector<DType> input_types_, output_types_;
  std::vector<Range> input_ranges_, output_ranges_;
};

// Checks a value against an attribute's declaration, with TensorFlow's texts; turns an untyped empty
// list into one of the declared type.
Status check_attr(const AttrSpec& spec, AttrValue& value, std::string_view op);

}  // namespace weft_engine::op
