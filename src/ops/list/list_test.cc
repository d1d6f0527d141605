// Lists that are empty, full, or have elements that were never set. Numbers and texts are TensorFlow 2.21's.
#include "ops/testing.h"

using namespace weft_engine::ops::testing;  // NOLINT
using weft::Call;
using weft::Tensor;
using Floats = std::vector<float>;
using weft_engine::core::DType;

namespace {

const weft::DType kFloats = weft::DType::float32;
Tensor no_sizes() { return Tensor::of<int32_t>({0}, {}); }
Tensor reserve(const Tensor& shape, int count) { return Call("TensorListReserve").in(shape).in(Tensor(count)).attr("element_dtype", kFloats).one(); }
Tensor get(const Tensor& list, int index, const Tensor& shape) {
  return Call("TensorListGetItem").in(list).in(Tensor(index)).in(shape).attr("element_dtype", kFloats).one();
}

}  // namespace

TEST_CASE("shapes of lists") {
  const auto shape = constant<int32_t>({3, -1});
  CHECK(shapes_of("TensorListLength", {{DType::kVariant, scalar()}}) == "[]");
  CHECK(shapes_of("TensorListStack", {{DType::kVariant, scalar()}, {DType::kInt32, {2}, &shape}},
                  {{"element_dtype", DType::kFloat}, {"num_elements", int64_t(4)}}) == "[4,3,?]");
  CHECK(shapes_of("TensorListStack", {{DType::kVariant, scalar()}, {DType::kInt32, {2}, &shape}}, {{"element_dtype", DType::kFloat}}) == "[?,3,?]");
}

TEST_CASE("lists refuse what they do not have room for, or do not have") {
  CHECK(says(error_of([] {
               const Tensor empty = Call("EmptyTensorList").in(Tensor{2}).in(Tensor(-1)).attr("element_dtype", kFloats).one();
               Call("TensorListPopBack").in(empty).in(Tensor{2}).attr("element_dtype", kFloats).run();
             }),
             "Trying to pop from an empty list."));
  CHECK(says(error_of([] { get(reserve(Tensor{2}, 2), 5, Tensor{2}); }), "Trying to access element 5 in a list with 2 elements."));
  CHECK(says(error_of([] { Call("TensorListSetItem").in(reserve(Tensor{2}, 2)).in(Tensor(0)).in(Tensor{1.f, 2.f, 3.f}).one(); }),
             "Tried to set a tensor with incompatible shape at a list index. Item element shape: [3] list shape: [2]"));
  CHECK(says(error_of([] {
               Tensor one = Call("EmptyTensorList").in(no_sizes()).in(Tensor(1)).attr("element_dtype", kFloats).one();
               one = Call("TensorListPushBack").in(one).in(Tensor(1.f)).one();
               Call("TensorListPushBack").in(one).in(Tensor(2.f)).one();
             }),
             "Tried to push item into a full list list size: 1 max_num_elements: 1"));
}

TEST_CASE("an element that was never set is zeros, where its shape is known") {
  CHECK(list<float>(get(reserve(Tensor{2}, 2), 1, Tensor{2})) == Floats{0, 0});
  CHECK(says(error_of([] { get(reserve(Tensor(-1), 2), 1, Tensor(-1)); }),
             "Trying to read an uninitialized tensor but element_shape is not fully defined: <unknown> and no list element is set."));
}

TEST_CASE("what was replaced in a list has no gradient") {
  const auto replaced = [](const Tensor& x) {
    const Tensor first = Call("GatherV2").in(x).in(Tensor(0)).in(Tensor(0)).one();
    Tensor l = Call("TensorListFromTensor").in(x).in(no_sizes()).one();
    l = Call("TensorListSetItem").in(l).in(Tensor(1)).in(Call("Mul").in(first).in(Tensor(5.f)).one()).one();
    return Call("TensorListStack").in(l).in(no_sizes()).attr("element_dtype", kFloats).attr("num_elements", -1).one();
  };
  CHECK(gradient(replaced, Tensor{1.f, 2.f, 3.f}, {1, 10, 100}) == Floats{51, 0, 100});
}
