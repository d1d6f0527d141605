#include <algorithm>
#include <cstring>
#include <limits>

#include "api/data/internal.h"
#include "weft/data.h"

namespace weft::data {
namespace {

// ---- the header of an array: a Python dictionary, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ----

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;
};

class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Header parse() {
    Header h;
    bool has_descr = false, has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        space();
        if (at_ < text_.size() && text_[at_] == '[') bad(name_, "structured arrays are not supported");
        h.descr = quoted();
        has_descr = true;
      } else if (key == "fortran_order") {
        h.fortran = word() == "True";
      } else if (key == "shape") {
        expect('(');
        while (!take(')')) {
          h.shape.push_back(number());
          if (h.shape.size() > 64) bad(name_, "more than 64 dimensions");
          if (!take(',')) {
            expect(')');
            break;
          }
        }
        has_shape = true;
      } else {
        bad(name_, "the header has an unknown key '" + key + "'");
      }
      take(',');
    }
    if (!has_descr || !has_shape) bad(name_, "the header lacks the type or the shape");
    return h;
  }

 private:
  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) bad(name_, std::string("the header is not numpy's: expected '") + c + "'");
  }
  std::string quoted() {
    space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) bad(name_, "the header is not numpy's: expected a string");
    const char q = text_[at_++];
    const size_t end = text_.find(q, at_);
    if (end == std::string_view::npos) bad(name_, "the header is cut off");
    std::string s(text_.substr(at_, end - at_));
    at_ = end + 1;
    return s;
  }
  std::string word() {
    space();
    std::string s;
    while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_]))) s += text_[at_++];
    return s;
  }
  int64_t number() {
    space();
    int64_t v = 0;
    const size_t start = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      if (v > (std::numeric_limits<int64_t>::max() - 9) / 10) bad(name_, "a dimension is too large");
      v = v * 10 + (text_[at_++] - '0');
    }
    if (at_ == start) bad(name_, "the header is not numpy's: expected a number");
    take('L');  // Python 2
    return v;
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
};

struct TypeRow {
  const char* descr;  // without the byte order
  DType dtype;
};
constexpr TypeRow kTypes[] = {{"f4", DType::float32}, {"f8", DType::float64},   {"f2", DType::float16},    {"V2", DType::bfloat16},
                              {"i1", DType::int8},    {"i2", DType::int16},     {"i4", DType::int32},      {"i8", DType::int64},
                              {"u1", DType::uint8},   {"u2", DType::uint16},    {"u4", DType::uint32},     {"u8", DType::uint64},
                              {"b1", DType::boolean}, {"c8", DType::complex64}, {"c16", DType::complex128}};

int64_t count_of(const Header& h, const std::string& name) {
  int64_t n = 1;
  for (const int64_t d : h.shape) {
    if (d != 0 && n > (int64_t(1) << 46) / d) bad(name, "the shape has too many elements");
    n *= d;
  }
  return n;
}

// Row-major from column-major.
std::string transposed(std::string_view bytes, const std::vector<int64_t>& shape, size_t item) {
  std::string out(bytes.size(), '\0');
  struct Dim {
    int64_t size, stride, index;
  };
  std::vector<Dim> dims;
  int64_t stride = 1;
  for (const int64_t d : shape) {
    dims.push_back({d, stride, 0});
    stride *= d;
  }
  for (size_t to = 0; to < bytes.size(); to += item) {
    int64_t from = 0;
    for (const Dim& d : dims) from += d.index * d.stride;
    std::memcpy(out.data() + to, bytes.data() + size_t(from) * item, item);
    for (auto d = dims.rbegin(); d != dims.rend(); ++d) {
      if (++d->index < d->size) break;
      d->index = 0;
    }
  }
  return out;
}

void append_utf8(std::string& out, uint32_t c, const std::string& name) {
  if (c > 0x10FFFF) bad(name, "a character is not Unicode");
  if (c < 0x80) {
    out += char(c);
  } else if (c < 0x800) {
    out += char(0xC0 | c >> 6);
    out += char(0x80 | (c & 63));
  } else if (c < 0x10000) {
    out += char(0xE0 | c >> 12);
    out += char(0x80 | (c >> 6 & 63));
    out += char(0x80 | (c & 63));
  } else {
    out += char(0xF0 | c >> 18);
    out += char(0x80 | (c >> 12 & 63));
    out += char(0x80 | (c >> 6 & 63));
    out += char(0x80 | (c & 63));
  }
}

Tensor strings_of(const Header& h, char kind, size_t width, std::string_view data, const std::string& name) {
  std::vector<std::string> values;
  const size_t item = kind == 'U' ? 4 * width : width;
  for (size_t i = 0, n = size_t(count_of(h, name)); i < n; ++i) {
    std::string_view one = data.substr(i * item, item);
    std::string s;
    if (kind == 'S') {
      while (!one.empty() && one.back() == '\0') one.remove_suffix(1);
      s = std::string(one);
    } else {
      size_t length = width;
      const auto at = [&](size_t k) {
        uint32_t c;
        std::memcpy(&c, one.data() + 4 * k, 4);
        return c;
      };
      while (length > 0 && at(length - 1) == 0) --length;
      for (size_t k = 0; k < length; ++k) append_utf8(s, at(k), name);
    }
    values.push_back(std::move(s));
  }
  return Tensor::of_strings(h.shape, values);
}

}  // namespace

Tensor parse_npy(std::string_view bytes, const std::string& name) {
  constexpr std::string_view kMagic("\x93NUMPY", 6);
  if (bytes.size() < 10 || !bytes.starts_with(kMagic)) bad(name, "not an .npy file");
  const int major = bytes[6];
  if (major < 1 || major > 3) bad(name, "version " + std::to_string(major) + " of the .npy format is unknown");
  const size_t width = major == 1 ? 2 : 4;
  if (bytes.size() < 8 + width) bad(name, "cut off");
  const size_t length = little(bytes, 8, int(width));
  if (length > bytes.size() - 8 - width) bad(name, "cut off in the header");
  const Header h = HeaderParser(bytes.substr(8 + width, length), name).parse();
  std::string_view data = bytes.substr(8 + width + length);
  std::string descr = h.descr;
  const bool big_endian = descr.starts_with(">");
  if (!descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) descr.erase(0, 1);
  if (descr.starts_with("O")) bad(name, "the array holds pickled Python objects; save strings with dtype 'S' or 'U'");
  const int64_t n = count_of(h, name);
  size_t item = 0, chars = 0;
  DType dtype = DType::invalid;
  if (descr.starts_with("S") || descr.starts_with("U")) {
    if (descr.size() < 2 || descr.size() > 9 || descr.find_first_not_of("0123456789", 1) != std::string::npos)
      bad(name, "strings of the length '" + descr.substr(1) + "' are not supported");
    chars = size_t(std::atol(descr.c_str() + 1));
    item = descr[0] == 'U' ? 4 * chars : chars;
    dtype = DType::string;
    // Empty strings need no data, so that any number of them could be claimed.
    if (item == 0 && n > (1 << 20)) bad(name, "the shape has too many elements");
  } else {
    for (const auto& row : kTypes) {
      if (descr == row.descr) {
        dtype = row.dtype;
        item = size_t(std::atol(descr.c_str() + 1));
      }
    }
  }
  if (dtype == DType::invalid) bad(name, "the type '" + h.descr + "' is not supported");
  if (item != 0 && size_t(n) > data.size() / item) bad(name, "cut off: the shape needs more data than there are");
  data = data.substr(0, size_t(n) * item);
  std::string rows;
  if (big_endian && item > 1 && descr[0] != 'S') {
    rows = std::string(data);
    swap_bytes(rows, descr[0] == 'U' ? 4 : descr[0] == 'c' ? item / 2 : item);
    data = rows;
  }
  if (h.fortran && h.shape.size() > 1 && item) {
    rows = transposed(data, h.shape, item);
    data = rows;
  }
  if (dtype == DType::string) return strings_of(h, descr[0], chars, data, name);
  if (dtype == DType::boolean) {
    rows = std::string(data);
    for (char& c : rows) c = c != 0;
    data = rows;
  }
  return Tensor::from_bytes(dtype, h.shape, data.data(), data.size());
}

Tensor read_npy(const std::string& path) { return parse_npy(read_file(path), path); }

std::string format_npy(const Tensor& t) {
  std::string descr, data;
  if (t.dtype() == DType::string) {
    const auto values = t.strings();
    size_t width = 1;
    for (const auto& s : values) width = std::max(width, s.size());
    descr = "|S" + std::to_string(width);
    for (const auto& s : values) {
      data += s;
      data.append(width - s.size(), '\0');
    }
  } else {
    for (const auto& row : kTypes) {
      if (row.dtype != t.dtype()) continue;
      const std::string_view d = row.descr;
      descr = (d == "i1" || d == "u1" || d == "b1" ? "|" : "<") + std::string(d);
      const auto raw = t.bytes();
      data.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
    }
    if (descr.empty()) throw Error(Code::kUnimplemented, "numpy has no type for " + to_string(t.dtype()));
  }
  std::string shape = "(";
  const auto dims = t.shape();
  for (size_t i = 0; i < dims.size(); ++i) shape += (i ? ", " : "") + std::to_string(dims[i]);
  shape += dims.size() == 1 ? ",)" : ")";
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64) header += ' ';  // the data start aligned
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  put_little(out, header.size(), 2);
  return out + header + data;
}

void write_npy(const std::string& path, const Tensor& t) { write_file(path, format_npy(t)); }

}  // namespace weft::data
