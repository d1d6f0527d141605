// Ops on what lives across calls: variables, lookup tables, functions, variants.
#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/lookup_interface.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/framework/variant_op_registry.h"
#include "tensorflow/core/kernels/lookup_table_op.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/lib/random/simple_philox.h"

namespace tensorflow {
namespace {

// Multiplies a variable by a factor and gives the value that it had.
REGISTER_OP("ScaleVariable").Input("var: resource").Input("factor: float").Output("before: float").SetIsStateful();
class ScaleVariableOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    core::RefCountPtr<Var> var;
    OP_REQUIRES_OK(c, LookupResource(c, HandleFromInput(c, 0), &var));
    mutex_lock lock(*var->mu());
    const Tensor before = *var->tensor();
    c->set_output(0, before);
    Tensor after(DT_FLOAT, before.shape());
    for (int64_t i = 0; i < before.NumElements(); ++i) after.flat<float>()(i) = before.flat<float>()(i) * c->input(1).scalar<float>()();
    *var->tensor() = after;
  }
};
REGISTER_KERNEL_BUILDER(Name("ScaleVariable").Device(DEVICE_CPU), ScaleVariableOp);

// Looks words up in a table of TensorFlow's.
REGISTER_OP("LookUpTwice").Input("table: resource").Input("keys: string").Output("values: int64").Output("size: int64").SetIsStateful();
class LookUpTwiceOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    lookup::LookupInterface* table = nullptr;
    OP_REQUIRES_OK(c, lookup::GetLookupTable("table", c, &table));
    const core::ScopedUnref unref(table);
    OP_REQUIRES(c, table->key_dtype() == DT_STRING, errors::InvalidArgument("keys are ", DataTypeString(table->key_dtype())));
    Tensor* values = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output("values", c->input(1).shape(), &values));
    const Tensor none(int64_t{-7});
    OP_REQUIRES_OK(c, table->CheckFindArguments(c->input(1), none));
    OP_REQUIRES_OK(c, table->Find(c, c->input(1), values, none));
    for (int64_t i = 0; i < values->NumElements(); ++i) values->flat<int64_t>()(i) *= 2;
    OP_REQUIRES_OK(c, c->set_output("size", Tensor(static_cast<int64_t>(table->size()))));
  }
};
REGISTER_KERNEL_BUILDER(Name("LookUpTwice").Device(DEVICE_CPU), LookUpTwiceOp);

// A table of our own: keys are kept by their remainder.
class ModuloTable : public lookup::LookupInterface {
 public:
  ModuloTable(OpKernelContext*, OpKernel*) {}
  size_t size() const override { return values_.size(); }
  Status Find(OpKernelContext*, const Tensor& keys, Tensor* values, const Tensor& default_value) override {
    for (int64_t i = 0; i < keys.NumElements(); ++i) {
      const auto it = values_.find(keys.flat<int64_t>()(i) % 10);
      values->flat<float>()(i) = it == values_.end() ? default_value.flat<float>()(0) : it->second;
    }
    return OkStatus();
  }
  Status Insert(OpKernelContext*, const Tensor& keys, const Tensor& values) override {
    for (int64_t i = 0; i < keys.NumElements(); ++i) values_[keys.flat<int64_t>()(i) % 10] = values.flat<float>()(i);
    return OkStatus();
  }
  Status Remove(OpKernelContext*, const Tensor& keys) override {
    for (int64_t i = 0; i < keys.NumElements(); ++i) values_.erase(keys.flat<int64_t>()(i) % 10);
    return OkStatus();
  }
  Status ExportValues(OpKernelContext* c) override {
    Tensor *keys = nullptr, *values = nullptr;
    const int64_t n = static_cast<int64_t>(values_.size());
    TF_RETURN_IF_ERROR(c->allocate_output("keys", TensorShape({n}), &keys));
    TF_RETURN_IF_ERROR(c->allocate_output("values", TensorShape({n}), &values));
    int64_t i = 0;
    for (const auto& [key, value] : values_) keys->flat<int64_t>()(i) = key, values->flat<float>()(i++) = value;
    return OkStatus();
  }
  Status ImportValues(OpKernelContext* c, const Tensor& keys, const Tensor& values) override { return values_.clear(), Insert(c, keys, values); }
  DataType key_dtype() const override { return DT_INT64; }
  DataType value_dtype() const override { return DT_FLOAT; }
  TensorShape key_shape() const override { return TensorShape(); }
  TensorShape value_shape() const override { return TensorShape(); }

 private:
  std::map<int64_t, float> values_;
};
REGISTER_OP("ModuloTable")
    .Output("table_handle: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("use_node_name_sharing: bool = false")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape);
using ModuloTableOp = LookupTableOp<ModuloTable, int64_t, float>;
REGISTER_KERNEL_BUILDER(Name("ModuloTable").Device(DEVICE_CPU), ModuloTableOp);

// Calls a function n times on its own result.
REGISTER_OP("ApplyTimes").Input("x: float").Output("y: float").Attr("f: func").Attr("n: int").SetIsStateful();
class ApplyTimesOp : public AsyncOpKernel {
 public:
  explicit ApplyTimesOp(OpKernelConstruction* c) : AsyncOpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("f", &f_));
    OP_REQUIRES_OK(c, c->GetAttr("n", &n_));
  }
  void ComputeAsync(OpKernelContext* c, DoneCallback done) override {
    FunctionLibraryRuntime* library = c->function_library();
    OP_REQUIRES_ASYNC(c, library != nullptr, errors::Internal("no functions"), done);
    FunctionLibraryRuntime::Handle handle = 0;
    OP_REQUIRES_OK_ASYNC(c, library->Instantiate(f_.name(), AttrSlice(&f_.attr()), &handle), done);
    Step(c, library, handle, n_, c->input(0), std::move(done));
  }

 private:
  static void Step(OpKernelContext* c, FunctionLibraryRuntime* library, FunctionLibraryRuntime::Handle handle, int left, const Tensor& x,
                   DoneCallback done) {
    if (left == 0) {
      c->set_output(0, x);
      return done();
    }
    auto* rets = new std::vector<Tensor>;
    library->Run(FunctionLibraryRuntime::Options(c->step_id()), handle, {x}, rets, [=](const Status& s) {
      const std::unique_ptr<std::vector<Tensor>> owned(rets);
      OP_REQUIRES_OK_ASYNC(c, s, done);
      OP_REQUIRES_ASYNC(c, rets->size() == 1, errors::InvalidArgument("one result is needed, not ", rets->size()), done);
      Step(c, library, handle, left - 1, (*rets)[0], done);
    });
  }
  NameAttrList f_;
  int n_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("ApplyTimes").Device(DEVICE_CPU), ApplyTimesOp);

// A function that the kernel names while it is made is called from a thread of the kernel's own, while another step runs the same kernel.
REGISTER_OP("StepOf").Input("x: float").Output("step: int64").SetIsStateful();
class StepOfOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override { c->set_output(0, Tensor(static_cast<int64_t>(c->step_id()))); }
};
REGISTER_KERNEL_BUILDER(Name("StepOf").Device(DEVICE_CPU), StepOfOp);
REGISTER_OP("CallsInItsStep").Input("x: float").Output("same: bool").Attr("f: func").SetIsStateful();
class CallsInItsStepOp : public AsyncOpKernel {
 public:
  explicit CallsInItsStepOp(OpKernelConstruction* c) : AsyncOpKernel(c), library_(c->function_library()) {
    NameAttrList f;
    OP_REQUIRES_OK(c, c->GetAttr("f", &f));
    OP_REQUIRES_OK(c, library_->Instantiate(f.name(), AttrSlice(&f.attr()), &handle_));
  }
  // The first run waits for the second, and the second for the end of the first one's call.
  void ComputeAsync(OpKernelContext* c, DoneCallback done) override {
    if (started_++ == 0) {
      std::thread([this, c, done = std::move(done)] {
        second_.get_future().wait();
        Call(c, [this, done] {
          first_ended_.set_value();
          done();
        });
      }).detach();
    } else {
      second_.set_value();
      std::thread([this, c, done = std::move(done)] {
        first_ended_.get_future().wait();
        Call(c, done);
      }).detach();
    }
  }

 private:
  void Call(OpKernelContext* c, DoneCallback done) {
    auto* rets = new std::vector<Tensor>;
    library_->Run(FunctionLibraryRuntime::Options(c->step_id()), handle_, {c->input(0)}, rets, [=](const Status& s) {
      const std::unique_ptr<std::vector<Tensor>> owned(rets);
      OP_REQUIRES_OK_ASYNC(c, s, done);
      c->set_output(0, Tensor((*rets)[0].scalar<int64_t>()() == c->step_id()));
      done();
    });
  }
  FunctionLibraryRuntime* const library_;
  FunctionLibraryRuntime::Handle handle_ = 0;
  std::atomic<int> started_{0};
  std::promise<void> second_, first_ended_;
};
REGISTER_KERNEL_BUILDER(Name("CallsInItsStep").Device(DEVICE_CPU), CallsInItsStepOp);

// What a step has made goes with it.
class Counted : public ResourceBase {
 public:
  explicit Counted(int64_t value) : value_(value) { ++alive; }
  ~Counted() override { --alive; }
  std::string DebugString() const override { return "counted"; }
  const int64_t value_;
  inline static std::atomic<int64_t> alive{0};
};
REGISTER_OP("KeepInStep").Input("value: int64").Output("alive: int64").SetIsStateful();
class KeepInStepOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    const int64_t value = c->input(0).scalar<int64_t>()();
    OP_REQUIRES_OK(c, c->step_container()->Create(c->resource_manager(), "counted", new Counted(value)));
    c->set_output(0, Tensor(Counted::alive.load()));
  }
};
REGISTER_KERNEL_BUILDER(Name("KeepInStep").Device(DEVICE_CPU), KeepInStepOp);
REGISTER_OP("KeptInStep").Output("value: int64").Output("alive: int64").SetIsStateful();
class KeptInStepOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    core::RefCountPtr<Counted> counted;
    Counted* found = nullptr;
    const bool there = c->step_container()->Lookup(c->resource_manager(), "counted", &found).ok();
    if (there) counted.reset(found);
    c->set_output(0, Tensor(there ? found->value_ : int64_t{-1}));
    c->set_output(1, Tensor(Counted::alive.load()));
  }
};
REGISTER_KERNEL_BUILDER(Name("KeptInStep").Device(DEVICE_CPU), KeptInStepOp);

// A pair in a variant.
struct Pair {
  std::string TypeName() const { return "tests::Pair"; }
  void Encode(VariantTensorData* data) const {
    data->set_type_name(TypeName());
    *data->add_tensors() = Tensor(a);
    *data->add_tensors() = Tensor(tstring(b));
  }
  bool Decode(const VariantTensorData& data) {
    if (data.tensors_size() != 2) return false;
    a = data.tensors(0).scalar<int32>()();
    b = data.tensors(1).scalar<tstring>()();
    return true;
  }
  int32 a = 0;
  std::string b;
};
REGISTER_UNARY_VARIANT_DECODE_FUNCTION(Pair, "tests::Pair");
REGISTER_OP("MakePair").Input("a: int32").Input("b: string").Output("pair: variant").SetShapeFn(shape_inference::ScalarShape);
class MakePairOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    Tensor* out = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, TensorShape(), &out));
    out->scalar<Variant>()() = Pair{c->input(0).scalar<int32>()(), c->input(1).scalar<tstring>()()};
  }
};
REGISTER_KERNEL_BUILDER(Name("MakePair").Device(DEVICE_CPU), MakePairOp);
// Changes a copy; the pair that came stays.
REGISTER_OP("NextPair").Input("pair: variant").Output("next: variant").Output("text: string");
class NextPairOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    const Variant& given = c->input(0).scalar<Variant>()();
    OP_REQUIRES(c, given.get<Pair>() != nullptr, errors::InvalidArgument("not a pair but ", given.TypeName()));
    Variant next = given;
    next.get<Pair>()->a += 1;
    const Pair before = *given.get<Pair>();
    c->set_output(1, Tensor(tstring(strings::StrCat(before.a, before.b, " ", next.get<Pair>()->a, " ", given.TypeName()))));
    Tensor out(DT_VARIANT, TensorShape());
    out.scalar<Variant>()() = std::move(next);
    c->set_output(0, out);
  }
};
REGISTER_KERNEL_BUILDER(Name("NextPair").Device(DEVICE_CPU), NextPairOp);

REGISTER_OP("PhiloxNumbers").Attr("seed: int").Output("y: int64").Output("z: float");
class PhiloxNumbersOp : public OpKernel {
 public:
  explicit PhiloxNumbersOp(OpKernelConstruction* c) : OpKernel(c) { OP_REQUIRES_OK(c, c->GetAttr("seed", &seed_)); }
  void Compute(OpKernelContext* c) override {
    random::PhiloxRandom generator(static_cast<uint64>(seed_), 5);
    generator.Skip(3);
    random::SimplePhilox philox(&generator);
    Tensor y(DT_INT64, TensorShape({6})), z(DT_FLOAT, TensorShape({3}));
    for (int i = 0; i < 6; ++i) y.flat<int64_t>()(i) = i < 3 ? philox.Rand32() : philox.Uniform(1000);
    for (int i = 0; i < 3; ++i) z.flat<float>()(i) = i < 2 ? philox.RandFloat() : static_cast<float>(philox.RandDouble());
    c->set_output(0, y);
    c->set_output(1, z);
  }

 private:
  int64_t seed_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("PhiloxNumbers").Device(DEVICE_CPU), PhiloxNumbersOp);

}  // namespace
}  // namespace tensorflow
