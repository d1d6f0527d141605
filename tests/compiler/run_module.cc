#include "tests/compiler/run_module.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

namespace weft_engine::testing {
namespace {

using ir::DType;

struct Memory {
  explicit Memory(size_t bytes) : size(bytes), p(static_cast<char*>(std::aligned_alloc(64, (bytes + 191) / 64 * 64)), &std::free) {
    std::memset(p.get(), 0x5a, (bytes + 191) / 64 * 64);
  }
  // Nothing was written behind the end.
  bool intact() const {
    for (size_t k = size; k < (size + 191) / 64 * 64; ++k) {
      if (p.get()[k] != 0x5a) return false;
    }
    return true;
  }
  size_t size;
  std::unique_ptr<char, void (*)(void*)> p;
};

void put(const Array& a, char* to) {
  for (size_t k = 0; k < a.size(); ++k) {
    if (a.dtype == DType::kFloat) {
      const float f = float(a.f[k]);
      std::memcpy(to + 4 * k, &f, 4);
    } else if (a.dtype == DType::kDouble) {
      std::memcpy(to + 8 * k, &a.f[k], 8);
    } else if (a.real()) {  // half, bfloat16: numbers that fit
      uint16_t bits = 0;
      if (a.dtype == DType::kHalf) bits = std::bit_cast<uint16_t>(core::half(float(a.f[k])));
      else bits = std::bit_cast<uint16_t>(core::bfloat16(float(a.f[k])));
      std::memcpy(to + 2 * k, &bits, 2);
    } else {
      std::memcpy(to + core::dtype_size(a.dtype) * k, &a.n[k], core::dtype_size(a.dtype));
    }
  }
}

void get(Array& a, const char* from) {
  for (size_t k = 0; k < a.size(); ++k) {
    if (a.dtype == DType::kFloat) {
      float f;
      std::memcpy(&f, from + 4 * k, 4);
      a.f.push_back(f);
    } else if (a.dtype == DType::kDouble) {
      double f;
      std::memcpy(&f, from + 8 * k, 8);
      a.f.push_back(f);
    } else if (a.dtype == DType::kHalf) {
      core::half f;
      std::memcpy(&f, from + 2 * k, 2);
      a.f.push_back(float(f));
    } else if (a.dtype == DType::kBfloat16) {
      core::bfloat16 f;
      std::memcpy(&f, from + 2 * k, 2);
      a.f.push_back(float(f));
    } else {
      const size_t bytes = core::dtype_size(a.dtype);
      int64_t v = 0;
      std::memcpy(&v, from + bytes * k, bytes);
      const bool is_signed = a.dtype == DType::kInt8 || a.dtype == DType::kInt16 || a.dtype == DType::kInt32;
      if (is_signed) v = v << (64 - 8 * bytes) >> (64 - 8 * bytes);
      a.n.push_back(v);
    }
  }
}

Array empty(const ir::Type& t, const std::vector<int64_t>& symbols) {
  Array a;
  a.dtype = t.dtype;
  for (const ir::Dim& d : t.dims) a.dims.push_back(d.evaluate(symbols));
  return a;
}

}  // namespace

std::vector<Array> random_parameters(const ir::Module& m, const std::vector<int64_t>& symbols, uint64_t seed, const Fill& fill) {
  std::mt19937_64 random(seed);
  std::vector<Array> out;
  for (const ir::Parameter& p : m.parameters) {
    Array a = empty(p.type, symbols);
    std::uniform_real_distribution<double> real(-fill.scale, fill.scale);
    std::uniform_int_distribution<int64_t> whole(fill.low, fill.high);
    for (size_t k = 0; k < a.size(); ++k) {
      if (a.real()) {
        const double v = real(random);
        a.f.push_back(a.dtype == DType::kFloat ? double(float(v)) : a.dtype == DType::kDouble ? v : std::round(v * 64) / 64);
      } else {
        const int64_t v = whole(random);
        a.n.push_back(a.dtype == DType::kBool ? v & 1
                      : p.type.dtype == DType::kUint8 || p.type.dtype == DType::kUint16 || p.type.dtype == DType::kUint32 ||
                              p.type.dtype == DType::kUint64
                          ? std::abs(v)
                          : v);
      }
    }
    out.push_back(std::move(a));
  }
  return out;
}

core::Result<Interpreted> run_compiled(const ir::Module& m, const std::vector<Array>& parameters, const std::vector<int64_t>& symbols,
                                       const compiler::CodegenOptions& options) {
  return run_compiled_by(m, 1, parameters, symbols, [&](const compiler::Plan& plan, const GpuCall& call) -> core::Result<int32_t> {
    WEFT_ASSIGN(const compiler::CodegenApi* api, compiler::codegen());
    WEFT_ASSIGN(const auto code, api->jit(plan, options));
    std::vector<const void*> constants;
    if (!options.embed_constants) {
      for (const ir::Instr* c : plan.constants) constants.push_back(c->literal.raw());
    }
    const Memory arena{size_t(plan.arena_bytes.evaluate(symbols))};
    const int32_t error = code->entry()(call.parameters.data(), call.results.data(), constants.data(), symbols.data(), arena.p.get(), nullptr);
    if (!arena.intact()) return core::internal_error("compiled code wrote behind the arena's end");
    return error;
  });
}

core::Result<Interpreted> run_compiled_by(const ir::Module& m, int threads, const std::vector<Array>& parameters, const std::vector<int64_t>& symbols,
                                          const std::function<core::Result<int32_t>(const compiler::Plan&, const GpuCall&)>& run) {
  WEFT_RETURN_IF_ERROR(ir::verify(m));
  WEFT_ASSIGN(const compiler::Plan plan, compiler::make_plan(m, threads));
  std::vector<Memory> memory;
  GpuCall call;
  call.symbols = symbols;
  for (size_t k = 0; k < parameters.size(); ++k) {
    memory.emplace_back(parameters[k].size() * core::dtype_size(parameters[k].dtype));
    put(parameters[k], memory.back().p.get());
    call.parameters.push_back(memory.back().p.get());
  }
  Interpreted r;
  for (size_t k = 0; k < m.main->results.size(); ++k) {
    r.results.push_back(empty(m.main->results[k]->type, symbols));
    if (m.results[k].state >= 0) {
      call.results.push_back(nullptr);
      continue;
    }
    memory.emplace_back(r.results.back().size() * core::dtype_size(r.results.back().dtype));
    call.results.push_back(memory.back().p.get());
  }
  WEFT_ASSIGN(r.error, run(plan, call));
  for (const Memory& x : memory) {
    if (!x.intact()) return core::internal_error("compiled code wrote behind a buffer's end");
  }
  for (size_t k = 0; k < r.results.size(); ++k) {
    get(r.results[k], static_cast<const char*>(m.results[k].state >= 0 ? call.parameters[size_t(m.results[k].state)] : call.results[k]));
  }
  return r;
}

std::string difference(const Interpreted& got, const Interpreted& want, double tolerance) {
  if ((got.error != 0) != (want.error != 0)) return core::cat("returned ", got.error, " instead of ", want.error);
  if (want.error) return "";  // values after an error mean nothing; of several errors, any may come first
  for (size_t r = 0; r < want.results.size(); ++r) {
    const Array &g = got.results[r], &w = want.results[r];
    for (size_t k = 0; k < w.size(); ++k) {
      if (w.real()) {
        const double a = g.f[k], c = w.f[k];
        if (std::isnan(a) && std::isnan(c)) continue;
        // float cannot hold what double can
        if (w.dtype == DType::kFloat && a == double(float(c))) continue;
        if (!(std::fabs(a - c) <= tolerance * std::max(1.0, std::fabs(c))))
          return core::cat("result ", r, " element ", k, " of ", w.size(), ": ", a, " instead of ", c);
      } else if (g.n[k] != w.n[k]) {
        return core::cat("result ", r, " element ", k, " of ", w.size(), ": ", g.n[k], " instead of ", w.n[k]);
      }
    }
  }
  return "";
}

std::string compare_with_interpreter(const ir::Module& m, const std::vector<int64_t>& symbols, uint64_t seed, double tolerance, const Fill& fill,
                                     const compiler::CodegenOptions& options) {
  const std::vector<Array> parameters = random_parameters(m, symbols, seed, fill);
  const auto got = run_compiled(m, parameters, symbols, options);
  if (!got.ok()) return got.status().to_string();
  return difference(*got, interpret(m, parameters, symbols), tolerance);
}

}  // namespace weft_engine::testing
