// A disk that is full: the error names the file, what was there before loads, nothing is left over. On a small file system of its
// own where the system lets one be mounted, otherwise (and with --limit) by a limit on the size of files.
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>
#include <weft/weft.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace {

namespace fs = std::filesystem;

void require(bool condition, const char* what) {
  if (condition) return;
  std::printf("FAILED: %s\n", what);
  std::exit(1);
}

struct Values : weft::Module {
  weft::Variable small{weft::ones({10}), {.name = "small"}}, large{weft::ones({25000}), {.name = "large"}};
  Values() {
    track("small", small);
    track("large", large);
  }
};

std::set<std::string> files(const std::string& dir) {
  std::set<std::string> out;
  for (const auto& e : fs::directory_iterator(dir)) {
    if (e.path().filename() != "filler") out.insert(e.path().filename().string());
  }
  return out;
}

// Saves once. 0: it went well, 1: the disk was full, and all is as it was.
int save_once(weft::Checkpoint& checkpoint, weft::CheckpointManager& manager, const std::string& dir, bool async) {
  const auto before = files(dir);
  const std::string latest = manager.latest_checkpoint();
  try {
    if (async) manager.save_async()->wait();
    else manager.save();
    return 0;
  } catch (const weft::Error& e) {
    require(e.code() == weft::Code::kResourceExhausted, e.what());
    require(std::string(e.what()).find(dir) != std::string::npos, e.what());
  }
  require(files(dir) == before, "something was left over");
  require(manager.latest_checkpoint() == latest && weft::latest_checkpoint(dir) == latest, "the latest checkpoint is another one");
  checkpoint.restore(latest).assert_consumed();
  return 1;
}

}  // namespace

int main(int argc, char**) {
  const std::string dir = (fs::temp_directory_path() / ("weft_full_" + std::to_string(getpid()))).string();
  fs::create_directories(dir);
  // Before anything makes a thread. Inside containers that forbid it, the limit below does.
  const bool mounted = argc < 2 && (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
                       mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       mount("none", dir.c_str(), "tmpfs", 0, "size=1m,nr_inodes=40") == 0;
  int full = 0, good = 0;
  {
    Values values;
    weft::Checkpoint checkpoint({{"values", values}});
    weft::CheckpointManager manager(checkpoint, dir, {.max_to_keep = 2});
    manager.save();
    manager.save();
    if (mounted) {
      // 1 MiB holds the two and a bit; from there the free space shrinks page by page, past each file of a save.
      for (int pages = 256; pages >= 0; --pages) {
        fs::remove(dir + "/filler");
        {
          std::ofstream filler(dir + "/filler");
          const std::string page(4096, 'x');
          for (int i = 0; i < pages && filler; ++i) filler << page << std::flush;
        }
        (save_once(checkpoint, manager, dir, pages % 2) ? full : good) += 1;
      }
      fs::remove(dir + "/filler");
      // No more files can be made.
      for (int i = 0; i < 40; ++i) std::ofstream(dir + "/filler" + std::to_string(i));
      try {
        manager.save();
        require(false, "a save without room for files");
      } catch (const weft::Error& e) {
        require(e.code() == weft::Code::kResourceExhausted, e.what());
      }
      for (int i = 0; i < 40; ++i) fs::remove(dir + "/filler" + std::to_string(i));
    } else {
      signal(SIGXFSZ, SIG_IGN);
      for (rlim_t limit : {1, 100, 300, 50000, 100000, 1000000}) {
        rlimit before;
        getrlimit(RLIMIT_FSIZE, &before);
        rlimit tight = before;
        tight.rlim_cur = limit;
        setrlimit(RLIMIT_FSIZE, &tight);
        const int result = save_once(checkpoint, manager, dir, limit % 2);
        setrlimit(RLIMIT_FSIZE, &before);
        (result ? full : good) += 1;
      }
    }
    // There is room again.
    manager.save();
    require(files(dir).size() == 5, "more or less than two checkpoints and their state");
    checkpoint.restore(weft::latest_checkpoint(dir)).assert_consumed();
  }
  require(full > 0 && good > 0, "the disk was never full, or always");
  if (mounted) umount(dir.c_str());
  fs::remove_all(dir);
  std::printf("%s: %d saves on a full disk, %d with room\n", mounted ? "a file system of 1 MiB" : "a limit on files", full, good);
  return 0;
}
