#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void string_hash(Registry& r) {
  r.add("Fingerprint")
      .in("data: T")
      .in("method: string")
      .out("fingerprint: uint8")
      .attr("T: type");

  r.add("StringToHashBucket")
      .in("string_tensor: string")
      .out("output: int64")
      .attr("num_buckets: int >= 1");

  r.add("StringToHashBucketFast")
      .in("input: string")
      .out("output: int64")
      .attr("num_buckets: int >= 1");

  r.add("StringToHashBucketStrong")
      .in("input: string")
      .out("output: int64")
      .attr("num_buckets: int >= 1")
      .attr("key: list(int)");
}

}  // namespace weft::ops
