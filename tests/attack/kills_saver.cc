// What kills_attack.py kills: saves for ever, and checks what a kill left.
//
//   attack_kills_saver save FOLDER     prints "ready" and saves until it is killed
//   attack_kills_saver check FOLDER    loads all that is there, saves once more, prints "good"
#include <weft/weft.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;

struct Values : weft::Module {
  weft::Variable step{weft::Tensor(int64_t(0)), {.name = "step"}};
  std::vector<weft::Variable> parts;
  weft::TracedFunction<weft::Tensor(weft::Tensor)> call = weft::function([this](weft::Tensor x) { return x + parts[0]; });
  Values() {
    for (int64_t n : {1, 1000, 100000}) {
      const std::vector<float> zeros(static_cast<size_t>(n), 0.f);
      parts.emplace_back(weft::Tensor::of<float>({n}, std::span<const float>(zeros)));
    }
    track("step", step);
    track("parts", parts);
    track("call", call);
  }
  void advance() {
    step.assign(weft::Tensor(step.value().item<int64_t>() + 1));
    for (auto& p : parts) p.assign_add(weft::ones(p.shape()));
  }
};

[[noreturn]] void fail(const std::string& what) {
  std::printf("FAILED: %s\n", what.c_str());
  std::exit(1);
}

// All parts hold the number of the step.
void check(const weft::Tensor& step, const weft::Tensor& part, const std::string& where) {
  const auto wanted = float(step.item<int64_t>());
  for (float x : part.to_vector<float>()) {
    if (x != wanted) fail(where + " holds values of two saves");
  }
}

void check_checkpoint(const std::string& prefix) {
  if (!fs::exists(prefix + ".index")) return;
  weft::verify_checkpoint(prefix);
  Values values;
  weft::Checkpoint({{"values", values}}).read(prefix).expect_partial().assert_existing_objects_matched();
  for (const auto& p : values.parts) check(values.step.value(), p.value(), prefix);
}

void check_model(const std::string& dir) {
  if (!fs::exists(dir + "/saved_model.pb")) return;
  weft::verify_saved_model(dir);
  auto m = weft::load_module(dir);
  for (const char* part : {"parts.0", "parts.1", "parts.2"}) check(m.variable("step").value(), m.variable(part).value(), dir);
}

void save_all(Values& values, weft::Checkpoint& checkpoint, weft::CheckpointManager& manager, const std::string& dir) {
  values.advance();
  weft::save(values, dir + "/model");
  checkpoint.write(dir + "/best");
  if (values.step.value().item<int64_t>() % 2) manager.save();
  else manager.save_async();
  weft::data::write_file(dir + "/text", std::to_string(values.step.value().item<int64_t>()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string mode = argv[1], dir = argv[2];
  try {
    Values values;
    values.call(weft::ones({1}));
    weft::Checkpoint checkpoint({{"values", values}});
    if (mode == "check") {
      check_model(dir + "/model");
      check_checkpoint(dir + "/best");
      const std::string latest = weft::latest_checkpoint(dir);
      if (!latest.empty()) check_checkpoint(latest);
    }
    weft::CheckpointManager manager(checkpoint, dir, {.max_to_keep = 2});
    manager.restore_or_initialize();
    if (mode == "check") {
      for (int i = 0; i < 2; ++i) save_all(values, checkpoint, manager, dir);
      checkpoint.sync();
      std::puts("good");
      return 0;
    }
    std::puts("ready");
    std::fflush(stdout);
    while (true) save_all(values, checkpoint, manager, dir);
  } catch (const weft::Error& e) {
    fail(e.what());
  }
}
