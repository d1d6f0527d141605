#include "core/hash64.h"
#include "kernels/cpu/hash.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Buckets for each string; `hash` is called from several threads.
template <class Hash>
Status hash_to_buckets(KernelContext& c, Hash hash) {
  const Tensor& in = c.input(0);
  const auto buckets = static_cast<uint64_t>(c.attr<int64_t>("num_buckets"));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  const tstring* s = in.data<tstring>();
  int64_t* to = out->data<int64_t>();
  c.pool().parallel_for(in.num_elements(), 30, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<int64_t>(hash(s[i].view()) % buckets);
  });
  return {};
}

Status run_bucket(KernelContext& c) {
  return hash_to_buckets(c, [](std::string_view s) { return core::hash64(s); });
}

Status run_bucket_fast(KernelContext& c) {
  return hash_to_buckets(c, [](std::string_view s) { return kernels::fingerprint64(s); });
}

Status run_bucket_strong(KernelContext& c) {
  const auto& key = c.attr<std::vector<int64_t>>("key");
  if (key.size() != 2) return invalid_argument("Key must have 2 elements");
  const auto k0 = static_cast<uint64_t>(key[0]), k1 = static_cast<uint64_t>(key[1]);
  return hash_to_buckets(c, [=](std::string_view s) { return kernels::sip_hash(k0, k1, s); });
}

constexpr int64_t kFingerprintBytes = 8;

// A row of several strings is the fingerprint of their fingerprints.
uint64_t fingerprint_row(const tstring* s, int64_t n) {
  if (n == 1) return kernels::fingerprint64(s[0].view());
  std::string prints;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t f = kernels::fingerprint64(s[i].view());
    prints.append(reinterpret_cast<const char*>(&f), sizeof f);
  }
  return kernels::fingerprint64(prints);
}

Status run_fingerprint(KernelContext& c) {
  const Tensor& method = c.input(1);
  if (method.rank() != 0) return invalid_argument("`method` should be a scalar string: ", method.shape());
  const std::string_view name = method.data<tstring>()[0].view();
  if (name != "farmhash64") return invalid_argument("Unsupported fingerprint method: ", name);
  const Tensor& in = c.input(0);
  if (in.rank() < 1) return invalid_argument("`data` should have at least one dimension: ", in.shape());
  const bool strings = in.dtype() == DType::kString;
  if (!strings && !is_simple(in.dtype())) return invalid_argument("Data type not supported: ", dtype_name(in.dtype()));
  const int64_t rows = in.dim(0), row = in.shape().elements_in(1, in.rank());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({rows, kFingerprintBytes})));
  const size_t row_bytes = size_t(row) * dtype_size(in.dtype());
  const char* from = in.data<char>();
  char* to = out->data<char>();
  for (int64_t i = 0; i < rows; ++i) {
    const uint64_t f =
        strings ? fingerprint_row(in.data<tstring>() + i * row, row) : kernels::fingerprint64({from + size_t(i) * row_bytes, row_bytes});
    std::memcpy(to + i * kFingerprintBytes, &f, kFingerprintBytes);
  }
  return {};
}

Status fingerprint_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape data, c.with_rank_at_least(0, 1));
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  int64_t size = kUnknownDim;
  if (const Tensor* method = c.constant(1); method && method->num_elements() == 1) {
    const std::string_view name = method->data<tstring>()[0].view();
    if (name != "farmhash64") return unimplemented("unsupported fingerprint method: ", name);
    size = kFingerprintBytes;
  }
  c.output(0, PartialShape::matrix(data.dim(0), size));
  return {};
}

}  // namespace

void string_hash(Registry& r) {
  r.add("Fingerprint")
      .doc("A 64-bit fingerprint of each row of a tensor, as eight bytes.")
      .in("data: T")
      .in("method: string")
      .out("fingerprint: uint8")
      .attr("T: type")
      .shape(fingerprint_shape)
      .cpu(run_fingerprint);

  r.add("StringToHashBucket")
      .doc("Puts each string into a bucket by TensorFlow's Hash64.")
      .in("string_tensor: string")
      .out("output: int64")
      .attr("num_buckets: int >= 1")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .no_grad()
      .cpu(run_bucket);

  r.add("StringToHashBucketFast")
      .doc("Puts each string into a bucket by FarmHash64.")
      .in("input: string")
      .out("output: int64")
      .attr("num_buckets: int >= 1")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .no_grad()
      .cpu(run_bucket_fast);

  r.add("StringToHashBucketStrong")
      .doc("Puts each string into a bucket by SipHash with a secret key.")
      .in("input: string")
      .out("output: int64")
      .attr("num_buckets: int >= 1")
      .attr("key: list(int)")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .no_grad()
      .cpu(run_bucket_strong);
}

}  // namespace weft_engine::ops
