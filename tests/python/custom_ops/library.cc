// Ops that call functions with all that a runtime of functions is asked for, take over the memory of their inputs, and ask for the graph's version.
#include <atomic>
#include <string>
#include <vector>

#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using Flr = FunctionLibraryRuntime;

REGISTER_OP("CountRuns").Input("x: float").Output("y: float").SetIsStateful().SetShapeFn(shape_inference::UnchangedShape);
class CountRunsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override { c->set_output(0, Tensor(static_cast<float>(++runs_))); }

 private:
  std::atomic<int> runs_{0};
};
REGISTER_KERNEL_BUILDER(Name("CountRuns").Device(DEVICE_CPU), CountRunsOp);

FunctionDef Scaled(const std::string& name, float by) {
  return FunctionDefHelper::Define(name, {"x: float"}, {"y: float"}, {},
                                   {FunctionDefHelper::Const("by", by), {{"y"}, "Mul", {"x", "by"}, {{"T", DT_FLOAT}}}});
}
FunctionDef Generic() { return FunctionDefHelper::Define("Generic", {"x: T"}, {"y: T"}, {"T: type"}, {{{"y"}, "AddV2", {"x", "x"}, {{"T", "$T"}}}}); }

REGISTER_OP("CallWith").Input("x: float").Output("y: float").Output("told: string").Attr("f: func").Attr("what: string").SetIsStateful();
class CallWithOp : public OpKernel {
 public:
  explicit CallWithOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("f", &f_));
    OP_REQUIRES_OK(c, c->GetAttr("what", &what_));
  }
  void Compute(OpKernelContext* c) override {
    Flr* flr = c->function_library();
    OP_REQUIRES(c, flr != nullptr, errors::Internal("no functions"));
    std::string told;
    std::vector<Tensor> rets = {c->input(0)};
    OP_REQUIRES_OK(c, Try(c, flr, &told, &rets));
    c->set_output(0, rets[0]);
    c->set_output(1, Tensor(tstring(told)));
  }

 private:
  Status Try(OpKernelContext* c, Flr* flr, std::string* told, std::vector<Tensor>* rets) {
    Flr::InstantiateOptions instantiate;
    Flr::Options run(c->step_id());
    run.runner = c->runner();
    run.step_container = c->step_container();
    const FunctionLibraryDefinition* library = flr->GetFunctionLibraryDefinition();
    const std::vector<Tensor> args = {c->input(0)};
    Flr::Handle handle = 0, other = 0;
    if (what_ == "library") {
      const FunctionDef* f = library->Find(f_.name());
      const OpRegistrationData* data = nullptr;
      TF_RETURN_IF_ERROR(library->LookUp(f_.name(), &data));
      bool listed = false;
      for (const std::string& name : library->ListFunctionNames()) listed |= name == f_.name();
      *told = strings::StrCat(library->Contains(f_.name()), library->Contains("nothing"), f->signature().name() == f_.name(),
                              library->Find("nothing") == nullptr, data->op_def.input_arg_size(), listed, flr->IsStateful(f_.name()));
      return OkStatus();
    }
    if (what_ == "nothing there") return flr->Instantiate("nothing", AttrSlice(), &handle);
    if (what_ == "attribute") {
      FunctionLibraryDefinition copy(*library);
      TF_RETURN_IF_ERROR(copy.AddFunctionDef(Generic()));
      NameAttrList generic;
      (*generic.mutable_attr())["T"].set_type(DT_FLOAT);
      instantiate.lib_def = &copy;
      TF_RETURN_IF_ERROR(flr->Instantiate("Generic", AttrSlice(&generic.attr()), instantiate, &handle));
      return flr->RunSync(run, handle, args, rets);
    }
    if (what_ == "other library") {
      FunctionLibraryDefinition copy(*library);
      TF_RETURN_IF_ERROR(copy.AddFunctionDef(Scaled("OfTheKernel", 3)));
      *told = strings::StrCat(library->Contains("OfTheKernel"), copy.Contains("OfTheKernel"), copy.Contains(f_.name()));
      instantiate.lib_def = &copy;
      TF_RETURN_IF_ERROR(flr->Instantiate("OfTheKernel", AttrSlice(), instantiate, &handle));
      return flr->RunSync(run, handle, args, rets);
    }
    if (what_ == "replaced") {
      FunctionLibraryDefinition copy(*library);
      TF_RETURN_IF_ERROR(copy.ReplaceFunction(f_.name(), Scaled(f_.name(), 100)));
      instantiate.lib_def = &copy;
      TF_RETURN_IF_ERROR(flr->Instantiate(f_.name(), AttrSlice(&f_.attr()), instantiate, &handle));
      return flr->RunSync(run, handle, args, rets);
    }
    if (what_ == "states") {
      FunctionLibraryDefinition copy(*library);
      for (const char* state : {"a", "b", "a", "a"}) {
        instantiate.state_handle = state;
        TF_RETURN_IF_ERROR(flr->Instantiate(f_.name(), AttrSlice(&f_.attr()), instantiate, &handle));
        TF_RETURN_IF_ERROR(flr->RunSync(run, handle, args, rets));
        strings::StrAppend(told, (*rets)[0].scalar<float>()(), " ");
      }
      return OkStatus();
    }
    TF_RETURN_IF_ERROR(flr->Instantiate(f_.name(), AttrSlice(&f_.attr()), &handle));
    if (what_ == "handles") {
      TF_RETURN_IF_ERROR(flr->Instantiate(f_.name(), AttrSlice(&f_.attr()), &other));
      instantiate.state_handle = "its own";
      Flr::Handle third = 0;
      TF_RETURN_IF_ERROR(flr->Instantiate(f_.name(), AttrSlice(&f_.attr()), instantiate, &third));
      DataTypeVector types;
      TF_RETURN_IF_ERROR(flr->GetRetTypes(handle, &types));
      *told = strings::StrCat(handle == other, handle == third, DataTypeVectorString(types));
      return OkStatus();
    }
    CancellationManager cancellation;
    if (what_ == "cancelled") cancellation.StartCancel();
    if (what_ == "cancelled" || what_ == "not cancelled") run.cancellation_manager = &cancellation;
    std::atomic<int> calls{0};
    std::function<void(std::function<void()>)> runner = [&](std::function<void()> f) {
      ++calls;
      f();
    };
    if (what_ == "runner") run.runner = &runner;
    run.create_rendezvous = what_ == "own rendezvous";
    TF_RETURN_IF_ERROR(flr->RunSync(run, handle, args, rets));
    if (what_ == "runner") *told = calls > 0 ? "called" : "not called";
    if (what_ == "released") {
      TF_RETURN_IF_ERROR(flr->ReleaseHandle(handle));
      *told = "released";
    }
    return OkStatus();
  }
  NameAttrList f_;
  std::string what_;
};
REGISTER_KERNEL_BUILDER(Name("CallWith").Device(DEVICE_CPU), CallWithOp);

// One more, in the memory of the input where nobody else needs that.
REGISTER_OP("OneMore")
    .Input("x: float")
    .Output("y: float")
    .Output("same: bool")
    .Attr("temporary: bool")
    .SetIsStateful()
    .SetShapeFn([](shape_inference::InferenceContext* c) -> Status {
      c->set_output(0, c->input(0));
      c->set_output(1, c->Scalar());
      return OkStatus();
    });
class OneMoreOp : public OpKernel {
 public:
  explicit OneMoreOp(OpKernelConstruction* c) : OpKernel(c) { OP_REQUIRES_OK(c, c->GetAttr("temporary", &temporary_)); }
  void Compute(OpKernelContext* c) override {
    const void* before = c->input(0).data();
    Tensor temporary;
    Tensor* y = &temporary;
    if (temporary_) {
      OP_REQUIRES_OK(c, c->forward_input_or_allocate_temp({0}, DT_FLOAT, TensorShape({c->input(0).NumElements()}), &temporary));
    } else {
      OP_REQUIRES_OK(c, c->forward_input_or_allocate_output({0}, 0, c->input(0).shape(), &y));
    }
    const bool same = y->data() == before;
    for (int64_t i = 0; i < y->NumElements(); ++i) y->flat<float>()(i) = c->input(0).flat<float>()(i) + 1;
    if (temporary_) {
      Tensor out;
      OP_REQUIRES(c, out.CopyFrom(temporary, c->input(0).shape()), errors::Internal("another number of elements"));
      c->set_output(0, out);
    }
    c->set_output(1, Tensor(same));
  }

 private:
  bool temporary_ = false;
};
REGISTER_KERNEL_BUILDER(Name("OneMore").Device(DEVICE_CPU), OneMoreOp);

// The version of the graph that the kernel is of; the shape of the second output is that which the shape function sees.
REGISTER_OP("GraphVersions")
    .Output("version: int32")
    .Output("seen: int32")
    .Output("of_functions: int32")
    .SetIsStateful()
    .SetShapeFn([](shape_inference::InferenceContext* c) -> Status {
      c->set_output(0, c->Scalar());
      c->set_output(1, c->Vector(c->graph_def_version()));
      c->set_output(2, c->Scalar());
      return OkStatus();
    });
class GraphVersionsOp : public OpKernel {
 public:
  explicit GraphVersionsOp(OpKernelConstruction* c) : OpKernel(c), version_(c->graph_def_version()) {}
  void Compute(OpKernelContext* c) override {
    c->set_output(0, Tensor(version_));
    c->set_output(1, Tensor(DT_INT32, TensorShape({version_})));
    Flr* flr = c->function_library();
    c->set_output(2, Tensor(flr ? flr->graph_def_version() : -1));
  }

 private:
  const int32 version_;
};
REGISTER_KERNEL_BUILDER(Name("GraphVersions").Device(DEVICE_CPU), GraphVersionsOp);

// What an InferenceContext is asked and told of the values of inputs, as sizes.
REGISTER_OP("ShapeQuestions")
    .Input("sizes: int64")
    .Input("other: int64")
    .Output("y: float")
    .Output("z: float")
    .SetShapeFn([](shape_inference::InferenceContext* c) -> Status {
      using shape_inference::ShapeHandle;
      const Tensor* value = c->input_tensor(0);
      ShapeHandle as_shape, told;
      TF_RETURN_IF_ERROR(c->MakeShapeFromShapeTensor(1, &as_shape));
      std::vector<ShapeHandle> shapes(2);
      shapes[0] = c->MakeShape({7, c->UnknownDim()});
      if (!value) {
        c->set_input_tensors_as_shapes(shapes);
        TF_RETURN_IF_ERROR(c->MakeShapeFromShapeTensor(0, &told));
      } else {
        told = c->Scalar();
      }
      c->set_output(0, c->MakeShape({c->requested_input_tensor(0), c->requested_input_tensor(1), c->requested_input_tensor_as_partial_shape(1),
                                     value != nullptr, c->RankKnown(as_shape) ? c->Rank(as_shape) : 99, c->ExpandOutputs(2).ok()}));
      c->set_output(1, told);
      return OkStatus();
    });

}  // namespace
}  // namespace tensorflow
