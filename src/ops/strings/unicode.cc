// Unicode text between encodings and code points. UTF-8, UTF-16BE, UTF-32BE, ASCII and Latin-1 are read
// here; other encodings, and the scripts of characters, take ICU.
#include <functional>

#include "kernels/cpu/icu.h"
#include "kernels/cpu/text.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::DecodedChar;

uint32_t big_endian(std::string_view s, size_t at, size_t bytes) {
  uint32_t v = 0;
  for (size_t i = 0; i < bytes; ++i) v = v << 8 | static_cast<uint8_t>(s[at + i]);
  return v;
}

DecodedChar next_utf16(std::string_view s, size_t at) {
  if (s.size() - at < 2) return {0xFFFD, int(s.size() - at), true};
  const uint32_t first = big_endian(s, at, 2);
  if ((first & 0xF800) != 0xD800) return {first, 2, false};
  if (first >= 0xDC00) return {0xFFFD, 2, true};
  if (s.size() - at < 4) return {0xFFFD, int(s.size() - at), true};
  const uint32_t second = big_endian(s, at + 2, 2);
  if ((second & 0xFC00) != 0xDC00) return {0xFFFD, 2, true};
  return {0x10000 + ((first & 0x3FF) << 10) + (second & 0x3FF), 4, false};
}

bool is_scalar_value(uint32_t c) { return c <= 0x10FFFF && (c & 0xFFFFF800) != 0xD800; }

DecodedChar next_utf32(std::string_view s, size_t at) {
  if (s.size() - at < 4) return {0xFFFD, int(s.size() - at), true};
  const uint32_t c = big_endian(s, at, 4);
  if (!is_scalar_value(c)) return {0xFFFD, 4, true};
  return {c, 4, false};
}

DecodedChar next_ascii(std::string_view s, size_t at) {
  const auto b = static_cast<uint8_t>(s[at]);
  if (b >= 0x80) return {0xFFFD, 1, true};
  return {b, 1, false};
}

DecodedChar next_latin1(std::string_view s, size_t at) { return {static_cast<uint8_t>(s[at]), 1, false}; }

// Reads characters of one encoding.
class Decoder {
 public:
  static Result<Decoder> open(const std::string& encoding) {
    // Names differ in case and in signs between the letters.
    std::string key;
    for (char ch : encoding)
      if (std::isalnum(static_cast<uint8_t>(ch))) key.push_back(static_cast<char>(std::tolower(static_cast<uint8_t>(ch))));
    Decoder d;
    if (key == "utf8") d.plain_ = kernels::next_utf8;
    else if (key == "utf16be") d.plain_ = next_utf16;
    else if (key == "utf32be") d.plain_ = next_utf32;
    else if (key == "usascii" || key == "ascii") d.plain_ = next_ascii;
    else if (key == "latin1" || key == "iso88591") d.plain_ = next_latin1;
    else if (key.empty()) return invalid_argument("Could not create converter for input encoding: ", encoding);
    if (!d.plain_) {
      WEFT_ASSIGN(auto icu, kernels::IcuDecoder::open(encoding));
      d.icu_ = std::move(icu);
    }
    return d;
  }

  // Calls f(DecodedChar) for each character of the string. The byte order that a mark in one string has
  // set stays for the next ones, as in TensorFlow.
  template <class F>
  void each(std::string_view s, F f) {
    for (size_t at = 0; at < s.size();) {
      const DecodedChar ch = plain_ ? plain_(s, at) : icu_->next(s, at);
      at += size_t(std::max(ch.bytes, plain_ ? 1 : 0));
      f(ch);
      if (ch.bytes == 0 && !plain_ && ++idle_ > s.size()) return;  // a converter that makes no progress
    }
  }

 private:
  DecodedChar (*plain_)(std::string_view, size_t) = nullptr;
  std::optional<kernels::IcuDecoder> icu_;
  size_t idle_ = 0;
};

// What to do with input that cannot be read.
struct ErrorPolicy {
  bool strict = false, ignore = false, replace_control = false;
  int32_t replacement = 0xFFFD;

  static Result<ErrorPolicy> make(const NodeInfo& node) {
    ErrorPolicy p;
    const std::string& errors = node.attr<std::string>("errors");
    p.strict = errors == "strict";
    p.ignore = errors == "ignore";
    const int64_t replacement = node.attr<int64_t>("replacement_char");
    if (replacement < 0 || replacement > 0x10FFFF) return invalid_argument("replacement_char out of unicode codepoint range");
    p.replacement = int32_t(replacement);
    if (node.find_attr("replace_control_characters")) p.replace_control = node.attr<bool>("replace_control_characters");
    return p;
  }
  bool handles(const DecodedChar& ch) const { return ch.bad || (replace_control && ch.value <= 0x1F); }
};

Status bad_input() { return invalid_argument("Invalid formatting on input string"); }

using Encode = void (*)(std::string&, char32_t);

void append_big_endian(std::string& out, uint32_t v, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<char>(v >> (8 * i)));
}

// Lone surrogates, which a replacement character may be, are written as they are except in UTF-8, where
// they have no form.
void encode_utf8(std::string& out, char32_t c) { kernels::append_utf8(out, is_scalar_value(c) ? c : 0xFFFD); }
void encode_utf16(std::string& out, char32_t c) {
  if (c < 0x10000) return append_big_endian(out, c, 2);
  append_big_endian(out, 0xD7C0 + (c >> 10), 2);
  append_big_endian(out, 0xDC00 | (c & 0x3FF), 2);
}
void encode_utf32(std::string& out, char32_t c) { append_big_endian(out, c, 4); }

Encode encoder(const std::string& name) { return name == "UTF-8" ? encode_utf8 : name == "UTF-16-BE" ? encode_utf16 : encode_utf32; }

Status run_transcode(KernelContext& c) {
  WEFT_ASSIGN(ErrorPolicy policy, ErrorPolicy::make(c.node()));
  WEFT_ASSIGN(Decoder decoder, Decoder::open(c.attr<std::string>("input_encoding")));
  const Encode encode = encoder(c.attr<std::string>("output_encoding"));
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  bool failed = false;
  std::string text;
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    text.clear();
    decoder.each(in.data<tstring>()[i].view(), [&](DecodedChar ch) {
      if (policy.handles(ch)) {
        failed = true;
        if (policy.ignore) return;
        ch.value = char32_t(policy.replacement);
      }
      encode(text, ch.value);
    });
    out->data<tstring>()[i] = text;
  }
  if (failed && policy.strict) return bad_input();
  return {};
}

template <class T>
Status decode_typed(KernelContext& c, bool with_offsets) {
  WEFT_ASSIGN(ErrorPolicy policy, ErrorPolicy::make(c.node()));
  WEFT_ASSIGN(Decoder decoder, Decoder::open(c.attr<std::string>("input_encoding")));
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(Tensor* splits, c.allocate(0, Shape({in.num_elements() + 1})));
  std::vector<int32_t> chars;
  std::vector<int64_t> starts;
  bool failed = false;
  splits->data<T>()[0] = 0;
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    int64_t at = 0;
    decoder.each(in.data<tstring>()[i].view(), [&](const DecodedChar& ch) {
      failed |= ch.bad;
      const int64_t start = at;
      at += ch.bytes;
      int32_t value = int32_t(ch.value);
      if (policy.handles(ch)) {
        if (policy.ignore) return;
        value = policy.replacement;
      }
      chars.push_back(value);
      if (with_offsets) starts.push_back(start);
    });
    splits->data<T>()[i + 1] = static_cast<T>(chars.size());
  }
  if (failed && policy.strict) return bad_input();
  WEFT_ASSIGN(Tensor* values, c.allocate(1, Shape({int64_t(chars.size())})));
  std::copy(chars.begin(), chars.end(), values->data<int32_t>());
  if (!with_offsets) return {};
  WEFT_ASSIGN(Tensor* offsets, c.allocate(2, Shape({int64_t(starts.size())})));
  std::copy(starts.begin(), starts.end(), offsets->data<int64_t>());
  return {};
}

template <bool kOffsets>
Status run_decode(KernelContext& c) {
  return dispatch<int32_t, int64_t>(c.output_type(0), [&]<class T>(Tag<T>) { return decode_typed<T>(c, kOffsets); });
}

Status decode_shape(ShapeContext& c) {
  const auto n = c.input(0).num_elements();
  c.output(0, PartialShape::vector(n ? *n + 1 : kUnknownDim));
  for (int i = 1; i < c.num_outputs(); ++i) c.output(i, PartialShape::vector(kUnknownDim));
  return {};
}

template <class T>
Status encode_typed(KernelContext& c) {
  WEFT_ASSIGN(ErrorPolicy policy, ErrorPolicy::make(c.node()));
  const Tensor &values = c.input(0), &splits_in = c.input(1);
  const auto splits = splits_in.span<T>();
  if (splits.empty()) return invalid_argument("Input_splits should contain elements, but given input_values has 0 elements");
  if (values.rank() != 1 || splits_in.rank() != 1) return invalid_argument("Both the input_tensor and input_splits should be of rank 1. ");
  if (splits[0] != 0) return invalid_argument("First value in input_splits must be zero.");
  for (size_t i = 1; i < splits.size(); ++i)
    if (splits[i] < splits[i - 1]) return invalid_argument("Values in input_splits must be equal or in ascending order.");
  if (splits.back() != values.num_elements()) return invalid_argument("Last value in input_splits must be equal to length of input_tensor.");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({int64_t(splits.size()) - 1})));
  const Encode encode = encoder(c.attr<std::string>("output_encoding"));
  for (size_t i = 0; i + 1 < splits.size(); ++i) {
    std::string text;
    for (T k = splits[i]; k < splits[i + 1]; ++k) {
      auto value = uint32_t(values.data<int32_t>()[k]);
      if (!is_scalar_value(value)) {
        if (policy.strict) return invalid_argument("Code point is out of range for Unicode, or is a surrogate.");
        if (policy.ignore) continue;
        value = uint32_t(policy.replacement);
      }
      encode(text, value);
    }
    out->data<tstring>()[i] = text;
  }
  return {};
}

Status run_encode(KernelContext& c) {
  return dispatch<int32_t, int64_t>(c.input(1).dtype(), [&]<class T>(Tag<T>) { return encode_typed<T>(c); });
}

Status encode_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 1).status());
  WEFT_ASSIGN(PartialShape splits, c.with_rank(1, 1));
  if (splits.dim(0) == 0) return invalid_argument("Dimension size must be at least 1 for input_splits");
  c.output(0, PartialShape::vector(splits.dim(0) < 0 ? kUnknownDim : splits.dim(0) - 1));
  return {};
}

Status run_script(KernelContext& c) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  return kernels::icu_scripts(in.data<int32_t>(), out->data<int32_t>(), in.num_elements());
}

}  // namespace

void unicode(Registry& r) {
  r.add("UnicodeDecode")
      .doc("The code points of each string, as a ragged tensor.")
      .in("input: string")
      .out("row_splits: Tsplits")
      .out("char_values: int32")
      .attr("input_encoding: string")
      .attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
      .attr("replacement_char: int = 65533")
      .attr("replace_control_characters: bool = false")
      .attr("Tsplits: {int32, int64} = DT_INT64")
      .shape(decode_shape)
      .cpu(run_decode<false>);

  r.add("UnicodeDecodeWithOffsets")
      .doc("The code points of each string and where each begins, as ragged tensors.")
      .in("input: string")
      .out("row_splits: Tsplits")
      .out("char_values: int32")
      .out("char_to_byte_starts: int64")
      .attr("input_encoding: string")
      .attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
      .attr("replacement_char: int = 65533")
      .attr("replace_control_characters: bool = false")
      .attr("Tsplits: {int32, int64} = DT_INT64")
      .shape(decode_shape)
      .cpu(run_decode<true>);

  r.add("UnicodeEncode")
      .doc("Strings from ragged code points.")
      .in("input_values: int32")
      .in("input_splits: Tsplits")
      .out("output: string")
      .attr("errors: {'ignore', 'replace', 'strict'} = 'replace'")
      .attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}")
      .attr("replacement_char: int = 65533")
      .attr("Tsplits: {int32, int64} = DT_INT64")
      .shape(encode_shape)
      .cpu(run_encode);

  r.add("UnicodeScript")
      .doc("The script that each code point belongs to.")
      .in("input: int32")
      .out("output: int32")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .cpu(run_script);

  r.add("UnicodeTranscode")
      .doc("Strings from one encoding to another.")
      .in("input: string")
      .out("output: string")
      .attr("input_encoding: string")
      .attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}")
      .attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
      .attr("replacement_char: int = 65533")
      .attr("replace_control_characters: bool = false")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .cpu(run_transcode);
}

}  // namespace weft_engine::ops
