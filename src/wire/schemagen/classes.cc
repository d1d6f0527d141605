// Message classes for TensorFlow's C++ headers: for each file of proto/ a header weft/<name>.pb.h with accessors as protobuf generates them, and headers of
// TensorFlow's names that include them. What the classes are made of is in tensorflow/core/platform/protobuf.h.
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "wire/schemagen/model.h"

namespace schemagen {
namespace {

// TensorFlow's headers under tensorflow/core, and the file of proto/ that has their messages.
constexpr const char* kNames[][2] = {
    {"framework/allocation_description", "run"},
    {"framework/api_def", "op"},
    {"framework/attr_value", "attr"},
    {"framework/cost_graph", "run"},
    {"framework/device_attributes", "device"},
    {"framework/full_type", "attr"},
    {"framework/function", "graph"},
    {"framework/graph", "graph"},
    {"framework/graph_debug_info", "debug_info"},
    {"framework/kernel_def", "op"},
    {"framework/node_def", "graph"},
    {"framework/op_def", "op"},
    {"framework/optimized_function_graph", "graph"},
    {"framework/resource_handle", "tensor"},
    {"framework/step_stats", "run"},
    {"framework/summary", "event"},
    {"framework/tensor", "tensor"},
    {"framework/tensor_description", "run"},
    {"framework/tensor_shape", "tensor"},
    {"framework/tensor_slice", "tensor"},
    {"framework/variable", "checkpoint"},
    {"framework/versions", "attr"},
    {"example/example", "example"},
    {"example/feature", "example"},
    {"protobuf/cluster", "cluster"},
    {"protobuf/config", "config"},
    {"protobuf/config", "run"},
    {"protobuf/control_flow", "control_flow"},
    {"protobuf/debug", "run"},
    {"protobuf/device_properties", "device"},
    {"protobuf/fingerprint", "saved_model"},
    {"protobuf/meta_graph", "saved_model"},
    {"protobuf/named_tensor", "tensor"},
    {"protobuf/queue_runner", "control_flow"},
    {"protobuf/rewriter_config", "config"},
    {"protobuf/saved_model", "saved_model"},
    {"protobuf/saved_object_graph", "object_graph"},
    {"protobuf/saver", "saved_model"},
    {"protobuf/struct", "struct"},
    {"protobuf/tensor_bundle", "checkpoint"},
    {"protobuf/tensorflow_server", "server"},
    {"protobuf/trackable_object_graph", "object_graph"},
    {"protobuf/verifier_config", "config"},
    {"util/event", "event"},
    {"util/saved_tensor_slice", "checkpoint"},
};

// tensorflow.A.B as a C++ name: ::tensorflow::A_B.
std::string class_name(const std::string& full, const std::string& package) {
  std::string name = full.substr(package.size() + 1);
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
}
std::string camel(const std::string& name) {
  std::string out;
  bool upper = true;
  for (char c : name) {
    if (c != '_') out += upper ? char(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return out;
}

class Writer {
 public:
  Writer(const Model& model, const File& file) : model_(model), file_(file) {}

  std::string header() {
    std::string upper = file_.name;
    for (char& c : upper) c = std::isalnum(static_cast<unsigned char>(c)) ? char(std::toupper(static_cast<unsigned char>(c))) : '_';
    const std::string guard = "TENSORFLOW_WEFT_" + upper + "_PB_H_";
    out_ = "// Written by weft_schemagen from proto/" + file_.name + ".proto.\n#ifndef " + guard + "\n#define " + guard + "\n\n";
    for (const std::string& import : file_.imports)
      out_ += import == "error_codes" ? "#include \"tensorflow/core/platform/status.h\"\n" : "#include \"tensorflow/weft/" + import + ".pb.h\"\n";
    out_ += "#include \"tensorflow/core/framework/types.pb.h\"\n#include \"tensorflow/core/platform/protobuf.h\"\n\n" + space(true);
    for (const std::string& m : file_.messages) out_ += "class " + class_name(m, file_.package) + ";\n";
    for (const std::string& e : file_.enums) enumeration(model_.enums.at(e));
    // Inner messages first: the outer ones have typedefs of them.
    for (auto m = file_.messages.rbegin(); m != file_.messages.rend(); ++m) message(model_.messages.at(*m));
    return out_ + "\n" + space(false) + "\n#endif  // " + guard + "\n";
  }

 private:
  std::string space(bool open) const {
    std::string names, text = file_.package;
    for (size_t dot; (dot = text.find('.')) != std::string::npos;) text.replace(dot, 1, "::");
    names = text.starts_with("tensorflow") ? text : "tensorflow::" + text;
    return open ? "namespace " + names + " {\n" : "}  // namespace " + names + "\n";
  }
  // From any package.
  std::string reference(const std::string& full) const {
    for (const File& f : model_.files) {
      for (const auto* list : {&f.messages, &f.enums}) {
        for (const std::string& name : *list) {
          if (name != full) continue;
          if (f.package == file_.package) return class_name(full, f.package);
          return "::" + Writer(model_, f).qualified() + "::" + class_name(full, f.package);
        }
      }
    }
    return full;
  }
  std::string qualified() const {
    const std::string text = space(true);
    return text.substr(10, text.size() - 13);
  }

  void enumeration(const Enum& e) {
    if (e.name == "tensorflow.DataType") return;  // framework/types.pb.h
    const std::string name = class_name(e.name, file_.package);
    const bool inner = name.find('_') != std::string::npos;
    const std::string prefix = inner ? name + "_" : "";
    out_ += "enum " + name + " : int {\n";
    for (const Value& v : e.values) out_ += "  " + prefix + v.name + " = " + std::to_string(v.number) + ",\n";
    out_ += "};\ninline const std::string& " + name + "_Name(int value) {\n  static const std::string kNames[] = {";
    std::string cases;
    int i = 0;
    std::set<int> seen;
    for (const Value& v : e.values) {
      out_ += "\"" + v.name + "\", ";
      if (seen.insert(v.number).second) cases += "    case " + std::to_string(v.number) + ": return kNames[" + std::to_string(i) + "];\n";
      ++i;
    }
    out_ += "\"\"};\n  switch (value) {\n" + cases + "    default: return kNames[" + std::to_string(i) + "];\n  }\n}\n";
    out_ += "inline bool " + name + "_IsValid(int value) { return !" + name + "_Name(value).empty(); }\n";
    out_ += "inline bool " + name + "_Parse(std::string_view text, " + name + "* value) {\n";
    for (const Value& v : e.values) out_ += "  if (text == \"" + v.name + "\") return *value = " + prefix + v.name + ", true;\n";
    out_ += "  return false;\n}\n";
  }

  static std::string scalar(FieldType t) {
    switch (t) {
      case FieldType::kDouble: return "double";
      case FieldType::kFloat: return "float";
      case FieldType::kInt64:
      case FieldType::kSfixed64:
      case FieldType::kSint64: return "int64_t";
      case FieldType::kUint64:
      case FieldType::kFixed64: return "uint64_t";
      case FieldType::kUint32:
      case FieldType::kFixed32: return "uint32_t";
      case FieldType::kBool: return "bool";
      case FieldType::kString:
      case FieldType::kBytes: return "std::string";
      default: return "int32_t";
    }
  }
  std::string type_of(const Field& f) const {
    if (f.kind == FieldType::kMessage) return reference(f.type);
    if (f.kind == FieldType::kEnum) return reference(f.type);
    return scalar(f.kind);
  }

  void line(const std::string& text) { out_ += "  " + text + "\n"; }

  void message(const Message& m) {
    const std::string name = class_name(m.name, file_.package);
    out_ += "\nclass " + name + " : public ::tensorflow::protobuf::Message {\n public:\n";
    line(name + "() : Message(Type()) {}");
    line("static const ::tensorflow::protobuf::TypeInfo* Type() {");
    line("  static const auto* const type = weft_message_type_of({\"" + m.name + "\", " + std::to_string(m.name.size()) + "});");
    line("  return type;");
    line("}");
    line("static const " + name + "& default_instance() {");
    line("  static const auto* const kNone = new " + name + ";");
    line("  return *kNone;");
    line("}");
    line(name + "* New() const { return new " + name + "; }");
    line("void CopyFrom(const " + name + "& o) { *this = o; }");
    line("void MergeFrom(const " + name + "& o) { MergeMessage(o); }");
    line("void Swap(" + name + "* o) { std::swap(*this, *o); }");
    inner_types(m);
    slots_.clear();
    place_ = 0;
    int fields = 0;
    for (const Field& f : m.fields) fields += f.number != 0;
    std::set<std::string> oneofs;
    for (const Field& f : m.fields) {
      if (f.number == 0) continue;
      set_ = -1;
      if ((f.flags & FieldFlags::kPresence) && (f.kind != FieldType::kMessage || !f.oneof.empty())) {
        set_ = slots_.emplace(f.oneof.empty() ? "." + f.name : f.oneof, fields + int(slots_.size())).first->second;
      }
      if (!f.oneof.empty() && oneofs.insert(f.oneof).second) oneof(m, f.oneof);
      field(f);
      ++place_;
    }
    out_ += "};\n";
  }

  // Typedefs of inner messages and enums.
  void inner_types(const Message& m) {
    const std::string prefix = m.name + ".";
    const auto direct = [&](const std::string& full) { return full.starts_with(prefix) && full.find('.', prefix.size()) == std::string::npos; };
    for (const std::string& full : file_.messages) {
      if (direct(full)) line("using " + full.substr(prefix.size()) + " = " + class_name(full, file_.package) + ";");
    }
    for (const std::string& full : file_.enums) {
      if (!direct(full)) continue;
      const std::string inner = full.substr(prefix.size()), whole = class_name(full, file_.package);
      line("using " + inner + " = " + whole + ";");
      for (const Value& v : model_.enums.at(full).values) line("static constexpr " + whole + " " + v.name + " = " + whole + "_" + v.name + ";");
      line("static const std::string& " + inner + "_Name(int value) { return " + whole + "_Name(value); }");
    }
  }

  void oneof(const Message& m, const std::string& name) {
    const std::string type = camel(name) + "Case";
    std::string upper = name;
    for (char& c : upper) c = char(std::toupper(static_cast<unsigned char>(c)));
    std::string values;
    for (const Field& f : m.fields) {
      if (f.oneof == name) values += "k" + camel(f.name) + " = " + std::to_string(f.number) + ", ";
    }
    line("enum " + type + " { " + values + upper + "_NOT_SET = 0 };");
    const std::string at = std::to_string(set_);
    line(type + " " + name + "_case() const { return static_cast<" + type + ">(Number<int>(" + at + ")); }");
    line("void clear_" + name + "() { SetNumber<int>(" + at + ", 0); }");
  }

  void field(const Field& f) {
    const std::string n = f.name, type = type_of(f), at = "(" + std::to_string(place_) + ")", pb = "::tensorflow::protobuf::";
    if (f.flags & FieldFlags::kRepeated) return repeated_field(f);
    const bool presence = set_ >= 0;
    const std::string which = std::to_string(set_) + ", " + std::to_string(f.number), is = "Is(" + which + ")";
    const std::string choose = presence ? "Choose(" + std::to_string(place_) + ", " + which + "); " : "";
    const std::string clear = "void clear_" + n + "() { " + (presence ? "Unset(" + which + "); " : "") + "ClearField" + at + "; }";
    if (f.kind == FieldType::kMessage) {
      const std::string sub = "<" + type + ">" + at + "; }";
      line("bool has_" + n + "() const { return " + (presence ? is + " && " : "") + "HasSub" + at + "; }");
      line("const " + type + "& " + n + "() const { return " +
           (presence ? "SubIf<" + type + ">(" + is + ", " + std::to_string(place_) + "); }" : "Sub" + sub));
      line(type + "* mutable_" + n + "() { " + choose + "return MutableSub" + sub);
      line(clear);
      line(type + "* release_" + n + "() { " + (presence ? "if (!" + is + ") return nullptr; Unset(" + which + "); " : "") + "return ReleaseSub" +
           sub);
      line("void set_allocated_" + n + "(" + type + "* value) { clear_" + n + "(); if (value) Take(value, mutable_" + n + "()); }");
      return;
    }
    if (presence) line("bool has_" + n + "() const { return " + is + "; }");
    line(clear);
    if (f.kind == FieldType::kString || f.kind == FieldType::kBytes) {
      const std::string text = "MutableText" + at;
      line("const std::string& " + n + "() const { return " + (presence ? "!" + is + " ? " + pb + "NoText() : " : "") + "Text" + at + "; }");
      line("std::string* mutable_" + n + "() { " + choose + "return " + text + "; }");
      line("template <class T>");
      line("void set_" + n + "(T&& value) { *mutable_" + n + "() = std::forward<T>(value); }");
      line("void set_" + n + "(const void* data, size_t size) { mutable_" + n + "()->assign(static_cast<const char*>(data), size); }");
      line("std::string* release_" + n + "() { auto* value = new std::string(std::move(*mutable_" + n + "())); clear_" + n + "(); return value; }");
      return;
    }
    line(type + " " + n + "() const { return " + (presence ? "!" + is + " ? " + type + "() : " : "") + "Number<" + type + ">" + at + "; }");
    line("void set_" + n + "(" + type + " value) { " + choose + "SetNumber(" + std::to_string(place_) + ", value); }");
  }

  void repeated_field(const Field& f) {
    const std::string n = f.name, type = type_of(f), at = "(" + std::to_string(place_) + ")", pb = "::tensorflow::protobuf::";
    const auto entry = model_.messages.find(f.type);
    const bool text = f.kind == FieldType::kString || f.kind == FieldType::kBytes, sub = f.kind == FieldType::kMessage;
    const bool map = sub && entry != model_.messages.end() && entry->second.map_entry, number = !text && !sub;
    const std::string element = f.kind == FieldType::kEnum ? "int" : type;
    const std::string arguments = map ? "<" + type_of(entry->second.fields[0]) + ", " + type_of(entry->second.fields[1]) + ">" : "<" + element + ">";
    const std::string list = pb + (map ? "Map" : number ? "RepeatedField" : "RepeatedPtrField") + arguments;
    const std::string get = (map ? "Entries" : number ? "Numbers" : "Items") + arguments + at;
    line("const " + list + "& " + n + "() const { return " + get + "; }");
    line(list + "* mutable_" + n + "() { return Mutable" + get + "; }");
    line("int " + n + "_size() const { return static_cast<int>(" + n + "().size()); }");
    line("void clear_" + n + "() { ClearField" + at + "; }");
    if (map) return;
    if (number) {
      line(type + " " + n + "(int index) const { return " +
           (f.kind == FieldType::kEnum ? "static_cast<" + type + ">(" + n + "().Get(index))" : n + "().Get(index)") + "; }");
      line("void add_" + n + "(" + type + " value) { mutable_" + n + "()->Add(value); }");
      line("void set_" + n + "(int index, " + type + " value) { mutable_" + n + "()->Set(index, value); }");
      return;
    }
    line("const " + type + "& " + n + "(int index) const { return " + n + "().Get(index); }");
    line(type + "* mutable_" + n + "(int index) { return mutable_" + n + "()->Mutable(index); }");
    line(type + "* add_" + n + "() { return mutable_" + n + "()->Add(); }");
    if (!text) return;
    line("template <class T>");
    line("void add_" + n + "(T&& value) { *add_" + n + "() = std::forward<T>(value); }");
    line("void add_" + n + "(const void* data, size_t size) { add_" + n + "()->assign(static_cast<const char*>(data), size); }");
    line("template <class T>");
    line("void set_" + n + "(int index, T&& value) { *mutable_" + n + "(index) = std::forward<T>(value); }");
  }

  const Model& model_;
  const File& file_;
  std::string out_;
  // Of the message that is being written: the slots behind its fields, which say which of them are set.
  std::map<std::string, int> slots_;
  int place_ = 0, set_ = -1;  // of the field
};

bool write_file(const std::filesystem::path& path, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::ifstream in(path, std::ios::binary);
  if (in && std::string(std::istreambuf_iterator<char>(in), {}) == text) return true;
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  return out ? true : (std::fprintf(stderr, "cannot write %s\n", path.c_str()), false);
}

}  // namespace

bool write_classes(const Model& model, const std::string& folder) {
  for (const File& file : model.files) {
    if (file.package == "tensorflow.error" || file.package == "tensorflow.tf2xla") continue;  // status.h has the codes; no client reads the other
    if (!write_file(folder + "/weft/" + file.name + ".pb.h", Writer(model, file).header())) return false;
  }
  std::map<std::string, std::string> includes;
  for (const auto& [name, file] : kNames) includes[name] += std::string("#include \"tensorflow/weft/") + file + ".pb.h\"  // IWYU pragma: export\n";
  for (const auto& [name, text] : includes) {
    if (!write_file(folder + "/core/" + name + ".pb.h", "// Written by weft_schemagen.\n#pragma once\n" + text)) return false;
  }
  return true;
}

}  // namespace schemagen
