#include <bit>
#include <charconv>
#include <cmath>

#include "wire/cpp_text.h"
#include "wire/message_view.h"
#include "wire/text_format.h"
#include "wire/text_util.h"

namespace weft_engine::wire {

using core::Result;
using core::Status;

namespace {

constexpr std::string_view kAny = "google.protobuf.Any";
constexpr int kTypeUrl = 1, kAnyValue = 2;

class TextPrinter {
 public:
  explicit TextPrinter(bool cpp) : cpp_(cpp) {}
  Status message(const MessageView& view, int depth) {
    if (depth > kMaxMessageDepth) return core::data_loss(view.def().name(), " is nested more than ", kMaxMessageDepth, " levels deep");
    if (view.def().name() == kAny) {
      WEFT_ASSIGN(bool done, any(view, depth));
      if (done) return {};
    }
    for (const auto& f : view.fields()) {
      if (f.def.is_map()) {
        WEFT_ASSIGN(std::vector<MessageView> entries, read_map(f.def.message(), view.values(f)));
        for (const MessageView& e : entries) {
          open(f.def.name());
          WEFT_RETURN_IF_ERROR(entry(e, depth + 1));
          close();
        }
      } else {
        for (const WireValue& v : view.values(f)) WEFT_RETURN_IF_ERROR(field(f.def, v, depth));
      }
    }
    for (const auto& u : view.unknown()) unknown(u.number, u.type, u.value, kUnknownDepth);
    return {};
  }
  std::string take() { return std::move(out_); }

 private:
  static constexpr int kUnknownDepth = 10;

  // An entry of a map has its value, and in proto2 its key, even where the bytes left them out. C++ prints both always.
  Status entry(const MessageView& view, int depth) {
    if (depth > kMaxMessageDepth) return core::data_loss(view.def().name(), " is nested more than ", kMaxMessageDepth, " levels deep");
    for (int number : {1, 2}) {
      const FieldDef f = view.def().find(number);
      const WireValue* v = view.find(number);
      if (v || cpp_ || f.has_presence()) WEFT_RETURN_IF_ERROR(field(f, v ? *v : WireValue(), depth));
    }
    for (const auto& u : view.unknown()) unknown(u.number, u.type, u.value, kUnknownDepth);
    return {};
  }

  void indent() { out_.append(size_t(indent_), ' '); }
  void open(std::string_view name) {
    indent();
    out_.append(name).append(" {\n");
    indent_ += 2;
  }
  void close() {
    indent_ -= 2;
    indent();
    out_ += "}\n";
  }

  Status field(FieldDef f, const WireValue& v, int depth) {
    if (f.type() == FieldType::kMessage) {
      WEFT_ASSIGN(MessageView inner, MessageView::read(f.message(), v.bytes));
      open(f.name());
      WEFT_RETURN_IF_ERROR(message(inner, depth + 1));
      close();
      return {};
    }
    indent();
    out_.append(f.name()).append(": ");
    switch (f.type()) {
      case FieldType::kString:
      case FieldType::kBytes:
        out_.push_back('"');
        append_escaped(out_, v.bytes);
        out_.push_back('"');
        break;
      case FieldType::kBool: out_ += v.number ? "true" : "false"; break;
      case FieldType::kFloat: append_number(std::bit_cast<float>(uint32_t(v.number)), append_float_text, 6, 9); break;
      case FieldType::kDouble: append_number(std::bit_cast<double>(v.number), append_double_text, 15, 17); break;
      case FieldType::kEnum: {
        const auto name = f.enumeration().name_of(int32_t(v.number));
        if (name.empty()) core::append_int(out_, int32_t(v.number));
        else out_ += name;
        break;
      }
      case FieldType::kUint32:
      case FieldType::kUint64:
      case FieldType::kFixed32:
      case FieldType::kFixed64: core::append_uint(out_, v.number); break;
      default: core::append_int(out_, int64_t(v.number)); break;
    }
    out_.push_back('\n');
    return {};
  }

  // C++ takes the shorter form where it reads back as the same number.
  template <class T>
  void append_number(T v, void (*python)(std::string&, T), int precision, int exact_precision) {
    if (!cpp_ || !std::isfinite(v)) return python(out_, v);
    char text[64];
    T back = 0;
    const char* end = std::to_chars(text, text + sizeof text, v, std::chars_format::general, precision).ptr;
    std::from_chars(text, end, back);
    if (back != v) end = std::to_chars(text, text + sizeof text, v, std::chars_format::general, exact_precision).ptr;
    out_.append(text, size_t(end - text));
  }

  // What an Any holds is shown as [type] { ... } where the type is known.
  Result<bool> any(const MessageView& view, int depth) {
    const WireValue *url = view.find(kTypeUrl), *value = view.find(kAnyValue);
    const size_t slash = url ? url->bytes.rfind('/') : std::string_view::npos;
    if (slash == std::string_view::npos) return false;
    const MessageDef def = view.def().schema().find(url->bytes.substr(slash + 1));
    if (!def) return false;
    WEFT_ASSIGN(MessageView inner, MessageView::read(def, value ? value->bytes : std::string_view()));
    open(core::cat("[", url->bytes, "]"));
    WEFT_RETURN_IF_ERROR(message(inner, depth + 1));
    close();
    return true;
  }

  void unknown(int number, WireType type, const WireValue& v, int depth) {
    if (type == WireType::kBytes && depth > 0 && !v.bytes.empty() && is_message(v.bytes)) {
      open(core::cat(number));
      ProtoReader r(v.bytes);
      while (r.next()) {
        const uint64_t n = r.type() == WireType::kVarint ? r.varint() : r.type() == WireType::kFixed64 ? r.fixed64() : r.fixed32();
        unknown(r.field(), r.type(), {n, r.bytes()}, depth - 1);
      }
      close();
      return;
    }
    indent();
    core::append_int(out_, number);
    out_ += ": ";
    if (type == WireType::kBytes) {
      out_.push_back('"');
      append_escaped(out_, v.bytes);
      out_.push_back('"');
    } else if (type == WireType::kVarint) {
      core::append_uint(out_, v.number);
    } else {
      out_ += "0x";
      for (int shift = type == WireType::kFixed64 ? 60 : 28; shift >= 0; shift -= 4) out_.push_back("0123456789abcdef"[v.number >> shift & 15]);
    }
    out_.push_back('\n');
  }
  static bool is_message(std::string_view bytes) {
    ProtoReader r(bytes);
    while (r.next()) {
    }
    return r.ok();
  }

  const bool cpp_;  // as C++ prints it
  std::string out_;
  int indent_ = 0;
};

Result<std::string> print(MessageDef def, std::string_view bytes, bool cpp) {
  WEFT_ASSIGN(MessageView view, MessageView::read(def, bytes));
  TextPrinter printer(cpp);
  WEFT_RETURN_IF_ERROR(printer.message(view, 1));
  return printer.take();
}

}  // namespace

Result<MessageDef> find_message(std::string_view name) {
  const MessageDef def = Schema::builtin().find(name);
  if (!def) return core::invalid_argument("No message is named ", name);
  return def;
}

Result<std::string> binary_to_text(MessageDef def, std::string_view bytes) { return print(def, bytes, false); }

Result<std::string> binary_to_text(std::string_view message, std::string_view bytes) {
  WEFT_ASSIGN(MessageDef def, find_message(message));
  return print(def, bytes, false);
}

Result<std::string> binary_to_cpp_text(std::string_view message, std::string_view bytes) {
  WEFT_ASSIGN(MessageDef def, find_message(message));
  return print(def, bytes, true);
}

}  // namespace weft_engine::wire
