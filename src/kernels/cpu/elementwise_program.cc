#include "kernels/cpu/elementwise_program.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include "core/cat.h"
#include "core/small_array.h"
#include "kernels/cpu/broadcast.h"
#include "kernels/cpu/fill.h"

namespace weft_engine::kernels {

using core::DType;
using core::invalid_argument;
using core::Result;
using core::Shape;

namespace {

constexpr size_t kMostSteps = 8192;
constexpr int64_t kBlock = 512;  // elements, about; four to eight blocks fit the nearest cache
constexpr int64_t kMostBlock = 2 * kBlock;
constexpr size_t kFew = 16;

}  // namespace

// Only what has one possible result, so that it does not matter who computes it.
ElementwiseProgram::Direct ElementwiseProgram::direct(Unary op) {
  return op == Unary::kNeg ? Direct::kNeg : op == Unary::kSquare ? Direct::kSquare : Direct::kLoop;
}
ElementwiseProgram::Direct ElementwiseProgram::direct(Binary op) {
  switch (op) {
    case Binary::kAdd: return Direct::kAdd;
    case Binary::kSub: return Direct::kSub;
    case Binary::kMul: return Direct::kMul;
    case Binary::kDiv: return Direct::kDiv;
    default: return Direct::kLoop;
  }
}

Result<ElementwiseProgram> ElementwiseProgram::make(DType type, int inputs, std::span<const float> constants, std::span<const std::string> steps,
                                                    std::span<const int64_t> results) {
  ElementwiseProgram p;
  p.type_ = type;
  p.inputs_ = inputs;
  if (steps.empty() || steps.size() > kMostSteps) return invalid_argument("a program has 1 to ", kMostSteps, " steps, got ", steps.size());
  for (float c : constants) {
    double& to = p.constants_.emplace_back(c);
    if (type == DType::kFloat) std::memcpy(&to, &c, sizeof c);
  }
  if (type == DType::kFloat) p.numbers_.assign(constants.begin(), constants.end());
  const int before = inputs + int(constants.size());
  for (const std::string& text : steps) {
    const char *at = text.data(), *end = at + text.size();
    const char* space = std::find(at, end, ' ');
    const std::string_view name(at, size_t(space - at));
    int64_t operands[2] = {-1, -1};
    int count = 0;
    for (at = space; at != end && *at == ' ' && count < 2; ++count) {
      const auto [next, error] = std::from_chars(at + 1, end, operands[count]);
      if (error != std::errc()) break;
      at = next;
    }
    const int known = before + int(p.steps_.size());
    if (at != end || count == 0) return invalid_argument("\"", text, "\" is not a step of a program: an op and its operands, separated by spaces");
    for (int i = 0; i < count; ++i) {
      if (operands[i] < 0 || operands[i] >= known)
        return invalid_argument("step \"", text, "\" reads value ", operands[i], ", and there are ", known);
    }
    Step step;
    step.a = int(operands[0]), step.b = int(operands[1]);
    const auto unary = find_unary(name);
    const auto binary = find_binary(name);
    if (unary ? !keeps_type(*unary) : !binary || !keeps_type(*binary)) return core::unimplemented("a program cannot hold the function ", name);
    if ((unary && count != 1) || (binary && count != 2)) return invalid_argument("step \"", text, "\" has the wrong number of operands");
    if (unary) step.unary = unary_loop(*unary, type);
    else step.binary = binary_loop(*binary, type);
    if (!step.unary && !step.binary) return core::unimplemented("no kernel of ", name, " for type ", core::dtype_name(type));
    p.cost_ += unary ? unary_cost(*unary, type) : binary_cost(*binary, type);
    p.steps_.push_back(step);
    if (type == DType::kFloat) p.number_steps_.push_back({uint32_t(step.a), uint32_t(std::max(step.b, 0)), unary ? direct(*unary) : direct(*binary)});
  }
  for (int64_t r : results) {
    if (r < before || r >= before + int(p.steps_.size())) return invalid_argument("result ", r, " is not the value of a step");
    p.results_.push_back(int(r));
  }
  if (p.results_.empty()) return invalid_argument("a program without results");
  p.assign_slots();
  return p;
}

// Scratch blocks are shared: a step's block is free again behind the last step that reads it.
void ElementwiseProgram::assign_slots() {
  const int before = inputs_ + int(constants_.size()), count = int(steps_.size());
  std::vector<int> last(size_t(before + count), -1);
  for (int i = 0; i < count; ++i) {
    last[size_t(steps_[size_t(i)].a)] = i;
    if (steps_[size_t(i)].b >= 0) last[size_t(steps_[size_t(i)].b)] = i;
  }
  for (size_t k = results_.size(); k-- > 0;) steps_[size_t(results_[k] - before)].output = int(k);
  std::vector<int> free;
  for (int i = 0; i < count; ++i) {
    Step& s = steps_[size_t(i)];
    // A loop may write over an operand that it reads, so that an operand's block may serve the result.
    for (int operand : {s.a, s.b}) {
      if (operand < before || last[size_t(operand)] != i) continue;
      const Step& from = steps_[size_t(operand - before)];
      if (from.slot >= 0 && std::find(free.begin(), free.end(), from.slot) == free.end()) free.push_back(from.slot);
    }
    if (s.output >= 0) continue;
    if (free.empty()) {
      s.slot = slots_++;
    } else {
      s.slot = free.back();
      free.pop_back();
    }
  }
  last_use_.assign(last.begin(), last.begin() + inputs_);
}

std::optional<Shape> ElementwiseProgram::output_shape(std::span<const Shape* const> inputs) {
  std::optional<Shape> shape = *inputs[0];
  for (size_t i = 1; shape && i < inputs.size(); ++i) {
    if (*inputs[i] != *shape) shape = broadcast_shape(*shape, *inputs[i]);
  }
  return shape;
}

bool ElementwiseProgram::may_reuse(int input, int output) const {
  const int before = inputs_ + int(constants_.size());
  for (size_t k = 0; k < results_.size(); ++k) {
    if (int(k) == output) continue;
    if (results_[k] == results_[size_t(output)]) return false;  // it is copied
  }
  return last_use_[size_t(input)] <= results_[size_t(output)] - before;
}

void ElementwiseProgram::run_numbers(std::span<const void* const> inputs, std::span<void* const> outputs) const {
  const size_t before = inputs.size() + numbers_.size(), count = before + steps_.size();
  core::SmallArray<float, 1024> memory(count);
  float* const values = memory.data();
  for (size_t i = 0; i < inputs.size(); ++i) values[i] = *static_cast<const float*>(inputs[i]);
  std::copy(numbers_.begin(), numbers_.end(), values + inputs.size());
  run_numbers(values);
  for (size_t k = 0; k < results_.size(); ++k) *static_cast<float*>(outputs[k]) = values[results_[k]];
}

void ElementwiseProgram::run_numbers(float* values) const {
  float* to = values + size_t(inputs_) + numbers_.size();
  for (const NumberStep& s : number_steps_) {
    const float a = values[s.a], b = values[s.b];
    switch (s.op) {
      case Direct::kAdd: *to = a + b; break;
      case Direct::kSub: *to = a - b; break;
      case Direct::kMul: *to = a * b; break;
      case Direct::kDiv: *to = a / b; break;
      case Direct::kNeg: *to = -a; break;
      case Direct::kSquare: *to = a * a; break;
      case Direct::kLoop: {
        const Step& step = steps_[size_t(&s - number_steps_.data())];
        if (step.unary) step.unary(&values[s.a], to, 1);
        else step.binary(&values[s.a], &values[s.b], to, 1, 1, 1);
      }
    }
    ++to;
  }
}

namespace {

// The first dimensions as a whole, the last ones not at all: each element comes several times in a row.
bool is_repeated(const Shape& s, const Shape& all) {
  const int missing = all.rank() - s.rank();
  int d = 0;
  while (d < all.rank() && (d < missing ? 1 : s.dim(d - missing)) == all.dim(d)) ++d;
  for (; d < all.rank(); ++d) {
    if (d >= missing && s.dim(d - missing) != 1) return false;
  }
  return true;
}

}  // namespace

// Where an input's elements for a block come from.
struct ElementwiseProgram::Operand {
  const char* data = nullptr;
  enum { kDense, kScalar, kPeriodic, kRepeated, kExpanded } kind = kDense;
  std::unique_ptr<Broadcast> walk;  // of the expanded; a large thing
  int64_t period = 0;               // how many differ; of the repeated, how often each comes in a row
};

struct ElementwiseProgram::Block {
  std::span<const Operand> operands;
  std::span<void* const> outputs;
  int64_t total = 0, block = 0;  // elements
  size_t size = 0;               // bytes of an element
};

void ElementwiseProgram::run(const Shape& shape, std::span<const Shape* const> input_shapes, std::span<const void* const> inputs,
                             std::span<void* const> outputs, core::ThreadPool& pool) const {
  Block b;
  b.total = shape.num_elements();
  if (b.total == 0) return;
  b.outputs = outputs;
  b.size = core::dtype_size(type_);
  core::SmallArray<Operand, kFew> operands{size_t(inputs_)};
  b.operands = {operands.data(), operands.size()};
  int64_t longest = 0;
  for (int i = 0; i < inputs_; ++i) {
    Operand& o = operands[size_t(i)];
    const Shape& s = *input_shapes[size_t(i)];
    o.data = static_cast<const char*>(inputs[size_t(i)]);
    const int64_t n = s.num_elements();
    if (n == b.total) continue;
    if (n == 1) {
      o.kind = Operand::kScalar;
      continue;
    }
    // The last dimensions as a whole, the others not at all: repeats with a period.
    int same = 0;
    while (same < s.rank() && s.dim(s.rank() - 1 - same) == shape.dim(shape.rank() - 1 - same)) ++same;
    bool rest_is_one = true;
    for (int d = 0; d < s.rank() - same; ++d) rest_is_one = rest_is_one && s.dim(d) == 1;
    o.kind = rest_is_one ? Operand::kPeriodic : Operand::kExpanded;
    o.period = n;
    if (!rest_is_one && b.size == 4 && is_repeated(s, shape)) {
      o.kind = Operand::kRepeated;
      o.period = b.total / n;
    }
    if (rest_is_one && n <= kBlock) longest = std::max(longest, n);
  }
  // Blocks hold a whole number of periods, so that a repeated input is written out once.
  b.block = longest ? std::max<int64_t>(1, kBlock / longest) * longest : kBlock;
  for (int i = 0; i < inputs_; ++i) {
    Operand& o = operands[size_t(i)];
    if (o.kind == Operand::kPeriodic && b.block % o.period != 0) o.kind = Operand::kExpanded;
    if (o.kind != Operand::kExpanded) continue;
    const Shape* const one[] = {input_shapes[size_t(i)]};
    o.walk = std::make_unique<Broadcast>(shape, one);
  }
  const int64_t blocks = (b.total + b.block - 1) / b.block;
  pool.parallel_for(blocks, cost_ * double(b.block) + 10, [&](int64_t begin, int64_t end) { run_blocks(b, begin, end); });
}

void ElementwiseProgram::run_blocks(const Block& b, int64_t begin, int64_t end) const {
  const size_t block_bytes = size_t(b.block) * b.size;
  int own = slots_;  // blocks of scratch: the steps', and those of inputs that are not read where they are
  core::SmallArray<int, kFew> expanded{size_t(inputs_)};
  for (int i = 0; i < inputs_; ++i) {
    const auto kind = b.operands[size_t(i)].kind;
    expanded[size_t(i)] = kind == Operand::kDense || kind == Operand::kScalar ? -1 : own++;
  }
  alignas(64) char near_memory[8 * kMostBlock * sizeof(float)];
  std::unique_ptr<char[]> far_memory;
  char* scratch = near_memory;
  if (size_t(own) * block_bytes > sizeof near_memory) {
    far_memory = std::make_unique_for_overwrite<char[]>(size_t(own) * block_bytes + 64);
    scratch = far_memory.get() + (64 - reinterpret_cast<uintptr_t>(far_memory.get()) % 64) % 64;
  }
  auto slot = [&](int i) { return scratch + size_t(i) * block_bytes; };
  for (int i = 0; i < inputs_; ++i) {
    const Operand& o = b.operands[size_t(i)];
    if (o.kind != Operand::kPeriodic) continue;
    const size_t bytes = size_t(o.period) * b.size;
    for (int64_t at = 0; at < b.block; at += o.period) std::memcpy(slot(expanded[size_t(i)]) + size_t(at) * b.size, o.data, bytes);
  }
  const int before = inputs_ + int(constants_.size());
  struct View {
    const char* data;
    int stride;
  };
  core::SmallArray<View, 4 * kFew> values(size_t(before) + steps_.size());
  for (size_t i = 0; i < constants_.size(); ++i) values[size_t(inputs_) + i] = {reinterpret_cast<const char*>(&constants_[i]), 0};
  for (int64_t block = begin; block < end; ++block) {
    const int64_t first = block * b.block, n = std::min(b.block, b.total - first);
    for (int i = 0; i < inputs_; ++i) {
      const Operand& o = b.operands[size_t(i)];
      if (o.kind == Operand::kDense) {
        values[size_t(i)] = {o.data + size_t(first) * b.size, 1};
      } else if (o.kind == Operand::kScalar) {
        values[size_t(i)] = {o.data, 0};
      } else {
        char* to = slot(expanded[size_t(i)]);
        if (o.kind == Operand::kRepeated) {
          WEFT_BEST_ISA(repeat_words)
          (reinterpret_cast<const uint32_t*>(o.data) + first / o.period, o.period, first % o.period, reinterpret_cast<uint32_t*>(to), n);
        } else if (o.kind == Operand::kExpanded) {
          o.walk->for_runs(first, first + n, [&](const Broadcast::Offsets& from, int64_t at, int64_t count) {
            char* out = to + size_t(at - first) * b.size;
            const char* in = o.data + size_t(from.at[0]) * b.size;
            if (o.walk->inner_stride(0)) std::memcpy(out, in, size_t(count) * b.size);
            else if (b.size == 4) std::fill_n(reinterpret_cast<float*>(out), count, *reinterpret_cast<const float*>(in));
            else std::fill_n(reinterpret_cast<double*>(out), count, *reinterpret_cast<const double*>(in));
          });
        }
        values[size_t(i)] = {to, 1};
      }
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& s = steps_[i];
      char* to = s.output >= 0 ? static_cast<char*>(b.outputs[size_t(s.output)]) + size_t(first) * b.size : slot(s.slot);
      const View x = values[size_t(s.a)], y = s.b >= 0 ? values[size_t(s.b)] : View{nullptr, 1};
      // Of numbers alone, one result is enough, unless it is given out.
      const bool single = !x.stride && (s.unary || !y.stride);
      const int64_t count = single ? 1 : n;
      if (s.unary) s.unary(x.data, to, count);
      else s.binary(x.data, y.data, to, count, single ? 1 : x.stride, single ? 1 : y.stride);
      if (single && s.output >= 0) {
        for (int64_t k = 1; k < n; ++k) std::memcpy(to + size_t(k) * b.size, to, b.size);
      }
      values[size_t(before) + i] = {to, single && s.output < 0 ? 0 : 1};
    }
    for (size_t k = 0; k < results_.size(); ++k) {  // a value given out twice
      const Step& s = steps_[size_t(results_[k] - before)];
      if (s.output == int(k)) continue;
      std::memcpy(static_cast<char*>(b.outputs[k]) + size_t(first) * b.size, values[size_t(results_[k])].data, size_t(n) * b.size);
    }
  }
}

}  // namespace weft_engine::kernels
