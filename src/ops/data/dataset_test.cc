// Datasets that call functions from an eager program, walked by iterators that outlive each call: order
// over several threads, walks that are left early, and sizes that no machine has.
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>

#include "eager/op.h"
#include "engine/engine.h"
#include "graph/function_library.h"

using namespace weft_engine;        // NOLINT
using namespace weft_engine::core;  // NOLINT

namespace {

using Handle = RefPtr<eager::TensorHandle>;

graph::NodeDef node(std::string name, std::string op, std::vector<std::string> inputs, op::AttrMap attrs = {}) {
  graph::NodeDef n;
  n.name = std::move(name);
  n.op = std::move(op);
  n.inputs = std::move(inputs);
  n.attrs = std::move(attrs);
  return n;
}

graph::ArgDef arg(std::string name, DType type) {
  graph::ArgDef a;
  a.name = std::move(name);
  a.type = type;
  return a;
}

op::AttrMap constant(Tensor t) {
  op::AttrMap a;
  a["dtype"] = t.dtype();
  a["value"] = std::move(t);
  return a;
}

class Program {
 public:
  Program() : context_(engine::Engine::get().registry(), {}) {
    const op::AttrMap t = {{"T", DType::kInt64}};
    // square(x), and what a generator needs: a start, the next number below 3, and a count of ends.
    add("square", {arg("x", DType::kInt64)}, {arg("y", DType::kInt64)}, {node("m", "Mul", {"x", "x"}, t)}, {{"y", "m:z:0"}});
    add("three", {}, {arg("y", DType::kInt64)}, {node("c", "Const", {}, constant(Tensor::scalar(int64_t(3))))}, {{"y", "c:output:0"}});
    add("same", {arg("x", DType::kInt64)}, {arg("y", DType::kInt64)}, {node("i", "Identity", {"x"}, t)}, {{"y", "i:output:0"}});
    const op::AttrMap kind = {{"dtype", DType::kInt64}};
    add("count", {arg("x", DType::kInt64), arg("v", DType::kResource)}, {arg("y", DType::kInt64)},
        {node("one", "Const", {}, constant(Tensor::scalar(int64_t(1)))), node("add", "AssignAddVariableOp", {"v", "one:output:0"}, kind),
         node("i", "Identity", {"x", "^add"}, t)},
        {{"y", "i:output:0"}});
  }

  Status call(const std::string& name, std::vector<Handle> inputs, op::AttrMap attrs, std::vector<Handle>& outputs) {
    eager::Op op(context_);
    WEFT_RETURN_IF_ERROR(op.reset(name));
    for (auto& [k, v] : attrs) WEFT_RETURN_IF_ERROR(op.set_attr(k, v));
    for (Handle& h : inputs) op.add_input(h);
    return op.execute(outputs);
  }
  Handle one(const std::string& name, std::vector<Handle> inputs, op::AttrMap attrs = {}) {
    std::vector<Handle> out;
    const Status s = call(name, std::move(inputs), std::move(attrs), out);
    INFO(name, ": ", s.to_string());
    REQUIRE(s.ok());
    return out.empty() ? Handle() : out[0];
  }
  static Handle value(Tensor t) { return eager::TensorHandle::make(std::move(t), nullptr); }
  static Handle number(int64_t n) { return value(Tensor::scalar(n)); }
  static op::AttrMap typed(op::AttrMap more = {}) {
    more["output_types"] = std::vector<DType>{DType::kInt64};
    more["output_shapes"] = std::vector<PartialShape>{PartialShape::scalar()};
    return more;
  }
  static op::AttrMap with(const char* attr, const char* function, op::AttrMap more = {}) {
    more[attr] = op::FunctionAttr{function, nullptr};
    more["Targuments"] = std::vector<DType>{};
    return typed(std::move(more));
  }
  Handle range(int64_t n) { return one("RangeDataset", {number(0), number(n), number(1)}, typed()); }
  Handle iterate(const Handle& dataset) {
    Handle it = one("AnonymousIteratorV3", {}, typed());
    one("MakeIterator", {dataset, it});
    return it;
  }
  Status next(const Handle& it, int64_t& n) {
    std::vector<Handle> out;
    WEFT_RETURN_IF_ERROR(call("IteratorGetNext", {it}, typed(), out));
    n = out[0]->tensor().data<int64_t>()[0];
    return {};
  }
  std::vector<int64_t> all(const Handle& dataset) {
    Handle it = iterate(dataset);
    std::vector<int64_t> out;
    int64_t n = 0;
    Status s;
    while ((s = next(it, n)).ok()) out.push_back(n);
    CHECK(s.code() == Code::kOutOfRange);
    return out;
  }

 private:
  void add(std::string name, std::vector<graph::ArgDef> in, std::vector<graph::ArgDef> out, std::vector<graph::NodeDef> nodes,
           std::map<std::string, std::string> ret) {
    graph::FunctionDef f;
    f.name = std::move(name);
    f.inputs = std::move(in);
    f.outputs = std::move(out);
    f.nodes = std::move(nodes);
    f.ret = std::move(ret);
    REQUIRE(context_.functions().add(std::move(f)).ok());
  }
  eager::Context context_;
};

std::vector<int64_t> squares(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < n; ++i) out.push_back(i * i);
  return out;
}

}  // namespace

TEST_CASE("an iterator calls functions long after its dataset was made") {
  Program p;
  CHECK(p.all(p.one("MapDataset", {p.range(20)}, p.with("f", "square"))) == squares(20));
}

TEST_CASE("elements that are made ahead on several threads come in order") {
  Program p;
  for (int64_t calls : {int64_t(1), int64_t(3), int64_t(-1)}) {
    Handle d = p.one("ParallelMapDatasetV2", {p.range(500), p.number(calls)}, p.with("f", "square"));
    CHECK(p.all(d) == squares(500));
    CHECK(p.all(p.one("PrefetchDataset", {d, p.number(3)}, p.typed())) == squares(500));
  }
}

TEST_CASE("a walk that is left early stops its threads") {
  Program p;
  Handle endless = p.one("RepeatDataset", {p.range(3), p.number(-1)}, p.typed());
  for (int round = 0; round < 20; ++round) {
    Handle d = p.one("ParallelMapDatasetV2", {endless, p.number(2)}, p.with("f", "square"));
    d = p.one("PrefetchDataset", {d, p.number(1)}, p.typed());
    d = p.one("PrefetchDataset", {d, p.number(1 << 20)}, p.typed());
    Handle it = p.iterate(d);
    int64_t n = -1;
    CHECK(p.next(it, n).ok());
    CHECK(n == 0);
  }
}

TEST_CASE("a generator is told once when its walk ends or is left") {
  Program p;
  Handle v = p.one("VarHandleOp", {}, {{"dtype", DType::kInt64}, {"shape", PartialShape::scalar()}, {"shared_name", "ends"}});
  p.one("AssignVariableOp", {v, p.number(0)}, {{"dtype", DType::kInt64}});
  auto generator = [&] {
    op::AttrMap a = p.typed();
    a["init_func"] = op::FunctionAttr{"three", nullptr};
    a["next_func"] = op::FunctionAttr{"same", nullptr};
    a["finalize_func"] = op::FunctionAttr{"count", nullptr};
    a["Tinit_func_args"] = std::vector<DType>{};
    a["Tnext_func_args"] = std::vector<DType>{};
    a["Tfinalize_func_args"] = std::vector<DType>{DType::kResource};
    return p.one("GeneratorDataset", {v}, std::move(a));
  };
  auto ends = [&] { return p.one("ReadVariableOp", {v}, {{"dtype", DType::kInt64}})->tensor().data<int64_t>()[0]; };
  {
    Handle it = p.iterate(generator());
    int64_t n = 0;
    for (int i = 0; i < 4; ++i) {
      CHECK(p.next(it, n).ok());
      CHECK(n == 3);
    }
    CHECK(ends() == 0);
  }
  CHECK(ends() == 1);
  // A walk that never began has nothing to end.
  p.iterate(generator());
  CHECK(ends() == 1);
}

TEST_CASE("a cache in files is written once and read after that") {
  Program p;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / cat("weft_cache_", ::getpid());
  std::filesystem::create_directory(folder);
  Handle name = p.value(Tensor::scalar(tstring((folder / "kept").string())));
  auto cached = [&](int64_t n) {
    Handle cache = p.one("DummyMemoryCache", {});
    return p.one("CacheDatasetV2", {p.range(n), name, cache}, p.typed());
  };
  int64_t n = 0;
  CHECK(p.next(p.iterate(cached(12)), n).ok());  // left early: nothing is kept
  CHECK(p.all(cached(12)).size() == 12);
  CHECK(std::filesystem::exists(folder / "kept.index"));
  const auto again = p.all(cached(5));
  CHECK(again.size() == 12);
  CHECK(again[11] == 11);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a saved iterator goes on where it was, in another program too") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / cat("weft_saved_", ::getpid());
  std::filesystem::create_directory(folder);
  const std::string prefix = (folder / "model").string();
  auto text = [](std::string_view s) { return Program::value(Tensor::vector(std::vector<tstring>{tstring(s)})); };
  auto shuffled = [](Program& p) {
    Handle none = p.one("DummySeedGenerator", {});
    Handle d = p.one("ShuffleDatasetV3", {p.range(50), p.number(20), p.number(5), p.number(6), none}, p.typed());
    return p.one("RepeatDataset", {d, p.number(2)}, p.typed());
  };
  auto rest = [](Program& p, const Handle& it) {
    std::vector<int64_t> out;
    for (int64_t n = 0; p.next(it, n).ok();) out.push_back(n);
    return out;
  };
  std::vector<int64_t> wanted;
  {
    Program p;
    Handle d = shuffled(p);
    p.all(d);  // the second walk has other seeds than the first
    Handle it = p.iterate(d);
    int64_t n = 0;
    for (int i = 0; i < 70; ++i) REQUIRE(p.next(it, n).ok());
    Handle state = p.one("SerializeIterator", {it});
    p.one("SaveV2", {p.value(Tensor::scalar(tstring(prefix))), text("it"), text(""), state}, {{"dtypes", std::vector<DType>{DType::kVariant}}});
    wanted = rest(p, it);
    p.one("DeserializeIterator", {it, state});
    CHECK(rest(p, it) == wanted);
  }
  CHECK(wanted.size() == 30);
  Program p;
  Handle it = p.iterate(shuffled(p));
  Handle state =
      p.one("RestoreV2", {p.value(Tensor::scalar(tstring(prefix))), text("it"), text("")}, {{"dtypes", std::vector<DType>{DType::kVariant}}});
  p.one("DeserializeIterator", {it, state});
  CHECK(rest(p, it) == wanted);
  std::filesystem::remove_all(folder);
}

TEST_CASE("what DatasetToTFRecord writes TFRecordDataset reads") {
  Program p;
  const std::string path = (std::filesystem::temp_directory_path() / cat("weft_records_", ::getpid())).string();
  std::vector<tstring> records = {tstring("one"), tstring(""), tstring(std::string(100000, 'x'))};
  op::AttrMap kind = {{"Toutput_types", std::vector<DType>{DType::kString}}, {"output_shapes", std::vector<PartialShape>{PartialShape::scalar()}}};
  for (const char* compression : {"", "GZIP", "ZLIB"}) {
    Handle name = p.value(Tensor::scalar(tstring(path))), how = p.value(Tensor::scalar(tstring(compression)));
    p.one("DatasetToTFRecord", {p.one("TensorSliceDataset", {p.value(Tensor::vector(records))}, kind), name, how});
    const op::AttrMap strings = {{"output_types", std::vector<DType>{DType::kString}},
                                 {"output_shapes", std::vector<PartialShape>{PartialShape::scalar()}}};
    Handle it = p.one("AnonymousIteratorV3", {}, strings);
    p.one("MakeIterator", {p.one("TFRecordDataset", {name, how, p.number(0)}), it});
    for (const tstring& r : records) CHECK(p.one("IteratorGetNext", {it}, strings)->tensor().data<tstring>()[0] == r);
    std::vector<Handle> out;
    CHECK(p.call("IteratorGetNext", {it}, strings, out).code() == Code::kOutOfRange);
  }
  std::filesystem::remove(path);
}

TEST_CASE("datasets that share their inputs many times over are counted at once") {
  Program p;
  Handle d = p.range(3);
  for (int i = 0; i < 55; ++i) d = p.one("ConcatenateDataset", {d, d}, p.typed());
  CHECK(p.one("DatasetCardinality", {d})->tensor().data<int64_t>()[0] == int64_t(3) << 55);
  int64_t n = -1;
  CHECK(p.next(p.iterate(d), n).ok());
  CHECK(n == 0);
}

TEST_CASE("datasets that are built too deep are refused, those below the bound can be walked") {
  Program p;
  Handle d = p.range(2);
  std::vector<Handle> out;
  int depth = 1;
  while (depth < 100000) {
    out.clear();
    const Status s = p.call("SkipDataset", {d, p.number(0)}, p.typed(), out);
    if (!s.ok()) {
      CHECK(s.code() == Code::kResourceExhausted);
      break;
    }
    d = out[0];
    ++depth;
  }
  CHECK(depth > 1000);
  CHECK(depth < 100000);
  CHECK(p.all(d).size() == 2);
}

TEST_CASE("a function that does not fit is an error, not a crash") {
  Program p;
  std::vector<Handle> out;
  CHECK(p.call("MapDataset", {p.range(3)}, p.with("f", "nobody"), out).code() == Code::kNotFound);
  Handle d = p.one("MapDataset", {p.range(3)}, p.with("f", "count"));
  int64_t n = 0;
  CHECK(p.next(p.iterate(d), n).code() == Code::kInvalidArgument);
  // A predicate that gives a number.
  d = p.one("FilterDataset", {p.range(3)}, p.with("predicate", "square"));
  CHECK(p.next(p.iterate(d), n).code() == Code::kInvalidArgument);
  // A function that gives no dataset.
  d = p.one("FlatMapDataset", {p.range(3)}, p.with("f", "square"));
  CHECK(p.next(p.iterate(d), n).code() == Code::kInvalidArgument);
}
