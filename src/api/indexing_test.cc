// Brackets as arguments of StridedSlice: the masks are those that TensorFlow's Python makes of the same brackets.
#include "api/indexing.h"

#include <doctest/doctest.h>

#include "weft/tensor.h"

using namespace weft;       // NOLINT
using namespace weft::api;  // NOLINT

namespace {
std::vector<int64_t> numbers(const Tensor& t) {
  const auto d = t.data<int64_t>();
  return {d.begin(), d.end()};
}
using Numbers = std::vector<int64_t>;
}  // namespace

TEST_CASE("x[1, 2:, ..., newaxis, :-1, ::2]") {
  const StridedItems s = strided_items({1, Slice{2, _}, Ellipsis{}, NewAxis{}, Slice{_, -1}, Slice{_, _, 2}});
  CHECK(s.shrink == 0b000001);
  CHECK(s.ellipsis == 0b000100);
  CHECK(s.new_axis == 0b001000);
  CHECK(s.begin_mask == 0b110000);
  CHECK(s.end_mask == 0b100010);
  CHECK(numbers(s.begin) == Numbers{1, 2, 0, 0, 0, 0});
  CHECK(numbers(s.end) == Numbers{2, 0, 0, 0, -1, 0});
  CHECK(numbers(s.strides) == Numbers{1, 1, 1, 1, 1, 2});
}

TEST_CASE("the last of a dimension is a place of one, too") {
  const StridedItems s = strided_items({-1});
  CHECK(s.shrink == 1);
  CHECK(numbers(s.begin) == Numbers{-1});
}

TEST_CASE("two ellipses, and more items than a mask has bits, are errors") {
  CHECK_THROWS_AS(strided_items({Ellipsis{}, Ellipsis{}}), Error);
  CHECK_THROWS_AS(strided_items(std::vector<Index>(70, Index(0))), Error);
}

TEST_CASE("tensors of several numbers, and masks, are no items of StridedSlice") {
  CHECK(!has_advanced({1, _, Tensor(int64_t{3})}));
  CHECK(has_advanced({_, Tensor{1, 2}}));
  CHECK(has_advanced({Tensor{true, false}}));
  CHECK_THROWS_AS(has_advanced({Tensor{1.f, 2.f}}), Error);
}
