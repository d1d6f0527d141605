// Tensors from and to bytes: raw memory, compressed data, TensorProto.
#include <zlib.h>

#include <algorithm>

#include "core/allocator.h"
#include "kernels/cpu/text.h"
#include "kernels/cpu/zstd.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/list/variant_codec.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"
#include "wire/variant_data.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Turns the bytes of each number round; a complex number is two of them.
void swap_bytes(char* data, int64_t bytes, DType type) {
  const auto size = int64_t(dtype_size(type)) / (is_complex_type(type) ? 2 : 1);
  for (int64_t i = 0; i + size <= bytes; i += size) std::reverse(data + i, data + i + size);
}

Status run_decode_raw(KernelContext& c) {
  const Tensor& in = c.input(0);
  const auto strings = in.span<tstring>();
  const DType type = c.output_type(0);
  const auto size = int64_t(dtype_size(type));
  const int64_t length = strings.empty() ? 0 : int64_t(strings[0].size());
  for (size_t i = 1; i < strings.size(); ++i) {
    if (int64_t(strings[i].size()) != length)
      return invalid_argument("DecodeRaw requires input strings to all be the same size, but element ", i, " has size ", length,
                              " != ", strings[i].size());
  }
  if (length % size != 0)
    return invalid_argument("Input to DecodeRaw has length ", length, " that is not a multiple of ", size, ", the size of ", dtype_name(type));
  Shape shape = in.shape();
  shape.add_dim(length / size);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  char* to = out->data<char>();
  for (size_t i = 0; i < strings.size() && length > 0; ++i) std::memcpy(to + int64_t(i) * length, strings[i].data(), size_t(length));
  if (!c.attr<bool>("little_endian")) swap_bytes(to, int64_t(strings.size()) * length, type);
  return {};
}

Status run_decode_padded_raw(KernelContext& c) {
  const Tensor &in = c.input(0), &length_in = c.input(1);
  if (length_in.rank() != 0) return invalid_argument("k must be scalar, got shape ", length_in.shape());
  const int64_t length = length_in.data<int32_t>()[0], size = int64_t(dtype_size(c.output_type(0)));
  if (length % size != 0) return invalid_argument("fixed_length (", length, ") must be a multiple of the size of out_type (", size, ")");
  if (length <= 0) return invalid_argument("fixed_length (", length, ") must be greater than zero.");
  Shape shape = in.shape();
  shape.add_dim(length / size);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  char* to = out->data<char>();
  const bool swap = !c.attr<bool>("little_endian");
  for (const tstring& s : in.span<tstring>()) {
    const size_t n = std::min(s.size(), size_t(length));
    std::memcpy(to, s.data(), n);
    std::memset(to + n, 0, size_t(length) - n);
    if (swap) swap_bytes(to, length, c.output_type(0));
    to += length;
  }
  return {};
}

Status decode_raw_shape(ShapeContext& c) {
  PartialShape out = c.input(0);
  if (out.has_rank()) out.add_dim(kUnknownDim);
  c.output(0, out);
  return {};
}

Status decode_padded_shape(ShapeContext& c) {
  PartialShape out = c.input(0);
  const auto size = int64_t(dtype_size(c.attr<DType>("out_type")));
  const auto length = c.constant_int(1);
  if (length && (*length <= 0 || *length % size != 0))
    return invalid_argument("fixed_length (", *length, ") must be greater than zero and a multiple of the size of out_type (", size, ")");
  if (out.has_rank()) out.add_dim(length ? *length / size : kUnknownDim);
  c.output(0, out);
  return {};
}

struct Inflater {
  z_stream stream = {};
  bool ready;
  explicit Inflater(int window_bits) : ready(inflateInit2(&stream, window_bits) == Z_OK) {}
  Inflater(const Inflater&) = delete;
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
};

// A stream that ends too early gives what there is of it, as in TensorFlow.
Status inflate_all(std::string_view in, int window_bits, std::string& out, size_t most) {
  Inflater z(window_bits);
  if (!z.ready) return resource_exhausted("inflateInit() failed");
  out.clear();
  char buffer[1 << 15];
  // zlib counts in 32 bits.
  constexpr size_t kMost = 1u << 30;
  while (true) {
    if (z.stream.avail_in == 0) {
      const size_t n = std::min(in.size(), kMost);
      z.stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
      z.stream.avail_in = static_cast<uInt>(n);
      in.remove_prefix(n);
    }
    z.stream.next_out = reinterpret_cast<Bytef*>(buffer);
    z.stream.avail_out = sizeof buffer;
    const int result = inflate(&z.stream, Z_NO_FLUSH);
    out.append(buffer, sizeof buffer - z.stream.avail_out);
    if (out.size() > most) return resource_exhausted("Decompressed data of more than ", most, " bytes does not fit into memory");
    if (result == Z_STREAM_END) {
      const bool more = z.stream.avail_in > 0 || !in.empty();
      if (window_bits <= MAX_WBITS || !more) return {};
      inflateReset(&z.stream);  // gzip files may be several, one behind the other
      continue;
    }
    if (result == Z_BUF_ERROR || (result == Z_OK && z.stream.avail_in == 0 && z.stream.avail_out > 0 && in.empty())) return {};
    if (result != Z_OK) return data_loss("inflate() failed with error ", result, z.stream.msg ? ": " : "", z.stream.msg ? z.stream.msg : "");
  }
}

Status run_decode_compressed(KernelContext& c) {
  const Tensor& in = c.input(0);
  const std::string& type = c.attr<std::string>("compression_type");
  if (type.empty()) {
    c.set_output(0, in);
    return {};
  }
  if (type != "ZLIB" && type != "GZIP" && type != "ZSTD") return invalid_argument("Only ZLIB, ZSTD, GZIP or NONE are supported compressions");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  std::string contents;
  // A thousandth of it may stand for more than the machine has; a string that grows needs several times its size.
  const auto most = size_t(core::host_stats().bytes_limit) / 4;
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    const std::string_view s = in.data<tstring>()[i].view();
    WEFT_RETURN_IF_ERROR(type == "ZSTD" ? kernels::zstd_decompress(s, contents, most)
                                        : inflate_all(s, type == "GZIP" ? MAX_WBITS + 16 : MAX_WBITS, contents, most));
    out->data<tstring>()[i] = contents;
  }
  return {};
}

bool is_wire_format(std::string_view bytes) {
  wire::ProtoReader r(bytes);
  while (r.next()) {
  }
  return r.ok();
}

Status run_parse_tensor(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() != 0) return invalid_argument("Expected `serialized` to be a scalar, got shape: ", in.shape());
  const std::string_view bytes = in.data<tstring>()[0].view();
  const wire::VariantCodec variants = variant_codec();
  auto parsed = wire::decode_tensor(bytes, &variants);
  if (!parsed.ok()) {
    if (parsed.status().code() == Code::kResourceExhausted) return parsed.status();
    if (!is_wire_format(bytes)) {
      std::string text = kernels::base64_encode(bytes, true);
      std::replace(text.begin(), text.end(), '-', '+');
      std::replace(text.begin(), text.end(), '_', '/');
      return invalid_argument("Could not parse `serialized` as TensorProto, base64: ", text);
    }
    return invalid_argument("Cannot parse tensor from proto: ", parsed.status().message());
  }
  if (parsed->dtype() != c.output_type(0))
    return invalid_argument("Type mismatch between parsed tensor (", dtype_name(parsed->dtype()), ") and dtype (", dtype_name(c.output_type(0)), ")");
  c.set_output(0, std::move(parsed).value());
  return {};
}

Status run_serialize_tensor(KernelContext& c) {
  WEFT_ASSIGN(std::string bytes, wire::encode_tensor(c.input(0)));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape()));
  out->data<tstring>()[0] = bytes;
  return {};
}

}  // namespace

void decode_raw(Registry& r) {
  r.add("DecodeCompressed")
      .doc("Decompresses zlib, gzip or Zstandard data.")
      .in("bytes: string")
      .out("output: string")
      .attr("compression_type: string = ''")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .cpu(run_decode_compressed);

  r.add("DecodePaddedRaw")
      .doc("Numbers from the bytes of strings, each cut or filled up to one length.")
      .in("input_bytes: string")
      .in("fixed_length: int32")
      .out("output: out_type")
      .attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}")
      .attr("little_endian: bool = true")
      .shape(decode_padded_shape)
      .no_grad()
      .cpu(run_decode_padded_raw);

  r.add("DecodeRaw")
      .doc("Numbers from the bytes of strings of equal length.")
      .in("bytes: string")
      .out("output: out_type")
      .attr(
          "out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, "
          "complex128, bool, bfloat16}")
      .attr("little_endian: bool = true")
      .shape(decode_raw_shape)
      .no_grad()
      .cpu(run_decode_raw);

  r.add("ParseTensor")
      .doc("A tensor from a serialized TensorProto.")
      .in("serialized: string")
      .out("output: out_type")
      .attr("out_type: type")
      .shape(shapes::unknown)
      .no_grad()
      .cpu(run_parse_tensor);

  r.add("SerializeTensor")
      .doc("A tensor as a serialized TensorProto.")
      .in("tensor: T")
      .out("serialized: string")
      .attr("T: type")
      .shape(shapes::scalar)
      .no_grad()
      .cpu(run_serialize_tensor);
}

}  // namespace weft_engine::ops
