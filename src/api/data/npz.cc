#include <zlib.h>

#include <algorithm>

#include "api/data/internal.h"
#include "weft/data.h"

namespace weft::data {
namespace {

std::string inflate_raw(std::string_view packed, size_t size, const std::string& name) {
  // deflate cannot shrink below 1:1032, so a larger claim is false, and no memory is allocated for it.
  if (size / 1040 > packed.size()) bad(name, "the archive claims an impossible size");
  std::string out(size, '\0');
  z_stream z{};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) bad(name, "zlib does not start");
  size_t in = 0, done = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in));
    z.avail_in = uInt(std::min<size_t>(packed.size() - in, 1u << 30));
    z.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    z.avail_out = uInt(std::min<size_t>(size - done, 1u << 30));
    const uInt had_in = z.avail_in, had_out = z.avail_out;
    code = inflate(&z, Z_NO_FLUSH);
    in += had_in - z.avail_in;
    done += had_out - z.avail_out;
    if (code == Z_OK && had_in == z.avail_in && had_out == z.avail_out) break;
  }
  inflateEnd(&z);
  if (code != Z_STREAM_END || done != size) bad(name, "the compressed data are damaged");
  return out;
}

uint32_t crc_of(std::string_view bytes) {
  uLong crc = crc32(0, nullptr, 0);
  while (!bytes.empty()) {
    const size_t n = std::min<size_t>(bytes.size(), 1u << 30);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), uInt(n));
    bytes.remove_prefix(n);
  }
  return uint32_t(crc);
}

struct Entry {
  std::string name;
  uint64_t packed = 0, size = 0, offset = 0;
  uint32_t crc = 0;
  int method = 0;
};

std::vector<Entry> central_directory(std::string_view bytes, const std::string& name) {
  // The end record: its signature, searched from the back, for a comment may follow.
  constexpr size_t kEnd = 22;
  if (bytes.size() < kEnd) bad(name, "not an .npz archive");
  size_t at = std::string_view::npos;
  const size_t lowest = bytes.size() - std::min<size_t>(bytes.size(), kEnd + 65535);
  for (size_t i = bytes.size() - kEnd + 1; i-- > lowest;) {
    if (bytes.substr(i, 4) == std::string_view("PK\5\6", 4)) {
      at = i;
      break;
    }
  }
  if (at == std::string_view::npos) bad(name, "not an .npz archive, or cut off");
  uint64_t count = little(bytes, at + 10, 2), size = little(bytes, at + 12, 4), offset = little(bytes, at + 16, 4);
  // Large archives have a second end record, pointed to by a locator right before this one.
  if ((count == 0xFFFF || size == 0xFFFFFFFF || offset == 0xFFFFFFFF) && at >= 20 && bytes.substr(at - 20, 4) == std::string_view("PK\6\7", 4)) {
    const uint64_t far = little(bytes, at - 20 + 8, 8);
    if (far > bytes.size() || bytes.size() - far < 56 || bytes.substr(far, 4) != std::string_view("PK\6\6", 4)) bad(name, "the archive is damaged");
    count = little(bytes, far + 32, 8);
    size = little(bytes, far + 40, 8);
    offset = little(bytes, far + 48, 8);
  }
  if (offset > bytes.size() || size > bytes.size() - offset) bad(name, "the archive is damaged: its directory is outside the file");
  std::string_view dir = bytes.substr(offset, size);
  std::vector<Entry> entries;
  size_t i = 0;
  while (entries.size() < count) {
    if (dir.size() - i < 46 || dir.substr(i, 4) != std::string_view("PK\1\2", 4)) bad(name, "the archive's directory is damaged");
    const size_t n = little(dir, i + 28, 2), extra = little(dir, i + 30, 2), comment = little(dir, i + 32, 2);
    if (dir.size() - i - 46 < n + extra + comment) bad(name, "the archive's directory is cut off");
    Entry e;
    if (little(dir, i + 8, 2) & 1) bad(name, "the archive is encrypted");
    e.method = int(little(dir, i + 10, 2));
    e.crc = uint32_t(little(dir, i + 16, 4));
    e.packed = little(dir, i + 20, 4);
    e.size = little(dir, i + 24, 4);
    e.offset = little(dir, i + 42, 4);
    e.name = std::string(dir.substr(i + 46, n));
    // Sizes that do not fit in 32 bits are in extra field 1, those alone and in this order.
    std::string_view more = dir.substr(i + 46 + n, extra);
    while (more.size() >= 4) {
      const size_t length = little(more, 2, 2);
      if (more.size() - 4 < length) break;
      if (little(more, 0, 2) == 1) {
        std::string_view fields = more.substr(4, length);
        for (uint64_t* v : {&e.size, &e.packed, &e.offset}) {
          if (*v != 0xFFFFFFFF || fields.size() < 8) continue;
          *v = little(fields, 0, 8);
          fields.remove_prefix(8);
        }
      }
      more.remove_prefix(4 + length);
    }
    entries.push_back(std::move(e));
    i += 46 + n + extra + comment;
  }
  return entries;
}

std::string unpack(std::string_view bytes, const Entry& e, const std::string& name) {
  if (e.offset > bytes.size() || bytes.size() - e.offset < 30 || bytes.substr(e.offset, 4) != std::string_view("PK\3\4", 4))
    bad(name, "the archive is damaged: " + e.name + " is not where it should be");
  const size_t skip = 30 + little(bytes, e.offset + 26, 2) + little(bytes, e.offset + 28, 2);
  if (bytes.size() - e.offset < skip || e.packed > bytes.size() - e.offset - skip) bad(name, "the archive is cut off in " + e.name);
  std::string_view packed = bytes.substr(e.offset + skip, e.packed);
  std::string out;
  if (e.method == 0) {
    if (e.size != e.packed) bad(name, "the archive is damaged in " + e.name);
    out = std::string(packed);
  } else if (e.method == 8) {
    out = inflate_raw(packed, e.size, name);
  } else {
    bad(name, e.name + " is compressed by a method that numpy does not use");
  }
  if (crc_of(out) != e.crc) bad(name, "the checksum of " + e.name + " is wrong");
  return out;
}

}  // namespace

Arrays parse_npz(std::string_view bytes, const std::string& name) {
  Arrays out;
  uint64_t packed = 0;
  for (const Entry& e : central_directory(bytes, name)) {
    // Entries that share bytes could unpack to far more than the file is worth.
    if (e.packed > bytes.size() - packed) bad(name, "the archive is damaged: its entries overlap");
    packed += e.packed;
    std::string key = e.name;
    if (key.ends_with(".npy")) key.resize(key.size() - 4);
    Tensor t = parse_npy(unpack(bytes, e, name), name + "[" + key + "]");
    if (!out.emplace(key, std::move(t)).second) bad(name, "the archive has two arrays '" + key + "'");
  }
  return out;
}

Arrays read_npz(const std::string& path) { return parse_npz(read_file(path), path); }

void write_npz(const std::string& path, const Arrays& arrays) {
  if (arrays.size() >= 0xFFFF) throw Error(Code::kUnimplemented, path + ": an .npz of 65535 arrays or more");
  std::string out, dir;
  for (const auto& [key, t] : arrays) {
    const std::string name = key + ".npy", data = format_npy(t);
    if (name.size() > 0xFFFF) throw Error(Code::kInvalidArgument, path + ": the name of an array is longer than 65535 bytes");
    if (data.size() >= 0xFFFFFFFF || out.size() >= 0xFFFFFFFF)
      throw Error(Code::kUnimplemented, path + ": an .npz of 4 GiB or more; write .npy files instead");
    const uint32_t crc = crc_of(data);
    const uint64_t offset = out.size();
    std::string fields;                 // what the local header and the directory share
    put_little(fields, 20, 2);          // version that is needed
    put_little(fields, 0x800, 2);       // names are UTF-8
    put_little(fields, 0, 2);           // stored
    put_little(fields, 0x21 << 16, 4);  // the first of January 1980
    put_little(fields, crc, 4);
    put_little(fields, data.size(), 4);
    put_little(fields, data.size(), 4);
    put_little(fields, name.size(), 2);
    put_little(fields, 0, 2);
    out += std::string("PK\3\4", 4) + fields + name + data;
    dir += std::string("PK\1\2", 4);
    put_little(dir, 20, 2);
    dir += fields;
    dir.append(2 + 2 + 2 + 4, '\0');  // comment, disk, attributes
    put_little(dir, offset, 4);
    dir += name;
  }
  std::string end("PK\5\6", 4);
  put_little(end, 0, 4);
  put_little(end, arrays.size(), 2);
  put_little(end, arrays.size(), 2);
  put_little(end, dir.size(), 4);
  put_little(end, out.size(), 4);
  put_little(end, 0, 2);
  write_file(path, out + dir + end);
}

}  // namespace weft::data
