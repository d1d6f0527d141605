// PNG and JPEG files in memory: written, asked and read, also what is no image. Prints what it prints with TensorFlow.
#include "tensorflow/core/lib/png/png_io.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/lib/jpeg/jpeg_mem.h"

using namespace tensorflow;  // NOLINT

// A picture of smooth colours; channels beyond the third are opaque in the middle.
std::vector<uint8> Picture(int width, int height, int channels) {
  std::vector<uint8> out;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) out.push_back(static_cast<uint8>(c == 3 ? 255 - x : (x * (7 - c) + y * (3 + 2 * c)) % 256));
    }
  }
  return out;
}

unsigned long Sum(const std::vector<uint8>& bytes) {
  unsigned long sum = 0;
  for (size_t i = 0; i < bytes.size(); ++i) sum += bytes[i] * (i % 251 + 1);
  return sum;
}

void ReadPng(const std::string& file, int channels, int bits, int gap) {
  png::DecodeContext context;
  if (!png::CommonInitDecode(file, channels, bits, &context)) {
    std::printf("no png\n");
    return;
  }
  const int row = static_cast<int>(context.width) * context.channels * bits / 8 + gap;
  std::vector<uint8> pixels(static_cast<size_t>(row) * context.height, 9);
  const bool read = png::CommonFinishDecode(reinterpret_cast<png_bytep>(pixels.data()), row, &context);
  std::printf("%ux%u, %d channels, %d bits, %d: %d %lu\n", static_cast<unsigned>(context.width), static_cast<unsigned>(context.height),
              context.channels, context.bit_depth, context.color_type, read, read ? Sum(pixels) : 0);
  png::CommonFreeDecode(&context);
}

// A chunk of a PNG file, of the type in its first four characters.
std::string Chunk(const std::string& typed) {
  uint32_t crc = ~0u;
  for (const char c : typed) {
    crc ^= static_cast<uint8_t>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  const auto number = [](uint32_t n) { return std::string{char(n >> 24), char(n >> 16), char(n >> 8), char(n)}; };
  return number(static_cast<uint32_t>(typed.size() - 4)) + typed + number(~crc);
}

// What stands before the pixels is the header, whatever comes behind.
void Chunks() {
  const std::vector<uint8> picture = Picture(6, 4, 1);
  std::string file;
  if (!png::WriteImageToBuffer(picture.data(), 6, 4, 6, 1, 8, -1, &file, nullptr)) return;
  const std::string signature = file.substr(0, 8), header = file.substr(8, 25), end = file.substr(file.size() - 12);
  const std::string pixels = file.substr(33, file.size() - 33 - 12);
  std::string colour = header.substr(4, 17);
  colour[13] = 3;  // of a palette
  const std::string paletted = Chunk(colour), palette = Chunk(std::string("PLTE\1\2\3\4\5\6", 10)), note = Chunk(std::string("tEXtTitle\0text", 14));
  const std::pair<const char*, std::string> files[] = {{"as written", header + pixels + end},
                                                       {"no header", pixels + end},
                                                       {"no pixels", header + end},
                                                       {"nothing", end},
                                                       {"no palette", paletted + pixels + end},
                                                       {"a late palette", paletted + pixels + palette + end},
                                                       {"a palette", paletted + palette + pixels + end},
                                                       {"a note", header + note + pixels + end},
                                                       {"a late note", header + pixels + note + end},
                                                       {"no end", header + pixels.substr(0, pixels.size() / 2)},
                                                       {"too short", header.substr(0, 20)}};
  for (const auto& f : files) {
    int width = -1, height = -1, components = -1, depth = -1;
    std::vector<std::pair<std::string, std::string>> notes;
    const bool read = png::DecodeHeader(signature + f.second, &width, &height, &components, &depth, &notes);
    if (read)
      std::printf("%s: %dx%d, %d components of %d bits, %d notes\n", f.first, width, height, components, depth, static_cast<int>(notes.size()));
    else std::printf("%s: no png\n", f.first);
  }
}

void Png() {
  const std::vector<std::pair<std::string, std::string>> notes = {{"Title", "a picture"}, {"Author", "nobody"}};
  for (int channels = 1; channels <= 4; ++channels) {
    const std::vector<uint8> picture = Picture(20, 10, channels);
    std::string file;
    const bool written = png::WriteImageToBuffer(picture.data(), 20, 10, 20 * channels, channels, 8, -1, &file, channels == 3 ? &notes : nullptr);
    int width = 0, height = 0, components = 0, depth = 0;
    std::vector<std::pair<std::string, std::string>> metadata;
    const bool read = png::DecodeHeader(file, &width, &height, &components, &depth, &metadata);
    std::printf("%d %d: %dx%d, %d components of %d bits\n", written, read, width, height, components, depth);
    for (const auto& m : metadata) std::printf("  %s: %s\n", m.first.c_str(), m.second.c_str());
    for (int wanted : {0, 1, 3, 4}) ReadPng(file, wanted, 8, 0);
    ReadPng(file, 0, 16, 0);
    ReadPng(file, 0, 8, 5);
    ReadPng(file.substr(0, file.size() / 2), 0, 8, 0);
  }
  const std::vector<uint8> wide = Picture(16, 4, 2);  // as 16 bits: 8 samples of two channels... in rows of 16 bytes
  tstring file;
  std::printf("%d\n", png::WriteImageToBuffer(wide.data(), 4, 4, 32, 2, 16, 9, &file, nullptr));
  ReadPng(std::string(file), 0, 16, 0);
  ReadPng(std::string(file), 0, 8, 0);
  ReadPng("no image", 0, 8, 0);
  Chunks();
  int width = 0, height = 0;
  std::printf("%d\n", png::DecodeHeader("no image either", &width, &height, nullptr, nullptr, nullptr));
}

void Jpeg() {
  for (int channels : {1, 3, 4}) {
    const std::vector<uint8> picture = Picture(32, 24, channels);
    jpeg::CompressFlags flags;
    flags.format = channels == 1 ? jpeg::FORMAT_GRAYSCALE : channels == 3 ? jpeg::FORMAT_RGB : jpeg::FORMAT_ABGR;
    flags.quality = 90;
    const tstring file = jpeg::Compress(picture.data(), 32, 24, flags);
    for (int stride : {1, 32 * channels - 1, -1, 32 * channels}) {
      jpeg::CompressFlags strided = flags;
      strided.stride = stride;
      tstring out;
      const bool written = jpeg::Compress(picture.data(), 32, 24, strided, &out);
      std::printf("%d%d ", written, out == file);
    }
    std::printf("\n");
    int width = 0, height = 0, components = 0;
    const bool info = jpeg::GetImageInfo(file.data(), static_cast<int>(file.size()), &width, &height, &components);
    std::printf("%d: %dx%d, %d components\n", info, width, height, components);
    for (int ratio : {1, 2}) {
      for (int wanted : {0, 1, 3}) {
        jpeg::UncompressFlags how;
        how.ratio = ratio;
        how.components = wanted;
        how.dct_method = JDCT_ISLOW;
        int64_t warnings = -1;
        uint8* pixels = jpeg::Uncompress(file.data(), static_cast<int>(file.size()), how, &width, &height, &components, &warnings);
        std::printf("  %dx%d, %d components, %d warnings:", width, height, components, static_cast<int>(warnings));
        for (int c = 0; pixels && c < components; ++c) {  // codecs differ by one here and there
          int sum = 0;
          for (int i = 0; i < width * height; ++i) sum += pixels[i * components + c];
          std::printf(" %d", sum / (width * height * 2));
        }
        std::printf("\n");
        delete[] pixels;
      }
    }
    jpeg::UncompressFlags window;
    window.crop = true;
    window.crop_x = 8, window.crop_y = 4, window.crop_width = 10, window.crop_height = 6;
    std::vector<uint8> memory;
    const uint8* part = jpeg::Uncompress(file.data(), static_cast<int>(file.size()), window, nullptr, [&](int w, int h, int c) {
      std::printf("  a part of %dx%d, %d components\n", w, h, c);
      memory.resize(static_cast<size_t>(w * h * c));
      return memory.data();
    });
    std::printf("  %d\n", part == memory.data());
    std::printf("  %d\n", jpeg::Uncompress(file.data(), static_cast<int>(file.size()) / 2, jpeg::UncompressFlags(), nullptr, nullptr, nullptr,
                                           nullptr) == nullptr);
  }
  int width = 1, height = 1, components = 1;
  std::printf("%d %d %d %d\n", jpeg::GetImageInfo("none", 4, &width, &height, &components), width, height, components);
  std::printf("%d\n", jpeg::Uncompress("none", 4, jpeg::UncompressFlags(), &width, &height, &components, nullptr) == nullptr);
}

int main() {
  Png();
  Jpeg();
}
