// What a module means: its instructions followed one by one, in double precision and without any planning. The code generator's oracle.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/ir.h"

namespace weft_engine::testing {

struct Array {
  ir::DType dtype = ir::DType::kInvalid;
  std::vector<int64_t> dims;
  std::vector<double> f;   // floats; real parts
  std::vector<double> im;  // imaginary parts
  std::vector<int64_t> n;  // ints and bools
  bool real() const;
  size_t size() const;
};

struct Interpreted {
  std::vector<Array> results;
  int error = 0;  // as compiled code returns it
};

Interpreted interpret(const ir::Module& m, const std::vector<Array>& parameters, const std::vector<int64_t>& symbols);

}  // namespace weft_engine::testing
