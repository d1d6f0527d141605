// IDX (Y. LeCun, "The MNIST database"): two zero bytes, a type, the number of dimensions, each as 4 bytes, then the elements; big-endian.
#include "api/data/internal.h"
#include "api/unwrap.h"
#include "weft/data.h"
#include "wire/byte_stream.h"

namespace weft::data {
namespace {

struct TypeRow {
  int code;
  DType dtype;
  size_t size;
};
constexpr TypeRow kTypes[] = {{0x08, DType::uint8, 1}, {0x09, DType::int8, 1},    {0x0B, DType::int16, 2},
                              {0x0C, DType::int32, 4}, {0x0D, DType::float32, 4}, {0x0E, DType::float64, 8}};

}  // namespace

Tensor read_idx(const std::string& path) {
  const auto read = [&](wire::ByteStream& stream, uint64_t n) {
    std::string out;
    const core::Status s = stream.read(n, out);
    if (s.code() == core::Code::kDataLoss) bad(path, "the compressed data are damaged: " + s.message());
    api::check(s);
    if (out.size() < n) bad(path, "cut off: " + std::to_string(n) + " bytes expected, " + std::to_string(out.size()) + " there");
    return out;
  };
  auto stream = api::unwrap(wire::ByteStream::open(path, ""));
  if (read(*stream, 2) == "\x1f\x8b") stream = api::unwrap(wire::ByteStream::open(path, "GZIP"));
  else stream = api::unwrap(wire::ByteStream::open(path, ""));
  const std::string magic = read(*stream, 4);
  const TypeRow* type = nullptr;
  for (const TypeRow& row : kTypes) {
    if (magic[0] == 0 && magic[1] == 0 && magic[2] == row.code) type = &row;
  }
  if (!type) bad(path, "not an IDX file: it does not begin with two zero bytes and a type of that format");
  std::vector<int64_t> shape(static_cast<unsigned char>(magic[3]));
  uint64_t bytes = type->size;
  for (int64_t& d : shape) {
    std::string number = read(*stream, 4);
    swap_bytes(number, 4);
    d = int64_t(little(number, 0, 4));
    if (d != 0 && bytes > (uint64_t(1) << 46) / uint64_t(d)) bad(path, "the shape has too many elements");
    bytes *= uint64_t(d);
  }
  std::string data = read(*stream, bytes);
  std::string rest;
  api::check(stream->read(1, rest));
  if (!rest.empty()) bad(path, "there are more data than the shape needs");
  if (!stream->complete()) bad(path, "the compressed data are cut off");
  if (type->size > 1) swap_bytes(data, type->size);
  return Tensor::from_bytes(type->dtype, shape, data.data(), data.size());
}

}  // namespace weft::data
