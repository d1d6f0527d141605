#include <bit>
#include <cmath>

#include "wire/message_view.h"
#include "wire/text_format.h"
#include "wire/text_util.h"

namespace weft_engine::wire {

using core::Result;
using core::Status;

namespace {

constexpr std::string_view kAny = "google.protobuf.Any", kBoolValue = "google.protobuf.BoolValue";

// resource_arg -> resourceArg
std::string json_name(std::string_view name) {
  std::string out;
  bool upper = false;
  for (char c : name) {
    if (c != '_') out.push_back(upper && c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c);
    upper = c == '_';
  }
  return out;
}

// Writes brackets, commas and line breaks.
class JsonWriter {
 public:
  void open(char bracket) {
    out_.push_back(bracket);
    indent_ += 2;
    empty_ = true;
  }
  void close(char bracket) {
    indent_ -= 2;
    if (!empty_) line();
    out_.push_back(bracket);
    empty_ = false;
  }
  void next() {
    if (!empty_) out_.push_back(',');
    line();
    empty_ = false;
  }
  void key(std::string_view name) {
    next();
    append_json_string(out_, name);
    out_ += ": ";
  }
  std::string& out() { return out_; }

 private:
  void line() { out_.append("\n").append(size_t(indent_), ' '); }
  std::string out_;
  int indent_ = 0;
  bool empty_ = true;
};

class JsonPrinter {
 public:
  Status message(MessageDef def, std::string_view bytes, int depth) {
    if (depth > kMaxMessageDepth) return core::data_loss(def.name(), " is nested more than ", kMaxMessageDepth, " levels deep");
    WEFT_ASSIGN(MessageView view, MessageView::read(def, bytes));
    if (def.name() == kBoolValue) {
      w_.out() += view.find(1) ? "true" : "false";
      return {};
    }
    w_.open('{');
    if (def.name() == kAny) WEFT_RETURN_IF_ERROR(any(view, depth));
    else WEFT_RETURN_IF_ERROR(fields(view, depth));
    w_.close('}');
    return {};
  }
  std::string take() { return std::move(w_.out()); }

 private:
  Status fields(const MessageView& view, int depth) {
    for (const auto& f : view.fields()) {
      w_.key(json_name(f.def.name()));
      if (f.def.is_map()) {
        WEFT_RETURN_IF_ERROR(map(view, f, depth));
      } else if (f.def.repeated()) {
        w_.open('[');
        for (const WireValue& v : view.values(f)) {
          w_.next();
          WEFT_RETURN_IF_ERROR(value(f.def, v, depth));
        }
        w_.close(']');
      } else {
        WEFT_RETURN_IF_ERROR(value(f.def, view.values(f)[0], depth));
      }
    }
    return {};
  }

  Status map(const MessageView& view, const MessageView::Field& f, int depth) {
    WEFT_ASSIGN(std::vector<MessageView> entries, read_map(f.def.message(), view.values(f)));
    const FieldDef key = f.def.message().find(1), item = f.def.message().find(2);
    w_.open('{');
    for (const MessageView& e : entries) {
      const WireValue none, *k = e.find(1), *v = e.find(2);
      w_.key(key_text(key, k ? *k : none));
      WEFT_RETURN_IF_ERROR(value(item, v ? *v : none, depth + 1));
    }
    w_.close('}');
    return {};
  }
  static std::string key_text(FieldDef f, const WireValue& v) {
    switch (f.type()) {
      case FieldType::kString:
      case FieldType::kBytes: return std::string(v.bytes);
      case FieldType::kBool: return v.number ? "true" : "false";
      case FieldType::kUint32:
      case FieldType::kUint64:
      case FieldType::kFixed32:
      case FieldType::kFixed64: return core::cat(v.number);
      default: return core::cat(int64_t(v.number));
    }
  }

  Status value(FieldDef f, const WireValue& v, int depth) {
    std::string& out = w_.out();
    switch (f.type()) {
      case FieldType::kMessage: return message(f.message(), v.bytes, depth + 1);
      case FieldType::kString: append_json_string(out, v.bytes); break;
      case FieldType::kBytes:
        out.push_back('"');
        append_base64(out, v.bytes);
        out.push_back('"');
        break;
      case FieldType::kBool: out += v.number ? "true" : "false"; break;
      case FieldType::kFloat: real(double(std::bit_cast<float>(uint32_t(v.number))), true); break;
      case FieldType::kDouble: real(std::bit_cast<double>(v.number), false); break;
      case FieldType::kEnum: {
        const auto name = f.enumeration().name_of(int32_t(v.number));
        if (name.empty()) core::append_int(out, int32_t(v.number));
        else append_json_string(out, name);
        break;
      }
      case FieldType::kUint32:
      case FieldType::kFixed32: core::append_uint(out, v.number); break;
      case FieldType::kUint64:
      case FieldType::kFixed64:  // as text: JavaScript's numbers end at 2^53
        out += core::cat("\"", v.number, "\"");
        break;
      case FieldType::kInt64:
      case FieldType::kSfixed64:
      case FieldType::kSint64: out += core::cat("\"", int64_t(v.number), "\""); break;
      default: core::append_int(out, int64_t(v.number)); break;
    }
    return {};
  }
  void real(double v, bool narrow) {
    if (std::isnan(v)) w_.out() += "\"NaN\"";
    else if (std::isinf(v)) w_.out() += v < 0 ? "\"-Infinity\"" : "\"Infinity\"";
    else if (narrow) append_float_text(w_.out(), float(v));
    else append_double_text(w_.out(), v);
  }

  Status any(const MessageView& view, int depth) {
    if (view.fields().empty()) return {};
    const WireValue none, *found_url = view.find(1), *found_value = view.find(2);
    const std::string_view url = (found_url ? *found_url : none).bytes, bytes = (found_value ? *found_value : none).bytes;
    w_.key("@type");
    append_json_string(w_.out(), url);
    const MessageDef def = view.def().schema().find(url.substr(url.rfind('/') + 1));  // npos + 1 is 0
    if (def && def.name() != kAny && def.name() != kBoolValue) {
      if (depth >= kMaxMessageDepth) return core::data_loss(def.name(), " is nested more than ", kMaxMessageDepth, " levels deep");
      WEFT_ASSIGN(MessageView inner, MessageView::read(def, bytes));
      return fields(inner, depth + 1);
    }
    w_.key("value");
    if (def) return message(def, bytes, depth + 1);
    w_.out().push_back('"');
    append_base64(w_.out(), bytes);
    w_.out().push_back('"');
    return {};
  }

  JsonWriter w_;
};

}  // namespace

Result<std::string> binary_to_json(MessageDef def, std::string_view bytes) {
  JsonPrinter printer;
  WEFT_RETURN_IF_ERROR(printer.message(def, bytes, 1));
  return printer.take();
}

Result<std::string> binary_to_json(std::string_view message, std::string_view bytes) {
  WEFT_ASSIGN(MessageDef def, find_message(message));
  return binary_to_json(def, bytes);
}

}  // namespace weft_engine::wire
