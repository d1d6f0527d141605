// What tensors are made of and give back: lists, vectors, text, DLPack. Texts are what Python prints for the same numpy array (numpy 2.4).
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <sstream>

#include "tests/support/api_test.h"

using namespace weft;  // NOLINT

namespace {

std::string text(const Tensor& t) {
  std::ostringstream out;
  out << t;
  return out.str();
}

}  // namespace

TEST_CASE("tensors from lists, vectors and spans") {
  CHECK(Tensor{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}.shape() == std::vector<int64_t>{2, 2, 2});
  CHECK(Tensor{{{{1.}}}}.shape() == std::vector<int64_t>{1, 1, 1, 1});
  CHECK(Tensor(std::vector<int64_t>{1, 2, 3}).to_vector<int64_t>() == std::vector<int64_t>{1, 2, 3});
  const Tensor rows(std::vector<std::vector<float>>{{1, 2, 3}, {4, 5, 6}});
  CHECK(rows.shape() == std::vector<int64_t>{2, 3});
  CHECK(values(rows) == Floats{1, 2, 3, 4, 5, 6});
  float memory[] = {1, 2};
  CHECK(values(Tensor(std::span<float>(memory))) == Floats{1, 2});
  CHECK(Tensor(std::vector<bool>{true, false, true}).to_vector<bool>() == std::vector<bool>{true, false, true});
  CHECK(Tensor{{true}, {false}}.shape() == std::vector<int64_t>{2, 1});
  CHECK(Tensor{"a", "b"}.to_vector<std::string>() == std::vector<std::string>{"a", "b"});
  CHECK(Tensor(std::vector<std::vector<std::string>>{{"a"}, {"b"}}).shape() == std::vector<int64_t>{2, 1});
  CHECK(Tensor("one").item<std::string>() == "one");
  CHECK(Tensor(std::vector<float>{}).shape() == std::vector<int64_t>{0});
  CHECK(has(message_of([] { Tensor(std::vector<std::vector<float>>{{1, 2}, {3}}); }), "rows of a tensor must be of equal length"));
  CHECK(has(message_of([] { Tensor{{{1, 2}, {3, 4}}, {{5, 6}, {7}}}; }), "rows of a tensor must be of equal length"));
}

TEST_CASE("single elements") {
  const Tensor x{{1, 2, 3}, {4, 5, 6}};
  CHECK(x.item<int>({1, 0}) == 4);
  CHECK(x.item<int>({-1, -1}) == 6);
  CHECK(Tensor{"a", "b"}.item<std::string>({1}) == "b");
  CHECK(has(message_of([&] { x.item<int>(); }), "item() needs a tensor with one element, this has 6"));
  CHECK(has(message_of([&] { x.item<int>({1}); }), "needs 2 numbers, got 1"));
  CHECK(has(message_of([&] { x.item<int>({0, 3}); }), "index 3 is out of range for dimension 1 of size 3"));
  CHECK(has(message_of([&] { x.item<float>({0, 0}); }), "the tensor holds int32, not float"));
}

TEST_CASE("tensors print as numpy does") {
  CHECK(text(Tensor{1.f, 2.5f, -3.f}) == "[ 1.   2.5 -3. ]");
  CHECK(text(Tensor{{8.f, 11.f}, {16.f, 23.f}}) ==
        "[[ 8. 11.]\n"
        " [16. 23.]]");
  CHECK(text(Tensor{0.1f, 0.25f, 1e-5f}) == "[1.0e-01 2.5e-01 1.0e-05]");
  CHECK(text(Tensor{1e10f, 1.f}) == "[1.e+10 1.e+00]");
  CHECK(text(Tensor{123456.f, 0.001f}) == "[1.23456e+05 1.00000e-03]");
  CHECK(text(Tensor{1.f / 3, 2.f / 3}) == "[0.33333334 0.6666667 ]");
  CHECK(text(Tensor{1. / 3, 2. / 3, 1e-3}) == "[0.33333333 0.66666667 0.001     ]");
  CHECK(text(Tensor{0.3f, 1.2345679e-5f}) == "[3.0000001e-01 1.2345679e-05]");
  CHECK(text(Tensor{1e100, 1e-5}) == "[1.e+100 1.e-005]");
  CHECK(text(Tensor{NAN, INFINITY, -INFINITY, 1.5f}) == "[ nan  inf -inf  1.5]");
  CHECK(text(Tensor{NAN, 1.f}) == "[nan  1.]");
  CHECK(text(Tensor{0.f, -0.f}) == "[ 0. -0.]");
  CHECK(text(Tensor{1, -20, 300}) == "[  1 -20 300]");
  CHECK(text(Tensor{uint8_t(3), uint8_t(200)}) == "[  3 200]");
  CHECK(text(Tensor{true, false}) == "[ True False]");
  CHECK(text(Tensor{true, true}) == "[ True  True]");
  CHECK(text(Tensor{"a", "it's", "q\"", "n\n\x01"}) == "[b'a' b\"it's\" b'q\"' b'n\\n\\x01']");
  CHECK(text(Tensor{std::complex<float>(1, 2), std::complex<float>(-0.5f, 1e-3f)}) == "[ 1. +2.e+00j -0.5+1.e-03j]");
  CHECK(text(cast(Tensor{0.1f, 1.f, 65504.f}, DType::float16)) == "[1.00e-01 1.00e+00 6.55e+04]");
  CHECK(text(cast(Tensor{0.1f, 1.f, 2.5f}, DType::float16)) == "[0.1 1.  2.5]");
  CHECK(text(zeros({0, 3})) == "[]");
  CHECK(text(reshape(range(Tensor(24)), {2, 3, 4})) ==
        "[[[ 0  1  2  3]\n"
        "  [ 4  5  6  7]\n"
        "  [ 8  9 10 11]]\n"
        "\n"
        " [[12 13 14 15]\n"
        "  [16 17 18 19]\n"
        "  [20 21 22 23]]]");
  CHECK(text(range(Tensor(1000))[{slice(0, 40)}]) ==
        "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
        " 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39]");
  CHECK(text(range(Tensor(1001))) == "[   0    1    2 ...  998  999 1000]");
  CHECK(text(reshape(cast(range(Tensor(2000)), DType::float32), {40, 50})) ==
        "[[0.000e+00 1.000e+00 2.000e+00 ... 4.700e+01 4.800e+01 4.900e+01]\n"
        " [5.000e+01 5.100e+01 5.200e+01 ... 9.700e+01 9.800e+01 9.900e+01]\n"
        " [1.000e+02 1.010e+02 1.020e+02 ... 1.470e+02 1.480e+02 1.490e+02]\n"
        " ...\n"
        " [1.850e+03 1.851e+03 1.852e+03 ... 1.897e+03 1.898e+03 1.899e+03]\n"
        " [1.900e+03 1.901e+03 1.902e+03 ... 1.947e+03 1.948e+03 1.949e+03]\n"
        " [1.950e+03 1.951e+03 1.952e+03 ... 1.997e+03 1.998e+03 1.999e+03]]");
  CHECK(text(reshape(range(Tensor(1200)), {2, 20, 30})) ==
        "[[[   0    1    2 ...   27   28   29]\n"
        "  [  30   31   32 ...   57   58   59]\n"
        "  [  60   61   62 ...   87   88   89]\n"
        "  ...\n"
        "  [ 510  511  512 ...  537  538  539]\n"
        "  [ 540  541  542 ...  567  568  569]\n"
        "  [ 570  571  572 ...  597  598  599]]\n"
        "\n"
        " [[ 600  601  602 ...  627  628  629]\n"
        "  [ 630  631  632 ...  657  658  659]\n"
        "  [ 660  661  662 ...  687  688  689]\n"
        "  ...\n"
        "  [1110 1111 1112 ... 1137 1138 1139]\n"
        "  [1140 1141 1142 ... 1167 1168 1169]\n"
        "  [1170 1171 1172 ... 1197 1198 1199]]]");
  CHECK(text(cast(range(Tensor(30)), DType::float64) / 7.) ==
        "[0.         0.14285714 0.28571429 0.42857143 0.57142857 0.71428571\n"
        " 0.85714286 1.         1.14285714 1.28571429 1.42857143 1.57142857\n"
        " 1.71428571 1.85714286 2.         2.14285714 2.28571429 2.42857143\n"
        " 2.57142857 2.71428571 2.85714286 3.         3.14285714 3.28571429\n"
        " 3.42857143 3.57142857 3.71428571 3.85714286 4.         4.14285714]");
  CHECK(text(Tensor(1.5f)) == "1.5");
  CHECK(text(Tensor(1.f)) == "1.0");
  CHECK(text(Tensor(1e-5f)) == "1e-05");
  CHECK(text(Tensor(1e16)) == "1e+16");
  CHECK(text(Tensor(123456789.)) == "123456789.0");
  CHECK(text(Tensor(123456789.f)) == "1.2345679e+08");
  CHECK(text(Tensor(7)) == "7");
  CHECK(text(Tensor(true)) == "True");
  CHECK(text(Tensor("text")) == "b'text'");
  CHECK(text(Tensor(std::complex<double>(1, -2.5))) == "(1-2.5j)");
  CHECK(text(Tensor(std::complex<float>(0, 1))) == "1j");
  CHECK(text(Tensor(-INFINITY)) == "-inf");
  CHECK(text(cast(Tensor{0.1f, 1.f, 1000.f}, DType::bfloat16)) == "[0.100098 1 1000]");
  CHECK(text(Tensor()) == "<no value>");
}

TEST_CASE("DLPack shares memory") {
  const Tensor x{{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}};
  {
    const dlpack::Capsule c = to_dlpack(x);
    CHECK(c->array.data == const_cast<float*>(x.data<float>().data()));
    CHECK(c->array.ndim == 2);
    CHECK(c->array.shape[1] == 3);
    CHECK(c->array.strides[0] == 3);
    CHECK(int(c->array.dtype.code) == 2);
    CHECK(int(c->array.dtype.bits) == 32);
    CHECK(c->array.device.type == 1);
  }
  const Tensor y = from_dlpack(to_dlpack(x).release());
  CHECK(y.data<float>().data() == x.data<float>().data());
  CHECK(values(y) == Floats{1, 2, 3, 4, 5, 6});
  const Tensor z = from_dlpack(to_dlpack_versioned(Tensor{true, false}).release());
  CHECK(z.to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(from_dlpack(to_dlpack(Tensor(7)).release()).item<int>() == 7);
  CHECK(from_dlpack(to_dlpack(zeros({0, 2})).release()).shape() == std::vector<int64_t>{0, 2});
  CHECK(from_dlpack(to_dlpack(cast(x, DType::bfloat16)).release()).dtype() == DType::bfloat16);
  CHECK(has(message_of([] { to_dlpack(Tensor("text")); }), "DLPack has no type for a tensor of string"));
}

TEST_CASE("DLPack arrays of others: strides are copied, all is freed, what is wrong throws") {
  alignas(8) float memory[] = {0, 1, 2, 3, 4, 5, 6};
  int freed = 0;
  int64_t shape[] = {3, 2}, strides[] = {1, 3};
  const auto array = [&] {
    dlpack::ManagedTensor m{};
    m.array = {memory, {1, 0}, 2, {dlpack::kFloat, 32, 1}, shape, strides, 0};
    m.context = &freed;
    m.deleter = [](dlpack::ManagedTensor* self) { ++*static_cast<int*>(self->context); };
    return m;
  };
  auto m = array();
  const Tensor t = from_dlpack(&m);  // a transposed matrix
  CHECK(values(t) == Floats{0, 3, 1, 4, 2, 5});
  CHECK(freed == 1);
  m = array();
  m.array.strides = nullptr;
  {
    const Tensor whole = from_dlpack(&m);
    CHECK(whole.data<float>().data() == memory);
    CHECK(freed == 1);
  }
  CHECK(freed == 2);
  m = array();
  m.array.byte_offset = 4;
  CHECK(values(from_dlpack(&m)) == Floats{1, 4, 2, 5, 3, 6});
  m = array();
  m.array.strides = nullptr, m.array.data = reinterpret_cast<char*>(memory) + 2;  // not aligned: copied
  m.array.shape[0] = 1;
  CHECK(from_dlpack(&m).shape() == std::vector<int64_t>{1, 2});
  CHECK(freed == 4);
  m = array();
  strides[0] = -1, m.array.byte_offset = 4, shape[0] = 2, shape[1] = 1;  // backwards
  CHECK(values(from_dlpack(&m)) == Floats{1, 0});
  freed = 0;
  m = array();
  m.array.device.type = 2;
  CHECK(has(message_of([&] { from_dlpack(&m); }), "from_dlpack takes memory of the host (device type 1), not of device type 2"));
  m = array();
  m.array.dtype.lanes = 4;
  CHECK(has(message_of([&] { from_dlpack(&m); }), "there is no type for DLPack's type code 2 with 32 bits and 4 lanes"));
  m = array();
  m.array.shape = nullptr;
  CHECK(has(message_of([&] { from_dlpack(&m); }), "has no shape"));
  m = array();
  m.array.data = nullptr;
  CHECK(has(message_of([&] { from_dlpack(&m); }), "has no memory"));
  int64_t huge[] = {int64_t(1) << 40, int64_t(1) << 40};
  m = array();
  m.array.shape = huge;
  CHECK(message_of([&] { from_dlpack(&m); }) != "nothing was thrown");
  int64_t negative[] = {-1, 2};
  m = array();
  m.array.shape = negative;
  CHECK(message_of([&] { from_dlpack(&m); }) != "nothing was thrown");
  CHECK(has(message_of([] { from_dlpack(static_cast<dlpack::ManagedTensor*>(nullptr)); }), "from_dlpack got no array"));
  CHECK(freed == 0);  // what was refused is still the caller's
}
