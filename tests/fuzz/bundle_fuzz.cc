// Hostile checkpoints. The first byte of an input says how the rest is read:
//   0  files as they are: uint16 length of the index, uint16 length of the first shard, index, first shard, second shard
//   1  rows of an index: uint8 count, then key and value of each (uint8 lengths, then the bytes), then the first shard; the
//      table around the rows is made here, so that every input reaches the entries
//   2  a text for parse_shape_and_slice
//   3  a block for snappy_uncompress
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "wire/snappy.h"
#include "wire/table.h"
#include "wire/tensor_bundle.h"

using namespace weft_engine;        // NOLINT
using namespace weft_engine::wire;  // NOLINT

namespace {

// Takes at most n bytes off the front.
std::string_view take(std::string_view& in, size_t n) {
  const std::string_view out = in.substr(0, n);
  in.remove_prefix(out.size());
  return out;
}

size_t take_number(std::string_view& in, size_t bytes) {
  size_t n = 0;
  for (char c : take(in, bytes)) n = n << 8 | uint8_t(c);
  return n;
}

void read_everything(std::string index, std::vector<std::string> shards) {
  auto opened = BundleReader::from_memory(std::move(index), std::move(shards));
  if (!opened.ok()) return;
  const BundleReader& reader = **opened;
  for (size_t i = 0; i < std::min<size_t>(reader.size(), 64); ++i) {
    auto entry = reader.entry(reader.key(i));
    auto tensor = reader.lookup(reader.key(i));
    if (tensor.ok() && (!entry.ok() || tensor->shape() != entry->shape || tensor->dtype() != entry->dtype)) __builtin_trap();
    if (!entry.ok()) continue;
    // Half of the first dimension.
    TensorSlice half = TensorSlice::whole(entry->shape.rank());
    if (half.rank() > 0 && entry->shape.dim(0) > 1) half.extents[0] = {entry->shape.dim(0) / 4, (entry->shape.dim(0) + 1) / 2};
    auto part = reader.lookup_slice(reader.key(i), half);
    if (part.ok() && part->num_elements() > 0) {
      volatile char last = static_cast<const char*>(part->raw())[part->byte_size() - 1];
      (void)last;
    }
  }
  std::vector<std::string_view> keys;
  for (size_t i = 0; i < std::min<size_t>(reader.size(), 64); ++i) keys.push_back(reader.key(i));
  std::vector<core::Tensor> tensors(keys.size());
  if (reader.lookup_all(keys, tensors, nullptr).ok() && !keys.empty() && !tensors.back().valid()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view in(reinterpret_cast<const char*>(data), size);
  switch (take_number(in, 1)) {
    case 0: {
      const size_t index = take_number(in, 2), first = take_number(in, 2);
      std::string index_bytes(take(in, index)), first_bytes(take(in, first));
      read_everything(std::move(index_bytes), {std::move(first_bytes), std::string(in)});
      break;
    }
    case 1: {
      std::map<std::string, std::string> rows;
      rows[""] = std::string("\x08\x01\x1a\x02\x08\x01", 6);
      for (size_t n = take_number(in, 1); n > 0; --n) {
        const size_t key = take_number(in, 1), value = take_number(in, 1);
        const std::string name(take(in, key));
        rows[name] = std::string(take(in, value));
      }
      TableBuilder table;
      for (const auto& [key, value] : rows) table.add(key, value);
      read_everything(table.finish(), {std::string(in)});
      break;
    }
    case 2: {
      auto parsed = parse_shape_and_slice(in);
      if (parsed.ok() && !parsed->slice_shape.valid()) __builtin_trap();
      break;
    }
    case 3: (void)snappy_uncompress(in); break;
    default: return -1;  // not worth a place in the corpus
  }
  return 0;
}
