// SavedModels written and loaded as objects. Expected numbers are worked out by hand; that real TensorFlow reads the files, and
// the other way round, is shown by `make interop` (interop/).
#include <doctest/doctest.h>

#include <weft/weft.h>

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

namespace {

namespace fs = std::filesystem;
using weft::Tensor;
using Floats = std::vector<float>;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("weft_save_test_" + std::to_string(getpid()));
  Folder() { fs::remove_all(path), fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return path / name; }
};

weft::Error error_of(const auto& f) {
  try {
    f();
  } catch (const weft::Error& e) {
    return e;
  }
  return weft::Error(weft::Code::kOk, "no error");
}

struct Scale : weft::Module {
  weft::Variable w{Tensor{2.f, 3.f}, {.name = "w"}};
  weft::Variable count{Tensor(int64_t(0)), {.name = "count", .trainable = false, .aggregation = weft::VariableAggregation::only_first_replica}};
  std::vector<weft::Variable> list{weft::Variable(Tensor(1.f), {.name = "w"})};
  weft::TracedFunction<Tensor(Tensor)> call = weft::function([this](Tensor x) {
    count.assign_add(Tensor(int64_t(1)));
    return x * w + list[0];
  });
  weft::TracedFunction<std::map<std::string, Tensor>(std::vector<Tensor>, bool)> many = weft::function([this](std::vector<Tensor> xs, bool twice) {
    Tensor sum = xs[0] + xs[1];
    return std::map<std::string, Tensor>{{"sum", twice ? sum * 2.f : sum}, {"product", xs[0] * xs[1]}};
  });
  Scale() { track("w", w), track("count", count), track("list", list), track("call", call), track("many", many); }
};

const weft::TensorSpec kX{"x", weft::DType::float32, {-1, 2}, ""};

}  // namespace

TEST_CASE("what is saved loads as signatures and as objects") {
  Folder dir;
  {
    Scale m;
    m.w.assign(Tensor{5.f, 7.f});
    auto f = m.call.concrete_function({kX});
    m.many({Tensor(1.f), Tensor(2.f)}, true);
    m.many({Tensor(1.f), Tensor(2.f)}, false);
    weft::save(m, dir / "m", {{"serving_default", f, {"y"}}});
    CHECK(m.count.value().item<int64_t>() == 0);  // saving runs nothing
  }
  auto model = weft::load(dir / "m", {.verify_fingerprint = true});
  CHECK(model["serving_default"]({{"x", Tensor{{1.f, 2.f}}}})["y"].to_vector<float>() == Floats{6, 15});
  CHECK(to_string(model.signatures()[0]) == "serving_default(x: float [?,2]) -> (y: float [?,2])");
  CHECK(model.variable("count").item<int64_t>() == 1);
  CHECK(model.variable("list.0").item<float>() == 1);

  auto m = weft::load_module(dir / "m");
  CHECK(m.signatures() == std::vector<std::string>{"serving_default"});
  CHECK(m.variables_by_path().size() == 3);
  CHECK(m.variable("w").trainable());
  CHECK(!m.variable("count").trainable());
  CHECK(m.variable("count").aggregation() == weft::VariableAggregation::only_first_replica);
  CHECK(m.signature("serving_default", {{"x", Tensor{{1.f, 2.f}}}}).at("y").to_vector<float>() == Floats{6, 15});
  CHECK(m.call("call", {Tensor{{1.f, 1.f}}})[0].to_vector<float>() == Floats{6, 8});
  CHECK(m.variable("count").value().item<int64_t>() == 2);
  auto many = m.call("many", {Tensor(3.f), Tensor(4.f)}, {{"args_1", true}});
  CHECK(many[0].item<float>() == 12);  // "product" comes before "sum"
  CHECK(many[1].item<float>() == 14);
  CHECK(m.call("many", {Tensor(3.f), Tensor(4.f)}, {{"args_1", false}})[1].item<float>() == 7);

  SUBCASE("and can be trained") {
    weft::GradientTape tape;
    Tensor loss = weft::reduce_sum(m.call("call", {Tensor{{1.f, 2.f}}})[0]);
    auto grads = tape.gradient(loss, std::vector<weft::Variable>{m.variable("w"), m.variable("list.0")});
    CHECK(grads[0].dense().to_vector<float>() == Floats{1, 2});
    CHECK(grads[1].dense().item<float>() == 2);
  }
  SUBCASE("and used inside another function, and saved again") {
    struct Outer : weft::Module {
      weft::LoadedModule inner;
      weft::TracedFunction<Tensor(Tensor)> f = weft::function([this](Tensor x) { return inner.call("call", {x})[0] * 10.f; });
      explicit Outer(weft::LoadedModule m) : inner(std::move(m)) { track("inner", inner), track("f", f); }
    } outer(m);
    auto f = outer.f.concrete_function({kX});
    weft::save(outer, dir / "outer", {{"serving_default", f}});
    CHECK(weft::load(dir / "outer")["serving_default"]({{"x", Tensor{{1.f, 1.f}}}})["output_0"].to_vector<float>() == Floats{60, 80});
    CHECK(weft::load_module(dir / "outer").variable("inner.w").value().to_vector<float>() == Floats{5, 7});
  }
  SUBCASE("two loaded copies are apart") {
    auto other = weft::load_module(dir / "m");
    other.variable("w").assign(Tensor{0.f, 0.f});
    CHECK(m.call("call", {Tensor{{1.f, 1.f}}})[0].to_vector<float>() == Floats{6, 8});
    CHECK(other.call("call", {Tensor{{1.f, 1.f}}})[0].to_vector<float>() == Floats{1, 1});
  }
}

TEST_CASE("tables and files") {
  Folder dir;
  std::ofstream(dir / "words.txt") << "emu\ncat\n";
  {
    struct Ids : weft::Module {
      weft::StaticHashTable names{Tensor::of_strings({2}, {"cat", "dog"}), Tensor{10.f, 20.f}, Tensor(-1.f)}, lines;
      weft::TracedFunction<std::pair<Tensor, Tensor>(Tensor)> ids =
          weft::function([this](Tensor x) { return std::pair(names.lookup(x), lines.lookup(x)); });
      explicit Ids(const std::string& file) : lines(weft::Asset(file), Tensor(int64_t(-1))) {
        track("names", names), track("lines", lines), track("ids", ids);
      }
    } m(dir / "words.txt");
    CHECK(m.names.size().item<int64_t>() == 2);
    auto f = m.ids.concrete_function({{"x", weft::DType::string, {-1}, ""}});
    weft::save(m, dir / "m", {{"serving_default", f, {"name", "line"}}});
  }
  fs::remove(dir / "words.txt");  // the model has its own
  const Tensor x = Tensor::of_strings({3}, {"cat", "dog", "emu"});
  auto out = weft::load(dir / "m")["serving_default"]({{"x", x}});
  CHECK(out["name"].to_vector<float>() == Floats{10, 20, -1});
  CHECK(out["line"].to_vector<int64_t>() == std::vector<int64_t>{1, -1, 0});
  auto m = weft::load_module(dir / "m");
  CHECK(m.call("ids", {x})[0].to_vector<float>() == Floats{10, 20, -1});
  CHECK(m.call("ids", {x})[1].to_vector<int64_t>() == std::vector<int64_t>{1, -1, 0});
  CHECK(error_of([&] { weft::StaticHashTable(weft::Asset(dir / "none.txt"), Tensor(int64_t(0))); }).code() == weft::Code::kNotFound);
}

TEST_CASE("a failed save leaves what was there") {
  Folder dir;
  Scale m;
  m.call(Tensor{{1.f, 1.f}});
  weft::save(m, dir / "m");
  SUBCASE("a variable that nobody tracks") {
    weft::Variable loose(Tensor(3.f), {.name = "loose"});
    auto f = weft::function([&](Tensor x) { return x * loose; });
    auto e = error_of([&] { weft::save(m, dir / "m", {{"serving_default", f.concrete_function({kX})}}); });
    CHECK(e.code() == weft::Code::kFailedPrecondition);
    CHECK(std::string(e.what()).find("untracked") != std::string::npos);
  }
  SUBCASE("a name that is taken") {
    struct Bad : weft::Module {
      weft::Variable v{Tensor(1.f)};
      Bad() { track("signatures", v); }
    } bad;
    CHECK(error_of([&] { weft::save(bad, dir / "m"); }).code() == weft::Code::kInvalidArgument);
  }
  SUBCASE("a place where no folder can be") {
    CHECK(error_of([&] { weft::save(m, dir / "m/saved_model.pb/x"); }).code() == weft::Code::kFailedPrecondition);
    CHECK(error_of([&] { weft::save(m, ""); }).code() == weft::Code::kInvalidArgument);
  }
  CHECK(weft::load_module(dir / "m").variable("w").value().to_vector<float>() == Floats{2, 3});
  m.w.assign(Tensor{4.f, 4.f});
  weft::save(m, dir / "m");  // replaces it
  CHECK(weft::load_module(dir / "m").variable("w").value().to_vector<float>() == Floats{4, 4});
  int entries = 0;
  for ([[maybe_unused]] const auto& e : fs::directory_iterator(dir.path)) ++entries;
  CHECK(entries == 1);  // nothing was left beside it
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

Floats weights(const std::string& dir) { return weft::load_module(dir).variable("w").value().to_vector<float>(); }

TEST_CASE("saving keeps files that it did not write") {
  Folder dir;
  Scale m;
  m.call(Tensor{{1.f, 1.f}});
  SUBCASE("in a folder without a model") {}
  SUBCASE("beside an old model") { weft::save(m, dir / "m"); }
  const char* names[] = {"m/notes.txt", "m/deep/er/data", "m/variables/readme", "m/assets/vocabulary", "m/.hidden"};
  for (const char* name : names) put(dir / name, name);
  fs::create_symlink("notes.txt", dir / "m/link");
  fs::create_directories(dir / "m/empty");
  fs::permissions(dir / "m", fs::perms(0750));
  for (float x : {4.f, 5.f, 6.f}) {
    m.w.assign(Tensor{x, x});
    weft::save(m, dir / "m");
    CHECK(weights(dir / "m") == Floats{x, x});
    for (const char* name : names) CHECK(contents(dir / name) == name);
    CHECK(fs::read_symlink(dir / "m/link") == "notes.txt");
    CHECK(fs::is_directory(dir / "m/empty"));
    CHECK(fs::status(dir / "m").permissions() == fs::perms(0750));
  }
  int files = 0, entries = 0;
  for (const auto& e : fs::recursive_directory_iterator(dir / "m")) files += e.is_regular_file() && !e.is_symlink();
  CHECK(files == 5 + 4);  // saved_model.pb, fingerprint.pb, an index and its data
  for ([[maybe_unused]] const auto& e : fs::directory_iterator(dir.path)) ++entries;
  CHECK(entries == 1);
}

TEST_CASE("a model is saved where a name leads") {
  Folder dir;
  Scale m;
  m.call(Tensor{{1.f, 1.f}});
  SUBCASE("a link to a folder stays a link") {
    fs::create_directories(dir / "real");
    put(dir / "real/notes", "x");
    fs::create_directory_symlink("real", dir / "link");
    for (int i = 0; i < 2; ++i) weft::save(m, dir / "link");
    CHECK(fs::is_symlink(dir / "link"));
    CHECK(weights(dir / "real") == Floats{2, 3});
    CHECK(contents(dir / "real/notes") == "x");
  }
  SUBCASE("a linked folder of variables stays a link") {
    fs::create_directories(dir / "elsewhere");
    fs::create_directories(dir / "m");
    fs::create_directory_symlink("../elsewhere", dir / "m/variables");
    for (int i = 0; i < 2; ++i) weft::save(m, dir / "m");
    CHECK(fs::is_symlink(dir / "m/variables"));
    CHECK(fs::exists(dir / "elsewhere/variables.index"));
    CHECK(weights(dir / "m") == Floats{2, 3});
  }
  SUBCASE("the working folder") {
    fs::create_directories(dir / "m");
    put(dir / "m/notes", "x");
    const fs::path before = fs::current_path();
    fs::current_path(dir / "m");
    for (int i = 0; i < 2; ++i) weft::save(m, ".");
    CHECK(contents("notes") == "x");
    CHECK(weights(".") == Floats{2, 3});
    fs::current_path(before);
    CHECK(weights(dir / "m") == Floats{2, 3});
    int entries = 0;
    for ([[maybe_unused]] const auto& e : fs::directory_iterator(dir / "m")) ++entries;
    CHECK(entries == 5);  // notes, assets, variables, saved_model.pb, fingerprint.pb
  }
  SUBCASE("not to a link that leads nowhere") {
    fs::create_symlink(dir / "nowhere", dir / "link");
    CHECK(error_of([&] { weft::save(m, dir / "link"); }).code() == weft::Code::kNotFound);
    CHECK(fs::is_symlink(dir / "link"));
  }
  SUBCASE("not in the place of a file") {
    put(dir / "file", "mine");
    const auto e = error_of([&] { weft::save(m, dir / "file"); });
    CHECK(e.code() == weft::Code::kFailedPrecondition);
    CHECK(std::string(e.what()).find("file is not a directory") != std::string::npos);
    CHECK(contents(dir / "file") == "mine");
  }
}

TEST_CASE("who reads while others save finds whole models") {
  Folder dir;
  Scale m;
  m.call(Tensor{{1.f, 1.f}});
  put(dir / "m/notes", "x");
  weft::save(m, dir / "m");
  std::atomic<bool> stop{false};
  std::thread writers[2];
  std::atomic<int> saves{0};
  for (int k = 0; k < 2; ++k) {
    writers[k] = std::thread([&, k] {
      Scale mine;
      mine.call(Tensor{{1.f, 1.f}});
      for (float x = float(k); !stop; x += 2) {
        mine.w.assign(Tensor{x, x + 1});
        weft::save(mine, dir / "m");
        ++saves;
      }
    });
  }
  for (int i = 0; i < 40 || saves < 6; ++i) {
    const Floats w = weights(dir / "m");
    CHECK(w[1] == w[0] + 1);
  }
  stop = true;
  for (auto& t : writers) t.join();
  CHECK(contents(dir / "m/notes") == "x");
  int entries = 0;
  for ([[maybe_unused]] const auto& e : fs::directory_iterator(dir.path)) ++entries;
  CHECK(entries == 1);
}

TEST_CASE("verification tells of every damaged byte before a model is used") {
  Folder dir;
  Scale m;
  m.call(Tensor{{1.f, 1.f}});
  weft::save(m, dir / "m");
  CHECK(weft::load(dir / "m", {.verify = true}).tags() == std::vector<std::string>{"serve"});
  weft::verify_checkpoint(dir / "m/variables/variables");
  for (const char* name : {"m/variables/variables.data-00000-of-00001", "m/variables/variables.index", "m/saved_model.pb"}) {
    const std::string whole = contents(dir / name);
    for (size_t at = 0; at < whole.size(); at += std::max<size_t>(1, whole.size() / 40)) {
      std::string damaged = whole;
      damaged[at] = char(damaged[at] ^ 0x10);
      put(dir / name, damaged);
      INFO(name, " ", at);
      CHECK(error_of([&] { weft::verify_saved_model(dir / "m"); }).code() == weft::Code::kDataLoss);
      CHECK(error_of([&] { weft::load(dir / "m", {.verify = true}); }).code() == weft::Code::kDataLoss);
    }
    put(dir / name, whole.substr(0, whole.size() / 2));
    CHECK(error_of([&] { weft::load_module(dir / "m", {"serve"}, true); }).code() == weft::Code::kDataLoss);
    put(dir / name, whole);
  }
  fs::rename(dir / "m/variables/variables.data-00000-of-00001", dir / "away");
  CHECK(error_of([&] { weft::verify_checkpoint(dir / "m/variables/variables"); }).code() == weft::Code::kDataLoss);
  fs::remove(dir / "m/fingerprint.pb");
  CHECK(error_of([&] { weft::verify_saved_model(dir / "m"); }).code() == weft::Code::kNotFound);
}

TEST_CASE("what is not there is named") {
  Folder dir;
  Scale m;
  m.call(Tensor{{1.f, 1.f}});
  weft::save(m, dir / "m");
  auto loaded = weft::load_module(dir / "m");
  CHECK(std::string(error_of([&] { loaded.call("nothing", {}); }).what()) == "the model has no function 'nothing'; it has: call, many");
  CHECK(std::string(error_of([&] { loaded.variable("v"); }).what()) == "the model has no variable 'v'; it has: count, list.0, w");
  CHECK(error_of([&] { loaded.call("call", {Tensor(1)}); }).code() == weft::Code::kInvalidArgument);
  CHECK(error_of([&] { loaded.signature("s", {}); }).code() == weft::Code::kNotFound);
  CHECK(error_of([&] { weft::load_module(dir / "none"); }).code() == weft::Code::kNotFound);
}
