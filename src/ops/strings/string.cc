// Ops on the bytes and characters of strings: join, slice, change case, encode.
#include <algorithm>

#include "kernels/cpu/icu.h"
#include "kernels/cpu/text.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// One string from each string; f may fail.
template <class F>
Status map_strings(KernelContext& c, F f) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  const tstring* from = in.data<tstring>();
  tstring* to = out->data<tstring>();
  for (int64_t i = 0; i < in.num_elements(); ++i) WEFT_RETURN_IF_ERROR(f(from[i].view(), to[i]));
  return {};
}

Status run_strip(KernelContext& c) {
  return map_strings(c, [](std::string_view s, tstring& out) {
    out = kernels::strip(s);
    return Status();
  });
}

Status run_encode_base64(KernelContext& c) {
  const bool pad = c.attr<bool>("pad");
  return map_strings(c, [pad](std::string_view s, tstring& out) {
    out = kernels::base64_encode(s, pad);
    return Status();
  });
}

Status run_decode_base64(KernelContext& c) {
  return map_strings(c, [](std::string_view s, tstring& out) -> Status {
    WEFT_ASSIGN(std::string decoded, kernels::base64_decode(s));
    out = decoded;
    return {};
  });
}

bool is_ascii(std::string_view s) {
  return std::all_of(s.begin(), s.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

// Without an encoding only ASCII letters change; as UTF-8, all that have case.
template <bool kUpper>
Status run_case(KernelContext& c) {
  const std::string& encoding = c.attr<std::string>("encoding");
  if (!encoding.empty() && encoding != "utf-8") return invalid_argument("only utf-8 or '' (no encoding) is supported, received ", encoding);
  return map_strings(c, [&](std::string_view s, tstring& out) -> Status {
    if (!encoding.empty()) s = s.substr(0, s.find('\0'));  // TensorFlow hands ICU a C string
    if (!encoding.empty() && !is_ascii(s)) {
      WEFT_ASSIGN(std::string changed, kernels::icu_change_case(s, kUpper));
      out = changed;
      return {};
    }
    constexpr char kFirst = kUpper ? 'a' : 'A', kLast = kUpper ? 'z' : 'Z';
    char* to = out.resize_uninitialized(s.size());
    for (size_t i = 0; i < s.size(); ++i) to[i] = s[i] >= kFirst && s[i] <= kLast ? char(s[i] ^ 0x20) : s[i];
    return {};
  });
}

Status run_length(KernelContext& c) {
  const Tensor& in = c.input(0);
  const bool chars = c.attr<std::string>("unit") == "UTF8_CHAR";
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  const tstring* s = in.data<tstring>();
  int32_t* n = out->data<int32_t>();
  for (int64_t i = 0; i < in.num_elements(); ++i) n[i] = int32_t(chars ? kernels::utf8_length(s[i]) : int64_t(s[i].size()));
  return {};
}

Status run_string_join(KernelContext& c) {
  const auto inputs = c.input_list("inputs");
  const std::string& separator = c.attr<std::string>("separator");
  Shape shape;
  for (const Tensor* t : inputs) {
    if (t->rank() == 0) continue;
    if (shape.rank() == 0) shape = t->shape();
    else if (shape != t->shape()) return invalid_argument("Input shapes do not match: ", shape, " vs. ", t->shape());
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  std::string joined;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    joined.clear();
    for (size_t k = 0; k < inputs.size(); ++k) {
      if (k) joined += separator;
      joined += inputs[k]->data<tstring>()[inputs[k]->rank() ? i : 0].view();
    }
    out->data<tstring>()[i] = joined;
  }
  return {};
}

Status string_join_shape(ShapeContext& c) {
  PartialShape out;
  bool all_scalar = true;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.input(i).rank() == 0) continue;
    all_scalar = false;
    // An input of unknown rank may turn out to be a scalar, so it says nothing.
    if (!c.input(i).has_rank()) continue;
    WEFT_ASSIGN(PartialShape merged, out.merge_with(c.input(i)));
    out = merged;
  }
  c.output(0, all_scalar ? PartialShape::scalar() : out);
  return {};
}

// Where the elements of a box over some dimensions of a tensor are, the last of `dims` moving fastest.
std::vector<int64_t> box_offsets(const Shape& shape, const std::vector<int>& dims) {
  std::vector<int64_t> offsets = {0};
  for (int d : dims) {
    const int64_t stride = shape.elements_in(d + 1, shape.rank());
    std::vector<int64_t> longer;
    longer.reserve(offsets.size() * size_t(shape.dim(d)));
    for (int64_t o : offsets)
      for (int64_t i = 0; i < shape.dim(d); ++i) longer.push_back(o + i * stride);
    offsets = std::move(longer);
  }
  return offsets;
}

Status run_reduce_join(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int rank = in.rank();
  const bool keep_dims = c.attr<bool>("keep_dims");
  const std::string& separator = c.attr<std::string>("separator");
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  std::vector<int> inner, outer;
  for (int32_t given : c.input(1).span<int32_t>()) {
    if (given < -rank || given >= rank) return out_of_range("Invalid reduction dimension ", given, " for input with ", rank, " dimension(s)");
    const int d = given < 0 ? given + rank : given;
    if (reduced[size_t(d)]) return invalid_argument("Duplicate reduction dimension ", given);
    reduced[size_t(d)] = true;
    inner.insert(inner.begin(), d);  // the first one named is joined first
  }
  Shape shape;
  for (int d = 0; d < rank; ++d) {
    if (!reduced[size_t(d)]) {
      outer.push_back(d);
      shape.add_dim(in.dim(d));
    } else if (keep_dims) {
      shape.add_dim(1);
    }
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (shape.num_elements() == 0) return {};
  const auto starts = box_offsets(in.shape(), outer), parts = box_offsets(in.shape(), inner);
  const tstring* s = in.data<tstring>();
  std::string joined;
  for (size_t i = 0; i < starts.size(); ++i) {
    joined.clear();
    for (size_t k = 0; k < parts.size(); ++k) {
      if (k) joined += separator;
      joined += s[starts[i] + parts[k]].view();
    }
    out->data<tstring>()[i] = joined;
  }
  return {};
}

Status reduce_join_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape out, shapes::reduced(c.input(0), c.constant_ints(1), c.attr<bool>("keep_dims")));
  c.output(0, out);
  return {};
}

std::optional<int64_t> scalar_int(const Tensor& t) {
  if (t.rank() != 0) return std::nullopt;
  return t.dtype() == DType::kInt64 ? t.data<int64_t>()[0] : t.data<int32_t>()[0];
}

Status run_segment_join(KernelContext& c) {
  const Tensor &in = c.input(0), &ids = c.input(1), &count = c.input(2);
  if (count.num_elements() == 0) return invalid_argument("Number of segments cannot be empty.");
  const auto segments = scalar_int(count);
  if (!segments) return invalid_argument("Number of segments must be a scalar");
  if (*segments < 0) return invalid_argument("Number of segments must be non-negative but got ", *segments);
  if (ids.rank() == 0) return invalid_argument("Segment_id cannot have rank 0");
  if (ids.rank() > in.rank()) return out_of_range("Invalid segment_id rank ", ids.rank(), " for input with ", in.rank(), " dimension(s)");
  for (int d = 0; d < ids.rank(); ++d) {
    if (ids.dim(d) != in.dim(d))  // TensorFlow says the rank where it means the dimension
      return invalid_argument("Segment dimension is ", ids.dim(d), " while input dimension is ", in.rank(), " in rank ", d);
  }
  Shape shape({*segments});
  for (int d = ids.rank(); d < in.rank(); ++d) shape.add_dim(in.dim(d));
  auto id = [&](int64_t i) { return ids.dtype() == DType::kInt64 ? ids.data<int64_t>()[i] : ids.data<int32_t>()[i]; };
  const int64_t n = ids.num_elements(), row = in.shape().elements_in(ids.rank(), in.rank());
  for (int64_t i = 0; i < n; ++i) {
    if (id(i) < 0 || id(i) >= *segments) return invalid_argument("segment_ids are not allowed to exceed num_segments or to have negative values.");
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  const std::string separator = c.attr<std::string>("separator").c_str();  // TensorFlow stops at a zero byte
  std::vector<std::string> joined(size_t(shape.num_elements()));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < row; ++k) {
      std::string& to = joined[size_t(id(i) * row + k)];
      if (!to.empty()) to += separator;
      to += in.data<tstring>()[i * row + k].view();
    }
  }
  for (size_t i = 0; i < joined.size(); ++i) out->data<tstring>()[i] = joined[i];
  return {};
}

Status segment_join_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(2, 0).status());
  const PartialShape &data = c.input(0), &ids = c.input(1);
  if (!ids.has_rank()) return {};
  const auto segments = c.constant_int(2);
  if (segments && *segments < 0) return invalid_argument("Dimension size, given by scalar input 2, must be non-negative but is ", *segments);
  if (!data.has_rank()) return {};
  WEFT_ASSIGN(PartialShape whole, c.with_rank_at_least(0, ids.rank()));
  for (int d = 0; d < ids.rank(); ++d) WEFT_RETURN_IF_ERROR(ShapeContext::merge_dim(whole.dim(d), ids.dim(d)).status());
  c.output(0, PartialShape::vector(segments.value_or(kUnknownDim)).concat(whole.slice(ids.rank(), whole.rank())));
  return {};
}

// The bytes [begin, begin + n) of one substring.
struct Slice {
  size_t begin, n;
};

std::optional<Slice> byte_slice(std::string_view s, int64_t pos, int64_t len) {
  const auto size = static_cast<int64_t>(s.size());
  if (pos < -size || pos > size) return std::nullopt;
  if (pos < 0) pos += size;
  return Slice{size_t(pos), len < 0 ? s.size() : size_t(len)};  // a negative length takes all
}

bool forward(std::string_view s, int64_t chars, size_t& at) {
  int64_t moved = 0;
  for (; moved < chars && at < s.size(); ++moved) {
    do ++at;
    while (at < s.size() && kernels::is_utf8_trail(s[at]));
  }
  return moved == chars;
}

bool backward(std::string_view s, int64_t chars, size_t& at) {
  int64_t moved = 0;
  for (; moved < chars && at > 0; ++moved) {
    do --at;
    while (at > 0 && kernels::is_utf8_trail(s[at]));
  }
  return moved == chars;
}

std::optional<Slice> char_slice(std::string_view s, int64_t pos, int64_t len) {
  if (pos >= 0) {
    size_t begin = 0;
    if (!forward(s, pos, begin)) return std::nullopt;
    size_t end = begin;
    forward(s, len, end);  // fewer characters than asked for are fine
    return Slice{begin, end - begin};
  }
  if (pos < -static_cast<int64_t>(s.size())) return std::nullopt;  // also keeps -pos - len in range
  const int64_t skip = len >= -pos ? 0 : len < -static_cast<int64_t>(s.size()) ? int64_t(s.size()) + 1 : -pos - len;
  size_t end = s.size();
  if (!backward(s, skip, end)) return std::nullopt;
  size_t begin = end;
  if (!backward(s, -pos - skip, begin)) return std::nullopt;
  return Slice{begin, end - begin};
}

Status run_substr(KernelContext& c) {
  const Tensor &in = c.input(0), &pos = c.input(1), &len = c.input(2);
  const bool chars = c.attr<std::string>("unit") == "UTF8_CHAR";
  if (pos.shape() != len.shape()) return invalid_argument("pos and len should have the same shape, got: ", pos.shape(), " vs. ", len.shape());
  Shape shape = in.shape();
  if (pos.rank() != 0 && pos.shape() != in.shape()) {
    auto merged = shapes::broadcast(in.shape(), pos.shape());
    if (!merged.ok()) return invalid_argument("Incompatible shapes: ", in.shape(), " vs. ", pos.shape());
    shape = *merged->concrete();
    if (shape.rank() > 2) return unimplemented("Substr broadcast not implemented for ", shape.rank(), " dimensions");
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  // Matrices at most where the shapes differ: a scalar, a row, a column or the whole.
  const int64_t columns = shape.rank() ? std::max<int64_t>(shape.dim(shape.rank() - 1), 1) : 1;
  enum class Source { kSame, kOne, kRow, kColumn };
  auto source_of = [&](const Tensor& t) {
    if (t.shape() == shape) return Source::kSame;
    if (t.num_elements() == 1) return Source::kOne;
    return (t.dim(t.rank() - 1) != 1 || columns == 1) && t.num_elements() == columns ? Source::kRow : Source::kColumn;
  };
  auto place = [columns](Source s, int64_t i) {
    return s == Source::kSame ? i : s == Source::kOne ? 0 : s == Source::kRow ? i % columns : i / columns;
  };
  const Source text_source = source_of(in), pos_source = source_of(pos);
  auto number = [](const Tensor& t, int64_t i) { return t.dtype() == DType::kInt64 ? t.data<int64_t>()[i] : t.data<int32_t>()[i]; };
  const bool matrix = shape.rank() == 2 && pos.rank() != 0 && pos.shape() != in.shape();
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const std::string_view s = in.data<tstring>()[place(text_source, i)].view();
    const int64_t at = place(pos_source, i), p = number(pos, at), l = number(len, at);
    const auto slice = chars ? char_slice(s, p, l) : byte_slice(s, p, l);
    if (!slice && chars) return invalid_argument("pos ", p, " out of range for string at index ", matrix ? i / columns : i);
    if (!slice && matrix) return invalid_argument("pos ", p, " out of range for string b'", s, "' at index (", i / columns, ", ", i % columns, ")");
    if (!slice) return invalid_argument("pos ", p, " out of range for string b'", s, "' at index ", i);
    out->data<tstring>()[i] = s.substr(slice->begin, slice->n);
  }
  return {};
}

Status substr_shape(ShapeContext& c) {
  const PartialShape &pos = c.input(1), &len = c.input(2);
  if (len.has_rank()) WEFT_RETURN_IF_ERROR(c.with_rank(1, len.rank()).status());
  for (int i = 0; pos.has_rank() && len.has_rank() && i < pos.rank(); ++i) {
    if (pos.dim(i) != len.dim(i) && pos.dim(i) >= 0 && len.dim(i) >= 0) return invalid_argument("pos and len shapes must match: ", pos, " vs. ", len);
  }
  return shapes::broadcast_binary(c);
}

Status require_scalar(const Tensor& t, std::string_view name) {
  if (t.rank() == 0) return {};
  return invalid_argument(name, " must be a scalar, got shape ", t.shape());
}

std::string five_digits(int32_t n) {
  char text[16];
  std::snprintf(text, sizeof text, "%05d", n);
  return text;
}

Status run_sharded_filename(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(require_scalar(c.input(0), "basename"));
  WEFT_RETURN_IF_ERROR(require_scalar(c.input(1), "shard"));
  WEFT_RETURN_IF_ERROR(require_scalar(c.input(2), "num_shards"));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape()));
  out->data<tstring>()[0] =
      cat(c.input(0).data<tstring>()[0].view(), "-", five_digits(c.input(1).data<int32_t>()[0]), "-of-", five_digits(c.input(2).data<int32_t>()[0]));
  return {};
}

Status run_sharded_filespec(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(require_scalar(c.input(0), "basename"));
  WEFT_RETURN_IF_ERROR(require_scalar(c.input(1), "num_shards"));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape()));
  out->data<tstring>()[0] = cat(c.input(0).data<tstring>()[0].view(), "-\?\?\?\?\?-of-", five_digits(c.input(1).data<int32_t>()[0]));
  return {};
}

Status scalars_only(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  return shapes::scalar(c);
}

}  // namespace

void string(Registry& r) {
  r.add("DecodeBase64")
      .doc("Decodes web-safe base64.")
      .in("input: string")
      .out("output: string")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .no_grad()
      .cpu(run_decode_base64);

  r.add("EncodeBase64")
      .doc("Encodes as web-safe base64.")
      .in("input: string")
      .out("output: string")
      .attr("pad: bool = false")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .no_grad()
      .cpu(run_encode_base64);

  r.add("ReduceJoin")
      .doc("Joins the strings along some dimensions.")
      .in("inputs: string")
      .in("reduction_indices: int32")
      .out("output: string")
      .attr("keep_dims: bool = false")
      .attr("separator: string = ''")
      .shape(reduce_join_shape)
      .no_grad()
      .cpu(run_reduce_join);

  r.add("ShardedFilename")
      .doc("The name of one shard of a sharded file.")
      .in("basename: string")
      .in("shard: int32")
      .in("num_shards: int32")
      .out("filename: string")
      .shape(scalars_only)
      .cpu(run_sharded_filename);

  r.add("ShardedFilespec")
      .doc("A pattern that matches all shards of a sharded file.")
      .in("basename: string")
      .in("num_shards: int32")
      .out("filename: string")
      .shape(scalars_only)
      .cpu(run_sharded_filespec);

  r.add("StringJoin")
      .doc("Joins the strings of several tensors, element by element.")
      .in("inputs: N * string")
      .out("output: string")
      .attr("N: int >= 0")
      .attr("separator: string = ''")
      .shape(string_join_shape)
      .no_grad()
      .cpu(run_string_join);

  r.add("StringLength")
      .doc("Counts the bytes or characters of each string.")
      .in("input: string")
      .out("output: int32")
      .attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .cpu(run_length);

  r.add("StringLower")
      .doc("Turns upper-case letters into lower-case ones.")
      .in("input: string")
      .out("output: string")
      .attr("encoding: string = ''")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .cpu(run_case<false>);

  r.add("StringStrip")
      .doc("Removes white space at both ends.")
      .in("input: string")
      .out("output: string")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .cpu(run_strip);

  r.add("StringUpper")
      .doc("Turns lower-case letters into upper-case ones.")
      .in("input: string")
      .out("output: string")
      .attr("encoding: string = ''")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .cpu(run_case<true>);

  r.add("Substr")
      .doc("Cuts a piece out of each string.")
      .in("input: string")
      .in("pos: T")
      .in("len: T")
      .out("output: string")
      .attr("T: {int32, int64}")
      .attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'")
      .shape(substr_shape)
      .cpu(run_substr);

  r.add("UnsortedSegmentJoin")
      .doc("Joins the strings that have the same segment id.")
      .in("inputs: string")
      .in("segment_ids: Tindices")
      .in("num_segments: Tnumsegments")
      .out("output: string")
      .attr("separator: string = ''")
      .attr("Tindices: {int32, int64}")
      .attr("Tnumsegments: {int32, int64} = DT_INT32")
      .shape(segment_join_shape)
      .cpu(run_segment_join);
}

}  // namespace weft_engine::ops
