// SPDX-License-Identifier: Apache-2.0
//
// OpsTestBase: a test case of GoogleTest around one kernel. A test describes the node (node_def()), makes the kernel (InitOp), gives it inputs and runs
// it (RunOpKernel); what the kernel throws is its error. Kernels of the engine's ops run as those of the program's own.
#ifndef TENSORFLOW_CORE_KERNELS_OPS_TESTUTIL_H_
#define TENSORFLOW_CORE_KERNELS_OPS_TESTUTIL_H_

#include <exception>
#include <functional>
#include <future>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/common_runtime/device_factory.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/tensor_testutil.h"
#include "tensorflow/core/public/session_options.h"
#include "tensorflow/core/public/version.h"

namespace tensorflow {

// An input: a tensor, or a reference to one with what guards it.
struct TensorValue {
  TensorValue() = default;
  explicit TensorValue(Tensor* t) : tensor(t) {}
  TensorValue(mutex* m, Tensor* t) : mutex_if_ref(m), tensor(t) {}
  Tensor* operator->() const { return tensor; }
  bool is_ref() const { return mutex_if_ref != nullptr; }
  mutex* mutex_if_ref = nullptr;
  Tensor* tensor = nullptr;
};

namespace internal {
struct LoneNodeDelete {
  void operator()(weft_lone_node* n) const { weft_lone_node_delete(n); }
};
// A kernel that the engine has, as an OpKernel.
class KernelOfEngine : public OpKernel {
 public:
  KernelOfEngine(OpKernelConstruction* c, weft_lone_node* node) : OpKernel(c), node_(node) {}
  void Compute(OpKernelContext* context) override { context->SetStatus(FromC(weft_lone_node_compute(node_, context->run()))); }

 private:
  weft_lone_node* const node_;
};
}  // namespace internal

class OpsTestBase : public ::testing::Test {
 public:
  OpsTestBase() : owned_device_(DeviceFactory::NewDevice("CPU", {}, "/job:a/replica:0/task:0")), device_(owned_device_.get()) {}
  ~OpsTestBase() override {
    EndRun();
    for (Tensor* t : tensors_) delete t;
  }
  OpsTestBase(const OpsTestBase&) = delete;
  void operator=(const OpsTestBase&) = delete;

  void SetDevice(const DeviceType& type, std::unique_ptr<Device> device) {
    CHECK(device != nullptr) << "No device provided";
    EndRun();
    device_type_ = type;
    owned_device_ = std::move(device);
    device_ = owned_device_.get();
  }
  void set_node_def(const NodeDef& def) { node_def_ = def; }
  NodeDef* node_def() { return &node_def_; }

  Status InitOp() { return InitOpWithGraphVersion(TF_GRAPH_DEF_VERSION); }
  Status InitOpWithGraphVersion(int graph_def_version) {
    EndRun();
    kernel_.reset();
    node_.reset();
    const std::string bytes = node_def_.SerializeAsString();
    weft_lone_node* node = nullptr;
    TF_RETURN_IF_ERROR(
        internal::FromC(weft_lone_node_new(internal::Text(bytes), internal::Text(device_type_.type_string()), graph_def_version, &node)));
    node_.reset(node);
    if (void* object = weft_lone_node_take_object(node)) {
      kernel_.reset(static_cast<OpKernel*>(object));
    } else {
      OpKernelConstruction construction(weft_lone_node_construction(node));
      kernel_ = std::make_unique<internal::KernelOfEngine>(&construction, node);
    }
    input_types_ = kernel_->input_types();
    return OkStatus();
  }

  // An input with value(0), value(1), ...; with these elements; with these of another type.
  template <class T>
  void AddInput(const TensorShape& shape, std::function<T(int)> value) {
    test::FillFn<T>(AddInput(DataTypeToEnum<T>::value, shape), value);
  }
  template <class T>
  void AddInputFromArray(const TensorShape& shape, const gtl::ArraySlice<T> data) {
    test::FillValues<T>(AddInput(DataTypeToEnum<T>::value, shape), data);
  }
  template <class T, class Source>
  void AddInputFromList(const TensorShape& shape, std::initializer_list<Source> data) {
    test::FillValues<T, Source>(AddInput(DataTypeToEnum<T>::value, shape), data);
  }
  // The handle of a resource, which the device takes over under that name.
  template <class T>
  void AddResourceInput(const std::string& container, const std::string& name, T* resource) {
    CHECK_GT(input_types_.size(), inputs_.size()) << "Adding more inputs than types; perhaps you need to call MakeOp";
    ResourceMgr* manager = device_->resource_manager();
    const std::string in = container.empty() ? manager->default_container() : container;
    EXPECT_TRUE(manager->Create(in, name, resource).ok());
    AddInput(DT_RESOURCE, TensorShape({}))->template scalar<ResourceHandle>()() = MakeResourceHandle<T>(in, name, *device_);
  }

  Status RunOpKernel() {
    CHECK(kernel_ != nullptr) << "RunOpKernel before InitOp";
    EndRun();
    std::vector<const TF_Tensor*> inputs;
    for (const TensorValue& v : inputs_) inputs.push_back(v.tensor->c_tensor());
    TF_RETURN_IF_ERROR(
        internal::FromC(weft_run_begin(node_.get(), inputs.data(), inputs.size(), device_->resource_manager()->c_resources(), nullptr, &run_)));
    context_ = std::make_unique<OpKernelContext>(run_, kernel_.get());
    try {
      Compute();
    } catch (const std::exception& e) {
      context_->SetStatus(errors::Internal(e.what()));
    } catch (...) {
      context_->SetStatus(errors::Internal("an exception of unknown type"));
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {  // the kernel may have put another tensor where a reference points
      if (inputs_[i].is_ref()) *inputs_[i].tensor = context_->mutable_input(static_cast<int>(i), false);
    }
    return context_->status();
  }

  const Tensor& GetInput(int i) const {
    CHECK(context_ != nullptr && i < context_->num_inputs()) << "there is no input " << i;
    return context_->input(i);
  }
  TensorValue mutable_input(int i) {
    CHECK_LT(static_cast<size_t>(i), inputs_.size());
    return inputs_[static_cast<size_t>(i)];
  }
  // Of the last run; null where the kernel gave none.
  Tensor* GetOutput(int i) {
    CHECK(context_ != nullptr && i < context_->num_outputs()) << "there is no output " << i;
    return context_->mutable_output(i);
  }
  Allocator* allocator() { return cpu_allocator(); }
  OpKernel* op_kernel() { return kernel_.get(); }
  const DataTypeVector& output_types() const { return kernel_->output_types(); }

 protected:
  Tensor* AddInput(DataType type, const TensorShape& shape) {
    CHECK_GT(input_types_.size(), inputs_.size()) << "Adding more inputs than types; perhaps you need to call MakeOp";
    const DataType wanted = input_types_[inputs_.size()];
    CHECK_EQ(IsRefType(wanted) ? RemoveRefType(wanted) : wanted, type);
    tensors_.push_back(new Tensor(type, shape));
    inputs_.emplace_back(IsRefType(wanted) ? &lock_for_refs_ : nullptr, tensors_.back());
    return tensors_.back();
  }

 private:
  std::unique_ptr<Device> owned_device_;
  std::unique_ptr<weft_lone_node, internal::LoneNodeDelete> node_;
  weft_run* run_ = nullptr;

  void Compute() {
    AsyncOpKernel* waits = kernel_->AsAsync();
    if (!waits) return kernel_->Compute(context_.get());
    auto called = std::make_shared<std::promise<void>>();
    std::future<void> end = called->get_future();
    waits->ComputeAsync(context_.get(), [called] { called->set_value(); });
    called.reset();
    end.get();  // throws where nobody has the callback any more
  }
  void EndRun() {
    context_.reset();
    if (run_) weft_run_end(std::exchange(run_, nullptr));
  }

 protected:
  Device* device_;
  std::unique_ptr<OpKernel> kernel_;
  NodeDef node_def_;
  DataTypeVector input_types_;
  DeviceType device_type_{DEVICE_CPU};
  mutex lock_for_refs_;
  std::vector<TensorValue> inputs_;
  std::vector<Tensor*> tensors_;  // owned
  std::unique_ptr<OpKernelContext> context_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_KERNELS_OPS_TESTUTIL_H_
