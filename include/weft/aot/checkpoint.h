// Variables of a model compiled by `weft compile`, to and from checkpoint files of TensorFlow's format (a tensor bundle of one shard). This header is all
// that it takes: C++17, no library.
//
//   Net net;
//   weft::aot::save_checkpoint(net, "out/step_100");     // out/step_100.index, out/step_100.data-00000-of-00001
//   weft::aot::load_checkpoint(net, "out/step_100");
//
// Names are the model's own: the keys of the checkpoint that it was saved with, or the variables' names. tf.train.load_checkpoint reads the files, and
// those of TensorFlow load here if all is in their first data file. False leaves the variables as they were; `error` then says why.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#if defined(__has_include)
#if __has_include(<sys/file.h>) && __has_include(<dirent.h>)
#define WEFT_AOT_LOCKS
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#endif
#endif

namespace weft {
namespace aot {
namespace detail {

inline uint32_t crc32c(const char* data, size_t n, uint32_t crc = 0) {
  static const std::vector<uint32_t> table = [] {
    std::vector<uint32_t> t(256);
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = c & 1 ? 0x82f63b78u ^ (c >> 1) : c >> 1;
      t[i] = c;
    }
    return t;
  }();
  crc = ~crc;
  for (size_t i = 0; i < n; ++i) crc = table[(crc ^ static_cast<unsigned char>(data[i])) & 255] ^ (crc >> 8);
  return ~crc;
}
inline uint32_t masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

inline void put32(std::string& s, uint32_t v) {
  for (int i = 0; i < 4; ++i) s += static_cast<char>(v >> (8 * i));
}
inline void put_varint(std::string& s, uint64_t v) {
  for (; v >= 128; v >>= 7) s += static_cast<char>(v | 128);
  s += static_cast<char>(v);
}
inline void put_field(std::string& s, int field, uint64_t v) {
  if (v == 0) return;
  put_varint(s, static_cast<uint64_t>(field) << 3);
  put_varint(s, v);
}
inline void put_message(std::string& s, int field, const std::string& m) {
  put_varint(s, static_cast<uint64_t>(field) << 3 | 2);
  put_varint(s, m.size());
  s += m;
}

// Reads numbers from bytes that may be damaged: after the end everything is zero and ok is false.
struct Reader {
  const char *at, *end;
  bool ok = true;
  uint64_t varint() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at >= end) break;
      const uint64_t b = static_cast<unsigned char>(*at++);
      v |= (b & 127) << shift;
      if (b < 128) return v;
    }
    ok = false;
    return 0;
  }
  uint32_t fixed32() {
    if (end - at < 4) {
      ok = false;
      return 0;
    }
    uint32_t v = 0;
    for (int i = 0; i < 4; ++i) v |= static_cast<uint32_t>(static_cast<unsigned char>(at[i])) << (8 * i);
    at += 4;
    return v;
  }
  std::string bytes(uint64_t n) {
    if (n > static_cast<uint64_t>(end - at)) {
      ok = false;
      return {};
    }
    std::string s(at, static_cast<size_t>(n));
    at += n;
    return s;
  }
};

struct Entry {
  int dtype = 0;
  std::vector<int64_t> dims;
  uint64_t shard = 0, offset = 0, size = 0;
  uint32_t crc = 0;
};

inline std::string encode(const Entry& e) {
  std::string shape, s;
  for (int64_t d : e.dims) {
    std::string dim;
    put_field(dim, 1, static_cast<uint64_t>(d));
    put_message(shape, 2, dim);
  }
  put_field(s, 1, static_cast<uint64_t>(e.dtype));
  put_message(s, 2, shape);
  put_field(s, 4, e.offset);
  put_field(s, 5, e.size);
  put_varint(s, 6 << 3 | 5);
  put32(s, e.crc);
  return s;
}

inline bool decode(const std::string& bytes, Entry& e) {
  Reader r{bytes.data(), bytes.data() + bytes.size()};
  while (r.ok && r.at < r.end) {
    const uint64_t tag = r.varint();
    switch (tag & 7) {
      case 0: {
        const uint64_t v = r.varint();
        if (tag >> 3 == 1) e.dtype = static_cast<int>(v);
        if (tag >> 3 == 3) e.shard = v;
        if (tag >> 3 == 4) e.offset = v;
        if (tag >> 3 == 5) e.size = v;
        break;
      }
      case 2: {
        const std::string m = r.bytes(r.varint());
        if (tag >> 3 == 7) return false;  // slices
        if (tag >> 3 != 2) break;
        Reader shape{m.data(), m.data() + m.size()};
        while (shape.ok && shape.at < shape.end) {
          const uint64_t t = shape.varint();
          if ((t & 7) == 0) {
            shape.varint();
            continue;
          }
          const std::string dim = shape.bytes(shape.varint());
          if (t >> 3 != 2) continue;
          Reader d{dim.data(), dim.data() + dim.size()};
          int64_t size = 0;
          while (d.ok && d.at < d.end) {
            const uint64_t f = d.varint();
            if ((f & 7) == 0) {
              const uint64_t v = d.varint();
              if (f >> 3 == 1) size = static_cast<int64_t>(v);
            } else {
              d.bytes(d.varint());
            }
          }
          e.dims.push_back(size);
          shape.ok = shape.ok && d.ok;
        }
        if (!shape.ok) return false;
        break;
      }
      case 5: {
        const uint32_t v = r.fixed32();
        if (tag >> 3 == 6) e.crc = v;
        break;
      }
      default: return false;
    }
  }
  return r.ok;
}

inline bool read_file(const std::string& path, std::string& out) {
  FILE* f = std::fopen(path.c_str(), "rb");
  if (!f) return false;
  char part[1 << 16];
  for (size_t n; (n = std::fread(part, 1, sizeof part, f)) > 0;) out.append(part, n);
  const bool ok = !std::ferror(f);
  std::fclose(f);
  return ok;
}

// Readers see the old file or the new one. What is being written has a name that nobody can guess, and where the system has locks (flock) the next writer
// removes what a killed one left.
inline bool replace_file(const std::string& path, const std::string& contents) {
  std::random_device random;
  const std::string temporary = path + ".tempstate" + std::to_string(static_cast<uint64_t>(random()) << 32 | random());
#ifdef WEFT_AOT_LOCKS
  const std::string folder = path.substr(0, path.rfind('/') + 1), base = path.substr(folder.size()) + ".tempstate";
  if (DIR* names = opendir(folder.empty() ? "." : folder.c_str())) {
    while (const dirent* entry = readdir(names)) {
      const std::string name = entry->d_name;
      if (name.compare(0, base.size(), base) != 0 || name.size() == base.size() || name.find_first_not_of("0123456789", base.size()) != name.npos)
        continue;
      const int left = open((folder + name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
      if (left < 0) continue;
      if (flock(left, LOCK_EX | LOCK_NB) == 0) unlink((folder + name).c_str());
      close(left);
    }
    closedir(names);
  }
#endif
  FILE* f = std::fopen(temporary.c_str(), "wbx");
  if (!f) return false;
#ifdef WEFT_AOT_LOCKS
  flock(fileno(f), LOCK_EX);
#endif
  bool ok = std::fwrite(contents.data(), 1, contents.size(), f) == contents.size();
  ok = std::fflush(f) == 0 && ok;
  ok = ok && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (!ok) std::remove(temporary.c_str());
  return std::fclose(f) == 0 && ok;
}

// A block of the index file behind its trailer; what points at it.
inline std::string add_block(std::string& file, const std::string& block) {
  std::string handle;
  put_varint(handle, file.size());
  put_varint(handle, block.size());
  file += block;
  const char type = 0;  // not compressed
  file += type;
  put32(file, masked(crc32c(&type, 1, crc32c(block.data(), block.size()))));
  return handle;
}

// Sorted keys, each written whole.
inline std::string make_block(const std::map<std::string, std::string>& entries) {
  std::string block, restarts;
  for (const auto& kv : entries) {
    put32(restarts, static_cast<uint32_t>(block.size()));
    put_varint(block, 0);
    put_varint(block, kv.first.size());
    put_varint(block, kv.second.size());
    block += kv.first + kv.second;
  }
  if (entries.empty()) put32(restarts, 0);
  const uint32_t count = static_cast<uint32_t>(restarts.size() / 4);
  block += restarts;
  put32(block, count);
  return block;
}

inline bool read_block(const std::string& file, uint64_t offset, uint64_t size, std::map<std::string, std::string>& out) {
  if (offset > file.size() || size > file.size() - offset || file.size() - offset - size < 5) return false;
  const char* data = file.data() + offset;
  Reader crc{data + size + 1, data + size + 5};
  if (data[size] != 0 || crc.fixed32() != masked(crc32c(data, static_cast<size_t>(size) + 1))) return false;
  if (size < 4) return false;
  Reader tail{data + size - 4, data + size};
  const uint64_t restarts = tail.fixed32();
  if (restarts > (size - 4) / 4) return false;
  Reader r{data, data + size - 4 - 4 * restarts};
  std::string key;
  while (r.ok && r.at < r.end) {
    const uint64_t shared = r.varint(), rest = r.varint(), value = r.varint();
    if (!r.ok || shared > key.size()) return false;
    key = key.substr(0, static_cast<size_t>(shared)) + r.bytes(rest);
    out[key] = r.bytes(value);
  }
  return r.ok;
}

inline bool read_index(const std::string& file, std::map<std::string, std::string>& out) {
  constexpr size_t kFooter = 48;
  static const char kMagic[] = "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
  if (file.size() < kFooter || std::memcmp(file.data() + file.size() - 8, kMagic, 8) != 0) return false;
  Reader footer{file.data() + file.size() - kFooter, file.data() + file.size() - 8};
  footer.varint();
  footer.varint();
  const uint64_t offset = footer.varint(), size = footer.varint();
  std::map<std::string, std::string> blocks;
  if (!footer.ok || !read_block(file, offset, size, blocks)) return false;
  for (const auto& b : blocks) {
    Reader handle{b.second.data(), b.second.data() + b.second.size()};
    const uint64_t at = handle.varint(), n = handle.varint();
    if (!handle.ok || !read_block(file, at, n, out)) return false;
  }
  return true;
}

// How many data files there are by an index's first entry; 0 for one that is damaged.
inline uint64_t shards_of(const std::map<std::string, std::string>& entries) {
  const auto it = entries.find("");
  if (it == entries.end()) return 0;
  Reader r{it->second.data(), it->second.data() + it->second.size()};
  while (r.ok && r.at < r.end) {
    const uint64_t tag = r.varint();
    if (tag == 8) return r.varint();
    if ((tag & 7) == 0) r.varint();
    else if ((tag & 7) == 2) r.bytes(r.varint());
    else return 0;
  }
  return 0;
}
inline std::string data_name(const std::string& prefix, uint64_t shard, uint64_t shards) {
  char text[64];
  std::snprintf(text, sizeof text, ".data-%05u-of-%05u", static_cast<unsigned>(shard % 100000), static_cast<unsigned>(shards % 100000));
  return prefix + text;
}

inline std::string key_of(const char* checkpoint_key, const char* name) { return *checkpoint_key ? checkpoint_key : name; }
inline bool fail(std::string* error, std::string text) {
  if (error) *error = std::move(text);
  return false;
}

}  // namespace detail

template <class Net>
bool save_checkpoint(Net& net, const std::string& prefix, std::string* error = nullptr) {
  using namespace detail;
  std::string data;
  std::map<std::string, std::string> entries;
  // Data do not take the place of what the present index speaks of: a death between two renames leaves the old checkpoint. In its place come two files, the
  // second empty.
  std::string old_index;
  std::map<std::string, std::string> old;
  const bool replaced = read_file(prefix + ".index", old_index) && read_index(old_index, old) && shards_of(old) == 1;
  const uint64_t shards = replaced ? 2 : 1;
  entries[""] = std::string("\x08") + static_cast<char>(shards) + std::string("\x1a\x02\x08\x01", 4);  // shards, little endian, version 1
  std::map<std::string, int> sorted;
  for (int i = 0; i < Net::kVariables; ++i) sorted[key_of(Net::variable(i).checkpoint_key, Net::variable(i).name)] = i;
  for (const auto& s : sorted) {
    const auto& v = Net::variable(s.second);
    Entry e;
    e.dtype = v.dtype;
    e.dims.assign(v.dims, v.dims + v.rank);
    e.offset = data.size();
    e.size = v.bytes;
    const char* bytes = static_cast<const char*>(net.variable_data(s.second));
    e.crc = masked(crc32c(bytes, v.bytes));
    data.append(bytes, v.bytes);
    entries[s.first] = encode(e);
  }
  std::string index;
  const std::string last = entries.rbegin()->first, block = add_block(index, make_block(entries));
  const std::string meta = add_block(index, make_block({}));
  const std::string top = add_block(index, make_block({{last, block}}));
  std::string footer = meta + top;
  footer.resize(40);
  index += footer + std::string("\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
  if (shards == 2 && !replace_file(data_name(prefix, 1, 2), "")) return fail(error, "cannot write " + data_name(prefix, 1, 2));
  if (!replace_file(data_name(prefix, 0, shards), data)) return fail(error, "cannot write " + data_name(prefix, 0, shards));
  if (!replace_file(prefix + ".index", index)) return fail(error, "cannot write " + prefix + ".index");
  if (shards == 2) std::remove(data_name(prefix, 0, 1).c_str());
  else
    for (uint64_t i = 0; i < 2; ++i) std::remove(data_name(prefix, i, 2).c_str());
  return true;
}

template <class Net>
bool load_checkpoint(Net& net, const std::string& prefix, std::string* error = nullptr) {
  using namespace detail;
  std::string index, data;
  if (!read_file(prefix + ".index", index)) return fail(error, "cannot read " + prefix + ".index");
  std::map<std::string, std::string> entries;
  if (!read_index(index, entries)) return fail(error, prefix + ".index is damaged");
  const std::string data_file = data_name(prefix, 0, shards_of(entries));
  if (!read_file(data_file, data)) return fail(error, "cannot read " + data_file);
  std::vector<const char*> found;
  for (int i = 0; i < Net::kVariables; ++i) {
    const auto& v = Net::variable(i);
    const std::string key = key_of(v.checkpoint_key, v.name);
    const auto it = entries.find(key);
    Entry e;
    if (it == entries.end()) return fail(error, prefix + " has no '" + key + "'");
    if (!decode(it->second, e)) return fail(error, "'" + key + "' of " + prefix + " is damaged, or in slices");
    if (e.dtype != v.dtype || e.dims != std::vector<int64_t>(v.dims, v.dims + v.rank) || e.size != v.bytes)
      return fail(error, "'" + key + "' has another type or shape");
    if (e.shard != 0) return fail(error, "'" + key + "' is not in the first data file of " + prefix + ", which is all that is read here");
    if (e.offset > data.size() || e.size > data.size() - e.offset) return fail(error, data_file + " is too short");
    if (masked(crc32c(data.data() + e.offset, static_cast<size_t>(e.size))) != e.crc) return fail(error, "'" + key + "' is damaged: wrong checksum");
    found.push_back(data.data() + e.offset);
  }
  for (int i = 0; i < Net::kVariables; ++i) std::memcpy(net.variable_data(i), found[static_cast<size_t>(i)], Net::variable(i).bytes);
  return true;
}

}  // namespace aot
}  // namespace weft
