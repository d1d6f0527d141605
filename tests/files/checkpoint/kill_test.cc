// A child saves in a loop and is killed at random moments; each time the latest checkpoint must load with values that belong
// together, and the next save must leave nothing but whole checkpoints.
//
//   kill_test [--kills N] [--seed N] [--dir FOLDER]
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/weft.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>

namespace {

namespace fs = std::filesystem;
constexpr int kKeep = 3;

struct Values : weft::Module {
  weft::Variable step{weft::Tensor(int64_t(0)), {.name = "step"}};
  std::vector<weft::Variable> parts;
  Values() {
    for (int64_t n : {1, 1000, 200000, 3}) {
      const std::vector<float> zeros(static_cast<size_t>(n), 0.f);
      parts.emplace_back(weft::Tensor::of<float>({n}, std::span<const float>(zeros)));
    }
    track("step", step);
    track("parts", parts);
  }
  void advance() {
    const int64_t next = step.value().item<int64_t>() + 1;
    step.assign(weft::Tensor(next));
    for (auto& p : parts) p.assign_add(weft::ones(p.shape()));
  }
  // All parts hold the number of the step.
  bool consistent() const {
    const auto expected = static_cast<float>(step.value().item<int64_t>());
    for (const auto& p : parts) {
      for (float x : p.value().to_vector<float>()) {
        if (x != expected) return false;
      }
    }
    return true;
  }
};

// Saves for ever: numbered ones, at once and on a thread, and one that is always written over.
int child(const std::string& dir, int ready) {
  Values values;
  weft::Checkpoint checkpoint({{"values", values}});
  weft::CheckpointManager manager(checkpoint, dir, {.max_to_keep = kKeep});
  manager.restore_or_initialize();
  if (!values.consistent()) return 2;
  if (write(ready, "x", 1) != 1) return 3;
  while (true) {
    values.advance();
    if (values.step.value().item<int64_t>() % 2) manager.save();
    else manager.save_async();
    checkpoint.write(dir + "/best");
  }
}

[[noreturn]] void fail(const std::string& what) {
  std::printf("FAILED: %s\n", what.c_str());
  std::exit(1);
}

// Whole checkpoints, the state file and nothing else; gives the number of checkpoints.
int check_files(const std::string& dir) {
  std::map<std::string, std::set<std::string>> by_prefix;
  for (const auto& e : fs::directory_iterator(dir)) {
    const std::string name = e.path().filename().string();
    if (name == "checkpoint") continue;
    const size_t dot = name.find('.');
    if (name.find("tempstate") != name.npos || dot == name.npos) fail("left over: " + name);
    by_prefix[name.substr(0, dot)].insert(name.substr(dot));
  }
  for (const auto& [prefix, files] : by_prefix) {
    const std::set<std::string> one{".index", ".data-00000-of-00001"}, two{".index", ".data-00000-of-00002", ".data-00001-of-00002"};
    if (files != one && files != two) {
      std::string all;
      for (const auto& f : files) all += " " + prefix + f;
      fail("not one whole checkpoint:" + all);
    }
  }
  return int(by_prefix.size());
}

std::chrono::duration<double> time_of_save(const std::string& dir) {
  Values values;
  weft::Checkpoint checkpoint({{"values", values}});
  weft::CheckpointManager manager(checkpoint, dir, {.max_to_keep = kKeep});
  manager.save();
  const auto begin = std::chrono::steady_clock::now();
  manager.save();
  return std::chrono::steady_clock::now() - begin;
}

void check_after_kill(const std::string& dir, int64_t& last_step) {
  const std::string latest = weft::latest_checkpoint(dir);
  if (latest.empty()) {
    if (last_step > 0) fail("the latest checkpoint is gone");
    return;
  }
  Values values;
  weft::Checkpoint checkpoint({{"values", values}});
  checkpoint.restore(latest).assert_consumed();
  if (!values.consistent()) fail("values of " + latest + " do not belong together");
  const int64_t step = values.step.value().item<int64_t>();
  if (step < last_step) fail("an older checkpoint than before is the latest: " + latest);
  if (fs::exists(dir + "/best.index")) {
    Values best;
    weft::Checkpoint({{"values", best}}).read(dir + "/best").expect_partial().assert_existing_objects_matched();
    if (!best.consistent()) fail("values of " + dir + "/best do not belong together");
  }
  // The next save cleans up, the ones that are numbered and the one that is not.
  weft::CheckpointManager manager(checkpoint, dir, {.max_to_keep = kKeep});
  values.advance();
  manager.save();
  checkpoint.write(dir + "/best");
  last_step = step + 1;
  if (check_files(dir) > kKeep + 1) fail("more checkpoints than are kept");
}

}  // namespace

int main(int argc, char** argv) {
  int kills = 25;
  std::string where;
  unsigned seed = std::random_device()();
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--child")) return child(argv[i + 1], std::atoi(argv[i + 2]));
    if (!std::strcmp(argv[i], "--kills")) kills = std::atoi(argv[i + 1]);
    if (!std::strcmp(argv[i], "--dir")) where = argv[i + 1];
    if (!std::strcmp(argv[i], "--seed")) seed = unsigned(std::atoi(argv[i + 1]));
  }
  std::mt19937 random(seed);
  // In memory saves are fast, so that more of a kill's moments fall between two renames.
  if (where.empty()) where = fs::temp_directory_path().string();
  const std::string dir = where + "/weft_kill_" + std::to_string(getpid());
  fs::remove_all(dir);
  fs::create_directories(dir);
  int64_t last_step = 0;
  const auto a_save = time_of_save(dir);
  std::map<std::string, int> seen;  // what the kills left
  for (int i = 0; i < kills; ++i) {
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) fail("pipe");
    const std::string fd = std::to_string(pipe_ends[1]);
    const pid_t pid = fork();
    if (pid == 0) {
      execl("/proc/self/exe", argv[0], "--child", dir.c_str(), fd.c_str(), nullptr);
      _exit(9);
    }
    close(pipe_ends[1]);
    char byte;
    if (read(pipe_ends[0], &byte, 1) != 1) fail("the child could not start from the latest checkpoint");
    close(pipe_ends[0]);
    std::this_thread::sleep_for(a_save * double(random() % 8000) / 1000);
    kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    if (!WIFSIGNALED(status)) fail("the child ended by itself: " + std::to_string(status));
    bool unfinished = false, orphan = false;
    for (const auto& e : fs::directory_iterator(dir)) {
      const std::string path = e.path().string();
      if (path.find("tempstate") != path.npos) unfinished = true;
      else if (const size_t at = path.find(".data-"); at != path.npos && !fs::exists(path.substr(0, at) + ".index")) orphan = true;
    }
    ++seen[unfinished ? "unfinished files" : orphan ? "data without an index" : "nothing"];
    try {
      check_after_kill(dir, last_step);
    } catch (const weft::Error& e) {
      fail("kill " + std::to_string(i) + ", seed " + std::to_string(seed) + ": " + e.what());
    }
  }
  fs::remove_all(dir);
  std::printf("%d kills (seed %u), %d loadable, nothing left over after the next save; step %lld\n", kills, seed, kills,
              static_cast<long long>(last_step));
  for (const auto& [what, times] : seen) std::printf("  %d kills left %s\n", times, what.c_str());
  return 0;
}
