// Traits of every op of the engine, held against what signatures, shape rules and kernels say.
#include "op/op_traits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/engine.h"
#include "op/declarations.h"
#include "op/lower.h"
#include "op/node_info.h"
#include "op/registry.h"
#include "op/shape_context.h"

namespace weft_engine::op {
namespace {

std::vector<const OpSpec*> specs() { return engine::Engine::get().registry().all(); }
const OpSpec& spec_of(std::string_view name) {
  const OpSpec* spec = engine::Engine::get().registry().find(name);
  REQUIRE_MESSAGE(spec, name);
  return *spec;
}
const OpTraits& traits_of(std::string_view name) { return spec_of(name).traits(); }

// A use of the op with inputs of these types; nullopt where they do not fit.
std::optional<NodeInfo> node_of(const OpSpec& spec, const std::vector<DType>& inputs) {
  auto info = NodeInfo::make(spec, "n", {}, inputs);
  if (!info.ok()) return std::nullopt;
  return std::move(info).value();
}

// Is there an attribute that neither inputs nor a default give?
bool has_own_attributes(const Signature& s) {
  for (size_t a = 0; a < s.attrs.size(); ++a) {
    const auto gives = [&](const ArgSpec& in) { return in.type_attr == int(a) || in.number_attr == int(a) || in.type_list_attr == int(a); };
    if (!s.attrs[a].default_value && std::none_of(s.inputs.begin(), s.inputs.end(), gives)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the op that is made for a role has that role, and the stateful form is stateful") {
  specs();  // registered
  int made = 0;
  for (int i = 0; i <= int(Role::kLast_); ++i) {
    const Role role = Role(i);
    const std::string_view plain = op_of(role), stateful = op_of(role, true);
    if (plain.empty()) continue;
    ++made;
    CHECK_MESSAGE(traits_of(plain).role == role, plain);
    CHECK_MESSAGE(traits_of(stateful).role == role, stateful);
    if (plain != stateful) {
      CHECK_MESSAGE(!spec_of(plain).stateful, plain);
      CHECK_MESSAGE(spec_of(stateful).stateful, stateful);
    }
  }
  CHECK(made >= 36);
  CHECK(op_of(Role::kCall) == "PartitionedCall");
  CHECK(op_of(Role::kCall, true) == "StatefulPartitionedCall");
  CHECK(op_of(Role::kNone).empty());
  for (int i = 1; i <= int(Symbol::kLast_); ++i) {
    REQUIRE_MESSAGE(!op_of(Symbol(i)).empty(), i);
    CHECK_MESSAGE(traits_of(op_of(Symbol(i))).symbol == Symbol(i), op_of(Symbol(i)));
  }
  CHECK(op_of(Symbol::kPlus) == "AddV2");
  CHECK(op_of(Symbol::kNone).empty());
}

TEST_CASE("of each role and symbol one op is made, or one for each state") {
  std::map<std::pair<int, int>, int> roles, symbols;
  for (const OpSpec* spec : specs()) {
    const OpTraits& t = spec->traits();
    if (t.made == Made::kNo) continue;
    CHECK_MESSAGE((t.role != Role::kNone || t.symbol != Symbol::kNone), spec->name);
    auto& count = t.role != Role::kNone ? roles : symbols;
    const int what = t.role != Role::kNone ? int(t.role) : int(t.symbol);
    if (t.made != Made::kStateful) ++count[{what, 0}];
    if (t.made != Made::kStateless) ++count[{what, 1}];
  }
  for (const auto& counts : {roles, symbols}) {
    for (const auto& [what, n] : counts) {
      CHECK_MESSAGE(n == 1, what.first);
      CHECK_MESSAGE(counts.contains({what.first, 1 - what.second}), what.first);
    }
  }
}

TEST_CASE("version 1 control flow: an op for references has the role of the op for values") {
  int pairs = 0;
  for (const OpSpec* spec : specs()) {
    if (!spec->name.starts_with("Ref") || spec->traits().role == Role::kNone || spec->traits().role == Role::kRefSelect) continue;
    ++pairs;
    CHECK_MESSAGE(spec->traits().role == traits_of(spec->name.substr(3)).role, spec->name);
    CHECK_MESSAGE(spec->signature().inputs[0].is_ref, spec->name);
  }
  CHECK(pairs == 5);  // Switch, Merge, Enter, Exit, NextIteration
}

TEST_CASE("what forwards its inputs has an output of the same type for each") {
  int count = 0;
  for (const OpSpec* spec : specs()) {
    if (!spec->traits().forwards_inputs) continue;
    ++count;
    const Signature& s = spec->signature();
    REQUIRE_MESSAGE(s.inputs.size() == 1, spec->name);
    REQUIRE_MESSAGE(s.outputs.size() == 1, spec->name);
    const auto is_list = [](const ArgSpec& a) { return a.type_list_attr >= 0 || a.number_attr >= 0; };
    CHECK_MESSAGE(is_list(s.inputs[0]) == is_list(s.outputs[0]), spec->name);
    if (!is_list(s.inputs[0])) {
      CHECK_MESSAGE(s.inputs[0].type_attr == s.outputs[0].type_attr, spec->name);
      CHECK_MESSAGE(s.inputs[0].type == s.outputs[0].type, spec->name);
    }
    CHECK_MESSAGE(!spec->has_side_effect(), spec->name);
  }
  CHECK(count >= 8);
  for (const char* op : {"Identity", "IdentityN", "StopGradient", "PreventGradient", "Snapshot", "PlaceholderWithDefault"})
    CHECK_MESSAGE(traits_of(op).forwards_inputs, op);
}

TEST_CASE("shapes of elementwise ops: the input's, or all inputs' broadcast together") {
  int unary = 0, broadcasting = 0;
  for (const OpSpec* spec : specs()) {
    const OpTraits& t = spec->traits();
    CHECK_MESSAGE((t.elementwise || !(t.broadcasts || t.activation || t.involution)), spec->name);
    if (!t.elementwise || spec->signature().outputs.size() != 1) continue;
    const size_t n = spec->signature().inputs.size();
    if (has_own_attributes(spec->signature())) continue;  // Cast and others need more than inputs to make a node
    const PartialShape small({3, 1}), large({2, 3, 4});
    for (DType type : {DType::kFloat, DType::kInt32, DType::kBool, DType::kComplex64, DType::kString, DType::kInvalid}) {
      if (type == DType::kInvalid) {
        FAIL_CHECK("no type fits " << spec->name);
        break;
      }
      std::vector<DType> types(n, type);
      if (spec->signature().inputs[0].type == DType::kBool) types[0] = DType::kBool;
      const auto info = node_of(*spec, types);
      if (!info) continue;
      std::vector<PartialShape> shapes(n, large);
      if (t.broadcasts) shapes[0] = small;
      ShapeContext c(*info, shapes, std::vector<const Tensor*>(n, nullptr), std::vector<std::optional<ShapeContext::HandleData>>(n));
      REQUIRE_MESSAGE(spec->infer_shapes(c).ok(), spec->name);
      CHECK_MESSAGE(c.outputs()[0] == large, spec->name);
      (t.broadcasts ? broadcasting : unary) += 1;
      break;
    }
  }
  CHECK(unary > 60);
  CHECK(broadcasting > 30);
}

TEST_CASE("shape queries have results of integers whose shapes need no values") {
  std::set<std::string_view> found;
  for (const OpSpec* spec : specs()) {
    const OpTraits& t = spec->traits();
    if (t.shape_query == ShapeQuery::kNone) continue;
    found.insert(spec->name);
    CHECK_MESSAGE(t.metadata, spec->name);
    CHECK_MESSAGE(!spec->stateful, spec->name);
    CHECK_MESSAGE(spec->no_gradient, spec->name);
    if (spec->signature().inputs[0].number_attr >= 0) continue;
    const auto info = node_of(*spec, {DType::kFloat});
    REQUIRE_MESSAGE(info, spec->name);
    ShapeContext c(*info, {PartialShape({2, 3, 4})}, {nullptr}, {std::nullopt});
    REQUIRE(spec->infer_shapes(c).ok());
    CHECK_MESSAGE(c.outputs()[0] == (t.shape_query == ShapeQuery::kDims ? PartialShape({3}) : PartialShape::scalar()), spec->name);
    CHECK_MESSAGE(!c.asked_value(0), spec->name);
  }
  CHECK(found == std::set<std::string_view>{"Rank", "Shape", "ShapeN", "Size"});
}

TEST_CASE("effects: what only reads is stateful and has a resource; what is impure is stateless") {
  for (const OpSpec* spec : specs()) {
    const OpTraits& t = spec->traits();
    if (t.only_reads) {
      CHECK_MESSAGE(spec->stateful, spec->name);
      const auto& in = spec->signature().inputs;
      CHECK_MESSAGE(std::any_of(in.begin(), in.end(), [](const ArgSpec& a) { return a.type == DType::kResource; }), spec->name);
    }
    if (t.impure && !is_declared_only(*spec)) CHECK_MESSAGE(!spec->stateful, spec->name);
    if (is_declared_only(*spec)) CHECK_MESSAGE(t.impure, spec->name);
  }
  for (const char* op : {"ReadFile", "MatchingFiles", "Placeholder", "PyFuncStateless", "InplaceAdd"}) CHECK_MESSAGE(traits_of(op).impure, op);
}

TEST_CASE("reductions take axes and keep_dims") {
  for (const OpSpec* spec : specs()) {
    if (!spec->traits().reduction) continue;
    CHECK_MESSAGE(spec->signature().inputs.size() == 2, spec->name);
    CHECK_MESSAGE(spec->signature().attr_index("keep_dims") >= 0, spec->name);
  }
}

TEST_CASE("what has a form on the value of a variable reads a variable") {
  std::set<std::string_view> found;
  for (const OpSpec* spec : specs()) {
    const OpTraits& t = spec->traits();
    if (!t.on_value) continue;
    found.insert(spec->name);
    CHECK_MESSAGE(t.only_reads, spec->name);
    CHECK_MESSAGE(spec->signature().inputs[0].type == DType::kResource, spec->name);
  }
  CHECK(found == std::set<std::string_view>{"ResourceGather", "ResourceGatherNd", "VariableShape"});
}

TEST_CASE("random numbers by a seed, branches and loops without state run row by row without a warning") {
  for (const OpSpec* spec : specs()) {
    if (!is_declared_only(*spec)) CHECK_MESSAGE(spec->traits().silent_by_row == spec->name.starts_with("Stateless"), spec->name);
  }
}

TEST_CASE("datasets are variants") {
  int count = 0;
  for (const OpSpec* spec : specs()) {
    if (!spec->makes_dataset()) continue;
    ++count;
    const auto& out = spec->signature().outputs;
    REQUIRE_MESSAGE(!out.empty(), spec->name);
    CHECK_MESSAGE(out[0].type == DType::kVariant, spec->name);
  }
  CHECK(count > 100);
  CHECK(spec_of("ShuffleDatasetV3").makes_dataset());
  CHECK(!spec_of("DatasetToSingleElement").makes_dataset());
}

TEST_CASE("on GPUs: what is in host memory, what goes by the CPU, what libraries take over") {
  CHECK(host_inputs(spec_of("Reshape")) == std::vector<std::string>{"shape"});
  CHECK(host_inputs(spec_of("LinSpace")) == std::vector<std::string>{"start", "stop", "num"});
  CHECK(host_inputs(spec_of("Add")).empty());
  std::map<OnGpu, int> count;
  for (const OpSpec* spec : specs()) {
    ++count[spec->on_gpu];
    if (spec->on_gpu == OnGpu::kInt32OnHost) {
      CHECK_MESSAGE(spec->signature().attr_index("T") >= 0, spec->name);
      CHECK_MESSAGE(bool(spec->lower), spec->name);
    }
    if (spec->on_gpu == OnGpu::kByCpu) CHECK_MESSAGE((!spec->lower || spec->lower == shape_from_data), spec->name);
    if (spec->library.kind != LibraryCall::Kind::kNone) CHECK_MESSAGE(bool(spec->lower), spec->name);
  }
  CHECK(count[OnGpu::kAllOnHost] == 5);
  CHECK(count[OnGpu::kInt32OnHost] == 41);
  CHECK(count[OnGpu::kByCpu] == 27);
  CHECK(spec_of("IRFFT2D").library.kind == LibraryCall::Kind::kFourier);
  CHECK(spec_of("IRFFT2D").library.rank == 2);
  CHECK((spec_of("IRFFT2D").library.inverse && spec_of("IRFFT2D").library.real));
}

}  // namespace weft_engine::op
