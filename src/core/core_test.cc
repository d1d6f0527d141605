// The ground types. Expected bits of narrow floats come from their formats' definitions (IEEE 754 half, the
// OCP 8-bit float paper); device names and texts from TensorFlow.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "core/allocator.h"
#include "core/device.h"
#include "core/tensor.h"
#include "core/thread_pool.h"
#include "core/threads.h"

using namespace weft_engine::core;  // NOLINT

TEST_CASE("half rounds to even and keeps subnormals, infinities and NaN") {
  CHECK(half(1.0f).bits == 0x3c00);
  CHECK(half(65504.0f).bits == 0x7bff);
  CHECK(half(65520.0f).bits == 0x7c00);  // rounds to infinity
  CHECK(half(5.9604645e-8f).bits == 1);  // the smallest subnormal
  CHECK(half(2.9802322e-8f).bits == 0);  // halfway, to even
  CHECK(half(-0.0f).bits == 0x8000);
  CHECK(std::isnan(float(half(NAN))));
  for (uint32_t b = 0; b < 0x10000; ++b) {
    const half h = half::from_bits(uint16_t(b));
    if (!std::isnan(float(h))) CHECK(half(float(h)).bits == b);
  }
}

TEST_CASE("bfloat16 and the eight-bit floats convert as their formats say") {
  CHECK(bfloat16(1.0f).bits == 0x3f80);
  CHECK(bfloat16(3.4e38f).bits == 0x7f80);  // rounds to infinity
  CHECK(float8_e5m2(57344.0f).bits == 0x7b);
  CHECK(float8_e5m2(1e6f).bits == 0x7c);
  CHECK(float8_e4m3fn(448.0f).bits == 0x7e);
  CHECK(float8_e4m3fn(1e6f).bits == 0x7f);  // no infinity: NaN
  CHECK(float(float8_e4m3fn::from_bits(0x01)) == std::ldexp(1.0f, -9));
  CHECK(std::isnan(float(float8_e4m3fnuz::from_bits(0x80))));
  CHECK(float8_e4m3fnuz(-0.0f).bits == 0);
  CHECK(float(float4_e2m1fn::from_bits(0x7)) == 6.0f);
  for (int b = 0; b < 256; ++b) {
    const auto a = float8_e5m2::from_bits(uint8_t(b));
    const auto c = float8_e4m3fn::from_bits(uint8_t(b));
    const auto d = float8_e4m3b11fnuz::from_bits(uint8_t(b));
    if (!std::isnan(float(a))) CHECK(float8_e5m2(float(a)).bits == b);
    if (!std::isnan(float(c))) CHECK(float8_e4m3fn(float(c)).bits == b);
    if (!std::isnan(float(d))) CHECK(float8_e4m3b11fnuz(float(d)).bits == b);
  }
}

TEST_CASE("four-bit integers wrap") {
  CHECK(int(int4(7)) == 7);
  CHECK(int(int4(8)) == -8);
  CHECK(int(uint4(17)) == 1);
  CHECK(int(int2(2)) == -2);
}

TEST_CASE("types by number, size and name") {
  CHECK(dtype_size(DType::kComplex128) == 16);
  CHECK(dtype_c_size(DType::kString) == 0);
  CHECK(dtype_name(DType::kHalf) == "half");
  CHECK(dtype_enum_name(ref_type(DType::kFloat)) == "DT_FLOAT_REF");
  CHECK((dtype_from_name("float32") == DType::kFloat));
  CHECK((dtype_from_name("DT_INT4") == DType::kInt4));
  CHECK(!dtype_from_name("float3"));
  CHECK(is_valid_dtype(101));
  CHECK(!is_valid_dtype(100));
  CHECK(!is_valid_dtype(34));
}

TEST_CASE("shapes survive bad numbers and refuse to be allocated") {
  CHECK(Shape({2, 3}).num_elements() == 6);
  CHECK(Shape({1, 2, 3, 4, 5, 6, 7, 8}).num_elements() == 40320);
  CHECK(Shape({2, 3}).to_string() == "[2,3]");
  const Shape negative({2, -1}), huge({int64_t(1) << 40, int64_t(1) << 40}), empty({int64_t(1) << 40, int64_t(1) << 40, 0});
  CHECK(!negative.valid());
  CHECK(!huge.valid());
  CHECK(empty.num_elements() == 0);
  CHECK((Tensor::allocate(DType::kFloat, negative).status().code() == Code::kInvalidArgument));
  CHECK((Tensor::allocate(DType::kFloat, huge).status().code() == Code::kInvalidArgument));
  CHECK(Tensor::allocate(DType::kFloat, empty).ok());
  Shape grown({1, 2, 3, 4, 5, 6});
  grown.add_dim(7);
  grown.remove_dim(0);
  CHECK((grown == Shape({2, 3, 4, 5, 6, 7})));
}

TEST_CASE("memory beyond the limit is ResourceExhausted and nothing is lost") {
  const int64_t before = host_stats().bytes_in_use, limit = host_stats().bytes_limit;
  CHECK(limit > 0);
  auto t = Tensor::allocate(DType::kDouble, Shape({limit}));
  REQUIRE(!t.ok());
  CHECK((t.status().code() == Code::kResourceExhausted));
  CHECK(t.status().message().starts_with("OOM when allocating tensor with shape["));
  CHECK(host_stats().bytes_in_use == before);
}

TEST_CASE("a buffer of the user is given back once, after the last tensor") {
  int freed = 0;
  alignas(64) static float data[4] = {1, 2, 3, 4};
  {
    Tensor t(DType::kFloat, Shape({4}), Buffer::wrap(data, sizeof data, [](void*, size_t, void* arg) { ++*static_cast<int*>(arg); }, &freed));
    Tensor row = t.slice_rows(1, 3);
    t = Tensor();
    CHECK(freed == 0);
    CHECK(row.data<float>()[0] == 2);
  }
  CHECK(freed == 1);
}

TEST_CASE("strings of every length keep their bytes") {
  for (size_t n : {0u, 1u, 22u, 23u, 100u, 5000u}) {
    const std::string text(n, 'x');
    tstring a(text), b = a, c = std::move(a);
    CHECK(b.view() == text);
    CHECK(c.view() == text);
    CHECK(a.empty());  // NOLINT: a moved-from string is empty by contract
    b.assign(b.view().substr(n / 2));
    CHECK(b.size() == n - n / 2);
  }
}

TEST_CASE("device names in all of TensorFlow's forms") {
  auto parsed = [](const char* s) { return DeviceName::parse(s); };
  const auto full = parsed("/job:localhost/replica:0/task:0/device:CPU:1");
  REQUIRE(full.ok());
  CHECK(full->complete());
  CHECK(full->to_string() == "/job:localhost/replica:0/task:0/device:CPU:1");
  for (const char* s : {"/device:CPU:1", "/cpu:1", "CPU:1", "cpu:1", "/device:cpu:1", "", "/job:localhost", "/device:CPU:*", "/job:*/task:0"}) {
    CAPTURE(s);
    const auto partial = parsed(s);
    REQUIRE(partial.ok());
    CHECK(partial->matches(*full));
  }
  CHECK(!parsed("/gpu:0")->matches(*full));
  for (const char* s : {"nonsense", "/device", "/job:", "/task:x", "/device:CPU:99999999999", "//"}) {
    CAPTURE(s);
    CHECK((parsed(s).status().code() == Code::kInvalidArgument));
  }
}

TEST_CASE("parallel_for covers every index once, nested and from many threads") {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    auto cover = [&pool] {
      std::vector<std::atomic<int>> seen(10000);
      pool.parallel_for(10000, 100, [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; ++i) seen[size_t(i)]++;
        pool.parallel_chunks(3, [](int64_t) {});  // nested: runs inline
      });
      for (auto& s : seen) {
        if (s != 1) return false;
      }
      return true;
    };
    std::vector<std::thread> users;
    std::atomic<int> good{0};
    for (int u = 0; u < 8; ++u) users.emplace_back([&] { good += cover(); });
    for (auto& u : users) u.join();
    CHECK(good == 8);
  }
}

TEST_CASE("loops of many callers: each chunk once, the first exception reaches its caller, tasks run beside them") {
  for (int threads : {2, 5}) {
    ThreadPool pool(threads);
    std::atomic<int> wrong{0};
    std::vector<std::thread> users;
    for (int u = 0; u < 12; ++u) {  // more than the pool has places for
      users.emplace_back([&, u] {
        for (int k = 0; k < 200; ++k) {
          const int64_t n = 1 + (7 * k + u) % 90;  // few chunks and many are dealt out in two ways
          const bool throws = k % 50 == 49;
          std::vector<int> seen(size_t(n), 0);  // plain: a second visit would be a race
          try {
            pool.parallel_chunks(n, [&](int64_t i) {
              ++seen[size_t(i)];
              if (throws && i == n / 2) throw std::runtime_error("chunk");
            });
            wrong += throws;
            for (int s : seen) wrong += s != 1;
          } catch (const std::runtime_error&) {
            wrong += !throws;
          }
          if (k % 20 == 0) {  // workers sleep now and again, and tasks wake them
            std::this_thread::sleep_for(std::chrono::microseconds(300));
            auto ran = std::make_shared<std::atomic<bool>>(false);
            pool.schedule([ran] {
              *ran = true;
              ran->notify_all();
            });
            ran->wait(false);
          }
        }
      });
    }
    for (auto& u : users) u.join();
    CHECK(wrong == 0);
  }
}

TEST_CASE("a thread knows that it is inside of a pool, where loops do not fork") {
  ThreadPool pool(3);
  CHECK(!ThreadPool::inside());
  std::atomic<int> outside{0};
  pool.parallel_chunks(40, [&](int64_t) { outside += !ThreadPool::inside(); });
  CHECK(outside == 0);
  CHECK(!ThreadPool::inside());
  auto ran = std::make_shared<std::atomic<int>>(0);
  pool.schedule([ran] {
    *ran = ThreadPool::inside() ? 1 : 2;
    ran->notify_all();
  });
  ran->wait(0);
  CHECK(*ran == 1);
}

TEST_CASE("the number of threads nobody gave: the environment's, else the processors of this process") {
  unsetenv("TF_NUM_INTRAOP_THREADS");
  unsetenv("TF_NUM_INTEROP_THREADS");
  CHECK(available_cpus() >= 1);
  CHECK(default_threads(false) == available_cpus());
  setenv("TF_NUM_INTRAOP_THREADS", "3", 1);
  CHECK(default_threads(false) == 3);
  CHECK(default_threads(true) == available_cpus());
  for (const char* text : {"", "-1", "0", "x", "2x"}) {
    CAPTURE(text);
    setenv("TF_NUM_INTEROP_THREADS", text, 1);
    CHECK(default_threads(true) == available_cpus());
  }
  unsetenv("TF_NUM_INTRAOP_THREADS");
  unsetenv("TF_NUM_INTEROP_THREADS");
}

TEST_CASE("a status carries its code, text and payloads") {
  Status s = invalid_argument("Incompatible shapes: ", Shape({2}), " vs. ", Shape({3}));
  CHECK(s.to_string() == "InvalidArgument: Incompatible shapes: [2] vs. [3]");
  s = s.with_payload("k", "1").with_payload("k", "2");
  REQUIRE(s.payloads().size() == 1);
  CHECK(s.payloads()[0].second == "2");
  CHECK(Status().ok());
  CHECK(cat(1.5, " ", 0.1f, " ", 1e20, " ", true) == "1.5 0.1 1e+20 1");
  const Result<int> nothing{Status()};  // a mistake in the code, which must not look like success
  CHECK_FALSE(nothing.ok());
  CHECK(nothing.status().code() == Code::kInternal);
}
