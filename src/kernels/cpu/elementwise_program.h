// A chain of elementwise operations run in one pass: block by block, each operation's loop (elementwise.h) goes over a block that
// stays in the nearest cache. The loops are those of the single ops, so that the bits are theirs too.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/shape.h"
#include "core/status.h"
#include "core/thread_pool.h"
#include "kernels/cpu/elementwise.h"

namespace weft_engine::kernels {

// Values are numbered: first the inputs, then the constants, then the result of each step. They are all of one type.
class ElementwiseProgram {
 public:
  // Steps as text: the name of a function of scalar_functions.inc and its operands, "Add 0 1". InvalidArgument for what cannot be a
  // program, Unimplemented for a function that has no loop of the type. `results` are the values to give out.
  static core::Result<ElementwiseProgram> make(core::DType type, int inputs, std::span<const float> constants, std::span<const std::string> steps,
                                               std::span<const int64_t> results);

  // The shape of every output: all inputs broadcast against each other; nullopt if they do not fit.
  static std::optional<core::Shape> output_shape(std::span<const core::Shape* const> inputs);

  // Output k may be the memory of input i (which has the output's shape).
  bool may_reuse(int input, int output) const;
  void run(const core::Shape& shape, std::span<const core::Shape* const> input_shapes, std::span<const void* const> inputs,
           std::span<void* const> outputs, core::ThreadPool& pool) const;
  // The same where every input is one number, which needs no shapes: tens of nanoseconds for a few steps, two for each further one.
  // Only where has_numbers().
  void run_numbers(std::span<const void* const> inputs, std::span<void* const> outputs) const;
  bool has_numbers() const { return type_ == core::DType::kFloat; }

 private:
  struct Step {
    UnaryLoop unary = nullptr;
    BinaryLoop binary = nullptr;
    int a = 0, b = 0;
    int slot = -1;    // of scratch memory, if not an output
    int output = -1;  // the first output that it is
  };
  // A step on numbers: the commonest operations in place, the others by their loops.
  enum class Direct : uint32_t { kLoop, kAdd, kSub, kMul, kDiv, kNeg, kSquare };
  static Direct direct(Unary op);
  static Direct direct(Binary op);
  struct NumberStep {
    uint32_t a, b;
    Direct op;
  };
  struct Block;
  struct Operand;
  void run_blocks(const Block& block, int64_t begin, int64_t end) const;
  void run_numbers(float* values) const;
  void assign_slots();

  core::DType type_{};
  int inputs_ = 0, slots_ = 0;
  std::vector<double> constants_;  // the first bytes of each hold the number in the program's type
  std::vector<Step> steps_;
  std::vector<float> numbers_;             // the constants of a program of floats
  std::vector<NumberStep> number_steps_;   // and its steps
  std::vector<int> results_, last_use_;  // last_use_: the step that reads an input last, -1 if none does
  double cost_ = 0;                      // nanoseconds an element
};

}  // namespace weft_engine::kernels
