// What the functions of the C API share: exceptions end at a C symbol, nulls and sizes are checked.
#include "capi/internal.h"

#include <doctest/doctest.h>

#include <stdexcept>

#include "capi/checked.h"

using namespace weft_engine;        // NOLINT
using namespace weft_engine::capi;  // NOLINT

TEST_CASE("what is thrown behind a C symbol is its status") {
  CHECK(checked([](TF_Status* s) { guard(s, [] { return Status(); }); }).ok());
  CHECK(checked([](TF_Status* s) { guard(s, []() -> Status { throw std::bad_alloc(); }); }).code() == Code::kResourceExhausted);
  const Status thrown = checked([](TF_Status* s) { guard(s, []() -> Status { throw std::runtime_error("why"); }); });
  CHECK(thrown.code() == Code::kInternal);
  CHECK(thrown.message() == "why");
  guard(nullptr, [] { return invalid_argument("told to nobody"); });
  CHECK(guard_pointer<int>([]() -> int* { throw 1; }) == nullptr);
  CHECK(check_op(nullptr).code() == Code::kInvalidArgument);
}

TEST_CASE("a buffer that is filled again gives back what it held") {
  static int freed = 0;
  static char old[] = "old";
  TF_Buffer buffer{old, 3, [](void* data, size_t size) { freed += data == old && size == 3; }};
  fill_buffer(&buffer, "newer");
  CHECK(freed == 1);
  CHECK(std::string_view(static_cast<const char*>(buffer.data), buffer.length) == "newer");
  fill_buffer(&buffer, "");
  CHECK(buffer.length == 0);
  CHECK(buffer.data);
  buffer.data_deallocator(const_cast<void*>(buffer.data), buffer.length);
}

TEST_CASE("shapes and types of a client are checked") {
  const int64_t dims[] = {2, -1, 3};
  CHECK(!shape_from(dims, 3).ok());
  CHECK(!shape_from(nullptr, 1).ok());
  CHECK(!shape_from(dims, -1).ok());
  CHECK(shape_from(nullptr, 0)->rank() == 0);
  CHECK(!partial_shape_from(dims, -1).has_rank());
  CHECK(!partial_shape_from(nullptr, 2).has_rank());
  const PartialShape open = partial_shape_from(dims, 3);
  CHECK(std::vector<int64_t>(open.dims().begin(), open.dims().end()) == std::vector<int64_t>{2, kUnknownDim, 3});
  CHECK(*dtype_from(TF_FLOAT) == DType::kFloat);
  for (int bad : {-1, 0, 101, 1000}) CHECK(!dtype_from(static_cast<TF_DataType>(bad)).ok());  // 101: a reference to float
}
