// Op: one call being put together: name, attributes, inputs, device; then execute. An object can be
// reset and used again, which spares the look-up of the op.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "eager/context.h"
#include "eager/tensor_handle.h"

namespace weft_engine::eager {

// The op of that name; NotFound in the words of TensorFlow's eager runtime, which also knows functions.
Result<const op::OpSpec*> find_op(Context& context, std::string_view name);

class Op {
 public:
  explicit Op(Context& context) : context_(&context) {}

  // Gives up inputs and attributes, keeping the memory for the next call.
  void clear();
  void clear_inputs() { inputs_.clear(); }
  // The spec of a function belongs to its context. An op that waits to be used again may outlive that, and must not look at it.
  void forget_function() {
    if (!is_function_) return;
    spec_ = nullptr;
    signature_ = nullptr;
    is_function_ = false;
  }
  // NotFound for an unknown op; InvalidArgument for a bad device name.
  Status reset(std::string_view name, std::string_view device = {});
  // The same for an op of the registry, without a look-up.
  Status reset(const op::OpSpec& spec, std::string_view device = {});
  bool is(std::string_view name) const { return spec_ && spec_->name == name; }

  Context& context() const { return *context_; }
  const op::OpSpec* spec() const { return spec_; }
  Status set_device(std::string_view device);
  Device* requested_device() const { return device_; }

  void add_input(RefPtr<TensorHandle> input) { inputs_.push_back(std::move(input)); }
  const std::vector<RefPtr<TensorHandle>>& inputs() const { return inputs_; }
  Status set_input(int i, RefPtr<TensorHandle> input);

  // Sets an attribute; its kind is checked when the op executes. Names of no attribute are an error.
  Status set_attr(std::string_view name, op::AttrValue value);
  const std::vector<std::pair<std::string, op::AttrValue>>& attrs() const { return attrs_; }

  // The length of the input or output argument of that name, as far as it is known now.
  Result<int> input_length(std::string_view name) const;
  Result<int> output_length(std::string_view name) const;

  // Whether the kernel that ran is to be remembered, for tapes; off unless asked for, and after each clear.
  void keep_kernel(bool on) { keep_kernel_ = on; }
  const std::shared_ptr<CachedKernel>& kernel() const { return kernel_; }
  // The device on whose kernel the last call got as far as running; null: it was refused before.
  Device* ran_on() const { return ran_on_; }

  // Runs the op; `outputs` is filled with as many handles as the op has outputs. An error names the op in its origin.
  Status execute(std::vector<RefPtr<TensorHandle>>& outputs);
  // The hot form: at most `capacity` outputs, written to `outputs` as owned pointers; `count` says how many.
  Status execute(TensorHandle** outputs, int capacity, int* count);

 private:
  Result<op::NodeInfo> node() const;
  Status try_execute(TensorHandle** outputs, int capacity, int* count);
  Result<Device*> place() const;
  Status check_output_types() const;
  Result<const std::shared_ptr<CachedKernel>*> find_kernel(Device* device, std::shared_ptr<CachedKernel>& uncached) const;
  Result<std::shared_ptr<CachedKernel>> make_kernel(Device* device) const;
  Status bring_inputs(Device* device, const Tensor** tensors);
  Status run_now(CachedKernel& k, TensorHandle** outputs);
  Status run_later(std::shared_ptr<CachedKernel> k, const std::shared_ptr<Executor>& executor, TensorHandle** outputs);

  Context* context_;
  const op::OpSpec* spec_ = nullptr;
  const op::Signature* signature_ = nullptr;
  Device* device_ = nullptr;
  std::vector<RefPtr<TensorHandle>> inputs_;
  std::vector<std::pair<std::string, op::AttrValue>> attrs_;  // as set; a later one of the same name wins
  std::string attr_key_;      // what was set, in order, as bytes: part of the kernel's cache key
  bool is_function_ = false, keep_kernel_ = false;
  uint64_t functions_version_ = 0;  // of the library in which spec_ was found, for a function
  std::shared_ptr<CachedKernel> kernel_;
  Device* ran_on_ = nullptr;
  bool cacheable_ = true;     // attributes that hold tensors are not worth a key
  bool names_functions_ = false;
};

}  // namespace weft_engine::eager
