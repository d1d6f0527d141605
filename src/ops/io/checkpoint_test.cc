// SaveV2, RestoreV2 and MergeV2Checkpoints as ops. The error texts were taken from TensorFlow 2.21.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "eager/op.h"
#include "engine/engine.h"
#include "tests/support/folder.h"

using namespace weft_engine;        // NOLINT
using namespace weft_engine::core;  // NOLINT

namespace {

const std::string kGolden = "tests/files/bundle/recorded/";

using Strings = std::vector<std::string>;

Tensor strings(const Strings& values) {
  Tensor t = *Tensor::allocate(DType::kString, Shape{int64_t(values.size())});
  for (size_t i = 0; i < values.size(); ++i) t.data<tstring>()[i] = values[i];
  return t;
}

struct Runner {
  eager::Context context{engine::Engine::get().registry(), {}};
  testing::Folder own;
  std::string folder = own.path;
  std::vector<Tensor> out;

  Status run(const char* name, std::vector<Tensor> inputs, op::AttrMap attrs) {
    eager::Op op(context);
    WEFT_RETURN_IF_ERROR(op.reset(name));
    for (const auto& [k, v] : attrs) WEFT_RETURN_IF_ERROR(op.set_attr(k, v));
    for (Tensor& t : inputs) op.add_input(eager::TensorHandle::make(t, nullptr));
    std::vector<RefPtr<eager::TensorHandle>> handles;
    Status s = op.execute(handles);
    out.clear();
    for (auto& h : handles) out.push_back(h->tensor());
    return s;
  }
  Status save(const std::string& prefix, Strings names, std::vector<Tensor> tensors, Strings slices = {}) {
    if (slices.empty()) slices.resize(names.size());
    std::vector<DType> dtypes;
    std::vector<Tensor> inputs{Tensor::scalar(tstring(prefix)), strings(names), strings(slices)};
    for (Tensor& t : tensors) {
      dtypes.push_back(t.dtype());
      inputs.push_back(t);
    }
    return run("SaveV2", inputs, {{"dtypes", dtypes}});
  }
  Status restore(const std::string& prefix, Strings names, std::vector<DType> dtypes, Strings slices = {}) {
    if (slices.empty()) slices.resize(names.size());
    return run("RestoreV2", {Tensor::scalar(tstring(prefix)), strings(names), strings(slices)}, {{"dtypes", dtypes}});
  }
  Status merge(Strings prefixes, const std::string& target, op::AttrMap attrs = {}) {
    return run("MergeV2Checkpoints", {strings(prefixes), Tensor::scalar(tstring(target))}, attrs);
  }
};

void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
std::string get(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Tensor matrix() {
  Tensor t = *Tensor::allocate(DType::kFloat, Shape{4, 6});
  for (int i = 0; i < 24; ++i) t.data<float>()[i] = float(i);
  return t;
}

// The message begins with the text; the caller's op is named behind it.
#define CHECK_FAILS(status, wanted, text)                                \
  do {                                                                   \
    const Status failed = (status);                                      \
    CHECK(failed.code() == Code::wanted);                                \
    CHECK_MESSAGE(failed.message().starts_with(text), failed.message()); \
  } while (0)

constexpr DType kF = DType::kFloat, kI = DType::kInt32, kS = DType::kString;

}  // namespace

TEST_CASE("what is saved is restored") {
  Runner r;
  const std::string p = r.folder + "/new_folder/a";
  REQUIRE(r.save(p, {"b", "a", "s"}, {matrix(), Tensor::vector(std::vector<int32_t>{1, 2, 3}), strings({"x", "yy", std::string(300, 'z')})}).ok());
  REQUIRE(r.restore(p, {"s", "b", "a", "b"}, {kS, kF, kI, kF}).ok());
  CHECK(r.out[0].data<tstring>()[2].size() == 300);
  CHECK(r.out[1].shape() == Shape{4, 6});
  CHECK(r.out[1].data<float>()[23] == 23);
  CHECK(r.out[2].data<int32_t>()[2] == 3);
  REQUIRE(r.restore(p, {"b"}, {kF}, {"4 6 1,2:2,3"}).ok());
  CHECK(r.out[0].shape() == Shape{2, 3});
  CHECK(r.out[0].data<float>()[5] == 2 * 6 + 4);
  REQUIRE(r.restore("file://" + p, {"a"}, {kI}).ok());
  REQUIRE(r.run("Restore", {Tensor::scalar(tstring(p)), Tensor::scalar("b")}, {{"dt", kF}}).ok());
  REQUIRE(r.run("RestoreSlice", {Tensor::scalar(tstring(p)), Tensor::scalar("b"), Tensor::scalar("4 6 -:0,1")}, {{"dt", kF}}).ok());
  CHECK(r.out[0].shape() == Shape{4, 1});
}

TEST_CASE("RestoreV2 refuses with TensorFlow's texts") {
  Runner r;
  const std::string p = r.folder + "/a";
  REQUIRE(r.save(p, {"b", "a", "s"}, {matrix(), Tensor::vector(std::vector<int32_t>{1, 2, 3}), strings({"x", "yy"})}).ok());
  CHECK_FAILS(r.restore(p, {"zz", "nope"}, {kF, kF}), kNotFound, "Key zz not found in checkpoint");
  CHECK_FAILS(r.restore(p, {""}, {kF}), kNotFound, "Key  not found in checkpoint");
  CHECK_FAILS(r.restore(p, {"b"}, {kI}), kInvalidArgument, "tensor_name = b; expected dtype int32 does not equal original dtype float");
  CHECK_FAILS(r.restore(p, {"s", "a", "b"}, {kI, kF, kS}), kInvalidArgument,
              "tensor_name = b; expected dtype string does not equal original dtype float\n"
              "tensor_name = a; expected dtype float does not equal original dtype int32\n"
              "tensor_name = s; expected dtype int32 does not equal original dtype string");
  CHECK_FAILS(r.restore(r.folder + "/none", {"b"}, {kF}), kNotFound,
              "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for " + r.folder + "/none");
  CHECK_FAILS(r.restore("", {"b"}, {kF}), kNotFound, "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for ");
  CHECK_FAILS(r.restore("s3://bucket/x", {"b"}, {kF}), kUnimplemented, "File system scheme 's3' not implemented");
  CHECK_FAILS(r.restore(p, {"a", "b"}, {kF}), kInvalidArgument, "Got 2 tensor names, but 1 expected dtypes.");
  CHECK_FAILS(r.restore(p, {"b"}, {kF}, {"", ""}), kInvalidArgument, "tensor_names and shape_and_slices have different number of elements: 1 vs. 2");
  CHECK_FAILS(r.run("RestoreV2", {strings({p, p}), strings({"b"}), strings({""})}, {{"dtypes", std::vector<DType>{kF}}}), kInvalidArgument,
              "Input prefix should have a single element, got 2 instead.");
  CHECK_FAILS(r.run("RestoreV2", {Tensor::scalar(tstring(p)), strings({"b"}).reshaped({1, 1}), strings({""})}, {{"dtypes", std::vector<DType>{kF}}}),
              kInvalidArgument, "Input tensor_names and shape_and_slices should be an 1-D tensors, got [1,1] and [1] instead.");
  auto slice = [&](const char* s) { return r.restore(p, {"b"}, {kF}, {s}); };
  CHECK_FAILS(slice("4 6 0,2"), kInternal, "Mismatching ranks: shape = [4,6], slice = 0,2");
  CHECK_FAILS(slice("4 6"), kInvalidArgument, "Expected a pair of numbers or '-' but got '6': string = 6");
  CHECK_FAILS(slice("4"), kInvalidArgument, "Need least two elements in shape_and_slice specification: 4");
  CHECK_FAILS(slice("4 6 1,9:-"), kInternal, "Extent in dimension 0 out of bounds: shape = [4,6], slice = 1,9:-");
  CHECK_FAILS(slice("5 6 -:-"), kInvalidArgument,
              "tensor_name = b; shape in shape_and_slice spec [5,6] does not match the shape stored in checkpoint: [4,6]");
  CHECK_FAILS(slice("4 6 a:-"), kInvalidArgument, "Expected a pair of numbers or '-' but got 'a': string = a:-");
  CHECK_FAILS(slice("4 6 0,2,3:-"), kInvalidArgument, "Expected a pair of numbers or '-' but got '0,2,3': string = 0,2,3:-");
  CHECK_FAILS(slice("x 6 -:-"), kInvalidArgument, "Non numerical dimension in shape_and_slice: x 6 -:-");
  CHECK_FAILS(slice("4 6  -:-"), kInvalidArgument, "Non numerical dimension in shape_and_slice: 4 6  -:-");
  CHECK_FAILS(slice("4 6 0,0:-"), kInvalidArgument, "Expected non-negative start and positive length but got start = 0, length = 0: string = 0,0:-");
  CHECK_FAILS(slice("4 6 -1,2:-"), kInvalidArgument,
              "Expected non-negative start and positive length but got start = -1, length = 2: string = -1,2:-");
  // TensorFlow dies of these.
  CHECK(slice("-4 6 -:-").code() == Code::kInvalidArgument);
  CHECK(slice("4294967296 4294967296 -:-").code() == Code::kInvalidArgument);
  CHECK(slice("4 6 1,9223372036854775807:-").code() == Code::kInvalidArgument);
  CHECK(slice("+4 6 :0,2::-:").ok());
}

TEST_CASE("broken and missing files") {
  Runner r;
  const std::string p = r.folder + "/a", data = p + ".data-00000-of-00001", index = p + ".index";
  REQUIRE(r.save(p, {"b", "s"}, {matrix(), strings({"x", "yy"})}).ok());
  const std::string good_data = get(data), good_index = get(index);
  auto flipped = [](std::string bytes, size_t at) {
    bytes[at] ^= 1;
    return bytes;
  };
  put(data, flipped(good_data, 0));
  CHECK_FAILS(
      r.restore(p, {"b"}, {kF}), kDataLoss,
      cat("TensorBundle at ", p, " shard 0 (96 bytes): Checksum does not match: stored 4202824880 vs. calculated on the restored bytes 1042107351"));
  put(data, flipped(good_data, 96));
  CHECK_FAILS(r.restore(p, {"s"}, {kS}), kDataLoss, "The length checksum does not match: expected ");
  put(data, good_data.substr(0, 50));
  CHECK_FAILS(r.restore(p, {"b"}, {kF}), kOutOfRange, "Read less bytes than requested");
  std::filesystem::remove(data);
  CHECK_FAILS(r.restore(p, {"b"}, {kF}), kNotFound, data + "; No such file or directory");
  put(index, flipped(good_index, 10));
  CHECK_FAILS(r.restore(p, {"b"}, {kF}), kDataLoss,
              cat("Unable to read file (", index,
                  "). Perhaps the file is corrupt or was produced by a newer version of TensorFlow with format changes "
                  "(failed to seek to header entry): block checksum mismatch"));
  put(index, good_index.substr(0, 40));
  CHECK_FAILS(r.restore(p, {"b"}, {kF}), kDataLoss, "file is too short to be an sstable");
  put(index, good_index.substr(0, good_index.size() - 1));
  CHECK_FAILS(r.restore(p, {"b"}, {kF}), kDataLoss, "not an sstable (bad magic number)");
  std::filesystem::create_directory(r.folder + "/folder.index");
  CHECK_FAILS(r.restore(r.folder + "/folder", {"b"}, {kF}), kFailedPrecondition, r.folder + "/folder.index; Is a directory");
  put(r.folder + "/plain", "hello");
  CHECK_FAILS(r.restore(r.folder + "/plain", {"b"}, {kF}), kDataLoss,
              cat("Unable to open table file ", r.folder,
                  "/plain: DATA_LOSS: file is too short to be an sstable: perhaps your file is in a different file "
                  "format and you need to use a different restore operator?"));
}

TEST_CASE("a checkpoint of version 1 that TensorFlow wrote is read, and written by the same bytes") {
  Runner r;
  const std::string old = kGolden + "v1";
  REQUIRE(r.restore(old, {"weights", "bias"}, {kF, kF}).ok());
  CHECK(r.out[0].shape() == Shape{4, 4});
  CHECK(r.out[0].data<float>()[15] == 1.5f);
  CHECK(r.out[1].data<float>()[3] == 2.5f);
  const Tensor weights = r.out[0], bias = r.out[1];
  REQUIRE(r.run("Restore", {Tensor::scalar(tstring(old)), Tensor::scalar("bias")}, {{"dt", kF}}).ok());
  CHECK(r.out[0].shape() == Shape{4});
  CHECK_FAILS(r.run("Restore", {Tensor::scalar(tstring(old)), Tensor::scalar("x")}, {{"dt", kF}}), kNotFound,
              cat("Tensor name \"x\" not found in checkpoint files ", old));
  REQUIRE(r.run("Save", {Tensor::scalar(tstring(r.folder + "/x")), strings({"weights", "bias"}), weights, bias}, {{"T", std::vector<DType>{kF, kF}}})
              .ok());
  CHECK(get(r.folder + "/x") == get(old));
  // Cut short anywhere, it is an error and nothing worse.
  const std::string whole = get(old);
  for (size_t n = 0; n < whole.size(); n += 3) {
    put(r.folder + "/cut", whole.substr(0, n));
    CHECK(r.restore(r.folder + "/cut", {"bias"}, {kF}).code() == Code::kDataLoss);
  }
}

TEST_CASE("SaveV2 refuses with TensorFlow's texts") {
  Runner r;
  const std::string p = r.folder + "/a";
  CHECK_FAILS(r.save(p, {"a", "a"}, {matrix(), matrix()}), kInvalidArgument, "Adding duplicate key: a");
  CHECK_FAILS(r.save(r.folder + "/n1/n2/x", {"a"}, {matrix()}), kNotFound, r.folder + "/n1/n2; No such file or directory");
  CHECK_FAILS(r.save(p, {"a", "b"}, {matrix()}), kInvalidArgument, "Got 2 tensor names but 1 tensors.");
  CHECK_FAILS(r.save(p, {"a"}, {matrix()}, {"8 6 0,2:-"}), kInvalidArgument,
              "Slice in shape_and_slice specification does not match the shape of the tensor to  save: 8 6 0,2:-, tensor: [4,6]");
  CHECK_FAILS(r.save(p, {""}, {matrix()}), kInvalidArgument, "The name of a tensor in a checkpoint must not be empty");
  CHECK_FAILS(r.save(p, {"a", "a"}, {matrix(), Tensor::scalar(1)}, {"8 6 0,4:-", ""}), kInvalidArgument, "Adding duplicate key: a");
  CHECK_FAILS(r.save(p, {"a"}, {*Tensor::allocate(DType::kResource, Shape())}), kInvalidArgument, "A tensor of type resource cannot be written");
  CHECK(std::filesystem::is_empty(r.folder));
}

TEST_CASE("MergeV2Checkpoints") {
  Runner r;
  auto two = [&] {
    std::filesystem::remove_all(r.folder);
    std::filesystem::create_directory(r.folder);
    REQUIRE(r.save(r.folder + "/t1/part0", {"x", "y"}, {matrix(), matrix()}, {"", "8 6 0,4:-"}).ok());
    REQUIRE(r.save(r.folder + "/t2/part1", {"z", "y"}, {matrix(), matrix()}, {"", "8 6 4,4:-"}).ok());
  };
  const std::string a = r.folder + "/t1/part0", b = r.folder + "/t2/part1", all = r.folder + "/all";
  two();
  REQUIRE(r.merge({a, b}, all).ok());
  CHECK(!std::filesystem::exists(r.folder + "/t1"));
  REQUIRE(r.restore(all, {"x", "y", "z"}, {kF, kF, kF}).ok());
  CHECK(r.out[1].shape() == Shape{8, 6});
  CHECK(r.out[1].data<float>()[47] == 23);
  two();
  REQUIRE(r.merge({a, b}, r.folder + "/q/all", {{"delete_old_dirs", false}}).ok());
  CHECK(std::filesystem::is_empty(r.folder + "/t1"));
  two();
  const std::string gone = r.folder + "/t2/part9";
  CHECK_FAILS(r.merge({a, gone}, all), kInvalidArgument,
              cat("allow_missing_files was set to false and ", gone, " did not exist.NOT_FOUND: ", gone, " not found"));
  REQUIRE(r.merge({a, gone}, all, {{"allow_missing_files", true}}).ok());
  CHECK(r.restore(all, {"x"}, {kF}).ok());
  CHECK_FAILS(r.merge({gone}, all, {{"allow_missing_files", true}}), kInvalidArgument,
              "At least one prefix checkpoint file must exist, but none existed.");
  CHECK_FAILS(r.merge({}, all), kInvalidArgument, "At least one prefix checkpoint file must exist, but none existed.");
  two();
  CHECK_FAILS(r.merge({a, a}, all), kInvalidArgument, "Duplicate tensor keyed by ");
  REQUIRE(r.merge({a}, a).ok());
  CHECK(r.restore(a, {"x"}, {kF}).ok());  // TensorFlow removes the index that it has just written
  CHECK_FAILS(r.merge({b}, r.folder + "/n1/n2/x"), kNotFound, r.folder + "/n1/n2; No such file or directory");
}

TEST_CASE("lists and optionals, as TensorFlow stored them and as we do") {
  Runner r;
  const std::vector<DType> variants(4, DType::kVariant);
  const Strings names{"some", "full", "optional", "two"};
  std::string prefix = kGolden + "variants";
  for (int round = 0; round < 2; ++round) {
    Status s = r.restore(prefix, names, variants);
    REQUIRE_MESSAGE(s.ok(), s.to_string());
    const std::vector<Tensor> read = r.out;
    REQUIRE(read[3].shape() == Shape{2});
    REQUIRE(r.run("TensorListStack", {read[1], Tensor::vector(std::vector<int32_t>{2})}, {{"element_dtype", kF}}).ok());
    CHECK(r.out[0].data<float>()[3] == 4);
    REQUIRE(r.run("TensorListLength", {read[0]}, {}).ok());
    CHECK(r.out[0].data<int32_t>()[0] == 3);
    REQUIRE(r.run("TensorListGetItem", {read[0], Tensor::scalar(int32_t(0)), Tensor::vector(std::vector<int32_t>{1, 3})},
                  {{"element_dtype", DType::kInt64}})
                .ok());
    CHECK(r.out[0].data<int64_t>()[2] == 3);
    REQUIRE(r.run("OptionalGetValue", {read[2]},
                  {{"output_types", std::vector<DType>{kI}}, {"output_shapes", std::vector<PartialShape>{PartialShape::vector(2)}}})
                .ok());
    CHECK(r.out[0].data<int32_t>()[1] == 6);
    prefix = r.folder + "/again";
    if (round == 0) REQUIRE(r.save(prefix, names, read).ok());
  }
}
