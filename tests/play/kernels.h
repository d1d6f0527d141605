// Calls with their kernels as files that a small program on a machine with a GPU runs and compares (tests/gpu/run_kernels.cc): cases.txt, data.bin
// and one PTX file for each call.
#pragma once

#include <fstream>
#include <string>

#include "core/tensor.h"
#include "tests/compiler/gpu_machine.h"

namespace weft_engine::testing {

class KernelFiles {
 public:
  explicit KernelFiles(const std::string& folder);
  // `expected`: what the results should be; empty: of sizes alone, to be timed.
  core::Status add(const std::string& name, const ir::Module& m, const std::vector<core::Tensor>& parameters,
                   const std::vector<core::Tensor>& expected, double bytes = 0, double flops = 0);
  int count() const { return count_; }

 private:
  void write(const std::vector<compiler::GpuLaunch>& launches, const std::vector<int64_t>& symbols);
  void write(const compiler::GpuArg& a, const std::vector<int64_t>& symbols);
  int64_t data(const void* bytes, size_t size);

  std::string folder_;
  std::ofstream cases_, data_;
  int64_t at_ = 0;
  int count_ = 0;
};

}  // namespace weft_engine::testing
