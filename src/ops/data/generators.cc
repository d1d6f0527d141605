// Datasets whose elements come from calls of a function with a state.
#include "op/registry.h"
#include "ops/data/captured_function.h"
#include "ops/data/splits.h"

namespace weft_engine::ops::data {

namespace {

class GeneratorDataset final : public Dataset {
 public:
  GeneratorDataset(FunctionPtr init, FunctionPtr next, FunctionPtr finalize, const std::vector<DType>& types, const std::vector<PartialShape>& shapes)
      : Dataset("Generator", types, shapes), init_(std::move(init)), next_(std::move(next)), finalize_(std::move(finalize)) {}

 protected:
  bool splittable() const override { return true; }
  Result<IteratorPtr> walk(IteratorContext& c) const override {
    // Several who walk it together: the one that gets its only split has all elements.
    int64_t unused = 0;
    bool none = false;
    if (c.path && !c.path->splits.empty()) WEFT_RETURN_IF_ERROR(next_split(*c.path->splits[0], unused, none));
    return IteratorPtr(std::make_unique<Walk>(*this, none));
  }

 private:
  class Walk final : public IteratorOf<GeneratorDataset> {
   public:
    Walk(const GeneratorDataset& d, bool empty) : IteratorOf(d), finalized_(empty) {}
    // A walk that is left early still tells the generator, without the step that once asked.
    ~Walk() override {
      if (!last_ || finalized_) return;
      KernelEnv env = *last_;
      env.cancellation = nullptr;
      env.rendezvous = nullptr;
      env.trace = nullptr;
      IteratorContext c(env);
      Element ignored;
      (void)d().finalize_->call(c, state_, ignored).ok();
    }

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      if (!last_ && !finalized_) {
        WEFT_RETURN_IF_ERROR(d().init_->call(c, {}, state_));
        last_ = c.env;
      }
      end = finalized_;
      if (end) return {};
      Status s = d().next_->call(c, state_, out);
      if (s.code() != Code::kOutOfRange) return s;
      end = finalized_ = true;
      Element ignored;
      return d().finalize_->call(c, state_, ignored);
    }

   private:
    Element state_;
    std::optional<KernelEnv> last_;  // set once the generator runs
    bool finalized_;
  };
  const FunctionPtr init_, next_, finalize_;
};

Status run_generator(KernelContext& c) {
  WEFT_ASSIGN(FunctionPtr init, CapturedFunction::make(c, "init_func", "init_func_other_args"));
  WEFT_ASSIGN(FunctionPtr next, CapturedFunction::make(c, "next_func", "next_func_other_args"));
  WEFT_ASSIGN(FunctionPtr finalize, CapturedFunction::make(c, "finalize_func", "finalize_func_other_args"));
  return emit(c, std::make_shared<GeneratorDataset>(std::move(init), std::move(next), std::move(finalize), attr_types(c), attr_shapes(c)));
}

}  // namespace

void generators(Registry& r) {
  r.add("GeneratorDataset")
      .in("init_func_other_args: Tinit_func_args")
      .in("next_func_other_args: Tnext_func_args")
      .in("finalize_func_other_args: Tfinalize_func_args")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("init_func: func")
      .attr("next_func: func")
      .attr("finalize_func: func")
      .attr("Tinit_func_args: list(type) >= 0")
      .attr("Tnext_func_args: list(type) >= 0")
      .attr("Tfinalize_func_args: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset whose elements come from calls of a function, until it reports the end.")
      .shape(shapes::scalar)
      .cpu(run_generator);
}

}  // namespace weft_engine::ops::data
