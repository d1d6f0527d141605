#include "wire/tensor_slice.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "wire/proto.h"

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

namespace {

bool parse_number(std::string_view text, int64_t& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// Calls f(part) for the parts between separators, empty ones left out; stops when it says false.
template <class F>
void for_each_part(std::string_view text, char separator, F f) {
  while (!text.empty()) {
    const size_t end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    if (!part.empty() && !f(part)) return;
  }
}

Status check_extent(int64_t start, int64_t length, std::string_view where) {
  if (start < 0 || length <= 0)
    return invalid_argument("Expected non-negative start and positive length but got start = ", start, ", length = ", length, ": ", where);
  if (start > INT64_MAX - length) return invalid_argument("Extent end exceeds the maximum possible size: ", where);
  return {};
}

// Ordered codes (TensorFlow's OrderedCode): texts whose order is that of the values.

void put_ordered(std::string& out, uint64_t value) {
  const int bytes = (std::bit_width(value) + 7) / 8;
  out.push_back(char(bytes));
  for (int i = bytes - 1; i >= 0; --i) out.push_back(char(value >> (8 * i)));
}

void put_ordered(std::string& out, std::string_view text) {
  for (char c : text) {
    out.push_back(c);
    if (c == '\0') out.push_back('\xff');
    if (c == '\xff') out.push_back('\0');
  }
  out.append(std::string_view("\0\1", 2));
}

// The number as two's complement in as few bytes as leave room for a prefix of that many equal bits: n
// ones and a zero for a number that is not negative and takes n bytes, the opposite for a negative one.
void put_ordered_signed(std::string& out, int64_t value) {
  const uint64_t magnitude = uint64_t(value < 0 ? ~value : value);
  const int length = std::bit_width(magnitude) / 7 + 1;  // of 1 to 10 bytes, 7 bits of each carry the number
  uint8_t bytes[10];
  for (int i = 0; i < 10; ++i) {
    const int shift = 8 * (9 - i);
    bytes[i] = shift >= 64 ? (value < 0 ? 0xff : 0) : uint8_t(uint64_t(value) >> shift);
  }
  uint8_t* first = bytes + 10 - length;
  for (int i = 0; i < length; ++i) first[i / 8] ^= uint8_t(0x80 >> (i % 8));
  out.append(reinterpret_cast<const char*>(first), size_t(length));
}

}  // namespace

Result<TensorSlice> TensorSlice::parse(std::string_view text) {
  TensorSlice slice;
  Status status;
  for_each_part(text, ':', [&](std::string_view part) {
    Extent extent;
    if (part != "-") {
      std::string_view numbers[2];
      size_t count = 0;
      for_each_part(part, ',', [&](std::string_view number) {
        if (count < 2) numbers[count] = number;
        return ++count <= 2;
      });
      if (count != 2 || !parse_number(numbers[0], extent.start) || !parse_number(numbers[1], extent.length))
        status = invalid_argument("Expected a pair of numbers or '-' but got '", part, "': string = ", text);
      else status = check_extent(extent.start, extent.length, cat("string = ", text));
    }
    slice.extents.push_back(extent);
    return status.ok();
  });
  if (!status.ok()) return status;
  return slice;
}

Result<TensorSlice> TensorSlice::decode(std::string_view proto) {
  ProtoReader r(proto);
  TensorSlice slice;
  while (r.next()) {
    if (r.field() != 1) continue;
    ProtoReader e = r.message();
    Extent extent;
    while (e.next()) {
      if (e.field() == 1) extent.start = e.int64();
      if (e.field() == 2) extent.length = e.int64();
    }
    if (!e.ok()) return data_loss("malformed TensorSliceProto");
    if (extent.start != 0 || extent.length != kFull)
      WEFT_RETURN_IF_ERROR(check_extent(extent.start, extent.length, cat("extent = start: ", extent.start, " length: ", extent.length)));
    slice.extents.push_back(extent);
    if (slice.rank() > kMaxRank) return data_loss("a slice of more than ", kMaxRank, " dimensions");
  }
  if (!r.ok()) return data_loss("malformed TensorSliceProto");
  return slice;
}

std::string TensorSlice::encode() const {
  ProtoWriter w;
  for (const Extent& extent : extents) {
    ProtoWriter e;
    if (!extent.full()) {
      if (extent.start) e.int64(1, extent.start);
      e.int64(2, extent.length);  // of a oneof: written even if it were 0
    }
    w.message(1, e);
  }
  return w.take();
}

bool TensorSlice::full() const {
  return std::all_of(extents.begin(), extents.end(), [](const Extent& e) { return e.full(); });
}

std::string TensorSlice::to_string() const {
  std::string out;
  for (const Extent& e : extents) {
    if (&e != &extents.front()) out += ':';
    out += e.full() ? std::string("-") : cat(e.start, ",", e.length);
  }
  return out;
}

Result<Shape> TensorSlice::shape_of(const Shape& whole) const {
  if (whole.rank() != rank()) return internal_error("Mismatching ranks: shape = ", whole, ", slice = ", *this);
  Shape result = whole;
  for (int d = 0; d < rank(); ++d) {
    const Extent& e = extents[size_t(d)];
    if (e.full()) continue;
    if (e.end() > whole.dim(d)) return internal_error("Extent in dimension ", d, " out of bounds: shape = ", whole, ", slice = ", *this);
    result.set_dim(d, e.length);
  }
  return result;
}

TensorSlice TensorSlice::explicit_in(const Shape& whole) const {
  TensorSlice out = *this;
  for (int d = 0; d < rank(); ++d) {
    if (out.extents[size_t(d)].full()) out.extents[size_t(d)].length = whole.dim(d);
  }
  return out;
}

std::optional<TensorSlice> intersect(const TensorSlice& a, const TensorSlice& b) {
  if (a.rank() != b.rank()) return std::nullopt;
  TensorSlice out = a;
  for (size_t d = 0; d < a.extents.size(); ++d) {
    const int64_t start = std::max(a.extents[d].start, b.extents[d].start);
    const int64_t length = std::min(a.extents[d].end(), b.extents[d].end()) - start;
    if (length <= 0) return std::nullopt;
    out.extents[d] = {start, length};
  }
  return out;
}

Result<ShapeAndSlice> parse_shape_and_slice(std::string_view text) {
  const size_t last = text.rfind(' ');
  if (last == text.npos) return invalid_argument("Need least two elements in shape_and_slice specification: ", text);
  WEFT_ASSIGN(TensorSlice slice, TensorSlice::parse(text.substr(last + 1)));
  std::vector<int64_t> dims;
  for (std::string_view rest = text.substr(0, last);;) {
    const size_t space = rest.find(' ');
    int64_t dim;
    if (!parse_number(rest.substr(0, space), dim)) return invalid_argument("Non numerical dimension in shape_and_slice: ", text);
    dims.push_back(dim);
    if (space == rest.npos) break;
    rest.remove_prefix(space + 1);
  }
  WEFT_ASSIGN(Shape shape, Shape::make(dims));
  WEFT_ASSIGN(Shape slice_shape, slice.shape_of(shape));
  return ShapeAndSlice{std::move(shape), std::move(slice), std::move(slice_shape)};
}

std::string slice_key(std::string_view name, const TensorSlice& slice) {
  std::string key;
  put_ordered(key, uint64_t(0));
  put_ordered(key, name);
  put_ordered(key, uint64_t(slice.rank()));
  for (const auto& e : slice.extents) {
    put_ordered_signed(key, e.start);
    put_ordered_signed(key, e.length);
  }
  return key;
}

void copy_box(const TensorSlice& box, const Tensor& source, const TensorSlice& from, Tensor& target, const TensorSlice& to) {
  const size_t rank = box.extents.size();
  // Inner dimensions that are whole on both sides make one run of elements.
  size_t outer = rank;
  int64_t run = 1;
  while (outer > 0) {
    const auto &b = box.extents[outer - 1], &f = from.extents[outer - 1], &t = to.extents[outer - 1];
    --outer;
    run *= b.length;
    if (b.length != f.length || b.length != t.length) break;
  }
  std::vector<int64_t> at(outer + 1, 0), source_step(rank + 1, 1), target_step(rank + 1, 1);
  int64_t source_at = 0, target_at = 0;
  for (size_t d = rank; d-- > 0;) {
    source_at += (box.extents[d].start - from.extents[d].start) * source_step[d + 1];
    target_at += (box.extents[d].start - to.extents[d].start) * target_step[d + 1];
    source_step[d] = source_step[d + 1] * from.extents[d].length;
    target_step[d] = target_step[d + 1] * to.extents[d].length;
  }
  while (true) {
    copy_elements(source, source_at, target, target_at, run);
    size_t d = outer;
    for (; d-- > 0;) {
      source_at += source_step[d + 1];
      target_at += target_step[d + 1];
      if (++at[d] < box.extents[d].length) break;
      source_at -= at[d] * source_step[d + 1];
      target_at -= at[d] * target_step[d + 1];
      at[d] = 0;
    }
    if (d == SIZE_MAX) return;
  }
}

}  // namespace weft_engine::wire
