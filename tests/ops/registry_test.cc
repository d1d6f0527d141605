// The registry against TensorFlow's own OpDefs, and against itself.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "engine/engine.h"
#include "io/op_def.h"
#include "op/declarations.h"
#include "tests/support/cases.h"
#include "wire/proto.h"

using namespace weft_engine;  // NOLINT

TEST_CASE("every op's signature equals TensorFlow's OpDef") {
  auto records = testing::read_records("tests/ops/data/op_defs.bin");
  REQUIRE(records.ok());
  std::map<std::string, std::string> want;
  for (const auto& r : *records) {
    wire::ProtoReader reader(r);
    REQUIRE(reader.next());
    want[reader.string()] = r;
  }
  CHECK(want.size() > 1000);
  for (const auto* spec : engine::Engine::get().registry().all()) {
    CAPTURE(spec->name);
    REQUIRE_MESSAGE(spec->check().ok(), spec->check().message());
    const auto it = want.find(std::string(spec->name));
    REQUIRE(it != want.end());
    const bool equal = io::encode_op_def(*spec) == it->second;
    CHECK(equal);
  }
}

TEST_CASE("every op that TensorFlow's C library lists is there, as a signature at least") {
  std::set<std::string> python;
  std::ifstream list("tests/ops/data/op_defs_python.txt");
  for (std::string line; std::getline(list, line);) python.insert(line);
  auto records = testing::read_records("tests/ops/data/op_defs.bin");
  REQUIRE(records.ok());
  const auto& registry = engine::Engine::get().registry();
  int listed = 0, declared = 0;
  for (const auto& r : *records) {
    wire::ProtoReader reader(r);
    REQUIRE(reader.next());
    const std::string name = reader.string();
    if (python.contains(name)) continue;
    ++listed;
    CAPTURE(name);
    const op::OpSpec* spec = registry.find(name);
    REQUIRE(spec);
    CHECK(spec->name.data()[spec->name.size()] == 0);  // as clients get it
    if (!op::is_declared_only(*spec)) continue;
    ++declared;
    CHECK(registry.kernels(*spec).empty());
  }
  CHECK(listed == 1799);
  CHECK(declared > 0);
  CHECK(!registry.find("AttrPartialShapeList"));  // one of those that TensorFlow's Python package adds for its tests
}

TEST_CASE("an op of a family hides its declaration") {
  const auto& registry = engine::Engine::get().registry();
  for (uint32_t begin : op::declared_begins(registry)) {
    const std::string name(op::declared_name(begin));
    CAPTURE(name);
    const op::OpSpec* declared = op::find_declared(registry, name);
    REQUIRE(declared);
    REQUIRE(declared->check().ok());
    const op::OpSpec* spec = registry.find(name);
    if (spec == declared) continue;
    CHECK(io::encode_op_def(*spec) == io::encode_op_def(*declared));
    CHECK((spec->shape != nullptr));
  }
}

TEST_CASE("every op has one line of documentation and a shape rule") {
  for (const auto* spec : engine::Engine::get().registry().all()) {
    if (op::is_declared_only(*spec)) continue;
    CAPTURE(spec->name);
    CHECK(!spec->summary.empty());
    CHECK(spec->summary.find('\n') == std::string_view::npos);
    CHECK((spec->shape != nullptr));
  }
}

TEST_CASE("every op that TensorFlow differentiates has a rule, every other it names has none") {
  // Op, and why it differs.
  std::map<std::string, std::string> exceptions;
  std::ifstream known("tests/ops/data/op_gradients_known.txt");
  for (std::string line; std::getline(known, line);) {
    const size_t space = line.find(' ');
    if (!line.starts_with('#') && space != std::string::npos) exceptions[line.substr(0, space)] = line.substr(space + 1);
  }
  std::ifstream list("tests/ops/data/op_gradients.txt");
  int seen = 0;
  for (std::string line; std::getline(list, line);) {
    std::istringstream fields(line);
    std::string op, what;
    if (line.starts_with('#') || !(fields >> op >> what)) continue;
    auto spec = engine::Engine::get().registry().get(op);
    if (!spec.ok() || op::is_declared_only(**spec)) continue;  // not an op of this version
    ++seen;
    const bool agrees = what == "yes" ? (*spec)->grad != nullptr : (*spec)->no_gradient;
    CAPTURE(op);
    CAPTURE(what);
    if (exceptions.contains(op)) WARN_MESSAGE(!agrees, "is named in op_gradients_known.txt, but agrees");
    else CHECK(agrees);
  }
  CHECK(seen > 500);
}

TEST_CASE("an unknown op is NotFound in TensorFlow's words") {
  auto missing = engine::Engine::get().registry().get("NoSuchOp");
  REQUIRE(!missing.ok());
  CHECK(missing.status().code() == core::Code::kNotFound);
  CHECK(missing.status().message().starts_with("Op type not registered 'NoSuchOp' in binary running on "));
}
