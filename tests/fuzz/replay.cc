// Plays files, or folders of them, through a fuzz target in builds without libFuzzer: whatever it once found stays found.
// `--mutate SECONDS SEED` continues with changed copies of them (bits, bytes, numbers, cuts, pieces of two files); the input in work is
// kept in ./last_input_SEED, so that a death leaves what caused it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "mutate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

int mutate(const std::vector<std::string>& all, double seconds, uint64_t seed) {
  std::mt19937_64 r(seed);
  const std::string trace = "last_input_" + std::to_string(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  size_t count = 0;
  while (std::chrono::steady_clock::now() < end) {
    const std::string in = changed(all[r() % all.size()], all, r);
    std::ofstream(trace, std::ios::binary) << in;
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(in.data()), in.size());
    ++count;
  }
  std::remove(trace.c_str());
  std::printf("%zu changed inputs\n", count);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  double seconds = 0;
  uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--mutate" && i + 2 < argc) {
      seconds = std::atof(argv[i + 1]);
      seed = std::strtoull(argv[i + 2], nullptr, 10);
      i += 2;
      continue;
    }
    if (!fs::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> all;
  for (const fs::path& path : files) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    std::fprintf(stderr, "%s\n", path.c_str());  // the last line names the file that kills the process
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    all.push_back(bytes);
  }
  std::printf("%zu inputs\n", files.size());
  if (seconds > 0 && !all.empty()) return mutate(all, seconds, seed);
  return files.empty();
}
