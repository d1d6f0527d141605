// weft/aot/checkpoint.h, which programs of the compiler include: written over, killed, read by the engine.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <weft/aot/checkpoint.h>
#include <weft/weft.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace {

namespace fs = std::filesystem;

struct VariableOf {
  const char *checkpoint_key, *name;
  int dtype;
  const int64_t* dims;
  int rank;
  size_t bytes;
};

// What the compiler writes for a model with one variable.
struct Net {
  static constexpr int kVariables = 1;
  float x[3] = {1, 2, 3};
  static const VariableOf& variable(int) {
    static const int64_t dims[] = {3};
    static const VariableOf v{"", "x", 1, dims, 1, sizeof(float) * 3};
    return v;
  }
  void* variable_data(int) { return x; }
};

struct Folder {
  fs::path path = fs::temp_directory_path() / ("weft_aot_checkpoint_" + std::to_string(getpid()));
  Folder() { fs::remove_all(path), fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return path / name; }
  std::set<std::string> files() const {
    std::set<std::string> out;
    for (const auto& e : fs::directory_iterator(path)) out.insert(e.path().filename());
    return out;
  }
};

}  // namespace

TEST_CASE("a checkpoint of a compiled program is written over, never half new") {
  Folder dir;
  Net net;
  std::string error;
  for (float value = 0; value < 4; ++value) {
    net.x[0] = value;
    REQUIRE(weft::aot::save_checkpoint(net, dir / "c", &error));
    Net back;
    REQUIRE(weft::aot::load_checkpoint(back, dir / "c", &error));
    CHECK(back.x[0] == value);
    CHECK(weft::read_checkpoint(dir / "c", "x").to_vector<float>() == std::vector<float>{value, 2, 3});
    weft::verify_checkpoint(dir / "c");
    CHECK(dir.files().size() == (int(value) % 2 ? 3 : 2));
  }
}

TEST_CASE("a compiled program removes what the dead left, and nothing of the living") {
  Folder dir;
  for (const char* name : {"c.index.tempstate12", "c.data-00000-of-00001.tempstate13", "other.index.tempstate14"}) std::ofstream(dir / name) << "x";
  const int living = open((dir / "c.index.tempstate12").c_str(), O_RDONLY);
  REQUIRE(flock(living, LOCK_EX) == 0);
  Net net;
  REQUIRE(weft::aot::save_checkpoint(net, dir / "c"));
  CHECK(dir.files() == std::set<std::string>{"c.data-00000-of-00001", "c.index", "c.index.tempstate12", "other.index.tempstate14"});
  close(living);
  REQUIRE(weft::aot::save_checkpoint(net, dir / "c"));
  CHECK(dir.files().count("c.index.tempstate12") == 0);
}
