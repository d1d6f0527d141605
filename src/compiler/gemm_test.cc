// Products, convolutions and windows of compiled code against plain loops, for three levels of vector instructions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <thread>

#include "compiler/codegen.h"
#include "compiler/plan.h"
#include "core/float_types.h"
#include "ir/builder.h"
#include "ir/simplify.h"

namespace weft_engine {
namespace {

using ir::Dim;
using ir::DType;
using ir::Value;
using ir::Window;

const char* const kLevels[] = {"native", "x86-64-v3", "x86-64"};

// One module with many instructions: compiled once, run once, each result compared.
class Program {
 public:
  using Values = std::vector<double>;

  // Numbers that every type holds exactly, so that only the order of sums matters.
  Value input(std::vector<Dim> dims, DType t = DType::kFloat) {
    Value v = b_.parameter({ir::Parameter::Kind::kInput, "x", {t, dims}});
    Values numbers(size_t(ir::product(dims).evaluate(symbols_)));
    for (double& n : numbers) n = std::round(std::uniform_real_distribution<double>(-8, 8)(random_));
    inputs_.push_back(numbers);
    types_.push_back(t);
    return v;
  }
  // A size that is known when the code is called; it is dimension 0 of the next input.
  Dim open(int64_t n) {
    module_.symbols.push_back({"n", int(inputs_.size()), 0});
    symbols_.push_back(n);
    return Dim::symbol(int(symbols_.size()) - 1);
  }
  const Values& numbers(Value v) const { return inputs_[size_t(v->index)]; }
  int64_t size(const Dim& d) const { return d.evaluate(symbols_); }
  ir::Builder& b() { return b_; }
  ir::Module& module() { return module_; }

  void expect(std::string what, Value v, Values numbers) {
    REQUIRE_MESSAGE(v, what, ": ", b_.status().to_string());
    module_.main->results.push_back(v);
    module_.results.push_back({"r", -1});
    expected_.push_back({std::move(what), std::move(numbers), v->type.dtype});
  }

  // Errors are measured by each number, or (a tile's sums are taken together) by the largest.
  // How often the pool was used.
  int run(const std::string& level, bool by_largest = false, int threads = 1) {
    REQUIRE_MESSAGE(b_.status().ok(), b_.status().to_string());
    auto api = compiler::codegen();
    REQUIRE_MESSAGE(api.ok(), api.status().to_string());
    const core::Status good = ir::verify(module_);
    REQUIRE_MESSAGE(good.ok(), good.to_string());
    auto plan = compiler::make_plan(module_, threads);
    REQUIRE_MESSAGE(plan.ok(), plan.status().to_string());
    compiler::CodegenOptions options;
    options.cpu = level;
    auto code = (*api)->jit(*plan, options);
    REQUIRE_MESSAGE(code.ok(), level, ": ", code.status().to_string());
    std::vector<std::vector<char>> memory;
    std::vector<void*> parameters, results;
    memory.reserve(inputs_.size() + expected_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      memory.push_back(packed(types_[i], inputs_[i]));
      parameters.push_back(memory.back().data());
    }
    constexpr size_t kGuard = 64;
    for (const Expected& e : expected_) {
      memory.emplace_back(e.numbers.size() * core::dtype_size(e.dtype) + kGuard, char(0x5a));
      results.push_back(memory.back().data());
    }
    std::vector<char> arena(size_t(plan->arena_bytes.evaluate(symbols_)) + 128, char(0xff));  // NaNs: nothing may be read unwritten
    char* aligned = arena.data() + (64 - reinterpret_cast<uintptr_t>(arena.data()) % 64) % 64;
    // Every part on a thread of its own, the last one first.
    int used = 0;
    const compiler::Pool pool{[](void* count, int64_t n, void (*f)(void*, int64_t, int64_t), void* data) {
                                ++*static_cast<int*>(count);
                                std::vector<std::thread> workers;
                                for (int64_t k = n; k-- > 0;) workers.emplace_back([=] { f(data, k, k + 1); });
                                for (std::thread& t : workers) t.join();
                              },
                              &used};
    REQUIRE((*code)->entry()(parameters.data(), results.data(), nullptr, symbols_.data(), aligned, threads > 1 ? &pool : nullptr) == 0);
    for (size_t r = 0; r < expected_.size(); ++r) {
      const Expected& e = expected_[r];
      const std::vector<char>& got = memory[inputs_.size() + r];
      const std::string wrong = difference(e, got.data(), by_largest);
      CHECK_MESSAGE(wrong.empty(), level, ": ", e.what, ": ", wrong);
      bool kept = true;
      for (size_t i = got.size() - kGuard; i < got.size(); ++i) kept = kept && got[i] == char(0x5a);
      CHECK_MESSAGE(kept, level, ": ", e.what, ": wrote behind its result");
    }
    return used;
  }

 private:
  struct Expected {
    std::string what;
    Values numbers;
    DType dtype;
  };
  template <class T>
  static std::vector<char> packed_as(const Values& v) {
    std::vector<char> bytes(v.size() * sizeof(T));
    for (size_t i = 0; i < v.size(); ++i) {
      const T x = T(float(v[i]));
      std::memcpy(bytes.data() + i * sizeof(T), &x, sizeof(T));
    }
    return bytes;
  }
  static std::vector<char> packed(DType t, const Values& v) {
    switch (t) {
      case DType::kDouble: return packed_as<double>(v);
      case DType::kInt32: return packed_as<int32_t>(v);
      case DType::kInt64: return packed_as<int64_t>(v);
      case DType::kHalf: return packed_as<core::half>(v);
      default: return packed_as<float>(v);
    }
  }
  template <class T>
  static double at(const char* p, size_t i) {
    T x;
    std::memcpy(&x, p + i * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, core::half>) return double(float(x));
    else return double(x);
  }
  static std::string difference(const Expected& e, const char* p, bool by_largest) {
    const double tolerance = e.dtype == DType::kHalf ? 1e-2 : 1e-5;
    double largest = 0;
    for (double x : e.numbers) largest = std::max(largest, std::abs(x));
    for (size_t i = 0; i < e.numbers.size(); ++i) {
      const double got = e.dtype == DType::kDouble  ? at<double>(p, i)
                         : e.dtype == DType::kInt32 ? at<int32_t>(p, i)
                         : e.dtype == DType::kInt64 ? at<int64_t>(p, i)
                         : e.dtype == DType::kHalf  ? at<core::half>(p, i)
                                                    : at<float>(p, i);
      if (!(std::abs(got - e.numbers[i]) <= tolerance * (1 + (by_largest ? largest : std::abs(e.numbers[i])))))
        return "element " + std::to_string(i) + " is " + std::to_string(got) + ", not " + std::to_string(e.numbers[i]);
    }
    return "";
  }

  ir::Module module_;
  ir::Builder b_{module_};
  std::mt19937 random_{1};
  std::vector<Values> inputs_;
  std::vector<DType> types_;
  std::vector<Expected> expected_;
  std::vector<int64_t> symbols_;
};

void product(Program& p, int64_t batch, Dim m, int64_t n, int64_t k, bool ta, bool tb, DType t = DType::kFloat) {
  const bool flat = batch < 0;
  std::vector<Dim> a{ta ? Dim(k) : m, ta ? m : Dim(k)}, b{tb ? n : k, tb ? k : n};
  if (!flat) a.insert(a.begin(), batch), b.insert(b.begin(), batch);
  Value x = p.input(a, t), y = p.input(b, t);
  const int64_t rows = p.size(m);
  Program::Values out;
  const auto &xs = p.numbers(x), &ys = p.numbers(y);
  for (int64_t g = 0; g < (flat ? 1 : batch); ++g) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        double sum = 0;
        for (int64_t q = 0; q < k; ++q)
          sum += xs[size_t(g * rows * k + (ta ? q * rows + r : r * k + q))] * ys[size_t(g * n * k + (tb ? c * k + q : q * n + c))];
        out.push_back(sum);
      }
    }
  }
  p.expect("product " + std::to_string(rows) + "x" + std::to_string(n) + "x" + std::to_string(k) + (ta ? " A^T" : "") + (tb ? " B^T" : ""),
           p.b().dot(x, y, ta, tb), std::move(out));
}

struct ConvCase {
  std::vector<int64_t> in;  // batch, spatial..., channels
  std::vector<int64_t> filter;
  int64_t features = 1;
  std::vector<int64_t> stride, dilation, holes, low, high;
  int64_t groups = 1;
};

Window window_of(const ConvCase& c) {
  Window w;
  w.size = c.filter;
  const size_t n = c.filter.size();
  const auto or_else = [&](const std::vector<int64_t>& v, int64_t otherwise) { return v.empty() ? std::vector<int64_t>(n, otherwise) : v; };
  w.stride = or_else(c.stride, 1), w.dilation = or_else(c.dilation, 1), w.base_dilation = or_else(c.holes, 1);
  for (int64_t v : or_else(c.low, 0)) w.low.push_back(v);
  for (int64_t v : or_else(c.high, 0)) w.high.push_back(v);
  w.groups = c.groups;
  return w;
}

// each(output pixel, tap, input pixel) for all that are inside, spatial dimensions flattened.
void each_tap(const Window& w, const std::vector<int64_t>& in, const std::vector<int64_t>& out,
              const std::function<void(int64_t, int64_t, int64_t)>& each) {
  int64_t outs = 1, taps = 1;
  for (int64_t o : out) outs *= o;
  for (int64_t s : w.size) taps *= s;
  for (int64_t o = 0; o < outs; ++o) {
    for (int64_t t = 0; t < taps; ++t) {
      int64_t place = 0, rest_o = o, rest_t = t, scale = 1;
      bool inside = true;
      for (size_t d = out.size(); d-- > 0;) {
        const int64_t at = rest_o % out[d] * w.stride[d] + rest_t % w.size[d] * w.dilation[d] - w.low[d].value();
        rest_o /= out[d], rest_t /= w.size[d];
        const int64_t pixel = at / w.base_dilation[d];
        inside = inside && at >= 0 && at % w.base_dilation[d] == 0 && pixel < in[d];
        place += pixel * scale, scale *= in[d];
      }
      if (inside) each(o, t, place);
    }
  }
}

void conv(Program& p, const ConvCase& c, bool gradient, bool open_batch = false, DType t = DType::kFloat) {
  const Window w = window_of(c);
  const std::vector<int64_t> in(c.in.begin() + 1, c.in.end() - 1);
  std::vector<int64_t> out;
  for (size_t d = 0; d < in.size(); ++d) {
    const int64_t spread = (in[d] - 1) * w.base_dilation[d] + 1 + w.low[d].value() + w.high[d].value();
    out.push_back((spread - (w.size[d] - 1) * w.dilation[d] - 1) / w.stride[d] + 1);
  }
  const int64_t batch = c.in[0], channels = c.in.back(), features = c.features, per_group = channels / c.groups, out_per_group = features / c.groups;
  std::vector<Dim> x_dims(c.in.begin(), c.in.end()), other;
  if (open_batch) x_dims[0] = p.open(batch);
  if (gradient) {
    other.push_back(x_dims[0]);
    other.insert(other.end(), out.begin(), out.end());
    other.push_back(features);
  } else {
    other.assign(w.size.begin(), w.size.end());
    other.push_back(per_group), other.push_back(features);
  }
  Value x = p.input(x_dims, t), y = p.input(other, t);
  const auto &xs = p.numbers(x), &ys = p.numbers(y);
  int64_t ins = 1, outs = 1, taps = 1;
  for (int64_t d : in) ins *= d;
  for (int64_t d : out) outs *= d;
  for (int64_t d : w.size) taps *= d;
  Program::Values r(size_t(gradient ? taps * per_group * features : batch * outs * features));
  each_tap(w, in, out, [&](int64_t o, int64_t tap, int64_t pixel) {
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t f = 0; f < features; ++f) {
        for (int64_t q = 0; q < per_group; ++q) {
          const size_t xi = size_t((n * ins + pixel) * channels + f / out_per_group * per_group + q),
                       fi = size_t((tap * per_group + q) * features + f), yi = size_t((n * outs + o) * features + f);
          if (gradient) r[fi] += xs[xi] * ys[yi];
          else r[yi] += xs[xi] * ys[fi];
        }
      }
    }
  });
  p.expect(std::string(gradient ? "filter gradient " : "convolution ") + std::to_string(in.size()) + "d " + std::to_string(channels) + " to " +
               std::to_string(features),
           gradient ? p.b().conv_filter_grad(x, y, w) : p.b().conv(x, y, w), std::move(r));
}

void pool(Program& p, ir::Reduce reduce, const ConvCase& c, DType t = DType::kFloat) {
  const Window w = window_of(c);
  const std::vector<int64_t> in(c.in.begin() + 1, c.in.end() - 1);
  std::vector<int64_t> out;
  int64_t ins = 1, outs = 1;
  for (size_t d = 0; d < in.size(); ++d) {
    out.push_back((in[d] + w.low[d].value() + w.high[d].value() - (w.size[d] - 1) * w.dilation[d] - 1) / w.stride[d] + 1);
    ins *= in[d], outs *= out.back();
  }
  const int64_t batch = c.in[0], channels = c.in.back();
  Value x = p.input(std::vector<Dim>(c.in.begin(), c.in.end()), t);
  const Program::Values xs = p.numbers(x);  // a copy: further inputs move the others
  const bool max = reduce == ir::Reduce::kMax;
  Program::Values r(size_t(batch * outs * channels), max ? -1e30 : 0);
  std::vector<int64_t> inside(size_t(outs), 0), first(r.size(), -1);
  each_tap(w, in, out, [&](int64_t o, int64_t, int64_t pixel) {
    ++inside[size_t(o)];
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t ch = 0; ch < channels; ++ch) {
        const size_t xi = size_t((n * ins + pixel) * channels + ch), yi = size_t((n * outs + o) * channels + ch);
        if (!max) r[yi] += xs[xi];
        else if (first[yi] < 0 || xs[xi] > r[yi]) r[yi] = xs[xi], first[yi] = int64_t(xi);
      }
    }
  });
  if (reduce == ir::Reduce::kMean)
    for (size_t i = 0; i < r.size(); ++i) r[i] /= double(inside[i / size_t(channels) % size_t(outs)]);
  p.expect("window of " + std::to_string(channels) + " channels", p.b().window(reduce, x, w), r);
  if (!max || t != DType::kFloat) return;
  std::vector<Dim> dims{batch};
  dims.insert(dims.end(), out.begin(), out.end());
  dims.push_back(channels);
  Value dy = p.input(dims);
  const auto& dys = p.numbers(dy);
  Program::Values dx(xs.size());
  for (size_t i = 0; i < r.size(); ++i) dx[size_t(first[i])] += dys[i];
  p.expect("max pool gradient of " + std::to_string(channels) + " channels", p.b().max_pool_grad(x, dy, w), std::move(dx));
}

}  // namespace

TEST_CASE("products agree with plain loops at all sizes") {
  for (const char* cpu : kLevels) {
    Program p;
    std::mt19937 random(7);
    const int64_t ms[] = {1, 2, 3, 5, 7, 8, 13, 17, 33}, ns[] = {1, 3, 8, 10, 16, 17, 33, 65, 130}, ks[] = {1, 2, 3, 7, 19, 64};
    const auto pick = [&](const auto& list) { return list[random() % std::size(list)]; };
    for (int i = 0; i < 24; ++i) product(p, -1, pick(ms), pick(ns), pick(ks), i & 1, i & 2);
    product(p, -1, 12, 40, 1050, false, false);
    product(p, -1, 130, 200, 1400, true, false);
    product(p, -1, 11, 70, 2048, false, false);
    product(p, -1, 0, 4, 3, false, false);
    product(p, -1, 4, 0, 3, false, false);
    product(p, -1, 4, 5, 0, false, false);
    product(p, -1, 4, 5, 0, false, true);
    for (int i = 0; i < 4; ++i) product(p, 3, pick(ms), pick(ns), pick(ks), i & 1, i & 2);
    product(p, -1, 7, 33, 9, false, false, DType::kDouble);
    product(p, -1, 7, 33, 9, true, true, DType::kDouble);
    product(p, -1, 7, 33, 9, false, true, DType::kInt32);
    product(p, -1, 3, 5, 9, false, false, DType::kInt64);
    product(p, 2, 6, 20, 9, true, false, DType::kHalf);
    p.run(cpu);
  }
}

TEST_CASE("products with an open number of rows") {
  for (const char* cpu : kLevels) {
    Program p;
    for (int64_t m : {0, 1, 2, 7, 8, 31}) {
      for (int tb = 0; tb < 2; ++tb) product(p, -1, p.open(m), 37, 21, false, tb);
      product(p, -1, p.open(m) * 4, 37, 21, false, m % 2);
      product(p, -1, p.open(m) * 16, 20, 21, false, m % 2);
    }
    p.run(cpu);
  }
}

TEST_CASE("large products with open rows: packing is for blocks, not for one row") {
  Program p;
  for (int64_t m : {1, 11}) {
    const Dim a = p.open(m), b = p.open(m);
    product(p, -1, a * b, 600, 700, false, false);
    product(p, -1, a * b, 300, 1024, false, false);
  }
  p.run("native");
}

TEST_CASE("a product that is added to a state in place; one whose state is read in between is not") {
  constexpr int64_t kRows = 9, kColumns = 35, kDepth = 600;
  for (bool read_between : {false, true}) {
    ir::Module module;
    ir::Builder b(module);
    Value w = b.parameter({ir::Parameter::Kind::kState, "w", {DType::kFloat, {kRows, kColumns}}});
    Value x = b.parameter({ir::Parameter::Kind::kInput, "x", {DType::kFloat, {kRows, kDepth}}});
    Value y = b.parameter({ir::Parameter::Kind::kInput, "y", {DType::kFloat, {kDepth, kColumns}}});
    Value product = b.dot(x, y), other = read_between ? b.reduce(ir::Reduce::kSum, w, {0}) : b.reduce(ir::Reduce::kSum, y, {0});
    module.main->results = {b.add(w, product), other};
    module.results = {{"w", w->index}, {"other", -1}};
    REQUIRE(b.status().ok());
    auto plan = compiler::make_plan(module);
    REQUIRE(plan.ok());
    auto code = (*compiler::codegen())->jit(*plan, {});
    REQUIRE_MESSAGE(code.ok(), code.status().to_string());
    std::vector<float> ws(kRows * kColumns, 3), xs(kRows * kDepth), ys(kDepth * kColumns), sums(kColumns);
    for (size_t i = 0; i < xs.size(); ++i) xs[i] = float(int(i * 7 % 11) - 5);
    for (size_t i = 0; i < ys.size(); ++i) ys[i] = float(int(i * 5 % 13) - 6);
    void *parameters[] = {ws.data(), xs.data(), ys.data()}, *results[] = {nullptr, sums.data()};
    std::vector<char> arena(size_t(plan->arena_bytes.value()) + 64);
    REQUIRE((*code)->entry()(parameters, results, nullptr, nullptr, arena.data() + (64 - reinterpret_cast<uintptr_t>(arena.data()) % 64) % 64,
                             nullptr) == 0);
    for (int64_t c = 0; c < kColumns; ++c) {
      for (int64_t r = 0; r < kRows; ++r) {
        double sum = 3;
        for (int64_t k = 0; k < kDepth; ++k) sum += double(xs[size_t(r * kDepth + k)]) * ys[size_t(k * kColumns + c)];
        CHECK(ws[size_t(r * kColumns + c)] == doctest::Approx(sum));
      }
      double sum = read_between ? 3.0 * kRows : 0;
      for (int64_t k = 0; !read_between && k < kDepth; ++k) sum += ys[size_t(k * kColumns + c)];
      CHECK(sums[size_t(c)] == doctest::Approx(sum));
    }
  }
}

TEST_CASE("convolutions and filter gradients agree with plain loops") {
  const std::vector<ConvCase> cases = {
      {.in = {2, 9, 9, 1}, .filter = {3, 3}, .features = 32, .low = {1, 1}, .high = {1, 1}},
      {.in = {2, 8, 7, 3}, .filter = {3, 3}, .features = 16, .low = {1, 0}, .high = {1, 2}},
      {.in = {1, 7, 7, 32}, .filter = {3, 3}, .features = 20, .low = {1, 1}, .high = {1, 1}},
      {.in = {2, 5, 6, 7}, .filter = {1, 1}, .features = 9},
      {.in = {2, 9, 9, 4}, .filter = {3, 2}, .features = 5, .stride = {2, 3}, .low = {0, 1}, .high = {1, 0}},
      {.in = {1, 11, 11, 4}, .filter = {3, 3}, .features = 6, .dilation = {2, 3}, .low = {2, 3}, .high = {2, 3}},
      {.in = {2, 6, 6, 8}, .filter = {3, 3}, .features = 12, .low = {1, 1}, .high = {1, 1}, .groups = 4},
      {.in = {2, 6, 6, 37}, .filter = {3, 3}, .features = 37, .low = {1, 1}, .high = {1, 1}, .groups = 37},
      {.in = {1, 6, 6, 3}, .filter = {3, 3}, .features = 6, .low = {1, 1}, .high = {1, 1}, .groups = 3},
      {.in = {2, 12, 5}, .filter = {4}, .features = 17, .low = {3}, .high = {0}},
      {.in = {1, 5, 6, 7, 3}, .filter = {2, 3, 2}, .features = 18, .low = {1, 1, 0}, .high = {0, 1, 1}},
      {.in = {1, 8, 8, 2}, .filter = {3, 3}, .features = 4, .low = {-1, 1}, .high = {1, -2}},
      {.in = {1, 3, 3, 160}, .filter = {3, 3}, .features = 150, .low = {1, 1}, .high = {1, 1}},
  };
  const std::vector<ConvCase> holes = {
      {.in = {2, 4, 5, 3}, .filter = {3, 3}, .features = 4, .holes = {2, 3}, .low = {2, 2}, .high = {2, 1}},
      {.in = {1, 4, 4, 16}, .filter = {3, 3}, .features = 16, .holes = {2, 2}, .low = {-1, 1}, .high = {2, 1}},
      {.in = {2, 5, 5, 8}, .filter = {3, 3}, .features = 17, .holes = {2, 2}, .low = {2, 2}, .high = {1, 1}},
      {.in = {2, 5, 4, 8}, .filter = {1, 1}, .features = 5, .holes = {2, 3}, .low = {0, 1}, .high = {1, 2}},
      {.in = {1, 5, 4, 3}, .filter = {5, 2}, .features = 5, .holes = {2, 3}, .low = {4, -2}, .high = {3, 2}},
      {.in = {1, 3, 4, 3, 2}, .filter = {2, 3, 2}, .features = 3, .holes = {1, 2, 2}, .low = {1, 2, 1}, .high = {0, 2, 2}},
      {.in = {1, 7, 6}, .filter = {4}, .features = 3, .holes = {3}, .low = {3}, .high = {3}},
      {.in = {1, 4, 4, 4}, .filter = {3, 3}, .features = 6, .stride = {2, 1}, .holes = {2, 2}, .low = {1, 1}, .high = {1, 1}},
  };
  for (const char* cpu : kLevels) {
    Program p;
    for (const ConvCase& c : cases) conv(p, c, false), conv(p, c, true);
    for (const ConvCase& c : holes) conv(p, c, false);
    conv(p, cases[0], false, true);
    conv(p, cases[1], true, true);
    conv(p, cases[2], false, false, DType::kHalf);
    conv(p, cases[4], true, false, DType::kDouble);
    p.run(cpu);
  }
}

TEST_CASE("convolutions in Winograd's form agree with plain loops") {
  const std::vector<ConvCase> cases = {
      {.in = {2, 14, 14, 16}, .filter = {3, 3}, .features = 32, .low = {1, 1}, .high = {1, 1}},
      {.in = {3, 7, 9, 19}, .filter = {3, 3}, .features = 37, .low = {1, 1}, .high = {1, 1}},
      {.in = {2, 10, 14, 16}, .filter = {3, 3}, .features = 16},  // nothing is copied
      {.in = {2, 13, 12, 17}, .filter = {3, 3}, .features = 16, .low = {2, 0}, .high = {0, 2}},
      {.in = {13, 8, 8, 24}, .filter = {3, 3}, .features = 20, .low = {1, 1}, .high = {1, 1}},    // blocks of images of two sizes
      {.in = {2, 52, 46, 16}, .filter = {3, 3}, .features = 16, .low = {2, 2}, .high = {2, 2}},   // and of rows
  };
  const ConvCase deep = {.in = {2, 6, 8, 530}, .filter = {3, 3}, .features = 16, .low = {1, 1}, .high = {1, 1}};
  const auto changed = [](Program& p) {
    int n = 0;
    for (const auto& i : p.module().main->instrs) n += i->window.winograd;
    return n;
  };
  Program fast;
  int all = 0;
  for (const ConvCase& c : cases) conv(fast, c, false), conv(fast, c, true), all += 2;
  for (int64_t batch : {0, 1, 15}) {
    ConvCase c = cases[4];
    c.in[0] = batch;
    conv(fast, c, false, true), conv(fast, c, true, true), all += 2;
  }
  conv(fast, cases[5], false, true), conv(fast, cases[5], true, true), all += 2;
  conv(fast, deep, false), conv(fast, deep, true), all += 2;
  REQUIRE(ir::use_winograd(fast.module()));
  CHECK(changed(fast) == all);
  for (const char* cpu : kLevels) fast.run(cpu, true);
  // What it does not serve: strides, holes, few channels, other types, images that are mostly edge, few tiles.
  Program p;
  conv(p, {.in = {2, 9, 9, 16}, .filter = {3, 3}, .features = 16, .stride = {2, 2}}, false);
  conv(p, {.in = {2, 9, 9, 16}, .filter = {3, 3}, .features = 16, .dilation = {2, 2}}, false);
  conv(p, {.in = {2, 9, 9, 16}, .filter = {3, 3}, .features = 16, .holes = {2, 2}}, false);
  conv(p, {.in = {2, 9, 9, 15}, .filter = {3, 3}, .features = 16}, false);
  conv(p, {.in = {2, 9, 9, 16}, .filter = {3, 3}, .features = 15}, true);
  conv(p, {.in = {2, 9, 9, 16}, .filter = {3, 3}, .features = 32, .groups = 2}, false);
  conv(p, {.in = {2, 9, 9, 16}, .filter = {3, 5}, .features = 16}, false);
  conv(p, {.in = {2, 9, 9, 16}, .filter = {3, 3}, .features = 16, .low = {-1, 0}}, false);
  conv(p, {.in = {2, 9, 9, 16}, .filter = {3, 3}, .features = 16}, false, false, DType::kDouble);
  conv(p, {.in = {2, 3, 17, 16}, .filter = {3, 3}, .features = 16}, false);
  conv(p, {.in = {1, 10, 6, 16}, .filter = {3, 3}, .features = 16}, false);
  CHECK(!ir::use_winograd(p.module()));
}

TEST_CASE("large steps run in parts on the threads of a pool, small ones do not") {
  const auto fill = [](Program& p) {
    int steps = 0;
    product(p, -1, 100, 200, 150, false, false), ++steps;  // rows
    product(p, -1, 100, 200, 150, true, false), ++steps;
    product(p, -1, 20, 600, 300, false, false), ++steps;  // columns
    product(p, -1, 30, 500, 300, false, true), ++steps;   // C^T
    product(p, -1, 300, 90, 150, false, true), ++steps;   // B transposed
    product(p, -1, 2, 3000, 500, false, true), ++steps;
    product(p, -1, 130, 200, 1400, true, false), ++steps;  // packed
    product(p, -1, 40, 100, 1024, false, false), ++steps;
    product(p, 7, 30, 40, 300, false, true), ++steps;
    const std::vector<ConvCase> cases = {
        {.in = {5, 20, 20, 16}, .filter = {3, 3}, .features = 20, .low = {1, 1}, .high = {1, 1}},
        {.in = {6, 20, 20, 16}, .filter = {3, 3}, .features = 20, .stride = {2, 1}, .low = {1, 1}, .high = {1, 1}},
        {.in = {3, 40, 40, 16}, .filter = {1, 1}, .features = 32},
        {.in = {4, 20, 20, 16}, .filter = {2, 2}, .features = 16, .holes = {2, 2}, .low = {1, 1}, .high = {1, 1}},
        {.in = {9, 40, 40, 17}, .filter = {3, 3}, .features = 17, .low = {1, 1}, .high = {1, 1}, .groups = 17},
    };
    for (const ConvCase& c : cases) conv(p, c, false), ++steps;
    for (const ConvCase& c : {cases[0], cases[1], cases[4]}) conv(p, c, true), steps += 2;  // and the sum of the parts
    pool(p, ir::Reduce::kMax, {.in = {5, 60, 60, 17}, .filter = {3, 3}, .stride = {2, 2}}), steps += 2;
    return steps;
  };
  Program p;
  const int steps = fill(p);
  for (int threads : {2, 5}) CHECK(p.run("native", true, threads) == steps);
  CHECK(p.run("native", true) == 0);
  Program fast;
  for (bool gradient : {false, true}) conv(fast, {.in = {7, 22, 21, 16}, .filter = {3, 3}, .features = 32, .low = {1, 1}, .high = {1, 1}}, gradient);
  conv(fast, {.in = {3, 52, 46, 16}, .filter = {3, 3}, .features = 16, .low = {2, 2}, .high = {2, 2}}, false);  // blocks of rows
  REQUIRE(ir::use_winograd(fast.module()));
  CHECK(fast.run("native", true, 3) == 4);
  Program small;
  product(small, -1, 10, 20, 30, false, false);
  conv(small, {.in = {2, 9, 9, 4}, .filter = {3, 2}, .features = 5}, true);
  CHECK(small.run("native", true, 4) == 0);
}

TEST_CASE("large loops and reductions run in parts") {
  constexpr int64_t kRows = 333, kColumns = 1001;
  Program p;
  Value x = p.input({kRows, kColumns}), bias = p.input({kColumns}), deep = p.input({5, kRows, 4, 50});
  const Program::Values xs = p.numbers(x), bs = p.numbers(bias), ds = p.numbers(deep);
  ir::Builder& b = p.b();
  Program::Values sums(xs.size()), by_row(kRows), by_column(kColumns), all(1), middle(5 * 4 * 50), last(5 * kRows * 4), few(4);
  for (size_t i = 0; i < xs.size(); ++i) {
    sums[i] = std::max(xs[i] + bs[i % kColumns], 0.0);
    by_row[i / kColumns] += xs[i], by_column[i % kColumns] += xs[i], all[0] += xs[i];
  }
  for (size_t i = 0; i < ds.size(); ++i) middle[i / (kRows * 200) * 200 + i % 200] += ds[i], last[i / 50] += ds[i], few[i / 50 % 4] += ds[i];
  p.expect("elements", b.binary(ir::Binary::kMax, b.add(x, bias), b.scalar(DType::kFloat, 0)), sums);
  p.expect("rows", b.reduce(ir::Reduce::kSum, x, {1}), by_row);
  p.expect("columns", b.reduce(ir::Reduce::kSum, x, {0}), by_column);
  p.expect("all", b.reduce(ir::Reduce::kSum, x, {0, 1}), all);
  p.expect("middle", b.reduce(ir::Reduce::kSum, deep, {1}), middle);
  p.expect("last", b.reduce(ir::Reduce::kSum, deep, {3}), last);
  p.expect("few", b.reduce(ir::Reduce::kSum, deep, {0, 1, 3}), few);
  CHECK(p.run("native", true, 3) == 7);
}

TEST_CASE("windows and the gradient of the largest agree with plain loops") {
  const std::vector<ConvCase> cases = {
      {.in = {2, 8, 8, 32}, .filter = {2, 2}, .stride = {2, 2}},
      {.in = {2, 7, 8, 19}, .filter = {3, 3}, .stride = {2, 2}, .low = {1, 0}, .high = {1, 1}},
      {.in = {1, 9, 9, 3}, .filter = {3, 2}, .low = {1, 0}, .high = {1, 1}},
      {.in = {1, 9, 9, 17}, .filter = {5, 5}, .stride = {2, 2}},
      {.in = {2, 10, 5}, .filter = {3}, .stride = {3}},
      {.in = {1, 4, 5, 6, 8}, .filter = {2, 2, 2}, .stride = {2, 1, 2}, .low = {0, 1, 0}, .high = {0, 0, 0}},
      {.in = {1, 11, 11, 5}, .filter = {2, 2}, .dilation = {3, 2}, .low = {2, 1}, .high = {2, 1}},
  };
  for (const char* cpu : kLevels) {
    Program p;
    for (const ConvCase& c : cases) {
      pool(p, ir::Reduce::kMax, c);
      pool(p, ir::Reduce::kMean, c);
    }
    pool(p, ir::Reduce::kSum, cases[1]);
    pool(p, ir::Reduce::kMax, cases[1], DType::kInt32);
    pool(p, ir::Reduce::kMax, cases[1], DType::kHalf);
    p.run(cpu);
  }
}

}  // namespace weft_engine
