// Many walks back at once: gradients that carry a row for each of several seeds, in a dimension in front that rules do not
// see. Jacobians are made with it. An op that it does not know ends the walk with Unimplemented, and the caller asks seed by seed.
#pragma once

#include "op/emitter.h"

namespace weft::autodiff {

using namespace weft::op;

class VectorEmitter final : public Emitter {
 public:
  // Emits on `base`; `rows` is the length of the dimension in front.
  VectorEmitter(Emitter& base, int64_t rows) : base_(base), rows_(rows) {}

  // `v`, of shape [rows, ...], as a value of the shape behind.
  Value batched(const Value& v);
  // The other way; a value without rows is repeated.
  Value unbatched(const Value& v);
  static bool is_batched(const Value& v);

 protected:
  Result<std::vector<Value>> do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) override;
  Result<Value> do_constant(Tensor value) override;

 private:
  class Call;
  Emitter& base_;
  const int64_t rows_;
};

}  // namespace weft::autodiff
