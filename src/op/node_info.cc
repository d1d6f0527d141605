#include "op/node_info.h"

#include <algorithm>
#include <cassert>
#include <map>

#include "core/error_notes.h"
#include "op/summary.h"

namespace weft_engine::op {
namespace {

AttrValue empty_list_of(std::string_view type) {
  if (type == "list(int)") return std::vector<int64_t>{};
  if (type == "list(float)") return std::vector<float>{};
  if (type == "list(bool)") return std::vector<bool>{};
  if (type == "list(string)") return std::vector<std::string>{};
  if (type == "list(type)") return std::vector<DType>{};
  if (type == "list(shape)") return std::vector<PartialShape>{};
  if (type == "list(tensor)") return std::vector<Tensor>{};
  return std::vector<FunctionAttr>{};
}

int64_t list_size(const AttrValue& v) {
  return std::visit(
      [](const auto& x) -> int64_t {
        if constexpr (requires {
                        x.begin();
                        x.size();
                      } && !std::is_same_v<std::decay_t<decltype(x)>, std::string>)
          return int64_t(x.size());
        else return 0;
      },
      v.storage());
}

Status check_type(const AttrSpec& spec, DType t, std::string_view op) {
  (void)op;
  if (t == DType::kInvalid) return invalid_argument("AttrValue has invalid DataType\n\t for attr '", spec.name, "'");
  if (!is_valid_dtype(int(t))) return invalid_argument("AttrValue has invalid DataType enum: ", int(t), "\n\t for attr '", spec.name, "'");
  if (is_ref_type(t)) return invalid_argument("AttrValue must not have reference type value of ", dtype_name(t), "\n\t for attr '", spec.name, "'");
  if (spec.allowed_types.empty()) return {};
  if (std::find(spec.allowed_types.begin(), spec.allowed_types.end(), t) != spec.allowed_types.end()) return {};
  std::vector<std::string> names;
  for (DType a : spec.allowed_types) names.push_back(dtype_name(a));
  return invalid_argument("Value for attr '", spec.name, "' of ", dtype_name(t), " is not in the list of allowed values: ", join(names, ", "));
}

// The types of one argument, from attributes that may still be missing (kInvalid then).
Status expand(const ArgSpec& arg, const std::vector<AttrValue>& attrs, const Signature& sig, std::string_view op, std::vector<DType>& out) {
  int64_t count = 1;
  if (arg.number_attr >= 0) {
    count = *attrs[size_t(arg.number_attr)].get<int64_t>();
    if (count < 0) return invalid_argument("Value for number_attr(", sig.attrs[size_t(arg.number_attr)].name, ") < 0");
    if (count > (1 << 24)) return invalid_argument("number_attr ", sig.attrs[size_t(arg.number_attr)].name, " of ", op, " is too large: ", count);
  }
  if (arg.type_list_attr >= 0) {
    for (DType t : *attrs[size_t(arg.type_list_attr)].get<std::vector<DType>>()) out.push_back(arg.is_ref ? ref_type(t) : t);
    return {};
  }
  DType t = arg.type_attr >= 0 ? *attrs[size_t(arg.type_attr)].get<DType>() : arg.type;
  out.insert(out.end(), size_t(count), arg.is_ref ? ref_type(t) : t);
  return {};
}

// Works out type and count attributes that were not given from the inputs' types, in order.
// An argument that is a list of unknown length takes all inputs that the arguments behind it can spare.
Status infer_attrs(const Signature& sig, std::span<const DType> inputs, std::vector<AttrValue>& attrs, std::string_view op) {
  size_t at = 0;
  for (size_t a = 0; a < sig.inputs.size(); ++a) {
    const ArgSpec& arg = sig.inputs[a];
    auto spare = [&]() -> int64_t {
      int64_t later = 0;
      for (size_t b = a + 1; b < sig.inputs.size(); ++b) {
        const ArgSpec& o = sig.inputs[b];
        if (o.type_list_attr >= 0) {
          const auto* l = attrs[size_t(o.type_list_attr)].get<std::vector<DType>>();
          later += l ? int64_t(l->size()) : 0;
        } else if (o.number_attr >= 0) {
          const auto* n = attrs[size_t(o.number_attr)].get<int64_t>();
          later += n ? *n : 0;
        } else {
          ++later;
        }
      }
      return std::max<int64_t>(0, int64_t(inputs.size()) - int64_t(at) - later);
    };
    int64_t count = 1;
    if (arg.number_attr >= 0) {
      AttrValue& n = attrs[size_t(arg.number_attr)];
      if (n.empty()) n = AttrValue(spare());
      if (const auto* v = n.get<int64_t>()) count = *v;
    } else if (arg.type_list_attr >= 0) {
      AttrValue& l = attrs[size_t(arg.type_list_attr)];
      if (l.empty()) {
        const int64_t k = spare();
        std::vector<DType> list;
        for (int64_t i = 0; i < k && at + size_t(i) < inputs.size(); ++i) list.push_back(base_type(inputs[at + size_t(i)]));
        l = AttrValue(std::move(list));
      }
      const auto* v = l.get<std::vector<DType>>();
      count = v ? int64_t(v->size()) : 0;
    }
    if (arg.type_attr >= 0 && at < inputs.size() && count > 0) {
      AttrValue& t = attrs[size_t(arg.type_attr)];
      if (t.empty()) t = AttrValue(base_type(inputs[at]));
    }
    at += size_t(std::clamp<int64_t>(count, 0, int64_t(inputs.size())));
  }
  (void)op;
  return {};
}

}  // namespace

Status check_attr(const AttrSpec& spec, AttrValue& value, std::string_view op) {
  if (value.get<EmptyList>() && spec.type.starts_with("list(")) value = empty_list_of(spec.type);
  if (value.kind() != spec.type)
    return invalid_argument("AttrValue had value with type '", value.kind(), "' when '", spec.type, "' expected\n\t for attr '", spec.name, "'");
  if (spec.type == "type") {
    WEFT_RETURN_IF_ERROR(check_type(spec, *value.get<DType>(), op));
  } else if (spec.type == "list(type)") {
    for (DType t : *value.get<std::vector<DType>>()) WEFT_RETURN_IF_ERROR(check_type(spec, t, op));
  }
  auto check_string = [&](const std::string& s) -> Status {
    if (spec.allowed_strings.empty() || std::find(spec.allowed_strings.begin(), spec.allowed_strings.end(), s) != spec.allowed_strings.end())
      return {};
    std::vector<std::string> quoted;
    for (const auto& a : spec.allowed_strings) quoted.push_back(cat("\"", a, "\""));
    return invalid_argument("Value for attr '", spec.name, "' of \"", s, "\" is not in the list of allowed values: ", join(quoted, ", "));
  };
  if (spec.type == "string") {
    WEFT_RETURN_IF_ERROR(check_string(*value.get<std::string>()));
  } else if (spec.type == "list(string)") {
    for (const auto& s : *value.get<std::vector<std::string>>()) WEFT_RETURN_IF_ERROR(check_string(s));
  }
  if (spec.minimum) {
    if (spec.type == "int" && *value.get<int64_t>() < *spec.minimum)
      return invalid_argument("Value for attr '", spec.name, "' of ", *value.get<int64_t>(), " must be at least minimum ", *spec.minimum);
    if (spec.type.starts_with("list(") && list_size(value) < *spec.minimum)
      return invalid_argument("Length for attr '", spec.name, "' of ", list_size(value), " must be at least minimum ", *spec.minimum);
  }
  return {};
}

Result<NodeInfo> NodeInfo::make(const OpSpec& spec, std::string name, AttrMap given, std::span<const DType> input_types) {
  WEFT_RETURN_IF_ERROR(spec.check());
  const Signature& sig = spec.signature();
  NodeInfo node;
  node.spec_ = &spec;
  node.name_ = std::move(name);
  node.attrs_.resize(sig.attrs.size());
  for (auto& [key, value] : given) {
    const int i = sig.attr_index(key);
    if (i >= 0) node.attrs_[size_t(i)] = std::move(value);
    else node.extra_.emplace(key, std::move(value));  // of a newer producer, or a pass's own: kept and not looked at, as TensorFlow does
  }
  WEFT_RETURN_IF_ERROR(infer_attrs(sig, input_types, node.attrs_, spec.name));
  auto def = [&] { return cat("NodeDef: {{node ", node.name_.empty() ? std::string(spec.name) : node.name_, "}}"); };
  std::vector<std::string> missing;
  for (size_t i = 0; i < sig.attrs.size(); ++i) {
    const AttrSpec& a = sig.attrs[i];
    if (!node.attrs_[i].empty()) {
      if (Status s = check_attr(a, node.attrs_[i], spec.name); !s.ok())
        return core::names_node(s.with_suffix(cat("\n\t; ", def(), "; ", summarize_op(spec))), node.name_);
    } else if (a.default_value) {
      node.attrs_[i] = *a.default_value;
    } else {
      missing.push_back(cat("'", a.name, "'"));
    }
  }
  if (!missing.empty()) {
    std::sort(missing.begin(), missing.end());
    return core::names_node(
        invalid_argument("NodeDef missing attr", missing.size() > 1 ? "s " : " ", join(missing, ", "), " from ", summarize_op(spec), "; ", def()),
        node.name_);
  }
  for (const auto& arg : sig.inputs) {
    Range r{int(node.input_types_.size()), 0};
    WEFT_RETURN_IF_ERROR(expand(arg, node.attrs_, sig, spec.name, node.input_types_));
    r.end = int(node.input_types_.size());
    node.input_ranges_.push_back(r);
  }
  for (const auto& arg : sig.outputs) {
    Range r{int(node.output_types_.size()), 0};
    WEFT_RETURN_IF_ERROR(expand(arg, node.attrs_, sig, spec.name, node.output_types_));
    r.end = int(node.output_types_.size());
    node.output_ranges_.push_back(r);
  }
  if (input_types.size() != node.input_types_.size()) {
    std::vector<std::string> names;
    for (DType t : node.input_types_) names.push_back(dtype_name(t));
    return invalid_argument("NodeDef expected inputs '", join(names, ", "), "' do not match ", input_types.size(), " inputs specified; ",
                            summarize_op(spec), "; ", def());
  }
  for (size_t i = 0; i < input_types.size(); ++i) {
    if (base_type(input_types[i]) != base_type(node.input_types_[i]))
      return invalid_argument("cannot compute ", spec.name, " as input #", i, "(zero-based) was expected to be a ", dtype_name(node.input_types_[i]),
                              " tensor but is a ", dtype_name(input_types[i]), " tensor");
  }
  return node;
}

void NodeInfo::set_attr(std::string_view name, AttrValue value) {
  const int i = spec_->signature().attr_index(name);
  if (i >= 0) attrs_[size_t(i)] = std::move(value);
  else extra_[std::string(name)] = std::move(value);
}

void NodeInfo::clear_attr(std::string_view name) {
  if (auto it = extra_.find(name); it != extra_.end()) extra_.erase(it);
}

const AttrValue* NodeInfo::find_attr(std::string_view name) const {
  const int i = spec_->signature().attr_index(name);
  if (i >= 0) return &attrs_[size_t(i)];
  auto it = extra_.find(name);
  return it == extra_.end() ? nullptr : &it->second;
}

NodeInfo::Range NodeInfo::input_range(std::string_view name) const {
  const auto& args = spec_->signature().inputs;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name == name) return input_ranges_[i];
  }
  assert(false && "no such input");
  return {};
}

NodeInfo::Range NodeInfo::output_range(std::string_view name) const {
  const auto& args = spec_->signature().outputs;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name == name) return output_ranges_[i];
  }
  assert(false && "no such output");
  return {};
}

std::string NodeInfo::to_string() const {
  std::map<std::string_view, const AttrValue*> by_name;
  for (size_t i = 0; i < attrs_.size(); ++i) by_name[spec_->signature().attrs[i].name] = &attrs_[i];
  std::vector<std::string> texts;
  for (const auto& [name, value] : by_name) texts.push_back(cat(name, "=", value->to_string()));
  return cat(spec_->name, "[", join(texts, ", "), "]");
}

}  // namespace weft_engine::op
