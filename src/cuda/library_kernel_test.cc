// Ops that NVIDIA's libraries do, over stand-ins for them (tests/cuda): that they are asked, how often plans are made, what is said about matrices. Values: the recorded cases
// (cuda_libraries).
#include "cuda/library_kernel.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>

#include "core/own_memory.h"
#include "eager/op.h"
#include "engine/engine.h"

namespace weft_engine::cuda {
namespace {

using namespace weft_engine::core;  // NOLINT

long calls(const char* name) {
  static void* library = dlopen(std::getenv("WEFT_CUDA_DRIVER"), RTLD_NOW);
  static auto count = reinterpret_cast<long (*)(const char*)>(dlsym(library, "weftStandInCalls"));
  return count(name);
}

eager::Context& context() {
  static auto* c = new eager::Context(engine::Engine::get().registry(), {});
  return *c;
}

Result<Tensor> value_of(const std::string& name, const std::vector<Tensor>& inputs, const op::AttrMap& attrs = {}) {
  eager::Op op(context());
  WEFT_RETURN_IF_ERROR(op.reset(name, "/device:GPU:0"));
  for (const auto& [k, v] : attrs) WEFT_RETURN_IF_ERROR(op.set_attr(k, v));
  for (const Tensor& t : inputs) op.add_input(eager::TensorHandle::make(t, nullptr));
  std::vector<RefPtr<eager::TensorHandle>> out;
  WEFT_RETURN_IF_ERROR(op.execute(out));
  return to_host(out[0]->tensor());  // waits: what kernels found is told here
}

Tensor floats(const Shape& shape, const std::vector<float>& values) {
  Tensor t = *Tensor::allocate(DType::kFloat, shape);
  std::copy(values.begin(), values.end(), t.data<float>());
  return t;
}

TEST_CASE("transforms are the library's, with a plan for each kind of call, and no more plans than are kept") {
  const auto transform = [](int64_t n) {
    const Tensor x = *Tensor::zeros(DType::kComplex64, {3, n});
    REQUIRE(value_of("IFFT", {x}).ok());
  };
  transform(4);
  const long done = calls("cufftExec"), made = calls("cufftMakePlanMany64"), destroyed = calls("cufftDestroy");
  CHECK(done == 1);
  for (int i = 0; i < 3; ++i) transform(4);
  CHECK(calls("cufftExec") == done + 3);
  CHECK(calls("cufftMakePlanMany64") == made);
  for (int64_t n = 5; n < 105; ++n) transform(n);
  CHECK(calls("cufftMakePlanMany64") == made + 100);
  CHECK(calls("cufftDestroy") == destroyed + 37);  // 64 stay
}

TEST_CASE("a transform back divides, and leaves its input as it was") {
  const Tensor x = floats({8}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor length = Tensor::vector(std::vector<int32_t>{8});
  auto there = value_of("RFFT", {x, length});
  REQUIRE(there.ok());
  for (int twice = 0; twice < 2; ++twice) {
    auto back = value_of("IRFFT", {*there, length});
    REQUIRE(back.ok());
    for (int i = 0; i < 8; ++i) CHECK(std::abs(back->data<float>()[i] - float(i + 1)) < 1e-5f);
  }
}

TEST_CASE("factorisations are the library's, matrix by matrix") {
  const Tensor x = floats({2, 2, 2}, {4, 2, 2, 5, 9, 0, 3, 2});
  const long before = calls("potrf");
  auto y = value_of("Cholesky", {x});
  REQUIRE(y.ok());
  CHECK(calls("potrf") == before + 2);
  const std::vector<float> want = {2, 0, 1, 2, 3, 0, 1, 1};
  for (size_t i = 0; i < want.size(); ++i) CHECK(std::abs(y->data<float>()[i] - want[i]) < 1e-6f);
  for (const auto& [op, function] : {std::pair{"MatrixInverse", "getrs"}, std::pair{"LogMatrixDeterminant", "getrf"}, std::pair{"Qr", "orgqr"},
                                     std::pair{"Svd", "gesvd"}, std::pair{"SelfAdjointEigV2", "syevd"}}) {
    const long asked = calls(function);
    CAPTURE(op);
    REQUIRE(value_of(op, {x}).ok());
    CHECK(calls(function) == asked + 2);
  }
}

TEST_CASE("what is wrong with a matrix is said in TensorFlow's words, and the next call is as always") {
  const auto message = [](const std::string& op, const std::vector<Tensor>& inputs) {
    auto y = value_of(op, inputs);
    return y.ok() ? std::string("OK") : y.status().message();
  };
  const Tensor indefinite = floats({2, 2}, {1, 2, 2, 1}), singular = floats({2, 2}, {1, 2, 2, 4}), good = floats({2, 2}, {2, 1, 1, 2});
  CHECK(message("Cholesky", {indefinite}).find("Cholesky decomposition was not successful. The input might not be valid.") != std::string::npos);
  CHECK(message("Cholesky", {good}) == "OK");
  CHECK(message("MatrixSolve", {singular, good}).find("Input matrix is not invertible.") != std::string::npos);
  CHECK(message("MatrixSolve", {good, good}) == "OK");
  CHECK(message("MatrixInverse", {singular}).find("Input is not invertible.") != std::string::npos);
  CHECK(message("MatrixDeterminant", {singular}) == "OK");
  const Tensor nan = floats({2, 2}, {std::nanf(""), 0, 0, 1});
  CHECK(message("Cholesky", {nan}).find("not successful") != std::string::npos);
}

}  // namespace
}  // namespace weft_engine::cuda
