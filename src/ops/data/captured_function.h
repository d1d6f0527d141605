// CapturedFunction: a function that a dataset calls, with the tensors that it brings along. Planned when
// the dataset is made; called by any number of iterators, on the thread that asks for an element.
#pragma once

#include <memory>
#include <string_view>

#include "ops/data/dataset.h"

namespace weft_engine::op {
class FunctionCaller;
class FunctionHandle;
}  // namespace weft_engine::op

namespace weft_engine::ops::data {

class CapturedFunction {
 public:
  // The function of the attribute `attr` with the tensors of the input list `captured`.
  static Result<std::shared_ptr<const CapturedFunction>> make(const KernelContext& c, std::string_view attr, std::string_view captured);
  static Result<std::shared_ptr<const CapturedFunction>> make(const KernelContext& c, std::string_view attr, Element captured);
  static Result<std::shared_ptr<const CapturedFunction>> make(const KernelContext& c, const FunctionAttr& function, Element captured);

  // Takes the arguments over; the captured tensors follow them.
  Status call(IteratorContext& c, Element args, Element& rets) const;
  // The same, where one result is wanted: a scalar bool, or a scalar int64. `what` begins the error text.
  Status call_predicate(IteratorContext& c, Element args, std::string_view error, bool& answer) const;
  Status call_number(IteratorContext& c, Element args, std::string_view error, int64_t& answer) const;
  size_t num_results() const;

 private:
  std::shared_ptr<FunctionHandle> handle_;
  Element captured_;
  FunctionCaller* caller_ = nullptr;  // who made the handle, held with it; functions that it calls by name are his, too
};
using FunctionPtr = std::shared_ptr<const CapturedFunction>;

}  // namespace weft_engine::ops::data
