#include "cli/value.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <random>

#include "weft/data.h"
#include "weft/math.h"

namespace weft::cli {
namespace {

// What an expression is before it gets its type.
struct Literal {
  std::vector<int64_t> shape;
  std::vector<double> numbers;
  std::vector<int64_t> integers;  // beside numbers, where all of them are whole
  std::vector<std::string> texts;
  bool whole = true, text = false;
};

class Parser {
 public:
  Parser(const TensorSpec& spec, std::string_view text) : spec_(spec), text_(text) {}

  Literal parse() {
    Literal v;
    space();
    if (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) && !is_word()) {
      function(v);
    } else {
      value(v, 0);
      v.shape = shape_;
    }
    space();
    if (at_ != text_.size()) fail("unexpected text behind it");
    return v;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Code::kInvalidArgument,
                "input '" + spec_.name + "': cannot read '" + std::string(text_) + "' at character " + std::to_string(at_ + 1) + ": " + why);
  }
  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool is_word() const {
    for (std::string_view w : {"true", "false", "True", "False", "inf", "nan"}) {
      if (text_.substr(at_).starts_with(w)) return true;
    }
    return false;
  }

  void value(Literal& v, size_t depth) {
    if (depth > 64) fail("nested too deeply");
    space();
    if (!take('[')) {
      if (!fixed_.has_value()) fixed_ = depth;
      if (*fixed_ != depth) fail("some rows are nested deeper than others");
      scalar(v);
      return;
    }
    if (fixed_ && *fixed_ <= depth) fail("some rows are nested deeper than others");
    int64_t n = 0;
    while (!take(']')) {
      value(v, depth + 1);
      ++n;
      if (!take(',')) {
        if (!take(']')) fail("expected ',' or ']'");
        break;
      }
    }
    if (shape_.size() <= depth) shape_.resize(depth + 1, -1);
    if (shape_[depth] == -1) shape_[depth] = n;
    if (shape_[depth] != n) fail("rows are of different length, " + std::to_string(shape_[depth]) + " and " + std::to_string(n));
  }

  void scalar(Literal& v) {
    space();
    if (at_ >= text_.size()) fail("a value is missing");
    if (text_[at_] == '"' || text_[at_] == '\'') {
      if (!v.numbers.empty()) fail("text among numbers");
      v.text = true;
      v.texts.push_back(quoted());
      return;
    }
    if (v.text) fail("a number among texts");
    for (auto [word, number] : {std::pair<std::string_view, int>{"true", 1}, {"True", 1}, {"false", 0}, {"False", 0}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        v.numbers.push_back(number);
        v.integers.push_back(number);
        return;
      }
    }
    if (text_[at_] == '+') ++at_;
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    double d;
    const auto real = std::from_chars(begin, end, d);
    if (real.ec != std::errc()) fail("expected a number, a text in quotes or a list");
    int64_t i = 0;
    const auto whole = std::from_chars(begin, end, i);
    const bool is_whole = whole.ec == std::errc() && whole.ptr == real.ptr;
    v.whole &= is_whole || (std::isfinite(d) && d == std::floor(d) && std::fabs(d) < 1e15);
    v.numbers.push_back(d);
    v.integers.push_back(is_whole ? i : v.whole ? int64_t(d) : 0);
    at_ += size_t(real.ptr - begin);
  }

  std::string quoted() {
    const char q = text_[at_++];
    std::string s;
    while (at_ < text_.size() && text_[at_] != q) {
      char c = text_[at_++];
      if (c == '\\' && at_ < text_.size()) {
        c = text_[at_++];
        c = c == 'n' ? '\n' : c == 't' ? '\t' : c == '0' ? '\0' : c;
      }
      s += c;
    }
    if (at_ >= text_.size()) fail("the text has no closing quote");
    ++at_;
    return s;
  }

  void function(Literal& v) {
    const size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    const std::string name(text_.substr(start, at_ - start));
    if (!take('(')) {
      at_ = start;
      fail("is it a text? Put it in quotes: '\"" + std::string(text_) + "\"'");
    }
    Literal args;
    fixed_ = 0;
    while (!take(')')) {
      scalar(args);
      if (!take(',')) {
        if (!take(')')) fail("expected ',' or ')'");
        break;
      }
    }
    size_t first = 0;  // where the dimensions begin
    double value = 0;
    std::mt19937_64 engine(42);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::normal_distribution<double> normal(0, 1);
    std::function<double(int64_t)> make;
    if (name == "zeros") make = [](int64_t) { return 0.0; };
    if (name == "ones") make = [](int64_t) { return 1.0; };
    if (name == "random") make = [&](int64_t) { return uniform(engine); }, v.whole = false;
    if (name == "normal" || name == "randn") make = [&](int64_t) { return normal(engine); }, v.whole = false;
    if (name == "range" || name == "arange") make = [](int64_t i) { return double(i); };
    if (name == "fill" || name == "full" || name == "randint") {
      if (args.numbers.empty()) fail(name + " needs a value before the dimensions");
      value = args.numbers[0];
      first = 1;
      if (name == "randint") {
        if (value < 1) fail("randint needs a limit of at least 1");
        make = [&](int64_t) { return std::floor(uniform(engine) * value); };
      } else {
        make = [&](int64_t) { return value; };
        v.whole = args.whole;
      }
    }
    if (!make) {
      at_ = start;
      fail("there is no '" + name + "'; there are zeros, ones, fill, range, random, normal and randint");
    }
    int64_t n = 1;
    for (size_t i = first; i < args.numbers.size(); ++i) {
      const int64_t d = args.integers[i];
      if (args.numbers[i] != double(d) || d < 0) fail("dimensions must be whole numbers that are not negative");
      if (d && n > (int64_t(1) << 32) / d) fail("too many elements");
      n *= d;
      v.shape.push_back(d);
    }
    for (int64_t i = 0; i < n; ++i) {
      v.numbers.push_back(make(i));
      v.integers.push_back(v.whole ? int64_t(v.numbers.back()) : 0);
    }
  }

  const TensorSpec& spec_;
  std::string_view text_;
  size_t at_ = 0;
  std::vector<int64_t> shape_;
  std::optional<size_t> fixed_;  // how deep scalars are
};

bool is_float(DType t) { return t == DType::float32 || t == DType::float64 || t == DType::float16 || t == DType::bfloat16; }
bool is_complex(DType t) { return t == DType::complex64 || t == DType::complex128; }

// The least and the greatest value of an integer type; false for others.
bool range_of(DType t, double& low, double& high) {
  int bits = 0;
  bool sign = true;
  switch (t) {
    case DType::int8: bits = 8; break;
    case DType::int16: bits = 16; break;
    case DType::int32: bits = 32; break;
    case DType::int64: bits = 64; break;
    case DType::uint8: bits = 8, sign = false; break;
    case DType::uint16: bits = 16, sign = false; break;
    case DType::uint32: bits = 32, sign = false; break;
    case DType::uint64: bits = 64, sign = false; break;
    default: return false;
  }
  low = sign ? -std::ldexp(1.0, bits - 1) : 0;
  high = std::ldexp(1.0, bits - (sign ? 1 : 0)) - 1;
  return true;
}

Tensor typed(const TensorSpec& spec, const Literal& v, const std::string& text) {
  const auto refuse = [&](const std::string& why) -> Tensor {
    throw Error(Code::kInvalidArgument, "input '" + spec.name + "' is " + to_string(spec.dtype) + "; '" + text + "' " + why);
  };
  if (v.text || spec.dtype == DType::string) {
    if (spec.dtype != DType::string && spec.dtype != DType::invalid) return refuse("is text");
    if (!v.text && !v.numbers.empty()) return refuse("is a number; put texts in quotes");
    return Tensor::of_strings(v.shape, v.texts);
  }
  DType dtype = spec.dtype;
  if (dtype == DType::invalid) dtype = v.whole ? DType::int64 : DType::float32;
  if (dtype == DType::boolean) {
    for (const double d : v.numbers) {
      if (d != 0 && d != 1) return refuse("is not true or false");
    }
  }
  double low, high;
  if (range_of(dtype, low, high)) {
    if (!v.whole) return refuse("has a fraction");
    for (const double d : v.numbers) {
      if (d < low || d > high) return refuse("is out of its range");
    }
  }
  if (is_float(dtype) || is_complex(dtype)) return weft::cast(Tensor::of<double>(v.shape, std::span<const double>(v.numbers)), dtype);
  return weft::cast(Tensor::of<int64_t>(v.shape, std::span<const int64_t>(v.integers)), dtype);
}

Tensor converted(const TensorSpec& spec, Tensor t, const std::string& source, bool cast) {
  if (spec.dtype == DType::invalid || t.dtype() == spec.dtype) return t;
  if (t.dtype() == DType::string || spec.dtype == DType::string || !cast)
    throw Error(Code::kInvalidArgument, "input '" + spec.name + "' is " + to_string(spec.dtype) + ", but " + source + " holds " +
                                            to_string(t.dtype()) +
                                            (t.dtype() == DType::string || spec.dtype == DType::string ? "" : "; --cast converts it"));
  return weft::cast(t, spec.dtype);
}

std::string random_text(const TensorSpec& spec, int64_t batch) {
  std::vector<int64_t> dims;
  if (spec.shape.known_rank) {
    for (size_t i = 0; i < spec.shape.dims.size(); ++i) dims.push_back(spec.shape.dims[i] >= 0 ? spec.shape.dims[i] : i == 0 ? batch : 1);
  }
  std::string out = is_float(spec.dtype) || is_complex(spec.dtype) ? "normal(" : spec.dtype == DType::boolean ? "randint(2" : "randint(10";
  for (const int64_t d : dims) out += (out.back() == '(' ? "" : ",") + std::to_string(d);
  return out + ")";
}

}  // namespace

Tensor parse_expression(const TensorSpec& spec, const std::string& text) { return typed(spec, Parser(spec, text).parse(), text); }

Tensor parse_value(const TensorSpec& spec, const std::string& text, bool cast) {
  if (text.ends_with(".npy")) return converted(spec, data::read_npy(text), text, cast);
  const size_t npz = text.rfind(".npz");
  if (npz != std::string::npos && (npz + 4 == text.size() || (text[npz + 4] == '[' && text.back() == ']'))) {
    auto arrays = data::read_npz(text.substr(0, npz + 4));
    const bool named = npz + 4 < text.size();
    const std::string key = named ? text.substr(npz + 5, text.size() - npz - 6) : spec.name;
    std::string there;
    for (auto& [name, t] : arrays) {
      if (name == key || (!named && arrays.size() == 1)) return converted(spec, t, text, cast);
      there += (there.empty() ? "" : ", ") + name;
    }
    throw Error(Code::kNotFound, text + ": the archive has no array '" + key + "'; it has: " + (there.empty() ? "none" : there));
  }
  return parse_expression(spec, text);
}

std::pair<std::string, std::string> split_assignment(const std::string& text, const char* option) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) throw Error(Code::kInvalidArgument, std::string(option) + " '" + text + "' must be NAME=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

NamedTensors make_inputs(const SignatureInfo& signature, const std::vector<std::string>& assignments, bool cast, bool fill, int64_t batch) {
  NamedTensors out;
  for (const auto& a : assignments) {
    const auto [name, value] = split_assignment(a, "--input");
    const TensorSpec* spec = nullptr;
    std::string there;
    for (const auto& s : signature.inputs) {
      if (s.name == name) spec = &s;
      there += "\n  " + to_string(s);
    }
    if (!spec)
      throw Error(Code::kNotFound,
                  "signature '" + signature.name + "' has no input '" + name + "'; its inputs are:" + (there.empty() ? " none" : there));
    out.emplace_back(name, parse_value(*spec, value, cast));
  }
  for (const auto& s : signature.inputs) {
    bool given = false;
    for (const auto& [name, t] : out) given |= name == s.name;
    if (given) continue;
    if (!fill)
      throw Error(Code::kInvalidArgument, "input '" + s.name + "' of signature '" + signature.name + "' is missing; add for example --input " +
                                              s.name + "='" + (s.dtype == DType::string ? "\"text\"" : random_text(s, 1)) + "'");
    if (s.dtype == DType::string) {
      std::vector<int64_t> dims;
      int64_t n = 1;
      for (size_t i = 0; s.shape.known_rank && i < s.shape.dims.size(); ++i) {
        dims.push_back(s.shape.dims[i] >= 0 ? s.shape.dims[i] : i == 0 ? batch : 1);
        n *= dims.back();
      }
      out.emplace_back(s.name, Tensor::of_strings(dims, std::vector<std::string>(size_t(n), "text")));
    } else {
      out.emplace_back(s.name, parse_expression(s, random_text(s, batch)));
    }
  }
  return out;
}

}  // namespace weft::cli
