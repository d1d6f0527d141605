// GIF87a and GIF89a, https://www.w3.org/Graphics/GIF/spec-gif89a.txt, with TensorFlow's way of laying frames
// over one another.
#include <algorithm>
#include <array>
#include <cstring>

#include "core/allocator.h"
#include "kernels/cpu/image_codec.h"

namespace weft_engine::kernels {
namespace {

using core::Status;

struct Reader {
  std::string_view s;
  size_t at = 0;
  bool good = true;

  int byte() {
    if (at >= s.size()) return good = false, 0;
    return uint8_t(s[at++]);
  }
  int word() {
    const int low = byte();
    return low | byte() << 8;
  }
  std::string_view take(size_t n) {
    if (s.size() - at < n) return good = false, std::string_view();
    at += n;
    return s.substr(at - n, n);
  }
  // The data of a chain of sub-blocks.
  std::string blocks() {
    std::string out;
    for (int n = byte(); n > 0 && good; n = byte()) out.append(take(size_t(n)));
    return out;
  }
};

struct Frame {
  int x = 0, y = 0, width = 0, height = 0;
  std::string_view colors;          // of this frame, or the global ones
  int transparent = -1;
  std::vector<uint8_t> indices;
};

// What giflib, which TensorFlow reads with, says of a broken file.
constexpr const char* kNone = nullptr;
constexpr const char* kCutShort = "Failed to read from given file";
constexpr const char* kEndsEarly = "Image EOF detected before image complete";
constexpr const char* kDefective = "Image is defective, decoding aborted";
constexpr const char* kBadSize = "Unknown error";

// LZW with codes of growing width, least significant bit first. Gives what is wrong, or null.
const char* decompress(std::string_view data, int min_bits, size_t wanted, std::vector<uint8_t>& out) {
  constexpr int kMaxCodes = 4096;
  if (min_bits < 1 || min_bits > 8) return kCutShort;
  const int clear = 1 << min_bits, end = clear + 1;
  std::array<uint16_t, kMaxCodes> prefix;
  std::array<uint8_t, kMaxCodes> suffix, stack;
  int next = clear + 2, bits = min_bits + 1, previous = -1;
  uint8_t first = 0;
  uint32_t held = 0;
  int held_bits = 0;
  size_t at = 0;
  while (out.size() < wanted) {
    while (held_bits < bits) {
      if (at == data.size()) return kDefective;
      held |= uint32_t(uint8_t(data[at++])) << held_bits;
      held_bits += 8;
    }
    const int code = int(held & ((1u << bits) - 1));
    held >>= bits;
    held_bits -= bits;
    if (code == clear) {
      next = clear + 2, bits = min_bits + 1, previous = -1;
      continue;
    }
    if (code == end) return kEndsEarly;
    if (code > next || (code == next && previous < 0) || (previous < 0 && code > end)) return kDefective;
    // Codes chain back to a byte; the chain gives the text backwards.
    int depth = 0, c = code;
    if (code == next) {
      stack[size_t(depth++)] = first;
      c = previous;
    }
    while (c >= clear + 2) {
      if (depth >= kMaxCodes - 1) return kDefective;
      stack[size_t(depth++)] = suffix[size_t(c)];
      c = prefix[size_t(c)];
    }
    if (c >= clear) return kDefective;
    first = uint8_t(c);
    out.push_back(first);
    while (depth > 0 && out.size() < wanted) out.push_back(stack[size_t(--depth)]);
    if (previous >= 0 && next < kMaxCodes) {
      prefix[size_t(next)] = uint16_t(previous);
      suffix[size_t(next)] = first;
      if (++next == 1 << bits && bits < 12) ++bits;
    }
    previous = code;
  }
  return kNone;
}

// Rows come in four passes when interlaced.
void deinterlace(Frame& f) {
  std::vector<uint8_t> rows(f.indices.size());
  static constexpr int kStart[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
  size_t from = 0;
  for (int pass = 0; pass < 4; ++pass) {
    for (int y = kStart[pass]; y < f.height; y += kStep[pass], from += size_t(f.width))
      std::memcpy(rows.data() + size_t(y) * size_t(f.width), f.indices.data() + from, size_t(f.width));
  }
  f.indices.swap(rows);
}

// Reads one image. Gives what is wrong where the file is cut short or broken inside it, or null.
const char* read_frame(Reader& r, std::string_view global_colors, Frame& f) {
  f.x = r.word(), f.y = r.word(), f.width = r.word(), f.height = r.word();
  const int flags = r.byte();
  f.colors = flags & 0x80 ? r.take(size_t(3) << ((flags & 7) + 1)) : global_colors;
  const int min_bits = r.byte();
  if (!r.good) return kCutShort;
  const std::string data = r.blocks();
  const size_t wanted = size_t(f.width) * size_t(f.height);
  if (wanted == 0 || wanted > INT32_MAX) return kBadSize;
  // A code of 12 bits stands for at most 4096 pixels: a short file cannot fill a large image.
  if (wanted / 4096 > data.size()) return r.good ? kEndsEarly : kCutShort;
  f.indices.reserve(wanted);
  if (const char* wrong = decompress(data, min_bits, wanted, f.indices)) return r.good ? wrong : kCutShort;
  if (flags & 0x40) deinterlace(f);
  return r.good ? kNone : kCutShort;
}

Status read_gif(std::string_view bytes, std::vector<Frame>& frames) {
  Reader r{bytes};
  const std::string_view magic = r.take(6);
  if (magic != "GIF87a" && magic != "GIF89a")
    return core::invalid_argument("Invalid GIF data (size ", bytes.size(), "), failed to open gif file: Data is not in GIF format");
  r.take(4);  // the screen's size says nothing: frames may be smaller or larger
  const int flags = r.byte();
  r.take(2);
  const std::string_view colors = flags & 0x80 ? r.take(size_t(3) << ((flags & 7) + 1)) : std::string_view();
  if (!r.good) return core::invalid_argument("Invalid GIF data (size ", bytes.size(), "), failed to open gif file: No screen descriptor detected");
  Frame next;
  const char* wrong = kNone;
  while (!wrong) {
    const int block = r.byte();
    if (!r.good) {
      wrong = kCutShort;
    } else if (block == 0x3B) {
      wrong = "No Image Descriptor detected";
    } else if (block == 0x21) {
      const int label = r.byte();
      const std::string data = r.blocks();
      if (label == 0xF9 && data.size() >= 4) next.transparent = data[0] & 1 ? uint8_t(data[3]) : -1;
    } else if (block == 0x2C) {
      if ((wrong = read_frame(r, colors, next))) break;
      frames.push_back(std::move(next));
      next = Frame();
    } else {
      wrong = "Wrong record type detected";
    }
  }
  // Whole frames before the place where it breaks count.
  if (frames.empty()) return core::invalid_argument("Invalid GIF data (size ", bytes.size(), "), failed to slurp gif file: ", wrong);
  return {};
}

}  // namespace

Status decode_gif(std::string_view bytes, bool all_frames, const AllocatePixels& allocate) {
  std::vector<Frame> frames;
  if (Status status = read_gif(bytes, frames); !status.ok()) return status;
  const size_t count = all_frames ? frames.size() : 1;
  // As large as the largest frame, wanted or not; frames are cut off at its edges.
  int64_t width = 0, height = 0;
  for (const Frame& f : frames) {
    width = std::max<int64_t>(width, f.width);
    height = std::max<int64_t>(height, f.height);
  }
  // Small frames on a large canvas stand for far more pixels than the file has: not where they would take much of the machine's memory.
  const double pixels = double(width) * double(height) * double(count);
  if (pixels * 3 > double(core::host_stats().bytes_limit) / 4 && pixels / 4096 > double(bytes.size()))
    return core::resource_exhausted("GIF data of ", bytes.size(), " bytes with ", count, " frames of ", width, "x", height,
                                    " pixels does not fit into memory");
  auto memory = allocate({height, width, 3, int64_t(count)});
  if (!memory.ok()) return memory.status();
  const size_t size = size_t(width * height * 3);
  for (size_t k = 0; k < count; ++k) {
    const Frame& f = frames[k];
    uint8_t* to = static_cast<uint8_t*>(*memory) + k * size;
    if (k == 0) std::memset(to, 0, size);
    else std::memcpy(to, to - size, size);  // what the frame does not cover shows the last one
    if (f.colors.empty()) return core::invalid_argument("Invalid GIF data (size ", bytes.size(), "), missing color map for frame ", k);
    const int64_t rows = std::min<int64_t>(f.height, height - f.y), columns = std::min<int64_t>(f.width, width - f.x);
    for (int64_t y = 0; y < rows; ++y) {
      for (int64_t x = 0; x < columns; ++x) {
        const size_t index = f.indices[size_t(y * f.width + x)];
        if (int(index) == f.transparent) continue;
        if (index * 3 + 3 > f.colors.size())
          return core::invalid_argument("Invalid GIF data (size ", bytes.size(), "), found color index ", index, " outside of color map range ",
                                        f.colors.size() / 3);
        std::memcpy(to + ((y + f.y) * width + x + f.x) * 3, f.colors.data() + index * 3, 3);
      }
    }
  }
  return {};
}

}  // namespace weft_engine::kernels
