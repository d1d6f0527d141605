// Abseil's forms in a source for TensorFlow: without abseil (ABSEIL_NONE), with its headers before TensorFlow's (ABSEIL_FIRST), and after them.
#if defined ABSEIL_FIRST
#include "abseil_headers.inc"
#endif
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/lib/gtl/array_slice.h"
#include "tensorflow/core/platform/statusor.h"
#include "tensorflow/core/platform/str_util.h"
#if !defined ABSEIL_FIRST && !defined ABSEIL_NONE
#include "abseil_headers.inc"
#endif

namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::tstring;

#ifdef ABSEIL_NONE
std::string Known(const std::string& key) { return key == "a" ? "1" : ""; }
#else
std::string Known(const std::string& key) {
  const absl::flat_hash_map<std::string, int> known = {{"a", 1}};
  const auto it = known.find(key);
  return it == known.end() ? "" : absl::StrCat(it->second);
}
#endif

absl::Status NotEmpty(absl::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("empty");
  return absl::OkStatus();
}
tensorflow::Status NotHere(absl::string_view text) {
  TF_RETURN_IF_ERROR(NotEmpty(text));
  return tensorflow::errors::NotFound("no ", text, " here");
}
absl::Status Twice(absl::string_view text) {
  TF_RETURN_IF_ERROR(NotEmpty(text));
  return NotHere(text);
}
absl::StatusOr<int> Positive(int x) {
  if (x < 0) return absl::OutOfRangeError("negative");
  return x;
}
tensorflow::StatusOr<int> Assigned(int x) {
  TF_ASSIGN_OR_RETURN(const int y, Positive(x));
  return y;
}
tensorflow::StatusOr<int> Converted(int x) { return Positive(x); }
absl::StatusOr<int> ConvertedBack(int x) { return Assigned(x); }
tensorflow::StatusOr<int> Refused() { return absl::AbortedError("refused"); }
int Sum(absl::Span<const int> all) {
  int sum = 0;
  for (int x : all) sum += x;
  return sum;
}
int SumOfSlice(tensorflow::gtl::ArraySlice<int> all) { return Sum(absl::Span<const int>(all.data(), all.size())); }
tensorflow::int64 Length(tensorflow::gtl::ArraySlice<int> all) { return static_cast<tensorflow::int64>(all.size()); }

REGISTER_OP("AbseilForms")
    .Input("text: string")
    .Output("same: string")
    .Output("forms: string")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      c->set_output(1, c->Scalar());
      return absl::OkStatus();
    });
class AbseilFormsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    const absl::string_view text = c->input(0).scalar<tstring>()();
    OP_REQUIRES_OK(c, NotEmpty(text));
    OP_REQUIRES(c, text != "wrong", absl::FailedPreconditionError("wrong text"));
    Tensor *same = nullptr, *forms = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, {}, &same));
    OP_REQUIRES_OK(c, c->allocate_output(1, {}, &forms));
    same->scalar<tstring>()() = text;
    const tensorflow::Status s = Twice(text);
    std::string out = absl::StrCat(std::string(s.message()), " ", s.code() == absl::StatusCode::kNotFound, absl::IsNotFound(s),
                                   tensorflow::errors::IsInvalidArgument(NotEmpty("")), absl::StartsWith("abc", "ab"));
    tensorflow::strings::StrAppend(&out, " ", Assigned(3).value() + Converted(4).value() + ConvertedBack(5).value(), " ",
                                   Assigned(-1).status().code(), " ", std::string(Refused().status().message()), " ", SumOfSlice({1, 2, 3}), " ",
                                   Length(absl::Span<const int>()), " ", Known("a"));
    forms->scalar<tstring>()() = out;
  }
};
REGISTER_KERNEL_BUILDER(Name("AbseilForms").Device(tensorflow::DEVICE_CPU), AbseilFormsOp);

}  // namespace
