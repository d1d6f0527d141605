// Tensor's brackets. Integers, slices, newaxis and the ellipsis are one StridedSlice, as in TensorFlow; tensors of integers and masks are gathers
// of what that leaves, with numpy's rules for where their dimensions come.
#include "api/indexing.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "weft/math.h"
#include "weft/raw/array.h"
#include "weft/raw/math.h"

namespace weft {
namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(Code::kInvalidArgument, message); }

int known_rank(const Tensor& x) {
  const PartialShape s = x.partial_shape();
  return s.known_rank ? int(s.dims.size()) : -1;
}
Tensor ints(const std::vector<int64_t>& v) { return Tensor(std::span<const int64_t>(v)); }

bool is_integer(DType t) {
  switch (t) {
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64: return true;
    default: return false;
  }
}

// A tensor in the brackets that selects many places; a single integer does not.
bool is_advanced(const Index& i) {
  if (i.kind() != Index::Kind::tensor) return false;
  const DType t = i.tensor().dtype();
  if (t == DType::boolean) return true;
  if (!is_integer(t))
    fail("only integers, slices, `_`, ellipsis, newaxis, and tensors of integers or booleans are valid indices; got a tensor of " + to_string(t));
  const int rank = known_rank(i.tensor());
  if (rank < 0) fail("the rank of a tensor in brackets must be known");
  return rank > 0;
}

// A list of bounds as one tensor: a constant unless one of them is a tensor.
Tensor pack(const std::vector<Bound>& bounds) {
  std::vector<int64_t> numbers;
  bool constant = true;
  for (const Bound& b : bounds) {
    numbers.push_back(b.value());
    constant &= !b.tensor().has_value();
  }
  if (constant) return ints(numbers);
  std::vector<Tensor> parts;
  for (const Bound& b : bounds) {
    if (!b.tensor().has_value()) {
      parts.push_back(Tensor(b.value()));
    } else if (!is_integer(b.tensor().dtype())) {
      fail("the ends of a slice are integers, got a tensor of " + to_string(b.tensor().dtype()));
    } else {
      parts.push_back(reshape(b.tensor().dtype() == DType::int64 ? b.tensor() : cast(b.tensor(), DType::int64), {}));
    }
  }
  return stack(parts);
}

}  // namespace

namespace api {

// The arguments of StridedSlice and of its assignment for brackets without advanced indices.
StridedItems strided_items(const std::vector<Index>& items) {
  if (items.size() > 62) fail("an index of " + std::to_string(items.size()) + " items is too long");
  StridedItems s;
  std::vector<Bound> begin, end, strides;
  int64_t bit = 1;
  for (const Index& item : items) {
    begin.push_back(0);
    end.push_back(0);
    strides.push_back(1);
    switch (item.kind()) {
      case Index::Kind::ellipsis:
        if (s.ellipsis) fail("an index can have only one ellipsis");
        s.ellipsis |= bit;
        break;
      case Index::Kind::newaxis: s.new_axis |= bit; break;
      case Index::Kind::slice: {
        const Slice& part = item.slice();
        if (part.start.open()) s.begin_mask |= bit;
        else begin.back() = part.start;
        if (part.stop.open()) s.end_mask |= bit;
        else end.back() = part.stop;
        if (!part.step.open()) strides.back() = part.step;
        break;
      }
      default:  // the end is not read
        begin.back() = item.slice().start;
        end.back() = item.kind() == Index::Kind::integer ? Bound(item.integer() + 1) : Bound(0);
        s.shrink |= bit;
    }
    bit <<= 1;
  }
  s.begin = pack(begin);
  s.end = pack(end);
  s.strides = pack(strides);
  return s;
}

bool has_advanced(const std::vector<Index>& items) { return std::any_of(items.begin(), items.end(), is_advanced); }

}  // namespace api

namespace {

Tensor strided(const Tensor& x, const std::vector<Index>& items) {
  const api::StridedItems s = api::strided_items(items);
  return raw::StridedSlice(
      x, s.begin, s.end, s.strides,
      {.begin_mask = s.begin_mask, .end_mask = s.end_mask, .ellipsis_mask = s.ellipsis, .new_axis_mask = s.new_axis, .shrink_axis_mask = s.shrink});
}

// Numbers from the end, as those that Gather reads.
Tensor from_start(const Tensor& index, const Tensor& x, int axis) {
  const Tensor i = index.dtype() == DType::int32 || index.dtype() == DType::int64 ? index : cast(index, DType::int64);
  const DType t = i.dtype();
  if (!i.is_symbolic()) {
    const auto negative = [](auto values) { return std::any_of(values.begin(), values.end(), [](auto v) { return v < 0; }); };
    if (!(t == DType::int32 ? negative(i.data<int32_t>()) : negative(i.data<int64_t>()))) return i;
  }
  const PartialShape s = x.partial_shape();
  const Tensor size = s.known_rank && s.dims[size_t(axis)] >= 0 ? cast(Tensor(s.dims[size_t(axis)]), t) : shape(x, t)[axis];
  return where(i < zeros_like(i), i + size, i);
}

std::vector<int64_t> counted(int64_t from, int64_t to) {
  std::vector<int64_t> v(size_t(std::max<int64_t>(to - from, 0)));
  std::iota(v.begin(), v.end(), from);
  return v;
}
void append(std::vector<int64_t>& a, const std::vector<int64_t>& b) { a.insert(a.end(), b.begin(), b.end()); }

// Moves `count` dimensions that start at `from` to where they start at `to`.
Tensor move_dims(const Tensor& x, int from, int count, int to) {
  if (from == to || count == 0) return x;
  const int rank = x.rank();
  std::vector<int64_t> rest = counted(0, from);
  append(rest, counted(from + count, rank));
  const std::vector<int64_t> moved = counted(from, from + count);
  rest.insert(rest.begin() + to, moved.begin(), moved.end());
  return transpose(x, rest);
}

// An index tensor and the dimension that it selects from.
struct Selection {
  Tensor index;
  int axis;
};

Tensor select(const Tensor& x, std::vector<Selection> at, bool adjacent) {
  for (Selection& s : at) s.index = from_start(s.index, x, s.axis);
  const int target = adjacent ? at[0].axis : 0;
  if (at.size() == 1) return move_dims(gather(x, at[0].index, at[0].axis), at[0].axis, at[0].index.rank(), target);
  // The dimensions that are selected from in front, then one index of all of them for each place.
  std::vector<int64_t> perm;
  for (const Selection& s : at) perm.push_back(s.axis);
  const int rank = x.rank();
  for (int i = 0; i < rank; ++i) {
    if (std::find(perm.begin(), perm.end(), i) == perm.end()) perm.push_back(i);
  }
  Tensor common = cast(zeros_like(at[0].index), DType::int64);
  for (const Selection& s : at) common = common + cast(zeros_like(s.index), DType::int64);
  std::vector<Tensor> columns;
  for (const Selection& s : at) columns.push_back(cast(s.index, DType::int64) + common);
  return move_dims(raw::GatherNd(transpose(x, perm), stack(columns, -1)), 0, columns[0].rank(), target);
}

Tensor advanced(const Tensor& x, const std::vector<Index>& items) {
  if (items.size() == 1 && items[0].tensor().dtype() == DType::boolean) return boolean_mask(x, items[0].tensor());
  // What the other items do first; the dimensions of index tensors stay whole.
  std::vector<Index> basic;
  int consumed = 0, ellipses = 0;
  for (const Index& item : items) {
    const bool many = is_advanced(item);
    const int dims = !many ? 1 : item.tensor().dtype() == DType::boolean ? known_rank(item.tensor()) : 1;
    if (dims < 1) fail("a mask in brackets must have a known rank of at least 1");
    if (item.kind() == Index::Kind::ellipsis) ++ellipses;
    else if (item.kind() != Index::Kind::newaxis) consumed += dims;
    if (many) basic.insert(basic.end(), size_t(dims), Index(_));
    else basic.push_back(item);
  }
  if (ellipses > 1) fail("an index can have only one ellipsis");
  const int rank = known_rank(x);
  if (rank < 0 && (items.size() > 1)) fail("several items in brackets, with an index tensor among them, need a tensor whose rank is known");
  if (rank >= 0 && consumed > rank)
    fail("too many indices: the tensor has " + std::to_string(rank) + " dimensions, but " + std::to_string(consumed) + " were indexed");
  const bool whole = std::all_of(basic.begin(), basic.end(), [](const Index& i) {
    return i.kind() == Index::Kind::ellipsis ||
           (i.kind() == Index::Kind::slice && i.slice().start.open() && i.slice().stop.open() && i.slice().step.open());
  });
  const Tensor part = whole ? x : strided(x, basic);
  std::vector<Selection> at;
  int axis = 0, blocks = 0;
  bool in_block = false;  // of index tensors and integers beside each other
  for (const Index& item : items) {
    const bool many = is_advanced(item), single = item.kind() == Index::Kind::integer || (item.kind() == Index::Kind::tensor && !many);
    if ((many || single) && !in_block) ++blocks;
    in_block = many || single;
    if (single) continue;
    if (item.kind() == Index::Kind::ellipsis) {
      axis += rank - consumed;
    } else if (!many) {
      ++axis;
    } else if (item.tensor().dtype() == DType::boolean) {
      const Tensor places = raw::Where(item.tensor());
      const PartialShape mask = item.tensor().partial_shape(), of = part.partial_shape();
      for (size_t i = 0; i < mask.dims.size(); ++i) {
        const int64_t have = of.dims[size_t(axis)];
        if (mask.dims[i] >= 0 && have >= 0 && mask.dims[i] != have)
          fail("a mask of size " + std::to_string(mask.dims[i]) + " does not fit a dimension of size " + std::to_string(have));
        at.push_back({places[{_, int64_t(i)}], axis++});
      }
    } else {
      at.push_back({item.tensor(), axis++});
    }
  }
  return select(part, std::move(at), blocks == 1);
}

}  // namespace

Tensor Tensor::index(const std::vector<Index>& items) const { return api::has_advanced(items) ? advanced(*this, items) : strided(*this, items); }

TensorIterator Tensor::begin() const { return {*this, 0}; }
TensorIterator Tensor::end() const {
  const PartialShape s = partial_shape();
  if (s.known_rank && s.dims.empty()) fail("iteration over a tensor without dimensions");
  if (!s.known_rank || s.dims[0] < 0) fail("iteration needs a tensor whose first dimension is known");
  return {*this, s.dims[0]};
}

}  // namespace weft
