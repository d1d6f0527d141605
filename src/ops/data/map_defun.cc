// MapDefun: a function over the rows of its arguments.
#include "op/registry.h"
#include "ops/data/batch.h"
#include "ops/data/dataset.h"
#include "ops/function/function_call.h"

namespace weft_engine::ops::data {

namespace {

class MapDefun final : public Kernel {
 public:
  explicit MapDefun(FunctionAttr f) : callee_(std::move(f)) {}
  static Result<std::unique_ptr<Kernel>> create(const NodeInfo& node) {
    if (node.attr<std::vector<PartialShape>>("output_shapes").size() != size_t(node.num_outputs()))
      return invalid_argument("Length of output_shapes and output_types must match.");
    return std::unique_ptr<Kernel>(std::make_unique<MapDefun>(node.attr<FunctionAttr>("f")));
  }

  Status run(KernelContext& c) override {
    const Element arguments = inputs_of(c, "arguments"), captured = inputs_of(c, "captured_inputs");
    const int64_t rows = arguments[0].rank() > 0 ? arguments[0].dim(0) : -1;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].rank() == 0) return invalid_argument("All inputs must have rank at least 1. Input ", i, " has a rank of 0.");
      if (arguments[i].dim(0) != rows)
        return invalid_argument("All inputs must have the same dimension 0. Input ", i, " has leading dimension ", arguments[i].dim(0),
                                ", while all previous inputs have leading dimension ", rows);
    }
    WEFT_ASSIGN(auto f, callee_.get(c, 0));
    if (f->arg_types().size() != arguments.size() + captured.size()) return invalid_argument("Mismatch in number of function inputs.");
    if (f->ret_types().size() != size_t(c.num_outputs())) return invalid_argument("Mismatch in number of function outputs.");
    std::vector<PartialShape> shapes = attr_shapes(c);
    std::vector<Element> results;
    for (int64_t row = 0; row < rows; ++row) {
      Element args;
      for (const Tensor& t : arguments) {
        WEFT_ASSIGN(Tensor part, take_row(t, row));
        args.push_back(std::move(part));
      }
      args.insert(args.end(), captured.begin(), captured.end());
      Element rets(f->ret_types().size());
      WEFT_RETURN_IF_ERROR(f->run(c.env(), args, rets));
      WEFT_RETURN_IF_ERROR(check(c, rets, shapes));
      results.push_back(std::move(rets));
    }
    Element out;
    if (rows > 0) WEFT_RETURN_IF_ERROR(stack(results, out));
    for (int i = 0; i < c.num_outputs(); ++i) {
      if (rows > 0) {
        c.set_output(i, std::move(out[size_t(i)]));
      } else {
        if (!shapes[size_t(i)].fully_known()) return invalid_argument("The shape of output ", i, " of MapDefun is not known, and there are no rows.");
        WEFT_RETURN_IF_ERROR(c.allocate(i, *PartialShape::vector(0).concat(shapes[size_t(i)]).concrete()).status());
      }
    }
    return {};
  }

 private:
  // The first row says what is not known of the shapes.
  static Status check(const KernelContext& c, const Element& rets, std::vector<PartialShape>& shapes) {
    for (size_t i = 0; i < rets.size(); ++i) {
      if (rets[i].dtype() != c.output_type(int(i)))
        return invalid_argument("Mismatch in function return type and expected output type for output: ", i);
      if (!shapes[i].compatible_with(rets[i].shape()))
        return invalid_argument("Mismatch in function retval shape, ", rets[i].shape(), ", and expected output shape, ", shapes[i], ".");
      shapes[i] = rets[i].shape();
    }
    return {};
  }
  Callee callee_;
};

Status map_defun_shape(ShapeContext& c) {
  const auto& shapes = c.attr<std::vector<PartialShape>>("output_shapes");
  if (int(shapes.size()) != c.num_outputs())
    return invalid_argument("`output_shapes` must be the same length as `output_types` (", shapes.size(), " vs. ", c.num_outputs());
  int64_t rows = kUnknownDim;
  const auto range = c.node().input_range("arguments");
  for (int i = range.begin; i < range.end; ++i) {
    const PartialShape& in = c.input(i);
    if (in.has_rank() && in.rank() == 0) return invalid_argument("Arguments must have rank at least 1. Input ", i, " has rank of 0.");
    if (!in.has_rank() || in.dim(0) < 0) continue;
    if (rows >= 0 && in.dim(0) != rows) return invalid_argument("Arguments must have the same dimension 0.");
    rows = in.dim(0);
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, PartialShape::vector(rows).concat(shapes[size_t(i)]));
  return {};
}

}  // namespace

void map_defun(Registry& r) {
  r.add("MapDefun")
      .in("arguments: Targuments")
      .in("captured_inputs: Tcaptured")
      .out("output: output_types")
      .attr("Targuments: list(type) >= 1")
      .attr("Tcaptured: list(type) >= 0 = []")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("f: func")
      .attr("max_intra_op_parallelism: int = 1")
      .doc("A function over the rows of its arguments; its results are stacked.")
      .shape(map_defun_shape)
      .cpu_make(MapDefun::create);
}

}  // namespace weft_engine::ops::data
