// The cache of compiled code on disk: several processes, damage, limits, folders that cannot be used.
#include "core/disk_cache.h"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/folder.h"

using weft_engine::core::DiskCache;
using weft_engine::testing::Folder;

namespace {

constexpr int64_t kPlenty = 64 << 20;

pid_t start(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body() ? 7 : 1);
  }
  return child;
}

int result(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::vector<std::filesystem::path> files(const std::string& folder) {
  std::vector<std::filesystem::path> all;
  for (const auto& e : std::filesystem::directory_iterator(folder)) all.push_back(e.path());
  return all;
}

std::string bytes(size_t n, char c) { return std::string(n, c); }

}  // namespace

TEST_CASE("what one process puts into the cache another finds") {
  const Folder here;
  const std::string folder = here.path + "/a/b";  // made when needed
  DiskCache cache(folder, kPlenty);
  CHECK(!cache.find("key"));
  CHECK(!std::filesystem::exists(folder));
  std::string content = "code";
  content += '\0';
  content += "more";
  CHECK(result(start([&] {
          DiskCache other(folder, kPlenty);
          other.put("key", content);
          other.put("empty", "");
          other.put(std::string("a\0b", 3), "with a zero byte");
          return true;
        })) == 7);
  CHECK(cache.find("key") == content);
  CHECK(cache.find("empty") == "");
  CHECK(cache.find(std::string("a\0b", 3)) == "with a zero byte");
  CHECK(!cache.find("a"));
  cache.put("key", "newer");
  CHECK(cache.find("key") == "newer");
  CHECK(files(folder).size() == 3);
  struct stat s;
  REQUIRE(stat(folder.c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0700);
}

TEST_CASE("processes that write and read the same keys see whole values") {
  const Folder here;
  const auto value = [](int k, int version) { return bytes(size_t(3000 + 100 * k), char('a' + version)); };
  std::vector<pid_t> all;
  for (int p = 0; p < 4; ++p) {
    all.push_back(start([&] {
      DiskCache cache(here.path, 40'000);  // less than they write: files are removed, too
      for (int i = 0; i < 300; ++i) {
        const int k = (i * 7 + p) % 16;
        cache.put("key" + std::to_string(k), value(k, p));
        const auto found = cache.find("key" + std::to_string((k + 1) % 16));
        if (!found) continue;
        bool known = false;
        for (int version = 0; version < 4; ++version) known |= *found == value((k + 1) % 16, version);
        if (!known) return false;
      }
      return true;
    }));
  }
  for (const pid_t p : all) CHECK(result(p) == 7);
  for (const auto& f : files(here.path)) CHECK(f.filename().string().rfind("new-", 0) != 0);
}

TEST_CASE("damaged files are ignored and replaced") {
  const Folder here;
  DiskCache cache(here.path, kPlenty);
  const std::string content = bytes(200, 'x');
  cache.put("key", content);
  const std::string file = files(here.path).at(0).string();
  const auto size = std::filesystem::file_size(file);
  std::string whole(size, '\0');
  std::ifstream(file, std::ios::binary).read(whole.data(), std::streamsize(size));
  for (size_t i = 0; i < size; ++i) {
    std::string damaged = whole;
    damaged[i] = char(damaged[i] ^ 0x10);
    std::ofstream(file, std::ios::binary) << damaged;
    REQUIRE(!cache.find("key"));
    REQUIRE(!std::filesystem::exists(file));
  }
  for (size_t n = 0; n < size; n += 7) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, n);
    REQUIRE(!cache.find("key"));
  }
  std::ofstream(file, std::ios::binary) << whole << "more";
  CHECK(!cache.find("key"));
  // The file of another key.
  cache.put("other", content);
  std::filesystem::rename(files(here.path).at(0), file);
  CHECK(!cache.find("key"));
  cache.put("key", content);
  CHECK(cache.find("key") == content);
}

TEST_CASE("the cache is bounded, and what was not used for longest goes first") {
  const Folder here;
  DiskCache cache(here.path, 100'000);
  cache.put("large", bytes(30'000, 'l'));  // more than a quarter
  CHECK(files(here.path).empty());
  for (int i = 0; i < 9; ++i) {
    cache.put("key" + std::to_string(i), bytes(10'000, 'k'));
    for (const auto& f : files(here.path)) {  // one after the other, long ago
      const auto t = std::filesystem::last_write_time(f);
      std::filesystem::last_write_time(f, t - std::chrono::hours(2));
    }
  }
  CHECK(files(here.path).size() == 9);
  CHECK(cache.find("key0"));  // used now
  const std::string foreign = here.put("notes.txt", bytes(500'000, 'n'));
  DiskCache second(here.path, 100'000);  // which has to read what there is
  second.put("key9", bytes(10'000, 'k'));
  CHECK(second.find("key9"));
  CHECK(second.find("key0"));
  CHECK(!second.find("key1"));
  int64_t held = 0;
  for (const auto& f : files(here.path)) held += f == foreign ? 0 : int64_t(std::filesystem::file_size(f));
  CHECK(held <= 75'000);
  CHECK(std::filesystem::exists(foreign));
}

TEST_CASE("a disk without room leaves nothing behind") {
  const Folder here;
  CHECK(result(start([&] {
          std::signal(SIGXFSZ, SIG_IGN);
          const rlimit most{1000, 1000};
          setrlimit(RLIMIT_FSIZE, &most);
          DiskCache cache(here.path, kPlenty);
          cache.put("key", bytes(5000, 'k'));
          if (cache.find("key")) return false;
          cache.put("small", "code");
          return cache.find("small") == "code";
        })) == 7);
  CHECK(files(here.path).size() == 1);
}

TEST_CASE("folders that cannot be used are no error") {
  const Folder here;
  const std::string file = here.put("file", "");
  for (const std::string& folder : {file, file + "/below", std::string("/proc/self/weft")}) {
    DiskCache cache(folder, kPlenty);
    cache.put("key", "code");
    cache.put("key", "code");
    CHECK(!cache.find("key"));
  }
  // Others could put code there that this process would run.
  const std::string open_to_all = here.path + "/open";
  std::filesystem::create_directory(open_to_all);
  std::filesystem::permissions(open_to_all, std::filesystem::perms::all);
  DiskCache cache(open_to_all, kPlenty);
  cache.put("key", "code");
  CHECK(files(open_to_all).empty());
  // A file that others could have written.
  DiskCache own(here.path + "/own", kPlenty);
  own.put("key", "code");
  std::filesystem::permissions(files(own.folder()).at(0), std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  CHECK(!own.find("key"));
}

TEST_CASE("a folder that may not be written is still read") {
  const Folder here;
  const std::string folder = here.path + "/cache";
  DiskCache(folder, kPlenty).put("key", "code");
  std::filesystem::permissions(folder, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  DiskCache cache(folder, kPlenty);
  CHECK(cache.find("key") == "code");
  cache.put("other", "code");  // who may write everywhere (root) does
  CHECK(cache.find("key") == "code");
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
}

TEST_CASE("files that were begun and never finished go") {
  const Folder here;
  const std::string old = here.put("new-1-2-3-4.weft", bytes(1000, 'n'));
  std::filesystem::last_write_time(old, std::filesystem::last_write_time(old) - std::chrono::hours(3));
  const std::string young = here.put("new-1-2-3-5.weft", bytes(1000, 'n'));
  DiskCache(here.path, kPlenty).put("key", "code");
  CHECK(!std::filesystem::exists(old));
  CHECK(std::filesystem::exists(young));
}
