// CheckpointManager; saving on a thread; saving while others train.
#include <weft/nn.h>
#include <weft/optim.h>

#include <atomic>
#include <thread>

#include "tests/files/checkpoint/support.h"

namespace {

std::vector<std::string> names(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const auto& p : paths) out.push_back(fs::path(p).filename().string());
  return out;
}
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the last few are kept") {
  Folder dir;
  Layer layer(1.f);
  Checkpoint checkpoint({{"layer", layer}});
  CheckpointManager manager(checkpoint, dir.path, {.max_to_keep = 2, .checkpoint_name = "model"});
  CHECK(manager.latest_checkpoint().empty());
  for (int i = 0; i < 4; ++i) manager.save();
  CHECK(names(manager.checkpoints()) == Names{"model-3", "model-4"});
  CHECK(dir.files() == Names{"checkpoint", "model-3.data-00000-of-00001", "model-3.index", "model-4.data-00000-of-00001", "model-4.index"});
  CHECK(manager.save(100) == dir / "model-100");
  CHECK(checkpoint.save_counter().value().item<int64_t>() == 5);
  // One that is written over is the newest.
  CHECK(manager.save(4) == dir / "model-4");
  CHECK(names(manager.checkpoints()) == Names{"model-100", "model-4"});
  CHECK(manager.latest_checkpoint() == dir / "model-4");

  Layer other(2.f);
  Checkpoint again({{"layer", other}});
  CheckpointManager next(again, dir.path, {.max_to_keep = 1, .checkpoint_name = "model"});
  CHECK(names(next.checkpoints()) == Names{"model-100", "model-4"});
  CHECK(next.restore_or_initialize() == dir / "model-4");
  CHECK(other.w.value().to_vector<float>()[0] == 1.f);
  CHECK(next.save() == dir / "model-7");
  CHECK(names(next.checkpoints()) == Names{"model-7"});
  CHECK(dir.files().size() == 3);
}

TEST_CASE("one every few hours is kept for good") {
  Folder dir;
  Layer layer(1.f);
  Checkpoint checkpoint({{"layer", layer}});
  {
    CheckpointManager manager(checkpoint, dir.path, {.max_to_keep = 3});
    for (int i = 0; i < 3; ++i) manager.save();
  }
  // As if they had been written three, two and one hours ago.
  const double now = double(time(nullptr));
  std::ofstream(dir / "checkpoint") << std::fixed << "model_checkpoint_path: 'ckpt-3'\nall_model_checkpoint_paths: ['ckpt-1', 'ckpt-2', 'ckpt-3']\n"
                                    << "all_model_checkpoint_timestamps: [" << now - 10800 << ", " << now - 7200 << ", " << now - 3600
                                    << "]\nlast_preserved_timestamp: " << now - 16000 << "\n";
  CheckpointManager manager(checkpoint, dir.path, {.max_to_keep = 1, .keep_checkpoint_every_n_hours = 1.3});
  manager.save();
  CHECK(names(manager.checkpoints()) == Names{"ckpt-4"});
  // The first is 1.4 hours after the last that was kept, the second one hour after that, the third two.
  CHECK(fs::exists(dir / "ckpt-1.index"));
  CHECK(!fs::exists(dir / "ckpt-2.index"));
  CHECK(fs::exists(dir / "ckpt-3.index"));
  CHECK(get_checkpoint_state(dir.path)->last_preserved_timestamp == doctest::Approx(now - 3600));
}

TEST_CASE("a step counter decides when to save") {
  Folder dir;
  Layer layer(1.f);
  Variable step(Tensor(int32_t(0)), {.name = "step"});
  Checkpoint checkpoint({{"layer", layer}, {"step", step}});
  int calls = 0;
  CheckpointManagerOptions options;
  options.max_to_keep = 0;
  options.step_counter = step;
  options.checkpoint_interval = 5;
  options.init = [&] { ++calls; };
  {
    CheckpointManager manager(checkpoint, dir.path, options);
    CHECK(manager.restore_or_initialize() == "");
    CHECK(calls == 1);
    std::vector<int> saved;
    for (int i = 0; i < 12; ++i) {
      step.assign(Tensor(int32_t(i)));
      if (!manager.save().empty()) saved.push_back(i);
    }
    CHECK(saved == std::vector<int>{0, 5, 10});
    CHECK(manager.save({}, false) == dir / "ckpt-4");
    CHECK(manager.save({}, false) == "");  // this step has been saved
  }
  CheckpointManager manager(checkpoint, dir.path, options);
  manager.restore_or_initialize();
  CHECK(calls == 1);
  step.assign(Tensor(int32_t(13)));
  CHECK(manager.save() == "");  // restored at step 11
  CHECK(manager.checkpoints().size() == 4);
  CHECK(error_of([&] { CheckpointManager(checkpoint, dir.path, {.max_to_keep = -1}); }) ==
        "Expected a positive integer or `None` for `max_to_keep`, got -1.");
  CHECK(error_of([&] { CheckpointManager(checkpoint, dir.path, {.checkpoint_interval = 3}); }) ==
        "`step_counter` should be passed if `checkpoint_interval` is not None.");
}

TEST_CASE("a checkpoint that was written but not recorded is not forgotten") {
  Folder dir;
  Layer layer(1.f);
  Checkpoint checkpoint({{"layer", layer}});
  {
    CheckpointManager manager(checkpoint, dir.path, {.max_to_keep = 2});
    manager.save();
  }
  fs::last_write_time(dir / "ckpt-1.index", fs::file_time_type::clock::now() - std::chrono::hours(1));
  checkpoint.write(dir / "ckpt-9");  // as if its process had died right after
  CheckpointManager manager(checkpoint, dir.path, {.max_to_keep = 2});
  CHECK(manager.latest_checkpoint() == dir / "ckpt-1");
  manager.save();
  CHECK(names(manager.checkpoints()) == Names{"ckpt-9", "ckpt-2"});
  manager.save();
  CHECK(dir.files().size() == 5);
}

TEST_CASE("a save on a thread has the values of its moment") {
  Folder dir;
  Variable big(full({1000, 1000}, 1.f), {.name = "big"});
  Checkpoint checkpoint({{"big", big}});
  auto save = checkpoint.save_async(dir / "ckpt");
  big.assign_add(full({1000, 1000}, 1.f));
  CHECK(save.wait() == dir / "ckpt-1");
  CHECK(save.done());
  CHECK(latest_checkpoint(dir.path) == dir / "ckpt-1");
  const auto saved = load_variable(dir.path, "big/.ATTRIBUTES/VARIABLE_VALUE").to_vector<float>();
  CHECK(std::all_of(saved.begin(), saved.end(), [](float x) { return x == 1.f; }));
  CHECK(big.value().to_vector<float>()[7] == 2.f);
  for (int i = 0; i < 3; ++i) checkpoint.save_async(dir / "ckpt");  // one after another
  checkpoint.restore(dir / "ckpt-1");
  CHECK(latest_checkpoint(dir.path) == dir / "ckpt-4");
  {
    Checkpoint gone({{"big", big}});
    gone.write_async(dir / "gone");
  }
  CHECK(fs::exists(dir / "gone.index"));
  {
    CheckpointManager manager(checkpoint, dir / "managed", {.max_to_keep = 1});
    manager.save_async();
    manager.save_async();
  }
  CHECK(latest_checkpoint(dir / "managed") == dir / "managed/ckpt-3");
}

TEST_CASE("the error of a save on a thread comes out once") {
  Folder dir;
  std::ofstream(dir / "file") << "x";
  Layer layer(1.f);
  Checkpoint checkpoint({{"layer", layer}});
  auto save = checkpoint.write_async(dir / "file/x");
  CHECK(error_of([&] { save.wait(); }).find("Not a directory") != std::string::npos);
  checkpoint.write(dir / "ok");  // somebody asked
  checkpoint.write_async(dir / "file/x");
  CHECK(error_of([&] { checkpoint.write(dir / "ok"); }).find("Not a directory") != std::string::npos);
  checkpoint.write(dir / "ok");
  checkpoint.write_async(dir / "file/x");
  CHECK(error_of([&] { checkpoint.sync(); }).find("Not a directory") != std::string::npos);
  checkpoint.sync();
}

TEST_CASE("each variable is saved whole while another thread trains") {
  Folder dir;
  std::vector<Variable> variables;
  for (int i = 0; i < 8; ++i) variables.emplace_back(full({20000}, 0.f));
  Checkpoint checkpoint({{"v", variables}});
  std::atomic<bool> stop{false};
  std::thread training([&] {
    const Tensor one = full({20000}, 1.f);
    while (!stop) {
      for (auto& v : variables) v.assign_add(one);
    }
  });
  for (int round = 0; round < 20; ++round) {
    if (round % 2) checkpoint.write(dir / "w");
    else checkpoint.write_async(dir / "w").wait();
    for (int i = 0; i < 8; ++i) {
      const auto values = load_variable(dir / "w", "v/" + std::to_string(i) + "/.ATTRIBUTES/VARIABLE_VALUE").to_vector<float>();
      const bool whole = std::all_of(values.begin(), values.end(), [&](float x) { return x == values[0]; });
      CHECK(whole);
    }
  }
  stop = true;
  training.join();
}

TEST_CASE("optimisers that change variables in place leave a snapshot alone") {
  Folder dir;
  nn::Sequential model{nn::Dense(64, "tanh"), nn::Dense(1)};
  nn::Adam optimizer;
  const Tensor x = full({8, 64}, 0.5f), y = full({8, 1}, 1.f);
  auto step = function([&](const Tensor& x, const Tensor& y) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(model(x) - y));
    auto variables = model.trainable_variables();
    optimizer.apply(tape.gradient(loss, variables), variables);
    return loss;
  });
  step(x, y);
  Checkpoint checkpoint({{"model", model}, {"optimizer", optimizer}});
  for (int round = 0; round < 10; ++round) {
    std::vector<std::vector<float>> then;  // copies
    for (const auto& v : model.trainable_variables()) then.push_back(v.value().to_vector<float>());
    auto save = checkpoint.write_async(dir / "w");
    for (int i = 0; i < 20; ++i) step(x, y);
    save.wait();
    CHECK(model.trainable_variables()[0].value().to_vector<float>() != then[0]);
    nn::Sequential other{nn::Dense(64, "tanh"), nn::Dense(1)};
    Checkpoint again({{"model", other}});
    again.read(dir / "w").expect_partial();
    other(x);
    for (size_t i = 0; i < then.size(); ++i) CHECK(other.trainable_variables()[i].value().to_vector<float>() == then[i]);
  }
}

TEST_CASE("what is not there is an error") {
  CHECK(error_of([] { Checkpoint({{"a", static_cast<const Module*>(nullptr)}}); }) == "nothing to track: a null pointer");
  CHECK(error_of([] { Checkpoint({{"a", std::shared_ptr<Layer>()}}); }) == "nothing to track: a null pointer");
  CHECK(error_of([] { Checkpoint({{"a", Variable()}}); }) == "a variable that was not made cannot be tracked");
  CHECK(error_of([] { Checkpoint({{"a", Layer(1.f)}, {"a", Layer(2.f)}}); }) == "two objects are named 'a'");
  CHECK(error_of([] { PendingSave().wait(); }) == "no save was begun");
  CHECK(error_of([] { RestoreStatus().assert_consumed(); }) == "nothing was restored");
}

TEST_CASE("one Checkpoint used by several threads") {
  Folder dir;
  Layer layer(1.f);
  Checkpoint checkpoint({{"layer", layer}});
  CheckpointManager manager(checkpoint, dir.path, {.max_to_keep = 2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        if (t == 0) checkpoint.write(dir / "best");
        else if (t == 1) manager.save_async();
        else if (t == 2) manager.save();
        else (void)manager.checkpoints();
      }
    });
  }
  for (auto& t : threads) t.join();
  checkpoint.sync();
  CHECK(checkpoint.save_counter().value().item<int64_t>() == 10);
  CHECK(manager.latest_checkpoint() == dir / "ckpt-10");
  checkpoint.restore(manager.latest_checkpoint()).assert_consumed();
}
