// tf.Example from JSON, in protobuf's JSON mapping.
#include <cmath>

#include "kernels/cpu/text.h"
#include "op/registry.h"
#include "ops/all.h"
#include "wire/proto.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using wire::ProtoWriter;

// Reads just the JSON that an Example can be; the first error ends it.
class ExampleReader {
 public:
  explicit ExampleReader(std::string_view text) : s_(text) {}

  Result<std::string> read() {
    ProtoWriter example;
    object([&](const std::string& key) {
      if (!is(key, "features", "features")) return no_field(key);
      if (null()) return;
      ProtoWriter features;
      read_features(features);
      example.message(1, features);
    });
    skip_space();
    if (ok() && at_ < s_.size()) fail(cat("unexpected character: '", s_[at_], "'; expected end of input"));
    if (!ok()) return invalid_argument("Error while parsing JSON: ", error_);
    return example.take();
  }

 private:
  bool ok() const { return error_.empty(); }
  void fail(std::string why) {
    if (ok()) error_ = cat("invalid JSON in type.googleapis.com/tensorflow.Example, near offset ", at_, ": ", why);
  }
  void no_field(const std::string& key) { fail(cat("no such field: '", key, "'")); }
  static bool is(std::string_view key, std::string_view camel, std::string_view snake) { return key == camel || key == snake; }

  void skip_space() {
    while (at_ < s_.size() && (s_[at_] == ' ' || s_[at_] == '\t' || s_[at_] == '\n' || s_[at_] == '\r')) ++at_;
  }
  // The next character that is not white space, without taking it.
  char peek() {
    skip_space();
    if (at_ < s_.size()) return s_[at_];
    if (ok()) error_ = "unexpected EOF";
    return '\0';
  }
  bool take(char c) {
    if (peek() != c || !ok()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (ok() && !take(c)) fail(cat("unexpected character: '", peek(), "'; expected '", c, "'"));
  }
  bool null() {
    if (peek() != 'n' || s_.substr(at_, 4) != "null") return false;
    at_ += 4;
    return true;
  }

  // {"key": ..., ...}: calls member(key) with the reader before each value.
  template <class F>
  void object(F member) {
    expect('{');
    if (!ok() || take('}')) return;
    do {
      if (peek() != '"') return fail("expected a string as key");
      const std::string key = string();
      expect(':');
      if (ok()) member(key);
    } while (ok() && take(','));
    expect('}');
  }
  template <class F>
  void array(F element) {
    if (null()) return;
    expect('[');
    if (!ok() || take(']')) return;
    do element();
    while (ok() && take(','));
    expect(']');
  }

  void read_features(ProtoWriter& features) {
    object([&](const std::string& key) {
      if (key != "feature") return no_field(key);
      if (null()) return;
      std::vector<std::string> seen;
      object([&](const std::string& name) {
        if (std::find(seen.begin(), seen.end(), name) != seen.end()) return fail(cat("got unexpectedly-repeated repeated map key: '", name, "'"));
        seen.push_back(name);
        ProtoWriter feature, entry;
        read_feature(feature);
        entry.bytes(1, name);
        entry.message(2, feature);
        features.message(1, entry);
      });
    });
  }

  void read_feature(ProtoWriter& feature) {
    bool set = false;
    object([&](const std::string& key) {
      const int field = is(key, "bytesList", "bytes_list") ? 1 : is(key, "floatList", "float_list") ? 2 : is(key, "int64List", "int64_list") ? 3 : 0;
      if (!field) return no_field(key);
      if (null()) return;
      if (set) return fail(cat("'", key, "' has already been set (either directly or as part of a oneof)"));
      set = true;
      ProtoWriter list;
      object([&](const std::string& name) {
        if (name != "value") return no_field(name);
        array([&] { field == 1 ? bytes_value(list) : field == 2 ? float_value(list) : int_value(list); });
      });
      feature.message(field, list);
    });
  }

  void bytes_value(ProtoWriter& list) {
    if (peek() != '"') return fail("expected string");
    std::string text = string();
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    auto decoded = kernels::base64_decode(text);
    if (!decoded.ok()) return fail("corrupt base64");
    list.bytes(1, *decoded);
  }
  void float_value(ProtoWriter& list) {
    const std::string text = number();
    double v = 0;
    if (text == "NaN") v = std::nan("");
    else if (text == "Infinity") v = INFINITY;
    else if (text == "-Infinity") v = -INFINITY;
    else if (!kernels::parse_number(text, v) || !std::isfinite(v)) return fail("invalid number");
    else if (std::fabs(v) > double(std::numeric_limits<float>::max())) return fail("JSON number out of range for float");
    list.float32(1, float(v));
  }
  void int_value(ProtoWriter& list) {
    const std::string text = number();
    int64_t v = 0;
    if (!ok() || kernels::parse_number(text, v)) return list.int64(1, v);
    double d = 0;  // "1e3" and "1.0" are integers too
    if (!kernels::parse_number(text, d)) return fail("invalid number");
    if (!(std::fabs(d) < 9.2e18)) return fail("JSON number out of range for int");
    if (d != std::floor(d)) return fail("expected integer, but JSON number had fractional part");
    list.int64(1, int64_t(d));
  }

  // The text of a number, which may be in quotes.
  std::string number() {
    if (peek() == '"') return string();
    const size_t begin = at_;
    while (at_ < s_.size() && (std::isdigit(uint8_t(s_[at_])) || std::string_view("+-.eE").find(s_[at_]) != std::string_view::npos)) ++at_;
    if (at_ == begin) fail("expected number or string");
    return std::string(s_.substr(begin, at_ - begin));
  }

  uint32_t hex4() {
    uint32_t v = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = at_ < s_.size() ? s_[at_] : '\0';
      if (!std::isxdigit(uint8_t(c))) {
        fail("invalid Unicode escape");
        return 0;
      }
      v = v * 16 + uint32_t(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return v;
  }

  std::string string() {
    std::string out;
    expect('"');
    while (ok()) {
      if (at_ >= s_.size()) {
        error_ = "unexpected EOF";
        break;
      }
      const char c = s_[at_++];
      if (c == '"') break;
      if (c != '\\') {
        if (uint8_t(c) < 0x20) fail("invalid control character in string");
        out.push_back(c);
        continue;
      }
      const char e = at_ < s_.size() ? s_[at_++] : '\0';
      constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
      if (const size_t k = kNames.find(e); k != kNames.npos && e) {
        out.push_back(kValues[k]);
      } else if (e == 'u') {
        uint32_t v = hex4();
        if ((v & 0xFC00) == 0xD800 && s_.substr(at_, 2) == "\\u") {
          at_ += 2;
          const uint32_t low = hex4();
          if ((low & 0xFC00) != 0xDC00) fail("invalid low surrogate");
          v = 0x10000 + ((v & 0x3FF) << 10) + (low & 0x3FF);
        } else if ((v & 0xF800) == 0xD800) {
          fail("unpaired surrogate");
        }
        kernels::append_utf8(out, v);
      } else {
        fail("invalid escape");
      }
    }
    return out;
  }

  std::string_view s_;
  size_t at_ = 0;
  std::string error_;
};

Status run_decode_json(KernelContext& c) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    WEFT_ASSIGN(std::string bytes, ExampleReader(in.data<tstring>()[i].view()).read());
    out->data<tstring>()[i] = bytes;
  }
  return {};
}

}  // namespace

void json_example(Registry& r) {
  r.add("DecodeJSONExample")
      .doc("Serialized tf.Example from its JSON form.")
      .in("json_examples: string")
      .out("binary_examples: string")
      .shape(shapes::unchanged)
      .cpu(run_decode_json);
}

}  // namespace weft_engine::ops
