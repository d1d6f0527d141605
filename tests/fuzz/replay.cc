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
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

std::string changed(std::string in, const std::vector<std::string>& all, std::mt19937_64& r) {
  for (int k = int(r() % 4); k >= 0; --k) {
    const size_t at = in.empty() ? 0 : r() % in.size();
    switch (r() % 8) {
      case 0:
        if (!in.empty()) in[at] = char(in[at] ^ (1 << r() % 8));
        break;
      case 1:
        if (!in.empty()) in[at] = char(r());
        break;
      case 2: in.resize(at); break;
      case 3: in.erase(at, 1 + r() % 16); break;
      case 4: in.insert(at, in.substr(r() % (at + 1), r() % 64)); break;
      case 5: in.insert(at, std::string(1 + r() % 9, char(r() % 2 ? 0xff : r()))); break;
      case 6: {
        const std::string& other = all[r() % all.size()];
        const size_t from = other.empty() ? 0 : r() % other.size();
        in.replace(at, r() % 64, other.substr(from, r() % 256));
        break;
      }
      default:
        if (in.size() > 8) std::swap(in[at], in[r() % in.size()]);
        break;
    }
  }
  return in;
}

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
