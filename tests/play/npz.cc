#include "tests/play/npz.h"

#include <zlib.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace weft_engine::testing {
namespace {

using core::DType;
using core::Result;
using core::Tensor;

uint64_t number(const std::string& s, size_t at, int bytes) {
  uint64_t v = 0;
  for (int i = bytes; i-- > 0;) v = v << 8 | (at + size_t(i) < s.size() ? uint8_t(s[at + size_t(i)]) : 0);
  return v;
}

Result<Tensor> read_npy(const std::string& s) {
  if (s.size() < 12 || s.compare(1, 5, "NUMPY") != 0) return core::data_loss("not an array of NumPy");
  const bool first = s[6] == 1;
  const size_t begin = first ? 10 : 12, length = number(s, 8, first ? 2 : 4);
  const std::string header = s.substr(begin, length);
  const auto after = [&](const std::string& key) { return header.find(key) + key.size(); };
  const std::string type = header.substr(header.find('\'', after("'descr':")) + 1, 3);
  static const std::map<std::string, DType> kTypes{{"<f4", DType::kFloat}, {"<f8", DType::kDouble}, {"<i4", DType::kInt32},
                                                   {"<i8", DType::kInt64}, {"|b1", DType::kBool},   {"|u1", DType::kUint8}};
  const auto it = kTypes.find(type);
  if (it == kTypes.end() || header.find("'fortran_order': False") == std::string::npos) return core::unimplemented("an array of type ", type);
  std::vector<int64_t> dims;
  for (size_t at = header.find('(', after("'shape':")) + 1; at < header.size() && header[at] != ')';) {
    if (header[at] < '0' || header[at] > '9') {
      ++at;
      continue;
    }
    size_t used = 0;
    dims.push_back(std::stoll(header.substr(at), &used));
    at += used;
  }
  WEFT_ASSIGN(Tensor t, Tensor::allocate(it->second, core::Shape(dims)));
  if (s.size() < begin + length + t.byte_size()) return core::data_loss("an array is cut off");
  std::memcpy(t.raw(), s.data() + begin + length, t.byte_size());
  return t;
}

Result<std::string> inflated(std::string_view s, size_t size) {
  std::string out(size, '\0');
  z_stream z{};
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(s.data()));
  z.avail_in = uInt(s.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = uInt(size);
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return core::internal_error("no memory to inflate");
  const int rc = inflate(&z, Z_FINISH);
  inflateEnd(&z);
  if (rc != Z_STREAM_END) return core::data_loss("an archive is damaged");
  return out;
}

}  // namespace

Result<std::map<std::string, Tensor>> read_npz(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return core::not_found("cannot read ", path);
  const std::string s{std::istreambuf_iterator<char>(in), {}};
  const size_t end = s.rfind("PK\5\6");
  if (end == std::string::npos) return core::data_loss(path, " is no archive");
  std::map<std::string, Tensor> out;
  size_t at = number(s, end + 16, 4);
  for (uint64_t n = number(s, end + 10, 2); n > 0; --n) {
    if (s.compare(at, 4, "PK\1\2") != 0) return core::data_loss(path, " is damaged");
    const size_t size = number(s, at + 24, 4), name = number(s, at + 28, 2), local = number(s, at + 42, 4);
    std::string key = s.substr(at + 46, name);
    const size_t data = local + 30 + number(s, local + 26, 2) + number(s, local + 28, 2);
    if (key.size() > 4) key.resize(key.size() - 4);  // .npy
    std::string file = s.substr(data, number(s, at + 20, 4));
    if (number(s, at + 10, 2) != 0) {
      WEFT_ASSIGN(file, inflated(file, size));
    }
    auto t = read_npy(file);
    if (t.ok()) out[key] = std::move(t).value();
    at += 46 + name + number(s, at + 30, 2) + number(s, at + 32, 2);
  }
  return out;
}

}  // namespace weft_engine::testing
