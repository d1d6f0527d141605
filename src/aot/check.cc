// The compiled functions beside the engine, on random inputs.
#include <algorithm>
#include <cmath>
#include <random>

#include "aot/aot.h"
#include "core/cat.h"

namespace weft_engine::aot {
namespace {

using core::Shape;

std::vector<int64_t> numbers(const ir::Type& t, std::span<const int64_t> symbols) {
  std::vector<int64_t> dims;
  for (const ir::Dim& d : t.dims) dims.push_back(d.evaluate(symbols));
  return dims;
}

// Floats around zero; small whole numbers, which serve as labels and indices.
void fill_random(Tensor& t, std::mt19937& rng) {
  std::normal_distribution<float> normal;
  const int64_t n = t.num_elements();
  switch (t.dtype()) {
    case DType::kFloat:
      for (float& v : t.span<float>()) v = normal(rng);
      break;
    case DType::kDouble:
      for (double& v : t.span<double>()) v = double(normal(rng));
      break;
    case DType::kInt32:
      for (int32_t& v : t.span<int32_t>()) v = int32_t(rng() % 4);
      break;
    case DType::kInt64:
      for (int64_t& v : t.span<int64_t>()) v = int64_t(rng() % 4);
      break;
    case DType::kBool:
      for (int64_t i = 0; i < n; ++i) t.data<int8_t>()[i] = rng() % 2;
      break;
    default: {
      char* p = t.data<char>();
      std::fill(p, p + t.byte_size(), char(1));
    }
  }
}

double as_double(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kFloat: return double(t.data<float>()[i]);
    case DType::kDouble: return t.data<double>()[i];
    case DType::kInt32: return double(t.data<int32_t>()[i]);
    case DType::kInt64: return double(t.data<int64_t>()[i]);
    case DType::kBool: return t.data<bool>()[i];
    case DType::kHalf: return double(float(t.data<core::half>()[i]));
    case DType::kBfloat16: return double(float(t.data<core::bfloat16>()[i]));
    case DType::kUint8: return t.data<uint8_t>()[i];
    case DType::kInt8: return t.data<int8_t>()[i];
    default: return 0;
  }
}

CheckLine compare(std::string function, std::string output, const Tensor& got, const Tensor& want) {
  CheckLine line{std::move(function), std::move(output), 0, 0, got.shape() == want.shape()};
  if (!line.agrees) return line;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const double a = as_double(got, i), b = as_double(want, i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) {
      line.largest = std::max(line.largest, std::isfinite(b) ? std::abs(b) : 0.0);
      continue;
    }
    line.difference = std::max(line.difference, std::isfinite(a - b) ? std::abs(a - b) : HUGE_VAL);
    line.largest = std::max(line.largest, std::abs(b));
  }
  const double tolerance = want.dtype() == DType::kHalf || want.dtype() == DType::kBfloat16 ? 2e-2 : core::is_floating_type(want.dtype()) ? 1e-3 : 0;
  line.agrees = line.difference <= tolerance * std::max(line.largest, 1e-3);
  return line;
}

}  // namespace

Result<std::vector<CheckLine>> check(saved_model::Model& model, const Net& net, int64_t open_size, int steps) {
  WEFT_ASSIGN(const compiler::CodegenApi* api, compiler::codegen());
  std::vector<CheckLine> lines;
  std::mt19937 rng(1);
  WEFT_ASSIGN(Tensor state, Tensor::zeros(DType::kInt8, Shape{net.state_bytes}));
  std::copy(net.initial.begin(), net.initial.end(), state.data<char>());
  for (const NetFunction& f : net.functions) {
    WEFT_ASSIGN(const auto code, api->jit(f.plan, {}));
    std::vector<int64_t> symbols(f.module->symbols.size(), open_size);
    for (size_t i = 0; i < symbols.size(); ++i) {
      if (const ir::Dim* d = bound_to(*f.module, i)) symbols[i] = d->evaluate(symbols);
    }
    std::vector<Tensor> inputs, outputs;
    for (const Port& p : f.inputs) {
      WEFT_ASSIGN(Tensor t, Tensor::allocate(p.type.dtype, Shape(numbers(p.type, symbols))));
      fill_random(t, rng);
      inputs.push_back(std::move(t));
    }
    for (const Port& p : f.outputs) {
      WEFT_ASSIGN(Tensor t, Tensor::allocate(p.type.dtype, Shape(numbers(p.type, symbols))));
      outputs.push_back(std::move(t));
    }
    WEFT_ASSIGN(Tensor arena, Tensor::allocate(DType::kInt8, Shape{f.plan.arena_bytes.evaluate(symbols)}));
    std::vector<void*> parameters, results;
    for (int p : f.parameters) parameters.push_back(p >= 0 ? inputs[size_t(p)].raw() : state.data<char>() + net.variables[size_t(~p)].offset);
    for (int r : f.results) results.push_back(r >= 0 ? outputs[size_t(r)].raw() : nullptr);
    std::vector<const void*> constants;
    for (const ir::Instr* c : f.plan.constants) constants.push_back(c->literal.raw());
    for (int step = 0; step < steps; ++step) {
      std::vector<Tensor> feeds = inputs, wants(f.fetches.size());
      WEFT_RETURN_IF_ERROR(model.session().run(f.feeds, feeds, f.fetches, wants, f.targets, {}));
      const int32_t error = code->entry()(parameters.data(), results.data(), constants.data(), symbols.data(), arena.data<char>(), nullptr);
      if (error != 0) return core::internal_error("compiled ", f.name, " failed: ", f.module->messages[size_t(error - 1)]);
      for (size_t i = 0; i < wants.size(); ++i) {
        CheckLine line = compare(f.name, f.outputs[i].name, outputs[i], wants[i]);
        auto same =
            std::find_if(lines.begin(), lines.end(), [&](const CheckLine& l) { return l.function == line.function && l.output == line.output; });
        if (same == lines.end()) {
          lines.push_back(std::move(line));
        } else {
          same->difference = std::max(same->difference, line.difference);
          same->largest = std::max(same->largest, line.largest);
          same->agrees = same->agrees && line.agrees;
        }
      }
    }
  }
  return lines;
}

}  // namespace weft_engine::aot
