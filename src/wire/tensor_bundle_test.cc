// Checkpoints written by TensorFlow (tests/files/bundle/recorded) read and written again byte for byte; broken ones refused.
#include "wire/tensor_bundle.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "core/thread_pool.h"
#include "tests/support/folder.h"
#include "wire/crc32c.h"
#include "wire/snappy.h"
#include "wire/table.h"
#include "wire/tensor_proto.h"

using namespace weft_engine;        // NOLINT
using namespace weft_engine::core;  // NOLINT
using namespace weft_engine::wire;  // NOLINT

namespace {

const std::string kGolden = "tests/files/bundle/recorded/";

std::string slurp(const std::string& path) {
  std::string bytes;
  Status s = read_file(path, bytes);
  REQUIRE_MESSAGE(s.ok(), s.to_string());
  return bytes;
}

using testing::Folder;

bool same(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DType::kString) return std::equal(a.span<tstring>().begin(), a.span<tstring>().end(), b.span<tstring>().begin());
  return a.byte_size() == 0 || std::memcmp(a.raw(), b.raw(), a.byte_size()) == 0;
}

struct Expected {
  std::string name, slice;
  Tensor tensor;
};

std::vector<Expected> expected(const std::string& prefix) {
  const std::string bytes = slurp(kGolden + prefix + ".expected");
  std::vector<Expected> out;
  auto take = [&, at = size_t(0)]() mutable {
    uint32_t n;
    std::memcpy(&n, bytes.data() + at, 4);
    at += 4 + n;
    return bytes.substr(at - n, n);
  };
  for (size_t used = 0; used < bytes.size();) {
    Expected e;
    const std::string key = take(), proto = take();
    used += 8 + key.size() + proto.size();
    // "NAME 8 6 0,3:-": the first number begins the slice.
    const size_t digit = key.find_first_of("0123456789");
    const bool sliced = digit != key.npos && digit > 0 && key[digit - 1] == ' ';
    e.name = sliced ? key.substr(0, digit - 1) : key;
    e.slice = sliced ? key.substr(digit) : "";
    auto t = decode_tensor(proto);
    REQUIRE_MESSAGE(t.ok(), t.status().to_string());
    e.tensor = std::move(t).value();
    out.push_back(std::move(e));
  }
  return out;
}

Result<Tensor> restore(const BundleReader& reader, const Expected& e) {
  if (e.slice.empty()) return reader.lookup(e.name);
  WEFT_ASSIGN(ShapeAndSlice parsed, parse_shape_and_slice(e.slice));
  return reader.lookup_slice(e.name, parsed.slice);
}

std::unique_ptr<BundleReader> opened(const std::string& prefix) {
  auto reader = BundleReader::open(prefix);
  REQUIRE_MESSAGE(reader.ok(), reader.status().to_string());
  return std::move(reader).value();
}

}  // namespace

TEST_CASE("crc32c") {
  CHECK(crc32c("123456789") == 0xe3069283u);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aau);  // RFC 3720, B.4
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
  CHECK(crc32c_unmask(crc32c_mask(0x12345678u)) == 0x12345678u);
  std::string bytes;
  uint32_t bit_by_bit = ~0u;
  for (size_t i = 0; i < 30000; ++i) {
    if (i < 1000 || i % 997 == 0) {
      REQUIRE(crc32c(bytes) == ~bit_by_bit);
      REQUIRE(crc32c_combine(crc32c(bytes.substr(0, i / 3)), crc32c(bytes.substr(i / 3)), i - i / 3) == ~bit_by_bit);
    }
    bytes.push_back(char(i * i + i / 7));
    bit_by_bit ^= uint8_t(bytes.back());
    for (int b = 0; b < 8; ++b) bit_by_bit = bit_by_bit >> 1 ^ (bit_by_bit & 1 ? 0x82f63b78u : 0);
  }
}

TEST_CASE("snappy: literals and copies, and nothing else") {
  using namespace std::string_literals;
  CHECK(snappy_uncompress("\x00"s) == "");
  CHECK(snappy_uncompress("\x03\x08"s
                          "abc") == "abc");
  CHECK(snappy_uncompress("\x07\x00"s
                          "a\x09\x01"s) == "aaaaaaa");  // a run: a copy that reads what it writes
  CHECK(snappy_uncompress("\x07\x00"s
                          "a\x09\x01\x00"s) == std::nullopt);
  CHECK(snappy_uncompress("\x08\x00"s
                          "a\x09\x01"s) == std::nullopt);
  CHECK(snappy_uncompress("\x06\x04"s
                          "ab\x0e\x02\x00"s) == "ababab");
  CHECK(snappy_uncompress("\x06\x04"s
                          "ab\x0f\x02\x00\x00\x00"s) == "ababab");
  CHECK(snappy_uncompress("\x06\x04"s
                          "ab\x0e\x03\x00"s) == std::nullopt);  // before the beginning
  CHECK(snappy_uncompress("\x06\x04"s
                          "ab\x0e\x00\x00"s) == std::nullopt);
  CHECK(snappy_uncompress("\x05\x04"s
                          "ab\x0e\x02\x00"s) == std::nullopt);  // beyond the end
  CHECK(snappy_uncompress("\x03\x08"s
                          "ab") == std::nullopt);
  CHECK(snappy_uncompress("\xff\xff\xff\xff\x0f\x00"s
                          "a") == std::nullopt);  // four gigabytes of three bytes
  CHECK(snappy_uncompress("") == std::nullopt);
  const std::string long_literal(70000, 'q');
  uint32_t state = 1;
  auto noise = [&](size_t n, uint32_t values) {
    std::string out;
    while (out.size() < n) out.push_back(char((state = state * 1664525 + 1013904223) >> 24 % values));
    return out;
  };
  std::string far = noise(100, 256);
  far += noise(70000, 256) + far;  // the same bytes again, too far away to be copied
  for (const std::string& text : {""s, "a"s, "abcd"s, "abcdabcdabcdabcdx"s, std::string(1000000, 'r'), noise(59, 256), noise(61, 256),
                                  noise(300, 256), noise(70000, 256), noise(200000, 3), far}) {
    const std::string packed = snappy_compress(text);
    CHECK(snappy_uncompress(packed) == text);
    CHECK(packed.size() <= text.size() + text.size() / 1000 + 16);
  }
  CHECK(snappy_compress(std::string(64000, 'r')).size() < 3200);
  CHECK(snappy_uncompress("\xf0\xa2\x04\xf8\x6f\x11\x01"s + long_literal) == long_literal);
}

TEST_CASE("a table of many blocks") {
  TableBuilder builder;
  std::vector<std::string> keys;
  for (int i = 0; i < 20000; ++i) keys.push_back(cat("some/long/prefix/", i * 7919 % 20000, "/", std::string(size_t(i % 50), 'x')));
  keys.push_back(std::string(3, '\xff'));
  std::sort(keys.begin(), keys.end());
  for (const std::string& key : keys) builder.add(key, key + "!");
  builder.add("\xff\xff\xff\xff", std::string(600000, 'v'));  // larger than two blocks
  const std::string file = builder.finish();
  auto table = Table::open(file);
  REQUIRE_MESSAGE(table.ok(), table.status().to_string());
  CHECK(table->rows().size() == keys.size() + 1);
  for (const std::string& key : keys) {
    const Table::Row* row = table->find(key);
    REQUIRE(row);
    REQUIRE(row->value == key + "!");
  }
  CHECK(!table->find("some"));
  CHECK(!table->find("zzz"));
}

TEST_CASE("bundles written by TensorFlow") {
  for (const char* name : {"all_types", "sliced", "sharded", "snappy"}) {
    CAPTURE(name);
    auto reader = opened(kGolden + name);
    CHECK(reader->num_shards() == (std::string(name) == "sharded" ? 2 : 1));
    for (const Expected& e : expected(name)) {
      CAPTURE(e.name);
      CAPTURE(e.slice);
      CHECK(reader->contains(e.name));
      auto t = restore(*reader, e);
      REQUIRE_MESSAGE(t.ok(), t.status().to_string());
      CHECK(same(*t, e.tensor));
    }
  }
}

TEST_CASE("quantized types keep their bits") {
  auto reader = opened(kGolden + "all_types");
  auto q = reader->lookup("dense/qint8"), plain = reader->lookup("dense/int8");
  REQUIRE(q.ok());
  CHECK(q->dtype() == DType::kQint8);
  CHECK(std::memcmp(q->raw(), plain->raw(), 12) == 0);
}

TEST_CASE("many tensors at once, over threads") {
  Folder folder;
  BundleWriter writer(folder.path + "/big");
  std::vector<std::string> names;
  std::vector<Tensor> tensors;
  for (int i = 0; i < 40; ++i) {
    Tensor t = *Tensor::allocate(DType::kFloat, Shape{i % 4 == 0 ? 700001 : 1000 + i});
    for (int64_t k = 0; k < t.num_elements(); ++k) t.data<float>()[k] = float(k * (i + 1));
    names.push_back(cat("t", i));
    tensors.push_back(t);
    REQUIRE(writer.add(names.back(), t).ok());
  }
  REQUIRE(writer.finish().ok());
  auto reader = opened(folder.path + "/big");
  ThreadPool pool(4);
  std::vector<std::string_view> keys(names.rbegin(), names.rend());
  std::vector<Tensor> read(keys.size());
  REQUIRE(reader->lookup_all(keys, read, &pool).ok());
  for (size_t i = 0; i < read.size(); ++i) CHECK(same(read[i], tensors[tensors.size() - 1 - i]));
  // A bit flipped in the middle of a large tensor is found by whichever thread reads it.
  std::string data = slurp(folder.path + "/big.data-00000-of-00001");
  data[2000000] ^= 4;
  REQUIRE(write_file(folder.path + "/big.data-00000-of-00001", data).ok());
  CHECK(opened(folder.path + "/big")->lookup_all(keys, read, &pool).code() == Code::kDataLoss);
}

TEST_CASE("what is written equals what TensorFlow writes, byte for byte") {
  Folder folder;
  {
    auto reader = opened(kGolden + "all_types");
    std::vector<std::pair<int64_t, std::string_view>> by_offset;
    for (size_t i = 0; i < reader->size(); ++i) by_offset.emplace_back(reader->entry(reader->key(i))->offset, reader->key(i));
    std::sort(by_offset.begin(), by_offset.end());
    BundleWriter writer(folder.path + "/all_types");
    for (const auto& [offset, key] : by_offset) REQUIRE(writer.add(key, *reader->lookup(key)).ok());
    CHECK(folder.files() == 1);  // only a file of another name until it is finished
    REQUIRE(writer.finish().ok());
    CHECK(writer.finish().code() == Code::kInternal);
    CHECK(folder.files() == 2);
  }
  {
    auto reader = opened(kGolden + "sharded");
    auto cut = [&](const char* spec) { return *parse_shape_and_slice(spec); };
    auto part = [&](const char* spec) { return *reader->lookup_slice("cut", cut(spec).slice); };
    BundleWriter one(folder.path + "/new/part0");
    REQUIRE(one.add("first", *reader->lookup("first")).ok());
    REQUIRE(one.add_slice("cut", {8, 6}, cut("8 6 0,4:-").slice, part("8 6 0,4:-")).ok());
    REQUIRE(one.add("text", *reader->lookup("text")).ok());
    REQUIRE(one.finish().ok());
    BundleWriter two(folder.path + "/new/part1");
    REQUIRE(two.add("second", *reader->lookup("second")).ok());
    REQUIRE(two.add_slice("cut", {8, 6}, cut("8 6 4,4:-").slice, part("8 6 4,4:-")).ok());
    REQUIRE(two.finish().ok());
    const std::string prefixes[] = {folder.path + "/new/part0", folder.path + "/new/part1"};
    Status s = merge_bundles(prefixes, folder.path + "/sharded", false);
    REQUIRE_MESSAGE(s.ok(), s.to_string());
    CHECK(std::filesystem::is_empty(folder.path + "/new"));
  }
  for (const char* file :
       {"all_types.index", "all_types.data-00000-of-00001", "sharded.index", "sharded.data-00000-of-00002", "sharded.data-00001-of-00002"}) {
    CAPTURE(file);
    CHECK(slurp(folder.path + "/" + file) == slurp(kGolden + file));
  }
}

TEST_CASE("a writer that is given up leaves nothing behind") {
  Folder folder;
  {
    BundleWriter writer(folder.path + "/x");
    REQUIRE(writer.add("a", Tensor::scalar(1.0f)).ok());
    CHECK(folder.files() == 1);
    CHECK(writer.add("a", Tensor::scalar(1.0f)).message() == "Adding duplicate key: a");
    CHECK(writer.finish().code() == Code::kInvalidArgument);
  }
  CHECK(folder.files() == 0);
}

TEST_CASE("slices that leave a hole or overlap") {
  Folder folder;
  auto t = [](int rows) { return *Tensor::zeros(DType::kFloat, Shape{rows, 6}); };
  auto slice = [](const char* s) { return *TensorSlice::parse(s); };
  BundleWriter writer(folder.path + "/x");
  REQUIRE(writer.add_slice("hole", {8, 6}, slice("0,3:-"), t(3)).ok());
  REQUIRE(writer.add_slice("hole", {8, 6}, slice("4,4:-"), t(4)).ok());
  REQUIRE(writer.add_slice("twice", {8, 6}, slice("0,4:-"), t(4)).ok());
  REQUIRE(writer.add_slice("twice", {8, 6}, slice("3,4:-"), t(4)).ok());
  REQUIRE(writer.finish().ok());
  auto reader = opened(folder.path + "/x");
  CHECK(reader->lookup("hole").status().message() == "Does not have sufficient slices for partitioned tensor hole to restore in slice_spec: -:-");
  CHECK(reader->lookup_slice("hole", slice("4,2:1,1")).ok());
  CHECK(reader->lookup_slice("hole", slice("2,2:-")).status().code() == Code::kInvalidArgument);
  CHECK(reader->lookup("twice").status().message() == "Overlapping slices: existing slice = 0,4:-, new slice = 3,4:-");
}

TEST_CASE("every truncation and every flipped bit gives an error or the same tensors") {
  for (const char* name : {"sliced", "sharded", "snappy", "all_types"}) {
    CAPTURE(name);
    const std::vector<Expected> wanted = expected(name);
    const int shards = opened(kGolden + name)->num_shards();
    std::vector<std::string> files{slurp(kGolden + name + ".index")};
    for (int i = 0; i < shards; ++i) files.push_back(slurp(bundle_data_name(kGolden + name, i, shards)));
    int errors = 0, unharmed = 0;
    auto attempt = [&](const std::vector<std::string>& broken) {
      auto reader = BundleReader::from_memory(broken[0], {broken.begin() + 1, broken.end()});
      bool failed = !reader.ok();
      for (const Expected& e : wanted) {
        if (!reader.ok()) break;
        auto t = restore(**reader, e);
        if (t.ok()) REQUIRE(same(*t, e.tensor));
        else failed = true;
      }
      ++(failed ? errors : unharmed);
    };
    for (size_t f = 0; f < files.size(); ++f) {
      std::vector<std::string> broken = files;
      for (size_t n = 0; n < files[f].size(); ++n) {
        broken[f] = files[f].substr(0, n);
        // Cutting off a large data file at each byte would say the same thousands of times.
        if (files[f].size() < 2000 || n % 16 == 0) attempt(broken);
      }
      broken[f] = files[f];
      for (size_t n = 0; n < files[f].size(); ++n) {
        for (int bit = 0; bit < 8; ++bit) {
          if (files[f].size() >= 2000 && int(n % 8) != bit) continue;
          broken[f][n] = char(files[f][n] ^ (1 << bit));
          attempt(broken);
        }
        broken[f][n] = files[f][n];
      }
    }
    attempt(files);
    CHECK(errors > 0);
    // Harmless are the unmodified files, the metaindex block, its place in the footer and the padding there, and in all_types the
    // tensors that are not compared.
    CHECK(unharmed < (std::string(name) == "all_types" ? 2000 : 600));
  }
}

TEST_CASE("entries that lie about their tensors") {
  auto index_with = [](std::string entry) {
    TableBuilder builder;
    builder.add("", std::string("\x08\x01\x1a\x02\x08\x01", 6));
    builder.add("x", entry);
    return builder.finish();
  };
  auto lookup = [&](std::string entry) {
    auto reader = BundleReader::from_memory(index_with(std::move(entry)), {std::string(64, '\0')});
    REQUIRE_MESSAGE(reader.ok(), reader.status().to_string());
    return (*reader)->lookup("x").status();
  };
  using namespace std::string_literals;
  CHECK(lookup("\x08\x01\x12\x04\x12\x02\x08\x04\x28\x0c"s).message() == "Invalid size in bundle entry: key x; stored size 12; expected size 16");
  CHECK(lookup("\x08\x01\x12\x04\x12\x02\x08\x04\x20\x38\x28\x10"s).code() == Code::kOutOfRange);  // beyond the file
  CHECK(lookup("\x08\x01\x12\x04\x12\x02\x08\x04\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x28\x10"s).code() == Code::kOutOfRange);  // offset -1
  CHECK(lookup("\x08\x01\x12\x0b\x12\x09\x08\x80\x80\x80\x80\x80\x80\x80\x80\x40\x28\x10"s).code() == Code::kDataLoss);  // 2^62 floats
  CHECK(lookup("\x08\x07\x12\x08\x12\x06\x08\x80\x80\x80\x80\x10\x28\x10"s).code() == Code::kDataLoss);  // 2^32 strings in 16 bytes
  CHECK(lookup("\x08\x14\x12\x00\x28\x10"s).code() == Code::kDataLoss);  // a resource
  CHECK(lookup("\x08\x63\x12\x00\x28\x10"s).code() == Code::kDataLoss);  // no such type
  CHECK(lookup("\x08\x01\x12\x02\x18\x01\x28\x10"s).code() == Code::kDataLoss);  // unknown rank
  CHECK(lookup("\x08\x01\x12\x00\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x28\x04"s).code() == Code::kDataLoss);  // shard -1
  CHECK(lookup("\x08\x01\x12\x00\x18\x05\x28\x04"s).code() == Code::kNotFound);  // shard 5 of 1
  CHECK(lookup("\x08\x15\x12\x00\x28\x10"s).code() != Code::kOk);  // a variant
  CHECK(lookup("\x08"s).code() == Code::kDataLoss);
}

TEST_CASE("headers of other machines, versions and formats") {
  auto open = [](std::string header) {
    TableBuilder builder;
    builder.add("", header);
    return BundleReader::from_memory(builder.finish(), {}).status();
  };
  CHECK(open("\x08\x01\x10\x01").code() == Code::kUnimplemented);
  CHECK(open("\x08\x01\x1a\x02\x10\x07").message() ==
        "Checkpoint min consumer version 7 above current version 1 for TensorFlow 2.21.0.  Please upgrade TensorFlow.");
  CHECK(open("\x08\x01\x1a\x02\x18\x01").code() == Code::kInvalidArgument);
  CHECK(open("\x08").code() == Code::kDataLoss);
  const Status v1 = BundleReader::from_memory(slurp(kGolden + "v1"), {}).status();
  CHECK(v1.code() == Code::kUnimplemented);
  CHECK(v1.message().find("is a checkpoint in the old V1 format") != std::string::npos);
  TableBuilder empty;
  CHECK(BundleReader::from_memory(empty.finish(), {}).status().code() == Code::kInternal);
}
