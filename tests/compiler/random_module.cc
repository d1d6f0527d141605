#include "tests/compiler/random_module.h"

#include <random>

#include "ir/builder.h"

namespace weft_engine::testing {
namespace {

using ir::Dim;
using ir::DType;
using ir::Value;

class Maker {
 public:
  Maker(uint64_t seed, const RandomOptions& o, ir::Module& m) : random_(seed), options_(o), b_(m), module_(m) {}

  void run() {
    if (options_.open) {
      module_.symbols = {{"batch", 0, 0}, {"time", 0, 1}};
      rows_ = {Dim::symbol(0), Dim::symbol(1), Dim::symbol(0) * Dim::symbol(1), Dim::symbol(0) + Dim(3), Dim(4), Dim(1)};
    } else {
      rows_ = {2, 4, 4, 6, 1};
    }
    std::vector<Value> pool;
    const int inputs = 1 + pick(3), states = pick(4);
    for (int k = 0; k < inputs + states; ++k) {
      ir::Parameter p;
      p.kind = k < inputs ? ir::Parameter::Kind::kInput : ir::Parameter::Kind::kState;
      p.name = "p" + std::to_string(k);
      p.type = {DType::kFloat, shape()};
      pool.push_back(b_.parameter(p));
    }
    std::vector<Value> parameters = pool;
    fill(pool, options_.instrs, 0);
    std::vector<Value> results;
    for (int k = inputs; k < inputs + states; ++k) {
      if (pick(4) == 0) continue;
      results.push_back(of_type(pool, parameters[size_t(k)]->type));
      module_.results.push_back({"state", k});
    }
    for (int k = 1 + pick(7); k > 0; --k) {
      results.push_back(any(pool));
      module_.results.push_back({"out", -1});
    }
    module_.main->results = results;
  }

 private:
  int pick(int n) { return int(random_() % uint64_t(n)); }
  Value any(const std::vector<Value>& pool) {
    // Mostly what is new, so that chains arise.
    if (pool.size() > 4 && pick(2)) return pool[pool.size() - 1 - size_t(pick(4))];
    return pool[size_t(pick(int(pool.size())))];
  }
  std::vector<Dim> shape() {
    std::vector<Dim> dims;
    for (int k = pick(3); k >= 0; --k) dims.push_back(rows_[size_t(pick(int(rows_.size())))]);
    return dims;
  }
  Value of_type(const std::vector<Value>& pool, const ir::Type& t) {
    std::vector<Value> fit;
    for (Value v : pool) {
      if (v->type == t) fit.push_back(v);
    }
    if (!fit.empty() && pick(5)) return fit[pick(3) ? fit.size() - 1 : size_t(pick(int(fit.size())))];
    return b_.fill(t.dtype, t.dims, pick(5));
  }
  Value counter(const std::vector<Value>& pool) {
    Value x = b_.reduce(ir::Reduce::kSum, any(pool), {});
    std::vector<int> axes;
    for (int d = 0; d < x->rank(); ++d) axes.push_back(d);
    return b_.convert(b_.sum(x, axes), DType::kInt64);
  }

  void fill(std::vector<Value>& pool, int n, int depth) {
    for (int k = 0; k < n; ++k) {
      Value v = one(pool, depth);
      if (v) pool.push_back(v);
    }
  }

  Value one(std::vector<Value>& pool, int depth) {
    Value x = any(pool);
    const int r = x->rank();
    switch (pick(options_.control && depth < 3 ? 24 : 22)) {
      case 0: return b_.exp(x);
      case 1: return b_.neg(x);
      case 2: return b_.mul(x, 2.0);
      case 3:
      case 4:
      case 5: return b_.add(x, of_type(pool, x->type));
      case 6: return b_.sub(x, of_type(pool, x->type));
      case 7: return b_.select(b_.compare(ir::Compare::kLt, x, of_type(pool, x->type)), x, b_.tanh(x));
      case 8: return r > 0 ? b_.sum(x, {pick(r)}, pick(2) == 0) : b_.square(x);
      case 9: {  // per row, then back
        if (r < 2) return nullptr;
        Value m = b_.reduce(ir::Reduce::kMax, x, {r - 1}, true);
        return b_.exp(b_.sub(x, m));
      }
      case 10: {
        std::vector<int> axes;
        for (int d = r; d-- > 0;) axes.push_back(d);
        return b_.transpose(x, axes);
      }
      case 11: return r > 0 ? b_.reverse(x, {pick(r)}) : nullptr;
      case 12: return b_.reshape(x, {x->type.elements()});
      case 13: return r > 0 ? b_.concat({x, of_type(pool, x->type)}, pick(r)) : nullptr;
      case 14: {
        if (r == 0) return nullptr;
        std::vector<Dim> low(size_t(r), Dim(0)), high(size_t(r), Dim(pick(2)));
        low[size_t(pick(r))] = 1;
        return b_.pad(x, b_.scalar(x->type.dtype, 0), low, high);
      }
      case 15: {
        std::vector<Dim> dims = x->type.dims;
        dims.insert(dims.begin(), rows_[size_t(pick(int(rows_.size())))]);
        return b_.broadcast_to(x, dims);
      }
      case 16: return r == 2 ? product(pool, x) : b_.neg(x);
      case 17: return r > 0 ? b_.scan(ir::Reduce::kSum, x, pick(r), false, false) : nullptr;
      case 18: return r > 0 ? (pick(2) ? b_.sort(x, false).first : b_.sort(b_.neg(x), true).first) : nullptr;
      case 19: {
        if (r == 0) return nullptr;
        std::vector<Value> starts(size_t(r), b_.scalar_int(DType::kInt64, 0));
        starts[0] = counter(pool);
        std::vector<Dim> sizes = x->type.dims;
        sizes[0] = 1;
        Value row = pick(2) ? b_.dynamic_slice(x, starts, sizes) : b_.fill(x->type.dtype, sizes, 3);
        return b_.dynamic_update(x, row, starts);
      }
      case 20: return r > 0 ? b_.gather(x, b_.convert(b_.reshape(counter(pool), {1}), DType::kInt32), 0, 0, "bad index") : nullptr;
      case 21:
        return r > 0 ? b_.scatter(x, b_.reshape(counter(pool), {1}), b_.fill(x->type.dtype, rest(x), 1), ir::Reduce::kSum, "bad row") : nullptr;
      case 22: return loop(pool, depth);
      default: return branch(pool, depth);
    }
  }

  Value product(const std::vector<Value>& pool, Value x) {
    Value y = pick(2) ? of_type(pool, x->type) : x;
    return pick(2) ? b_.dot(x, y, true, false) : b_.dot(x, y, false, true);
  }

  static std::vector<Dim> rest(Value x) {
    std::vector<Dim> dims = x->type.dims;
    dims[0] = 1;
    return dims;
  }

  Value loop(std::vector<Value>& pool, int depth) {
    std::vector<Value> init{pick(2) ? b_.scalar_int(DType::kInt64, 0) : b_.binary(ir::Binary::kMax, counter(pool), b_.scalar_int(DType::kInt64, 0))};
    for (int k = 1 + pick(3); k > 0; --k) {
      Value v = any(pool);
      init.push_back(v);
      if (pick(2)) init.push_back(of_type(pool, v->type));  // something to swap with
    }
    auto condition = b_.begin_region();
    std::vector<Value> p;
    for (Value v : init) p.push_back(b_.region_parameter(v->type));
    Value until = b_.compare(ir::Compare::kLt, p[0], b_.scalar_int(DType::kInt64, 3));
    auto condition_region = condition.end({until});
    auto body = b_.begin_region();
    p.clear();
    for (Value v : init) p.push_back(b_.region_parameter(v->type));
    std::vector<Value> inside = pool;
    inside.insert(inside.end(), p.begin() + 1, p.end());
    fill(inside, 1 + pick(6), depth + 1);
    std::vector<Value> results{b_.add(p[0], b_.scalar_int(DType::kInt64, 1))};
    std::vector<Value> recent(inside.end() - long(std::min(inside.size(), size_t(8))), inside.end());
    recent.insert(recent.end(), p.begin() + 1, p.end());
    for (size_t k = 1; k < init.size(); ++k) results.push_back(pick(6) == 0 ? p[k] : of_type(recent, init[k]->type));
    auto body_region = body.end(results);
    const std::vector<Value> out = b_.while_loop(init, std::move(condition_region), std::move(body_region));
    pool.insert(pool.end(), out.begin() + 1, out.end());
    return nullptr;
  }

  Value branch(std::vector<Value>& pool, int depth) {
    Value which = b_.compare(ir::Compare::kGt, counter(pool), b_.scalar_int(DType::kInt64, 0));
    std::vector<ir::Type> types;
    for (int k = 1 + pick(2); k > 0; --k) types.push_back(any(pool)->type);
    std::vector<std::unique_ptr<ir::Region>> regions;
    for (int k = 0; k < 2; ++k) {
      auto r = b_.begin_region();
      std::vector<Value> inside = pool;
      fill(inside, pick(4), depth + 1);
      std::vector<Value> results;
      for (const auto& t : types) results.push_back(of_type(inside, t));
      auto r_region = r.end(results);
      regions.push_back(std::move(r_region));
    }
    const std::vector<Value> out = b_.branch(which, std::move(regions));
    pool.insert(pool.end(), out.begin(), out.end());
    return nullptr;
  }

  std::mt19937_64 random_;
  RandomOptions options_;
  ir::Builder b_;
  ir::Module& module_;
  std::vector<Dim> rows_;
};

}  // namespace

std::unique_ptr<ir::Module> random_module(uint64_t seed, const RandomOptions& options) {
  auto m = std::make_unique<ir::Module>();
  Maker(seed, options, *m).run();
  return m;
}

}  // namespace weft_engine::testing
