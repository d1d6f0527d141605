#include "weft/strings.h"

#include "api/op_args.h"
#include "weft/math.h"
#include "weft/raw/io.h"
#include "weft/raw/strings.h"

namespace weft::strings {

Tensor join(const std::vector<Tensor>& inputs, const std::string& separator) { return raw::StringJoin(inputs, {.separator = separator}); }
Tensor reduce_join(const Tensor& x, const std::vector<int64_t>& axis, const std::string& separator) {
  std::vector<int32_t> axes(axis.begin(), axis.end());
  if (axes.empty()) {
    for (int i = 0, n = api::known_rank(x); i < n; ++i) axes.push_back(i);
  }
  return raw::ReduceJoin(x, Tensor(axes), {.separator = separator});
}
Tensor length(const Tensor& x, const std::string& unit) { return raw::StringLength(x, {.unit = unit}); }
Tensor substr(const Tensor& x, const Tensor& pos, const Tensor& len, const std::string& unit) { return raw::Substr(x, pos, len, {.unit = unit}); }
Tensor lower(const Tensor& x, const std::string& encoding) { return raw::StringLower(x, {.encoding = encoding}); }
Tensor upper(const Tensor& x, const std::string& encoding) { return raw::StringUpper(x, {.encoding = encoding}); }
Tensor strip(const Tensor& x) { return raw::StringStrip(x); }
Tensor as_string(const Tensor& x, const AsStringOptions& o) {
  return raw::AsString(x, {.precision = o.precision, .scientific = o.scientific, .shortest = o.shortest, .width = o.width, .fill = o.fill});
}
Tensor to_number(const Tensor& x, DType dtype) { return raw::StringToNumber(x, {.out_type = dtype}); }
Tensor to_hash_bucket_fast(const Tensor& x, int64_t num_buckets) { return raw::StringToHashBucketFast(x, num_buckets); }
Tensor regex_replace(const Tensor& x, const std::string& pattern, const std::string& rewrite, bool replace_global) {
  return raw::RegexReplace(x, Tensor(pattern), Tensor(rewrite), {.replace_global = replace_global});
}
Tensor regex_full_match(const Tensor& x, const std::string& pattern) { return raw::RegexFullMatch(x, Tensor(pattern)); }

}  // namespace weft::strings

namespace weft {

Tensor read_file(const Tensor& filename) { return raw::ReadFile(filename); }
void write_file(const Tensor& filename, const Tensor& contents) { raw::WriteFile(filename, contents); }
Tensor decode_raw(const Tensor& bytes, DType out_type, bool little_endian) {
  return raw::DecodeRaw(bytes, out_type, {.little_endian = little_endian});
}

}  // namespace weft
