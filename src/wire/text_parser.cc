#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "wire/message_view.h"
#include "wire/text_format.h"
#include "wire/text_tokenizer.h"
#include "wire/text_util.h"

namespace weft_engine::wire {

using core::Result;
using core::Status;

namespace {

using Kind = TextTokenizer::Kind;

constexpr std::string_view kAny = "google.protobuf.Any";

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = char(c | 32);
  return out;
}

// The fields of one message while its text is read: each keeps the bytes it will have on the wire.
class MessageBuilder {
 public:
  struct Slot {
    FieldDef def;
    bool set = false;
    std::string bytes;                 // with tags; of a packed field the values alone
    std::vector<std::string> entries;  // of a map
  };

  Slot& slot(FieldDef f) {
    for (Slot& s : slots_)
      if (s.def == f) return s;
    slots_.push_back({f, false, {}, {}});
    return slots_.back();
  }
  // Another member of the oneof that is set already.
  FieldDef conflicting_member(FieldDef f) const {
    if (!f.oneof().empty())
      for (const Slot& s : slots_)
        if (s.set && !(s.def == f) && s.def.oneof() == f.oneof()) return s.def;
    return {};
  }
  void add(FieldDef f, const WireValue& v) {
    Slot& s = slot(f);
    if (f.is_map()) {
      s.entries.emplace_back(v.bytes);
    } else if (f.repeated() || f.has_presence() || v.number != 0 || !v.bytes.empty()) {
      append_value(s.bytes, f, v, !f.packed());
    } else {
      return;  // a zero of proto3 leaves no trace
    }
    s.set = true;
  }

  Result<std::string> finish() {
    std::stable_sort(slots_.begin(), slots_.end(), [](const Slot& a, const Slot& b) { return a.def.number() < b.def.number(); });
    std::string out;
    for (Slot& s : slots_) {
      if (!s.set) continue;
      if (s.def.is_map()) WEFT_RETURN_IF_ERROR(append_map(out, s));
      else if (!s.def.packed()) out += s.bytes;
      else append_packed(out, s);
    }
    return out;
  }

 private:
  static void append_packed(std::string& out, const Slot& s) {
    ProtoWriter w;
    w.bytes(s.def.number(), s.bytes);
    out += w.str();
  }
  // Key and value of an entry are always written, zero or not.
  static Status append_map(std::string& out, const Slot& s) {
    const std::vector<WireValue> given = [&] {
      std::vector<WireValue> v;
      for (const std::string& e : s.entries) v.push_back({0, e});
      return v;
    }();
    const MessageDef entry = s.def.message();
    WEFT_ASSIGN(std::vector<MessageView> entries, read_map(entry, given));
    const WireValue none;
    for (const MessageView& e : entries) {
      std::string bytes;
      for (int number : {1, 2}) {
        const WireValue* v = e.find(number);
        append_value(bytes, entry.find(number), v ? *v : none, true);
      }
      append_value(out, s.def, {0, bytes}, true);
    }
    return {};
  }

  std::vector<Slot> slots_;
};

class TextParser {
 public:
  TextParser(MessageDef root, std::string_view text) : root_(root), tokens_(text) {}

  Result<std::string> parse() {
    std::string out;
    if (!advance() || !message(root_, "", 1, out))
      return core::invalid_argument("Error parsing text-format ", root_.name(), ": ", line_ + 1, ":", column_ + 1, ": ", error_);
    return out;
  }

 private:
  // ---- tokens ----
  const TextTokenizer::Token& token() const { return tokens_.current(); }
  bool at(Kind kind) const { return token().kind == kind; }
  bool at(std::string_view sign) const { return at(Kind::kSymbol) && token().text == sign; }
  bool fail(std::string why) {
    if (error_.empty()) {
      error_ = std::move(why);
      line_ = token().line;
      column_ = token().column;
    }
    return false;
  }
  bool advance() {
    if (tokens_.next()) return true;
    if (error_.empty()) {
      error_ = tokens_.error();
      line_ = tokens_.line();
      column_ = tokens_.column();
    }
    return false;
  }
  // Moves on if the sign is here; good() tells whether what follows is a token.
  bool accept(std::string_view sign) { return at(sign) && (advance() || true); }
  bool good() const { return error_.empty(); }
  bool expect(std::string_view sign) {
    if (!good()) return false;
    if (!at(sign)) return fail(core::cat("Expected \"", sign, "\", found \"", token().text, "\"."));
    return advance();
  }
  bool identifier(std::string& out) {
    if (!at(Kind::kIdentifier)) return fail(core::cat("Expected identifier, got: ", token().text));
    out = token().text;
    return advance();
  }

  // ---- messages ----
  // Reads fields up to the closing sign, or to the end of the text if there is none.
  bool message(MessageDef def, std::string_view closing, int depth, std::string& out) {
    if (depth > kMaxMessageDepth)
      return fail(core::cat("Message is too deep, the parser exceeded the configured recursion limit of ", kMaxMessageDepth, "."));
    MessageBuilder builder;
    while (good() && !(closing.empty() ? at(Kind::kEnd) : at("}") || at(">")))
      if (!field(def, builder, depth)) return false;
    if (!good() || (!closing.empty() && !expect(closing))) return false;
    auto bytes = builder.finish();
    if (!bytes.ok()) return fail(bytes.status().message());
    out = std::move(bytes).value();
    return true;
  }
  bool nested(MessageDef def, int depth, std::string& out) {
    const bool angle = accept("<");
    if (!angle && !expect("{")) return false;
    return good() && message(def, angle ? ">" : "}", depth + 1, out);
  }

  bool field(MessageDef def, MessageBuilder& builder, int depth) {
    if (at("[")) return bracketed(def, builder, depth) && separator();
    std::string name;
    if (!identifier(name)) return false;
    const FieldDef f = def.find(name);
    if (!f && def.is_reserved(name)) return skip_value(depth) && separator();
    if (!f) return fail(core::cat("Message type \"", def.name(), "\" has no field named \"", name, "\"."));
    if (f.type() == FieldType::kGroup) return fail(core::cat("Field \"", name, "\" is a group, which is not supported."));
    if (!f.repeated() && builder.slot(f).set) return fail(core::cat("Non-repeated field \"", name, "\" is specified multiple times."));
    if (const FieldDef other = builder.conflicting_member(f))
      return fail(
          core::cat("Field \"", name, "\" is specified along with field \"", other.name(), "\", another member of oneof \"", f.oneof(), "\"."));
    if (f.type() == FieldType::kMessage) accept(":");  // optional before a message
    else if (!expect(":")) return false;
    if (!f.repeated() || !accept("[")) return good() && value(f, builder, depth) && separator();
    if (!good()) return false;
    if (accept("]")) return good() && separator();
    while (true) {
      if (!value(f, builder, depth)) return false;
      if (accept("]")) return good() && separator();
      if (!expect(",")) return false;
    }
  }
  bool separator() {
    if (!accept(";")) accept(",");
    return good();
  }

  // [type.googleapis.com/tensorflow.NodeDef] { ... } inside an Any. Extensions do not occur in these formats.
  bool bracketed(MessageDef def, MessageBuilder& builder, int depth) {
    if (!expect("[")) return false;
    std::string url;
    while (good() && !at("]") && !at(Kind::kEnd)) {
      const bool plain = at(Kind::kIdentifier) || at(Kind::kInteger) || at(Kind::kFloat) || at(".") ||
                         (def.name() == kAny && (at("/") || at("-") || at("~") || at("%")));
      if (!plain) return fail(core::cat("Expected \"]\", found \"", token().text, "\"."));
      url += token().text;
      if (!advance()) return false;
    }
    if (!expect("]")) return false;
    const size_t slash = url.rfind('/');
    if (def.name() != kAny || slash == url.npos)
      return fail(core::cat("Extension \"", url, "\" is not defined or is not an extension of \"", def.name(), "\"."));
    accept(":");
    if (!good()) return false;
    const MessageDef type = def.schema().find(std::string_view(url).substr(slash + 1));
    if (!type) return fail(core::cat("Could not find type \"", url, "\" stored in google.protobuf.Any."));
    const FieldDef type_url = def.find(1), held = def.find(2);
    if (!type_url || !held || type_url.type() != FieldType::kString || held.type() != FieldType::kBytes)
      return fail("This google.protobuf.Any is not the usual one.");
    if (builder.slot(type_url).set || builder.slot(held).set) return fail("Non-repeated Any specified multiple times.");
    std::string bytes;
    if (!nested(type, depth, bytes)) return false;
    builder.add(type_url, {0, url});
    builder.add(held, {0, bytes});
    return true;
  }

  // ---- values ----
  bool value(FieldDef f, MessageBuilder& builder, int depth) {
    std::string bytes;
    WireValue v;
    switch (f.type()) {
      case FieldType::kMessage:
        if (!nested(f.message(), depth, bytes)) return false;
        break;
      case FieldType::kString:
      case FieldType::kBytes:
        if (!strings(bytes)) return false;
        break;
      case FieldType::kFloat:
      case FieldType::kDouble: {
        double d;
        if (!real(d)) return false;
        v.number = f.type() == FieldType::kDouble ? std::bit_cast<uint64_t>(d) : std::bit_cast<uint32_t>(float(d));
        break;
      }
      case FieldType::kBool:
        if (!boolean(f, v.number)) return false;
        break;
      case FieldType::kEnum:
        if (!enumerator(f, v.number)) return false;
        break;
      case FieldType::kInt32:
      case FieldType::kSint32:
      case FieldType::kSfixed32:
        if (!signed_integer(std::numeric_limits<int32_t>::max(), v.number)) return false;
        break;
      case FieldType::kInt64:
      case FieldType::kSint64:
      case FieldType::kSfixed64:
        if (!signed_integer(std::numeric_limits<int64_t>::max(), v.number)) return false;
        break;
      case FieldType::kUint32:
      case FieldType::kFixed32:
        if (!integer(std::numeric_limits<uint32_t>::max(), v.number)) return false;
        break;
      default:
        if (!integer(std::numeric_limits<uint64_t>::max(), v.number)) return false;
        break;
    }
    v.bytes = bytes;
    builder.add(f, v);
    return true;
  }

  bool integer(uint64_t most, uint64_t& out) {
    if (!at(Kind::kInteger)) return fail(core::cat("Expected integer, got: ", token().text));
    std::string_view s = token().text;
    const bool hex = s.size() > 1 && (s[1] | 32) == 'x', octal = !hex && s.size() > 1 && s[0] == '0';
    if (hex) s.remove_prefix(2);
    const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out, hex ? 16 : octal ? 8 : 10);
    if (error != std::errc() || end != s.data() + s.size() || out > most) return fail(core::cat("Integer out of range (", token().text, ")"));
    return advance();
  }
  bool signed_integer(int64_t most, uint64_t& out) {
    const bool negative = accept("-");
    if (!good() || !integer(uint64_t(most) + negative, out)) return false;
    if (negative) out = 0 - out;
    return true;
  }

  bool real(double& out) {
    const bool negative = accept("-");
    if (!good()) return false;
    if (at(Kind::kInteger) || at(Kind::kFloat)) {
      std::string_view s = token().text;
      if (at(Kind::kInteger) && s.size() > 1 && s[0] == '0') return fail(core::cat("Expect a decimal number, got: ", s));
      if ((s.back() | 32) == 'f') s.remove_suffix(1);
      const auto error = std::from_chars(s.data(), s.data() + s.size(), out).ec;
      if (error == std::errc::result_out_of_range) {
        // Too large is infinite, too small is zero; the exponent tells which.
        const size_t e = s.find_first_of("eE");
        out = e != s.npos && e + 1 < s.size() && s[e + 1] == '-' ? 0 : std::numeric_limits<double>::infinity();
      } else if (error != std::errc()) {
        return fail(core::cat("Expected double, got: ", token().text));
      }
    } else if (at(Kind::kIdentifier)) {
      const std::string word = lower(token().text);
      if (word == "inf" || word == "infinity" || word == "inff" || word == "infinityf") out = std::numeric_limits<double>::infinity();
      else if (word == "nan" || word == "nanf") out = std::numeric_limits<double>::quiet_NaN();
      else return fail(core::cat("Expected double, got: ", token().text));
    } else {
      return fail(core::cat("Expected double, got: ", token().text));
    }
    if (negative) out = -out;
    return advance();
  }

  bool boolean(FieldDef f, uint64_t& out) {
    if (at(Kind::kInteger)) return integer(1, out);
    std::string word;
    if (!identifier(word)) return false;
    if (word == "true" || word == "True" || word == "t") out = 1;
    else if (word == "false" || word == "False" || word == "f") out = 0;
    else return fail(core::cat("Invalid value for boolean field \"", f.name(), "\". Value: \"", word, "\"."));
    return true;
  }

  bool enumerator(FieldDef f, uint64_t& out) {
    const EnumDef type = f.enumeration();
    if (at(Kind::kIdentifier)) {
      std::string word;
      if (!identifier(word)) return false;
      const int32_t* number = type.number_of(word);
      if (!number) return fail(core::cat("Unknown enumeration value of \"", word, "\" for field \"", f.name(), "\"."));
      out = uint64_t(int64_t(*number));
      return true;
    }
    if (!at("-") && !at(Kind::kInteger)) return fail(core::cat("Expected integer or identifier, got: ", token().text));
    if (!signed_integer(std::numeric_limits<int32_t>::max(), out)) return false;
    if (type.closed() && type.name_of(int32_t(out)).empty())
      return fail(core::cat("Unknown enumeration value of \"", int64_t(out), "\" for field \"", f.name(), "\"."));
    return true;
  }

  // Strings that are side by side are one.
  bool strings(std::string& out) {
    if (!at(Kind::kString)) return fail(core::cat("Expected string, got: ", token().text));
    while (at(Kind::kString)) {
      if (!tokens_.append_string(out)) return fail(tokens_.error());
      if (!advance()) return false;
    }
    return true;
  }

  // ---- values of names that are reserved: read and dropped ----
  bool skip_value(int depth) {
    const bool colon = accept(":");
    if (!good()) return false;
    if (at("{") || at("<")) return skip_message(depth + 1);
    if (!colon) return expect(":");
    if (!accept("[")) return skip_scalar();
    while (good() && !accept("]")) {
      if (!(at("{") || at("<") ? skip_message(depth + 1) : skip_scalar())) return false;
      if (!at("]") && !expect(",")) return false;
    }
    return good();
  }
  bool skip_message(int depth) {
    if (depth > kMaxMessageDepth)
      return fail(core::cat("Message is too deep, the parser exceeded the configured recursion limit of ", kMaxMessageDepth, "."));
    const std::string_view closing = at("<") ? ">" : "}";
    if (!advance()) return false;
    while (good() && !accept(closing)) {
      std::string name;
      if (accept("[")) {
        while (good() && !at("]") && !at(Kind::kEnd)) advance();
        if (!expect("]")) return false;
      } else if (!identifier(name)) {
        return false;
      }
      if (!skip_value(depth) || !separator()) return false;
    }
    return good();
  }
  bool skip_scalar() {
    std::string dropped;
    if (at(Kind::kString)) return strings(dropped);
    accept("-");
    if (!good()) return false;
    if (!at(Kind::kInteger) && !at(Kind::kFloat) && !at(Kind::kIdentifier))
      return fail(core::cat("Cannot skip field value, unexpected token: ", token().text));
    return advance();
  }

  MessageDef root_;
  TextTokenizer tokens_;
  std::string error_;
  int line_ = 0, column_ = 0;
};

}  // namespace

Result<std::string> text_to_binary(MessageDef def, std::string_view text) { return TextParser(def, text).parse(); }

Result<std::string> text_to_binary(std::string_view message, std::string_view text) {
  WEFT_ASSIGN(MessageDef def, find_message(message));
  return text_to_binary(def, text);
}

}  // namespace weft_engine::wire
