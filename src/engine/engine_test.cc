// The composition root: one registry with all ops, libraries that are none, and errors of registrations that return nothing.
#include "engine/engine.h"

#include <doctest/doctest.h>

#include <thread>

#include "engine/registration.h"
#include "tests/support/folder.h"

using namespace weft_engine;          // NOLINT
using namespace weft_engine::engine;  // NOLINT

TEST_CASE("there is one engine, and its registry has the ops of every folder") {
  CHECK(&Engine::get() == &Engine::get());
  const op::Registry& registry = Engine::get().registry();
  for (const char* name : {"MatMul", "Conv2D", "StringJoin", "TensorSliceDataset", "While", "RestoreV2", "RaggedRange", "QuantizeV2"})
    CHECK_MESSAGE(registry.find(name), name);
  CHECK(!registry.find("NoSuchOp"));
}

TEST_CASE("a library that is not there, or is none, is an error and adds nothing") {
  Engine& engine = Engine::get();
  const size_t before = engine.registry().all().size();
  const testing::Folder folder;
  const auto missing = engine.load_library(folder.path + "/missing.so");
  REQUIRE(!missing.ok());
  CHECK(missing.status().code() == core::Code::kNotFound);
  CHECK(missing.status().message().find("missing.so") != std::string::npos);
  CHECK(!engine.load_library(folder.put("text.so", "no library")).ok());
  CHECK(!engine.load_library(folder.path).ok());
  CHECK(engine.registry().all().size() == before);
}

TEST_CASE("the first error of a registration belongs to the innermost library that its thread loads") {
  RegistrationErrors outer;
  {
    RegistrationErrors inner;
    note_registration_error({});
    CHECK(inner.first().ok());
    note_registration_error(core::invalid_argument("first"));
    note_registration_error(core::invalid_argument("second"));
    CHECK(inner.first().message() == "first");
  }
  CHECK(outer.first().ok());
  // Another thread loads nothing: its error is logged.
  std::thread([] { note_registration_error(core::internal_error("of a thread that loads nothing (a test)")); }).join();
  CHECK(outer.first().ok());
  note_registration_error(core::not_found("of the outer one"));
  CHECK(outer.first().code() == core::Code::kNotFound);
}
