// Turns the files under proto/ into the tables of wire/schema.h, at build time.
//   weft_schemagen TABLES CLASSES_DIR PROTO_DIR NAME...
// and the message classes of TensorFlow's C++ headers into CLASSES_DIR (classes.cc).
// Reads the part of the language that these files use: messages, enums, oneofs, maps, reserved names, options.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "wire/schemagen/model.h"

using namespace schemagen;  // NOLINT

namespace {

Model model;
auto& messages = model.messages;
auto& enums = model.enums;

class Parser {
 public:
  Parser(const char* path, std::string text, File& file) : path_(path), text_(std::move(text)), file_(file) { advance(); }

  void file() {
    while (!token_.empty()) {
      if (accept("syntax")) {
        expect("=");
        proto2_ = take() == "\"proto2\"";
        expect(";");
      } else if (accept("package")) {
        package_ = take();
        expect(";");
      } else if (accept("import")) {
        file_.imports.push_back(token_.substr(1, token_.size() - 8));  // without quotes and .proto
        skip_statement();
      } else if (accept("option")) {
        skip_statement();
      } else if (accept("message")) {
        message(package_);
      } else if (accept("enum")) {
        enumeration(package_);
      } else {
        fail("expected a message or an enum");
      }
    }
    file_.package = package_;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + std::ptrdiff_t(start_), '\n');
    std::fprintf(stderr, "%s:%d: %s, got \"%s\"\n", path_, int(line), why.c_str(), token_.c_str());
    std::exit(1);
  }
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

  // A token is a word (dots included), a number with its sign, a string with its quotes, or one sign.
  void advance() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
      else if (text_.compare(at_, 2, "//") == 0) at_ = std::min(text_.find('\n', at_), text_.size());
      else break;
    }
    start_ = at_;
    if (at_ == text_.size()) return token_.clear();
    size_t end = at_ + 1;
    if (text_[at_] == '"') end = std::min(text_.find('"', end), text_.size() - 1) + 1;
    else if (is_word(text_[at_]) || text_[at_] == '-')
      while (end < text_.size() && is_word(text_[end])) ++end;
    token_ = text_.substr(at_, end - at_);
    at_ = end;
  }
  std::string take() {
    std::string t = token_;
    advance();
    return t;
  }
  bool accept(const char* word) {
    if (token_ != word) return false;
    advance();
    return true;
  }
  void expect(const char* sign) {
    if (!accept(sign)) fail(std::string("expected ") + sign);
  }
  int number() {
    char* end;
    const long v = std::strtol(token_.c_str(), &end, 10);
    if (token_.empty() || *end) fail("expected a number");
    advance();
    return int(v);
  }
  void skip_statement() {
    while (!token_.empty() && token_ != ";") advance();
    expect(";");
  }

  // reserved 2, 19 to 20, "name"; only names matter to a reader of text.
  void reserved(Message& m) {
    do {
      if (token_.starts_with('"')) m.fields.push_back({.name = token_.substr(1, token_.size() - 2)});
      take();
      if (accept("to")) take();
    } while (accept(","));
    expect(";");
  }

  void message(const std::string& outer) {
    const std::string name = outer + "." + take();
    Message m{.name = name};
    file_.messages.push_back(name);
    expect("{");
    while (!accept("}")) {
      if (accept("message")) message(name);
      else if (accept("enum")) enumeration(name);
      else if (accept("option")) skip_statement();
      else if (accept("reserved")) reserved(m);
      else if (accept("oneof")) {
        const std::string oneof = take();
        expect("{");
        while (!accept("}")) field(m, oneof);
      } else {
        field(m, "");
      }
    }
    if (!messages.emplace(name, std::move(m)).second) fail(name + " is defined twice");
  }

  void field(Message& m, const std::string& oneof) {
    Field f{.oneof = oneof, .scope = m.name, .flags = oneof.empty() ? 0 : FieldFlags::kPresence};
    if (accept("repeated")) f.flags |= FieldFlags::kRepeated;
    else if (accept("optional")) f.flags |= FieldFlags::kPresence;
    std::string key;
    if (accept("map")) {
      expect("<");
      key = take();
      expect(",");
      f.type = take();
      expect(">");
      f.flags |= FieldFlags::kRepeated;
    } else {
      f.type = take();
    }
    f.name = take();
    expect("=");
    f.number = number();
    if (accept("[")) {
      do {
        const std::string option = take();
        expect("=");
        const std::string value = take();
        if (option == "packed") f.packed = value == "true";
      } while (accept(","));
      expect("]");
    }
    expect(";");
    if (f.packed < 0) f.packed = !proto2_;
    if (!proto2_) f.flags |= FieldFlags::kUtf8;
    if (!key.empty()) {
      // A map is a repeated message with a key and a value.
      Message entry{.name = m.name + "." + entry_name(f.name), .map_entry = true};
      const int flags = (proto2_ ? FieldFlags::kPresence : 0) | (f.flags & FieldFlags::kUtf8);
      entry.fields.push_back({.name = "key", .type = key, .scope = m.name, .number = 1, .flags = flags});
      entry.fields.push_back({.name = "value", .type = f.type, .scope = m.name, .number = 2, .flags = flags});
      f.type = entry_name(f.name);
      messages.emplace(entry.name, entry);
    }
    m.fields.push_back(std::move(f));
  }
  // resource_arg -> ResourceArgEntry
  static std::string entry_name(const std::string& field) {
    std::string out;
    bool upper = true;
    for (char c : field) {
      if (c != '_') out += upper ? char(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = c == '_';
    }
    return out + "Entry";
  }

  void enumeration(const std::string& outer) {
    Enum e{.name = outer + "." + take(), .closed = proto2_, .values = {}};
    file_.enums.push_back(e.name);
    expect("{");
    while (!accept("}")) {
      if (accept("option") || accept("reserved")) {
        skip_statement();
        continue;
      }
      Value v{take(), 0};
      expect("=");
      v.number = number();
      expect(";");
      e.values.push_back(std::move(v));
    }
    if (!enums.emplace(e.name, std::move(e)).second) fail("an enum is defined twice");
  }

  const char* path_;
  std::string text_, token_, package_;
  File& file_;
  size_t at_ = 0, start_ = 0;
  bool proto2_ = true;
};

const std::map<std::string, FieldType> kScalars = {
    {"double", FieldType::kDouble},     {"float", FieldType::kFloat},     {"int64", FieldType::kInt64},     {"uint64", FieldType::kUint64},
    {"int32", FieldType::kInt32},       {"fixed64", FieldType::kFixed64}, {"fixed32", FieldType::kFixed32}, {"bool", FieldType::kBool},
    {"string", FieldType::kString},     {"bytes", FieldType::kBytes},     {"uint32", FieldType::kUint32},   {"sfixed32", FieldType::kSfixed32},
    {"sfixed64", FieldType::kSfixed64}, {"sint32", FieldType::kSint32},   {"sint64", FieldType::kSint64},
};

template <class Map>
int index_of(const Map& map, const std::string& name) {
  const auto it = map.find(name);
  return it == map.end() ? -1 : int(std::distance(map.begin(), it));
}

// Looks the type up from the scope of the message outwards, as the language says.
bool resolve(const Field& f, FieldType& type, int& ref) {
  if (f.type.empty()) return type = FieldType::kNone, true;
  if (const auto it = kScalars.find(f.type); it != kScalars.end()) return type = it->second, true;
  for (std::string scope = f.scope;;) {
    const std::string name = scope.empty() ? f.type : scope + "." + f.type;
    type = FieldType::kMessage;
    if ((ref = index_of(messages, name)) >= 0) return true;
    type = FieldType::kEnum;
    if ((ref = index_of(enums, name)) >= 0) return true;
    if (scope.empty()) return false;
    const size_t dot = scope.rfind('.');
    scope = dot == std::string::npos ? "" : scope.substr(0, dot);
  }
}

class Names {
 public:
  unsigned operator()(const std::string& name) {
    const auto [it, fresh] = offsets_.emplace(name, unsigned(size_));
    if (fresh) {
      text_ += "    \"" + name + "\\0\"\n";
      size_ += name.size() + 1;
    }
    return it->second;
  }
  const std::string& text() const { return text_; }

 private:
  std::map<std::string, unsigned> offsets_;
  std::string text_;
  size_t size_ = 0;
};

std::string row(std::initializer_list<int64_t> values) {
  std::string out = "    {";
  for (int64_t v : values) out += (out.size() > 5 ? ", " : "") + std::to_string(v);
  return out + "},\n";
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 4; i < argc; ++i) {
    const std::string path = std::string(argv[3]) + "/" + argv[i] + ".proto";
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::fprintf(stderr, "cannot read %s\n", path.c_str()), 1;
    File& file = model.files.emplace_back(File{argv[i], "", {}, {}, {}});
    Parser(path.c_str(), std::string(std::istreambuf_iterator<char>(in), {}), file).file();
  }
  Names name;
  name("");  // offset 0 is the empty name
  std::string message_rows, field_rows, enum_rows, value_rows;
  int fields = 0, values = 0;
  for (auto& [full, m] : messages) {
    message_rows += row({name(full), fields, m.map_entry ? weft_engine::wire::kMapEntry : 0});
    std::stable_sort(m.fields.begin(), m.fields.end(), [](const Field& a, const Field& b) { return a.number < b.number; });
    for (Field& f : m.fields) {
      FieldType type;
      int ref = -1;
      if (!resolve(f, type, ref)) return std::fprintf(stderr, "%s.%s: no type %s\n", full.c_str(), f.name.c_str(), f.type.c_str()), 1;
      int flags = f.flags;
      const bool repeated = flags & FieldFlags::kRepeated;
      if (repeated && f.packed > 0 && weft_engine::wire::is_packable(type)) flags |= FieldFlags::kPacked;
      if (type == FieldType::kMessage && !repeated) flags |= FieldFlags::kPresence;
      if (type != FieldType::kString) flags &= ~FieldFlags::kUtf8;
      f.kind = type;
      f.flags = flags;
      if (ref >= 0) f.type = type == FieldType::kMessage ? std::next(messages.begin(), ref)->first : std::next(enums.begin(), ref)->first;
      field_rows += row({name(f.name), name(f.oneof), 0, f.number, ref, int(type), flags});
      ++fields;
    }
  }
  message_rows += row({0, fields, 0});
  for (auto& [full, e] : enums) {
    enum_rows += row({name(full), values, e.closed ? weft_engine::wire::kClosedEnum : 0});
    std::stable_sort(e.values.begin(), e.values.end(), [](const Value& a, const Value& b) { return a.number < b.number; });
    for (const Value& v : e.values) value_rows += row({name(v.name), v.number});
    values += int(e.values.size());
  }
  enum_rows += row({0, values, 0});

  std::ofstream out(argv[1]);
  out << "// Written by weft_schemagen from proto/.\nconstexpr char kNames[] =\n"
      << name.text() << "    ;\n"
      << "constexpr MessageRow kMessages[] = {\n"
      << message_rows << "};\nconstexpr FieldRow kFields[] = {\n"
      << field_rows << "};\nconstexpr EnumRow kEnums[] = {\n"
      << enum_rows << "};\nconstexpr ValueRow kValues[] = {\n"
      << value_rows << "};\n";
  out.close();
  if (!out) return std::fprintf(stderr, "cannot write %s\n", argv[1]), 1;
  return write_classes(model, argv[2]) ? 0 : 1;
}
