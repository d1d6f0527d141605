// The formats that the engine exchanges: the schema behind weft.proto, text and JSON, and files of records.
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>

#include "bridge.h"
#include "engine/engine.h"
#include "io/op_def.h"
#include "op/api_traits.h"
#include "op/op_traits.h"
#include "wire/message_view.h"
#include "wire/new_file.h"
#include "wire/proto.h"
#include "wire/record.h"
#include "wire/schema.h"
#include "wire/text_format.h"

namespace weft_engine::python {
namespace {

nb::str text(std::string_view s) { return nb::str(s.data(), s.size()); }
nb::bytes bytes(std::string_view s) { return nb::bytes(s.data(), s.size()); }
std::string_view view(const nb::bytes& b) { return {b.c_str(), b.size()}; }

// ({message: (is map entry, [(name, number, type, flags, name of the message or enum, oneof, default)])}, {enum: [(value, number)]})
nb::tuple schema() {
  const wire::Schema& s = wire::Schema::builtin();
  nb::dict messages, enums;
  for (size_t i = 0; i < s.messages().size(); ++i) {
    const wire::MessageDef m(&s, int(i));
    nb::list fields;
    for (const auto& row : m.fields()) {
      if (!row.number) continue;
      const wire::FieldDef f = m.field(row);
      std::string_view ref;
      if (f.type() == wire::FieldType::kMessage || f.type() == wire::FieldType::kGroup) ref = f.message().name();
      if (f.type() == wire::FieldType::kEnum) ref = f.enumeration().name();
      fields.append(nb::make_tuple(text(f.name()), f.number(), int(f.type()), int(row.flags), text(ref), text(f.oneof()), text(f.default_value())));
    }
    messages[text(m.name())] = nb::make_tuple(m.map_entry(), fields);
  }
  for (size_t i = 0; i < s.enums().size(); ++i) {
    const wire::EnumDef e(&s, int(i));
    nb::list values;
    for (const auto& row : e.values()) values.append(nb::make_tuple(text(e.value_name(row)), row.number));
    enums[text(e.name())] = values;
  }
  return nb::make_tuple(messages, enums);
}

nb::bytes op_def(const std::string& name) {
  const OpSpec* spec = engine::Engine::get().registry().find(name);
  if (!spec) raise(not_found("Op type not registered '", name, "'"));
  return bytes(io::encode_op_def(*spec));
}

// What the spec of an op says of it beyond the signature; nothing of a name that is a function's. num_inputs: tensors; None where a list is
// among them. strings: an input or output always is one.
nb::dict op_traits(const std::string& name) {
  const OpSpec* spec = engine::Engine::get().registry().find(name);
  const op::OpTraits t = spec ? spec->traits() : op::OpTraits();
  const std::vector<op::ArgSpec> inputs = spec ? spec->signature().inputs : std::vector<op::ArgSpec>();
  const bool lists = std::any_of(inputs.begin(), inputs.end(), [](const op::ArgSpec& a) { return a.number_attr >= 0 || a.type_list_attr >= 0; });
  const auto& outputs = spec ? spec->signature().outputs : inputs;
  const auto of_strings = [](const op::ArgSpec& a) { return a.type == core::DType::kString; };
  nb::dict out;
  out["strings"] = std::any_of(inputs.begin(), inputs.end(), of_strings) || std::any_of(outputs.begin(), outputs.end(), of_strings);
  out["elementwise"] = t.elementwise;
  out["broadcasts"] = t.broadcasts;
  out["forwards"] = t.forwards_inputs;
  out["fills_like"] = t.fills_like >= 0;
  out["reduction"] = t.reduction;
  out["shape_query"] = t.shape_query != op::ShapeQuery::kNone;
  const auto has = [&](op::ApiTrait trait) { return spec && has_api_trait(*spec, trait); };
  out["on_sparse_values"] = has(op::ApiTrait::kOnSparseValues);
  out["unchecked"] = has(op::ApiTrait::kUnchecked);
  out["dispatches_as"] = has(op::ApiTrait::kDispatchesAsUnary) ? 1 : has(op::ApiTrait::kDispatchesAsBinary) ? 2 : 0;
  out["num_inputs"] = lists ? nb::object(nb::none()) : nb::object(nb::int_(inputs.size()));
  return out;
}

// By the order of op::Role.
constexpr const char* kRoles[] = {
    "",
    "arg",
    "retval",
    "const",
    "placeholder",
    "placeholder_with_default",
    "call",
    "if",
    "case",
    "while",
    "symbolic_gradient",
    "fake_param",
    "identity",
    "identity_n",
    "switch",
    "switch_n",
    "merge",
    "enter",
    "exit",
    "next_iteration",
    "loop_cond",
    "control_trigger",
    "ref_select",
    "no_op",
    "send",
    "recv",
    "var_handle",
    "ref_variable",
    "read_variable",
    "assign_variable",
    "add_to_variable",
    "subtract_from_variable",
    "destroy_resource",
    "is_initialized",
    "variable_shape",
    "empty_list",
    "list_push",
    "list_pop",
    "list_get",
    "list_set",
    "list_reserve",
    "list_stack",
    "list_from_tensor",
    "hash_table",
    "fill_table",
    "save",
    "restore",
};
static_assert(std::size(kRoles) == size_t(op::Role::kLast_) + 1);

const char* op_role(const std::string& name) {
  const OpSpec* spec = engine::Engine::get().registry().find(name);
  return kRoles[size_t(spec ? spec->traits().role : op::Role::kNone)];
}

nb::str op_of_role(const std::string& role) {
  engine::Engine::get();  // the families say which
  const auto at = std::find(std::begin(kRoles), std::end(kRoles), role);
  const std::string_view name = at == std::end(kRoles) ? std::string_view() : op::op_of(op::Role(at - kRoles));
  if (name.empty()) raise(invalid_argument("the engine makes no op of the role '", role, "'"));
  return text(name);
}

// Every number of a packed list ends inside it.
bool whole_varints(std::string_view bytes) {
  size_t length = 0;
  for (const char byte : bytes) {
    if (++length > 10) return false;
    if (static_cast<int8_t>(byte) >= 0) length = 0;
  }
  return length == 0;
}

// The bytes are such a message down to its last field, and its text is ASCII: whoever reads a part of it later will meet no error. False: perhaps not.
bool is_plain(const wire::MessageDef& message, std::string_view bytes, int depth) {
  if (depth > wire::kMaxMessageDepth / 2) return false;
  wire::ProtoReader r(bytes);
  while (r.next()) {
    const wire::FieldDef field = r.type() == wire::WireType::kBytes ? message.find(r.field()) : wire::FieldDef();
    if (!field) continue;
    switch (field.type()) {
      case wire::FieldType::kMessage:
        if (!is_plain(field.message(), r.bytes(), depth + 1)) return false;
        break;
      case wire::FieldType::kString:
        if (std::any_of(r.bytes().begin(), r.bytes().end(), [](char c) { return static_cast<int8_t>(c) < 0; })) return false;
        break;
      case wire::FieldType::kBytes: break;
      default:
        switch (wire::wire_type(field.type())) {
          case wire::WireType::kFixed32:
            if (r.bytes().size() % 4) return false;
            break;
          case wire::WireType::kFixed64:
            if (r.bytes().size() % 8) return false;
            break;
          case wire::WireType::kVarint:
            if (!whole_varints(r.bytes())) return false;
            break;
          default: return false;
        }
    }
  }
  return r.ok();
}

}  // namespace

void bind_proto(nb::module_& m) {
  m.def(
      "proto_is_plain",
      [](const std::string& name, nb::bytes b) {
        const wire::MessageDef message = wire::Schema::builtin().find(name);
        return message && is_plain(message, view(b), 0);
      },
      "Whether the bytes are surely such a message, with no text but ASCII.");
  m.def("proto_schema", schema, "Messages and enums of proto/.");
  m.def(
      "proto_text", [](const std::string& message, nb::bytes b) { return text(unwrap(wire::binary_to_text(message, view(b)))); },
      "The text that TensorFlow writes into .pbtxt files.");
  m.def("proto_parse_text", [](const std::string& message, const std::string& t) { return bytes(unwrap(wire::text_to_binary(message, t))); });
  m.def("proto_json", [](const std::string& message, nb::bytes b) { return text(unwrap(wire::binary_to_json(message, view(b)))); });
  m.def("op_def", op_def, "The OpDef of a registered op.");
  m.def("op_traits", op_traits,
        "What the engine knows of an op: elementwise, broadcasts, forwards, fills_like, reduction, shape_query, num_inputs, strings; and what is "
        "TensorFlow's choice (op::ApiTrait): on_sparse_values, unchecked, dispatches_as (1 or 2 tensors, 0).");
  m.def("op_role", op_role, nb::arg("op"),
        "What nodes of the op are in the structure of a graph (op::Role): 'const', 'var_handle', ...; '' if they compute.");
  m.def("op_of_role", op_of_role, nb::arg("role"), "The op that the engine makes where it needs one of the role.");
  m.def(
      "replace_file", [](const std::string& path, nb::bytes b) { check(wire::replace_file(path, view(b))); },
      "A file that appears when it is complete.");

  nb::class_<wire::RecordWriter>(m, "RecordWriter", "A TFRecord file that is being written.")
      .def_static("create",
                  [](const std::string& path, const std::string& compression) { return unwrap(wire::RecordWriter::create(path, compression)); })
      .def("write", [](wire::RecordWriter& w, nb::bytes record) { check(w.write(view(record))); })
      .def("flush", [](wire::RecordWriter& w) { check(w.flush()); })
      .def("finish", [](wire::RecordWriter& w) { check(w.finish()); });
}

}  // namespace weft_engine::python
