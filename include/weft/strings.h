// tf.strings: functions of strings, and what tf.io has for files and bytes. What gives rows of different lengths (split) is in weft/raw/strings.h.
#pragma once

#include <string>
#include <vector>

#include "weft/tensor.h"

namespace weft::strings {

// The strings of several tensors, element by element, with a separator between them.
WEFT_API Tensor join(const std::vector<Tensor>& inputs, const std::string& separator = "");
// The strings along axes as one; no axes: all of them.
WEFT_API Tensor reduce_join(const Tensor& x, const std::vector<int64_t>& axis = {}, const std::string& separator = "");
// The length in bytes; of UTF-8 text with unit "UTF8_CHAR" in characters.
WEFT_API Tensor length(const Tensor& x, const std::string& unit = "BYTE");
// `len` bytes (or characters) from `pos` on; a position below 0 counts from the end.
WEFT_API Tensor substr(const Tensor& x, const Tensor& pos, const Tensor& len, const std::string& unit = "BYTE");
// Letters of ASCII, or with encoding "utf-8" all, as lower-case ones.
WEFT_API Tensor lower(const Tensor& x, const std::string& encoding = "");
// Letters as upper-case ones.
WEFT_API Tensor upper(const Tensor& x, const std::string& encoding = "");
// Without white space at both ends.
WEFT_API Tensor strip(const Tensor& x);
struct AsStringOptions {
  int64_t precision = -1;
  bool scientific = false, shortest = false;
  int64_t width = -1;
  std::string fill = "";
};
// Numbers as text.
WEFT_API Tensor as_string(const Tensor& x, const AsStringOptions& options = {});
// Text as numbers; throws where it is none.
WEFT_API Tensor to_number(const Tensor& x, DType dtype = DType::float32);
// A number below num_buckets for each string, the same on every machine.
WEFT_API Tensor to_hash_bucket_fast(const Tensor& x, int64_t num_buckets);
// What matches a pattern (RE2) replaced, everywhere or once.
WEFT_API Tensor regex_replace(const Tensor& x, const std::string& pattern, const std::string& rewrite, bool replace_global = true);
// Whether a pattern matches from end to end.
WEFT_API Tensor regex_full_match(const Tensor& x, const std::string& pattern);

}  // namespace weft::strings

namespace weft {

// tf.io.read_file: the bytes of a file, as an op (data::read_file gives a std::string).
WEFT_API Tensor read_file(const Tensor& filename);
// tf.io.write_file: writes bytes to a file; its folder is made if need be.
WEFT_API void write_file(const Tensor& filename, const Tensor& contents);
// tf.io.decode_raw: the bytes of strings as numbers.
WEFT_API Tensor decode_raw(const Tensor& bytes, DType out_type, bool little_endian = true);

}  // namespace weft
