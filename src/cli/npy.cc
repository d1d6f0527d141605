#include "cli/npy.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>

namespace weft::cli {
namespace {

[[noreturn]] void bad(const std::string& name, const std::string& what) { throw Error(Code::kDataLoss, name + ": " + what); }

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

// ---- zip ------------------------------------------------------------------------------------------------------

uint64_t little(std::string_view s, size_t at, int bytes) {
  uint64_t v = 0;
  for (int i = bytes; i-- > 0;) v = v << 8 | static_cast<unsigned char>(s[at + size_t(i)]);
  return v;
}
void put_little(std::string& s, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) s += char(v >> (8 * i));
}

std::string inflate_raw(std::string_view packed, size_t size, const std::string& name) {
  // deflate cannot shrink below 1:1032, so a larger claim is a lie and worth no memory.
  if (size / 1040 > packed.size()) bad(name, "the archive claims an impossible size");
  std::string out(size, '\0');
  z_stream z{};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) bad(name, "zlib does not start");
  size_t in = 0, done = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in));
    z.avail_in = uInt(std::min<size_t>(packed.size() - in, 1u << 30));
    z.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    z.avail_out = uInt(std::min<size_t>(size - done, 1u << 30));
    const uInt had_in = z.avail_in, had_out = z.avail_out;
    code = inflate(&z, Z_NO_FLUSH);
    in += had_in - z.avail_in;
    done += had_out - z.avail_out;
    if (code == Z_OK && had_in == z.avail_in && had_out == z.avail_out) break;
  }
  inflateEnd(&z);
  if (code != Z_STREAM_END || done != size) bad(name, "the compressed data are damaged");
  return out;
}

uint32_t crc_of(std::string_view bytes) {
  uLong crc = crc32(0, nullptr, 0);
  while (!bytes.empty()) {
    const size_t n = std::min<size_t>(bytes.size(), 1u << 30);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), uInt(n));
    bytes.remove_prefix(n);
  }
  return uint32_t(crc);
}

struct Entry {
  std::string name;
  uint64_t packed = 0, size = 0, offset = 0;
  uint32_t crc = 0;
  int method = 0;
};

std::vector<Entry> central_directory(std::string_view bytes, const std::string& name) {
  // The end record: its signature, searched from the back, for a comment may follow.
  constexpr size_t kEnd = 22;
  if (bytes.size() < kEnd) bad(name, "not an .npz archive");
  size_t at = std::string_view::npos;
  const size_t lowest = bytes.size() - std::min<size_t>(bytes.size(), kEnd + 65535);
  for (size_t i = bytes.size() - kEnd + 1; i-- > lowest;) {
    if (bytes.substr(i, 4) == std::string_view("PK\5\6", 4)) {
      at = i;
      break;
    }
  }
  if (at == std::string_view::npos) bad(name, "not an .npz archive, or cut off");
  uint64_t count = little(bytes, at + 10, 2), size = little(bytes, at + 12, 4), offset = little(bytes, at + 16, 4);
  // Large archives have a second end record, pointed to by a locator right before this one.
  if ((count == 0xFFFF || size == 0xFFFFFFFF || offset == 0xFFFFFFFF) && at >= 20 &&
      bytes.substr(at - 20, 4) == std::string_view("PK\6\7", 4)) {
    const uint64_t far = little(bytes, at - 20 + 8, 8);
    if (far > bytes.size() || bytes.size() - far < 56 || bytes.substr(far, 4) != std::string_view("PK\6\6", 4))
      bad(name, "the archive is damaged");
    count = little(bytes, far + 32, 8);
    size = little(bytes, far + 40, 8);
    offset = little(bytes, far + 48, 8);
  }
  if (offset > bytes.size() || size > bytes.size() - offset) bad(name, "the archive is damaged: its directory lies outside");
  std::string_view dir = bytes.substr(offset, size);
  std::vector<Entry> entries;
  size_t i = 0;
  while (entries.size() < count) {
    if (dir.size() - i < 46 || dir.substr(i, 4) != std::string_view("PK\1\2", 4)) bad(name, "the archive's directory is damaged");
    const size_t n = little(dir, i + 28, 2), extra = little(dir, i + 30, 2), comment = little(dir, i + 32, 2);
    if (dir.size() - i - 46 < n + extra + comment) bad(name, "the archive's directory is cut off");
    Entry e;
    if (little(dir, i + 8, 2) & 1) bad(name, "the archive is encrypted");
    e.method = int(little(dir, i + 10, 2));
    e.crc = uint32_t(little(dir, i + 16, 4));
    e.packed = little(dir, i + 20, 4);
    e.size = little(dir, i + 24, 4);
    e.offset = little(dir, i + 42, 4);
    e.name = std::string(dir.substr(i + 46, n));
    // Sizes that do not fit in 32 bits stand in extra field 1, those alone and in this order.
    std::string_view more = dir.substr(i + 46 + n, extra);
    while (more.size() >= 4) {
      const size_t length = little(more, 2, 2);
      if (more.size() - 4 < length) break;
      if (little(more, 0, 2) == 1) {
        std::string_view fields = more.substr(4, length);
        for (uint64_t* v : {&e.size, &e.packed, &e.offset}) {
          if (*v != 0xFFFFFFFF || fields.size() < 8) continue;
          *v = little(fields, 0, 8);
          fields.remove_prefix(8);
        }
      }
      more.remove_prefix(4 + length);
    }
    entries.push_back(std::move(e));
    i += 46 + n + extra + comment;
  }
  return entries;
}

std::string unpack(std::string_view bytes, const Entry& e, const std::string& name) {
  if (e.offset > bytes.size() || bytes.size() - e.offset < 30 || bytes.substr(e.offset, 4) != std::string_view("PK\3\4", 4))
    bad(name, "the archive is damaged: " + e.name + " is not where it should be");
  const size_t skip = 30 + little(bytes, e.offset + 26, 2) + little(bytes, e.offset + 28, 2);
  if (bytes.size() - e.offset < skip || e.packed > bytes.size() - e.offset - skip) bad(name, "the archive is cut off in " + e.name);
  std::string_view packed = bytes.substr(e.offset + skip, e.packed);
  std::string out;
  if (e.method == 0) {
    if (e.size != e.packed) bad(name, "the archive is damaged in " + e.name);
    out = std::string(packed);
  } else if (e.method == 8) {
    out = inflate_raw(packed, e.size, name);
  } else {
    bad(name, e.name + " is compressed by a method that numpy does not use");
  }
  if (crc_of(out) != e.crc) bad(name, "the checksum of " + e.name + " is wrong");
  return out;
}

}  // namespace

std::string read_whole_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(Code::kNotFound, path + ": no such file, or it cannot be read");
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) throw Error(Code::kDataLoss, "cannot read " + path);
  return bytes;
}

void write_whole_file(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), std::streamsize(bytes.size()));
  out.close();
  if (!out) throw Error(Code::kUnavailable, "cannot write " + path);
}

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
  if (descr.starts_with(">"))
    bad(name, "big-endian arrays are not supported (a.astype(a.dtype.newbyteorder('<')) makes a little-endian one)");
  if (!descr.empty() && (descr[0] == '<' || descr[0] == '|' || descr[0] == '=')) descr.erase(0, 1);
  if (descr.starts_with("O")) bad(name, "the array holds pickled Python objects; save strings with dtype 'S' or 'U'");
  const int64_t n = count_of(h, name);
  size_t item = 0;
  DType dtype = DType::invalid;
  if (descr.starts_with("S") || descr.starts_with("U")) {
    if (descr.size() > 9) bad(name, "strings of that length are not supported");
    const size_t chars = size_t(std::atol(descr.c_str() + 1));
    item = descr[0] == 'U' ? 4 * chars : chars;
    dtype = DType::string;
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
  if (h.fortran && h.shape.size() > 1 && item) {
    rows = transposed(data, h.shape, item);
    data = rows;
  }
  if (dtype == DType::string) return strings_of(h, descr[0], size_t(std::atol(descr.c_str() + 1)), data, name);
  if (dtype == DType::boolean) {
    rows = std::string(data);
    for (char& c : rows) c = c != 0;
    data = rows;
  }
  return Tensor::from_bytes(dtype, h.shape, data.data(), data.size());
}

Tensor read_npy(const std::string& path) { return parse_npy(read_whole_file(path), path); }

std::vector<std::pair<std::string, Tensor>> parse_npz(std::string_view bytes, const std::string& name) {
  std::vector<std::pair<std::string, Tensor>> out;
  for (const Entry& e : central_directory(bytes, name)) {
    std::string key = e.name;
    if (key.ends_with(".npy")) key.resize(key.size() - 4);
    out.emplace_back(key, parse_npy(unpack(bytes, e, name), name + "[" + key + "]"));
  }
  return out;
}

std::vector<std::pair<std::string, Tensor>> read_npz(const std::string& path) { return parse_npz(read_whole_file(path), path); }

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

void write_npy(const std::string& path, const Tensor& t) { write_whole_file(path, format_npy(t)); }

void write_npz(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& arrays) {
  std::string out, dir;
  for (const auto& [key, t] : arrays) {
    const std::string name = key + ".npy", data = format_npy(t);
    if (data.size() >= 0xFFFFFFFF || out.size() >= 0xFFFFFFFF)
      throw Error(Code::kUnimplemented, "an .npz of 4 GiB or more; write .npy files instead");
    const uint32_t crc = crc_of(data);
    const uint64_t offset = out.size();
    std::string fields;                 // what the local header and the directory share
    put_little(fields, 20, 2);          // version that is needed
    put_little(fields, 0x800, 2);       // names are UTF-8
    put_little(fields, 0, 2);           // stored
    put_little(fields, 0x21 << 16, 4);  // the first of January 1980
    put_little(fields, crc, 4);
    put_little(fields, data.size(), 4);
    put_little(fields, data.size(), 4);
    put_little(fields, name.size(), 2);
    put_little(fields, 0, 2);
    out += std::string("PK\3\4", 4) + fields + name + data;
    dir += std::string("PK\1\2", 4);
    put_little(dir, 20, 2);
    dir += fields;
    dir.append(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
    put_little(dir, offset, 4);
    dir += name;
  }
  std::string end("PK\5\6", 4);
  put_little(end, 0, 4);
  put_little(end, arrays.size(), 2);
  put_little(end, arrays.size(), 2);
  put_little(end, dir.size(), 4);
  put_little(end, out.size(), 4);
  put_little(end, 0, 2);
  write_whole_file(path, out + dir + end);
}

}  // namespace weft::cli
