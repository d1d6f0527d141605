// Layers that make one tensor of several: Add()({a, b}).
#pragma once

#include <string>
#include <vector>

#include "weft/nn/layer.h"

namespace weft::nn {

// Elementwise; inputs of a lower rank are given axes of size 1 behind the batch.
class WEFT_API Merge : public Layer {
 public:
  void build_many(const std::vector<PartialShape>& inputs) override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask_many(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) const override;  // where any counts

 protected:
  enum class Kind { add, subtract, multiply, average, maximum, minimum };
  Merge(Kind kind, const std::string& type, const std::string& name) : Layer(type, name), kind_(kind) {}

 private:
  Kind kind_;
};
#define WEFT_MERGE(Name)                              \
  class WEFT_API Name : public LayerOf<Name, Merge> { \
   public:                                            \
    explicit Name(const std::string& name = {});      \
  };
WEFT_MERGE(Add)
WEFT_MERGE(Subtract)
WEFT_MERGE(Multiply)
WEFT_MERGE(Average)
WEFT_MERGE(Maximum)
WEFT_MERGE(Minimum)
#undef WEFT_MERGE

class WEFT_API Concatenate : public LayerOf<Concatenate> {
 public:
  explicit Concatenate(int64_t axis = -1, const std::string& name = {});
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;

 private:
  int64_t axis_;
};

struct DotOptions {
  bool normalize = false;  // to length one first: the cosine
  std::string name = {};
};
// Products summed along one axis of each of two inputs.
class WEFT_API Dot : public LayerOf<Dot> {
 public:
  explicit Dot(int64_t axes, DotOptions o = {});
  Dot(std::pair<int64_t, int64_t> axes, DotOptions o = {});
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const override;

 private:
  std::pair<int64_t, int64_t> axes_;
  DotOptions o_;
};

}  // namespace weft::nn
