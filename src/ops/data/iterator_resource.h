// IteratorResource: an iterator that lives across op calls; what IteratorV2 and its kin make a handle of.
// StringHandles: iterators by the text that names them, for as long as somebody holds them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ops/data/dataset.h"
#include "ops/data/iterator_state.h"

namespace weft_engine::ops::data {

class IteratorResource final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow4data16IteratorResourceE";
  IteratorResource(std::vector<DType> types, std::vector<PartialShape> shapes) : types_(std::move(types)), shapes_(std::move(shapes)) {}
  std::string type_name() const override { return "Iterator"; }
  const std::vector<DType>& types() const { return types_; }
  const std::vector<PartialShape>& shapes() const { return shapes_; }

  // For HandleKernel: types and shapes are those of the node's attributes.
  static Result<std::shared_ptr<IteratorResource>> make(const KernelContext& c, const std::string& name);
  Status check_shared(const KernelContext& c) const;

  // Starts at the beginning of a dataset, whose elements must be as promised.
  Status start(IteratorContext& c, const Dataset& dataset);
  // FailedPrecondition before the first start.
  Status next(IteratorContext& c, Element& out, bool& end);
  // How far the walk is, and a walk over the same dataset that is as far.
  Result<IteratorState> save();
  Status restore(IteratorContext& c, const IteratorState& state);
  bool started() { return walk() != nullptr; }

 private:
  // A walk is asked by one at a time; a new start does not disturb who waits for an element of the old one.
  struct Walk {
    std::mutex mutex;
    IteratorPtr iterator;
    IteratorState state;
  };
  std::shared_ptr<Walk> walk();
  const std::vector<DType> types_;
  const std::vector<PartialShape> shapes_;
  std::mutex mutex_;
  std::shared_ptr<Walk> walk_;
};

// The generators of a dataset and of what it is made of, from the root down.
std::vector<SeedGenerator*> seeds_below(const Dataset& dataset);

// A resource tensor as text, and back.
Status run_to_string_handle(KernelContext& c);
Result<Tensor> handle_from_string(KernelContext& c, const Tensor& text, const char* type_name);

// A variant that must live as long as the iterator is to live.
Tensor deleter_tensor();

}  // namespace weft_engine::ops::data
