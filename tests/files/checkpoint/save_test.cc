// Checkpoints saved and restored by weft itself: names, deferred values, the checks of the status, state file and manager.
#include "tests/files/checkpoint/support.h"

TEST_CASE("values come back") {
  Folder dir;
  Net net(1.f);
  Checkpoint checkpoint({{"model", net}});
  CHECK(checkpoint.save(dir / "ckpt") == dir / "ckpt-1");
  CHECK(checkpoint.save(dir / "ckpt") == dir / "ckpt-2");
  net.w.assign(full({2, 3}, 9.f));
  Net other(5.f);
  Checkpoint again({{"model", &other}});
  again.restore(latest_checkpoint(dir.path)).assert_consumed();
  CHECK(other.w.value().to_vector<float>() == std::vector<float>(6, 1.f));
  CHECK(other.layers[1]->w.value().to_vector<float>() == std::vector<float>(6, 3.f));
  CHECK(again.save_counter().value().item<int64_t>() == 2);
  CHECK(again.save(dir / "ckpt") == dir / "ckpt-3");
}

TEST_CASE("keys are the names from the root, escaped") {
  Folder dir;
  struct Odd : Module {
    Variable v{Tensor(1.f), {.name = "v"}};
    Odd() {
      track("a.b/c", v);
      track("map", std::map<std::string, Variable>{{"x", v}, {"y", Variable(Tensor(2.f))}});
    }
  } odd;
  Checkpoint checkpoint({{"z", odd}, {"a", std::vector<Variable>{Variable(Tensor(3.f))}}});
  checkpoint.write(dir / "w");
  std::vector<std::string> keys;
  for (const auto& e : list_variables(dir / "w")) keys.push_back(e.key);
  CHECK(keys == std::vector<std::string>{"_CHECKPOINTABLE_OBJECT_GRAPH", "a/0/.ATTRIBUTES/VARIABLE_VALUE", "z/a..b.Sc/.ATTRIBUTES/VARIABLE_VALUE",
                                         "z/map/y/.ATTRIBUTES/VARIABLE_VALUE"});
  CHECK(load_variable(dir / "w", "a/0/.ATTRIBUTES/VARIABLE_VALUE").item<float>() == 3.f);
}

TEST_CASE("the checks say what is missing") {
  Folder dir;
  Net net(1.f);
  Checkpoint({{"model", net}}).save(dir / "ckpt");
  struct More : Net {
    Variable extra{Tensor(1.f), {.name = "extra"}};
    More() : Net(7.f) { track("extra", extra); }
  } more;
  Checkpoint checkpoint({{"model", more}});
  auto status = checkpoint.restore(dir / "ckpt-1");
  status.assert_nontrivial_match().expect_partial().initialize_or_restore();
  CHECK(error_of([&] { status.assert_existing_objects_matched(); }) ==
        "Found 1 objects that were not bound to checkpointed values, likely due to changes in the program. Showing 1 of 1 unmatched objects: "
        "[<Variable 'extra' shape=() dtype=float>]");
  CHECK(error_of([&] { status.assert_consumed(); }).starts_with("Found 1 objects"));
  CHECK(more.w.value().to_vector<float>()[0] == 1.f);

  Layer alone(4.f);
  Checkpoint other({{"different", alone}});
  auto nothing = other.read(dir / "ckpt-1");
  nothing.expect_partial();
  CHECK(error_of([&] { nothing.assert_nontrivial_match(); }).starts_with("Nothing except the root object matched a checkpointed value."));
  CHECK(alone.w.value().to_vector<float>()[0] == 4.f);

  auto none = other.restore("");
  CHECK(error_of([&] { none.assert_consumed(); }) == "No checkpoint specified (save_path=None); nothing is being restored.");
  none.initialize_or_restore();
}

TEST_CASE("what does not fit is an error, and changes nothing") {
  Folder dir;
  Net net(1.f);
  Checkpoint({{"model", net}}).save(dir / "ckpt");
  struct Wide : Module {
    std::vector<std::shared_ptr<Layer>> layers{std::make_shared<Layer>(8.f)};
    Variable w{full({4}, 8.f), {.name = "w"}};
    Wide() {
      track("layers", layers);
      track("w", w);
    }
  } wide;
  Checkpoint checkpoint({{"model", wide}});
  CHECK(error_of([&] { checkpoint.restore(dir / "ckpt-1"); }) ==
        "Received incompatible tensor with shape (2, 3) when attempting to restore variable with shape (4,) and name w.");
  CHECK(wide.layers[0]->w.value().to_vector<float>()[0] == 8.f);
  CHECK(error_of([&] { checkpoint.restore(dir / "ckpt"); }) ==
        "Error when restoring from checkpoint or SavedModel at " + (dir / "ckpt") +
            ": Unsuccessful TensorSliceReader constructor: Failed to find any matching files for " + (dir / "ckpt") +
            "\nPlease double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the '-1' in 'path/to/ckpt-1').");
  // What write() wrote has no counter.
  Checkpoint({{"model", net}}).write(dir / "plain");
  CHECK(error_of([&] { Checkpoint({{"model", net}}).restore(dir / "plain").assert_consumed(); }) ==
        "Found 1 objects that were not bound to checkpointed values, likely due to changes in the program. Showing 1 of 1 unmatched "
        "objects: [<Variable 'save_counter' shape=() dtype=int64>]");
  CHECK(error_of([&] { Checkpoint(net, {{"w", wide}}); }) == "Cannot create a Checkpoint with keyword argument w if root.w already exists.");
}

TEST_CASE("a later restoration is not undone by an earlier one") {
  Folder dir;
  Net net(1.f);
  Checkpoint saver({{"model", net}});
  saver.write(dir / "old");
  net.layers[0]->w.assign(full({2, 3}, 20.f));
  saver.write(dir / "new");
  struct Late : Module {
    using Module::track;
  } late;
  Checkpoint checkpoint({{"model", late}});
  checkpoint.read(dir / "old").expect_partial();
  for (int i = 0; i < 50; ++i) checkpoint.read(dir / "new").expect_partial();
  std::vector<std::shared_ptr<Layer>> layers{std::make_shared<Layer>(0.f)};
  late.track("layers", layers);
  CHECK(layers[0]->w.value().to_vector<float>()[0] == 20.f);
  // Another one of the same name has come too late.
  std::vector<std::shared_ptr<Layer>> others{std::make_shared<Layer>(0.f)};
  late.track("layers", others);
  CHECK(others[0]->w.value().to_vector<float>()[0] == 0.f);
}

TEST_CASE("variables that a function makes at its first call get their values") {
  Folder dir;
  Layer layer(3.f);
  Checkpoint({{"layer", layer}}).write(dir / "w");
  struct Lazy : Module {
    Variable w;
    Tensor operator()(const Tensor& x) {
      if (!w.has_value()) {
        w = Variable(full({2, 3}, 0.f), {.name = "w"});
        track("w", w);
      }
      return x * w;
    }
  } lazy;
  Checkpoint checkpoint({{"layer", lazy}});
  auto status = checkpoint.read(dir / "w");
  auto f = function([&](const Tensor& x) { return lazy(x); });
  CHECK(f(full({2, 3}, 2.f)).to_vector<float>() == std::vector<float>(6, 6.f));
  status.assert_consumed();
  auto saving = function([&](const Tensor& x) {
    checkpoint.save(dir / "inside");
    return x;
  });
  CHECK(error_of([&] { saving(Tensor(1.f)); }).find("cannot be saved from inside of a traced function") != std::string::npos);
}

TEST_CASE("a checkpoint can be written over") {
  Folder dir;
  Layer layer(1.f);
  Checkpoint checkpoint({{"layer", layer}});
  for (int i = 0; i < 5; ++i) {
    layer.w.assign(full({2, 3}, float(i)));
    checkpoint.write(dir / "best");
    Layer other(9.f);
    Checkpoint({{"layer", other}}).read(dir / "best").assert_consumed();
    CHECK(other.w.value().to_vector<float>()[0] == float(i));
    CHECK(dir.files().size() == (i % 2 ? 3 : 2));
  }
}

TEST_CASE("what killed writers left goes with the next save") {
  Folder dir;
  Layer layer(1.f);
  Checkpoint checkpoint({{"layer", layer}});
  checkpoint.save(dir / "ckpt");
  for (const char* name : {"ckpt-2.data-00000-of-00001.tempstate12", "ckpt-2.index.tempstate13", "checkpoint.tempstate14",
                           "ckpt-7.data-00000-of-00001", "ckpt-1.data-00000-of-00002", "ckpt.data-00000-of-00001.tempstate1"})
    std::ofstream(dir / name) << "x";
  // These are others' business.
  for (const char* name : {"other.data-00000-of-00001", "other.index.tempstate3", "ckpt-x.data-00000-of-00001", "ckpt-3.tempstate", "notes"})
    std::ofstream(dir / name) << "x";
  checkpoint.save(dir / "ckpt");
  CHECK(dir.files() == std::vector<std::string>{"checkpoint", "ckpt-1.data-00000-of-00001", "ckpt-1.index", "ckpt-2.data-00000-of-00001",
                                                "ckpt-2.index", "ckpt-3.tempstate", "ckpt-x.data-00000-of-00001", "notes",
                                                "other.data-00000-of-00001", "other.index.tempstate3"});
}

TEST_CASE("the state file is TensorFlow's") {
  Folder dir;
  Layer layer(1.f);
  Checkpoint checkpoint({{"layer", layer}});
  checkpoint.save(dir / "a b\"c");
  std::ifstream in(dir / "checkpoint");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  CHECK(text == "model_checkpoint_path: \"a b\\\"c-1\"\nall_model_checkpoint_paths: \"a b\\\"c-1\"\n");
  CHECK(latest_checkpoint(dir.path) == dir / "a b\"c-1");
  CHECK(latest_checkpoint(dir / "nowhere") == "");
  CHECK(list_variables(dir.path).size() == 3);
  fs::remove(dir / "a b\"c-1.index");
  CHECK(latest_checkpoint(dir.path) == "");
  std::ofstream(dir / "checkpoint") << "model_checkpoint_path: 7";
  CHECK(!get_checkpoint_state(dir.path));
  // From inside the folder, and from beside it.
  const auto here = fs::current_path();
  fs::current_path(dir.path);
  CHECK(checkpoint.save("plain") == "plain-2");
  CHECK(latest_checkpoint("") == "plain-2");
  CHECK(latest_checkpoint(".") == "./plain-2");
  checkpoint.save("sub/x");
  CHECK(latest_checkpoint("sub") == "sub/x-3");
  fs::current_path(here);
}

namespace {

[[maybe_unused]] int64_t status_mib(const char* field) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(field)) return std::stoll(line.substr(line.find(':') + 1)) / 1024;
  }
  return 0;
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which need memory of their own
TEST_CASE("large values are not copied as a whole") {
  Folder dir;
  std::vector<Variable> variables;
  for (int i = 0; i < 48; ++i) variables.emplace_back(zeros({1 << 20}) + Tensor(float(i)));  // 4 MiB each
  Checkpoint checkpoint({{"v", variables}});
  const int64_t before = status_mib("VmHWM");
  checkpoint.write(dir / "w");
  CHECK(status_mib("VmHWM") - before < 30);
  checkpoint.read(dir / "w").assert_consumed();  // a third of it at a time
  CHECK(status_mib("VmHWM") - before < 130);
  CHECK(variables[47].value().to_vector<float>()[12345] == 47.f);
}
#endif
