// Packed streams and records, WAV and GIF files, in the folder that is given. Prints what it prints with TensorFlow.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/core/lib/gif/gif_io.h"
#include "tensorflow/core/lib/io/inputbuffer.h"
#include "tensorflow/core/lib/io/path.h"
#include "tensorflow/core/lib/io/random_inputstream.h"
#include "tensorflow/core/lib/io/record_reader.h"
#include "tensorflow/core/lib/io/record_writer.h"
#include "tensorflow/core/lib/io/snappy/snappy_inputbuffer.h"
#include "tensorflow/core/lib/io/snappy/snappy_inputstream.h"
#include "tensorflow/core/lib/io/snappy/snappy_outputbuffer.h"
#include "tensorflow/core/lib/io/zlib_compression_options.h"
#include "tensorflow/core/lib/io/zlib_inputstream.h"
#include "tensorflow/core/lib/io/zlib_outputbuffer.h"
#include "tensorflow/core/lib/wav/wav_io.h"
#include "tensorflow/core/platform/env.h"

using namespace tensorflow;  // NOLINT

std::string folder;  // NOLINT

template <class S>
void Print(const std::string& what, const S& s) {
  std::printf("%s: %d %s\n", what.c_str(), static_cast<int>(s.code()), std::string(s.message()).c_str());
}

std::string Text() {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "line " + std::to_string(i * i % 977) + "\n";
  return text;
}

void Streams(const char* name, const io::ZlibCompressionOptions& options, size_t buffer) {
  const std::string path = io::JoinPath(folder, name), text = Text();
  {
    std::unique_ptr<WritableFile> file;
    TF_CHECK_OK(Env::Default()->NewWritableFile(path, &file));
    io::ZlibOutputBuffer out(file.get(), static_cast<int32>(buffer), static_cast<int32>(buffer), options);
    TF_CHECK_OK(out.Init());
    TF_CHECK_OK(out.Append(text.substr(0, 100)));
    TF_CHECK_OK(out.Append(text.substr(100, 30000)));
    TF_CHECK_OK(out.Flush());
    TF_CHECK_OK(out.Append(text.substr(30100)));
    TF_CHECK_OK(out.Close());
    TF_CHECK_OK(file->Close());
  }
  std::unique_ptr<RandomAccessFile> file;
  TF_CHECK_OK(Env::Default()->NewRandomAccessFile(path, &file));
  io::RandomAccessInputStream packed(file.get());
  io::ZlibInputStream in(&packed, buffer, buffer, options);
  tstring part;
  TF_CHECK_OK(in.ReadNBytes(11, &part));
  std::printf("%s: %d %d\n", name, part == text.substr(0, 11), static_cast<int>(in.Tell()));
  TF_CHECK_OK(in.SkipNBytes(1000));
  TF_CHECK_OK(in.ReadNBytes(static_cast<int64_t>(text.size()) - 1011, &part));
  std::printf("%d %d\n", part == text.substr(1011), in.Tell() == static_cast<int64_t>(text.size()));
  Print("at the end", in.ReadNBytes(1, &part));
  Print("negative", in.ReadNBytes(-1, &part));
  Print("again", in.Reset());
  TF_CHECK_OK(in.ReadNBytes(7, &part));
  std::printf("%s", std::string(part).c_str());
}

// The lengths of what the blocks of a file stand for. How well they are packed is the library's.
std::string Blocks(const std::string& file) {
  std::string out;
  size_t at = 0;
  while (at + 4 <= file.size()) {
    uint32 packed = 0, unpacked = 0;
    for (int i = 0; i < 4; ++i) packed = packed << 8 | static_cast<unsigned char>(file[at++]);
    for (size_t i = 0;; ++i) {
      unpacked |= (static_cast<unsigned char>(file[at + i]) & 127u) << (7 * i);
      if (!(file[at + i] & 128)) break;
    }
    out += " " + std::to_string(unpacked);
    at += packed;
  }
  return out + (at == file.size() ? "" : " and a rest");
}

void SnappyStreams() {
  const std::string path = io::JoinPath(folder, "snappy"), text = Text();
  {
    std::unique_ptr<WritableFile> file;
    TF_CHECK_OK(Env::Default()->NewWritableFile(path, &file));
    io::SnappyOutputBuffer out(file.get(), 1000, 1000);
    TF_CHECK_OK(out.Append(text.substr(0, 100)));
    TF_CHECK_OK(out.Append(text.substr(100, 900)));
    TF_CHECK_OK(out.Append(text.substr(1000, 1)));
    TF_CHECK_OK(out.Append(text.substr(1001, 5000)));
    TF_CHECK_OK(out.Flush());
    TF_CHECK_OK(out.Flush());
    TF_CHECK_OK(out.Append(text.substr(6001, 7)));
    TF_CHECK_OK(out.Close());
    TF_CHECK_OK(file->Close());
  }
  std::string bytes;
  TF_CHECK_OK(ReadFileToString(Env::Default(), path, &bytes));
  std::printf("snappy:%s\n", Blocks(bytes).c_str());
  const auto read = [&](const char* what, const std::string& of, size_t in_bytes, size_t out_bytes) {
    TF_CHECK_OK(WriteStringToFile(Env::Default(), path, of));
    std::unique_ptr<RandomAccessFile> file;
    TF_CHECK_OK(Env::Default()->NewRandomAccessFile(path, &file));
    tstring part;
    io::SnappyInputBuffer buffer(file.get(), in_bytes, 1 << 20);
    Status s;
    int n = 0;
    while ((s = buffer.ReadNBytes(11, &part)).ok()) n += part == text.substr(static_cast<size_t>(buffer.Tell()) - 11, 11);
    std::printf("%s: %d parts\n", what, n);
    io::RandomAccessInputStream packed(file.get());
    io::SnappyInputStream stream(&packed, out_bytes);
    n = 0;
    while ((s = stream.ReadNBytes(1001, &part)).ok()) n += part == text.substr(static_cast<size_t>(stream.Tell()) - 1001, 1001);
    std::printf("%d parts, then %d\n", n, static_cast<int>(s.code()));
    if (s.code() != error::OUT_OF_RANGE) Print("the stream", s);
    Print("again", stream.Reset());
    if (stream.ReadNBytes(7, &part).ok()) std::printf("%s", std::string(part).c_str());
  };
  read("whole", bytes, 100000, 5000);
  read("a block too large", bytes, 100000, 4999);
  read("cut off", bytes.substr(0, bytes.size() - 2), 100000, 5000);
  read("cut off in a length", bytes.substr(0, bytes.size() - 11), 100000, 5000);
  read("no length", std::string("\0\0\0\2\xff\xff", 6), 100, 100);
  read("no block", std::string("\0\0\0\3\7ab", 7), 100, 100);
  read("empty", "", 100, 100);
}

void BadStreams() {
  const std::string path = io::JoinPath(folder, "bad");
  TF_CHECK_OK(WriteStringToFile(Env::Default(), path, "this is not packed at all"));
  std::unique_ptr<RandomAccessFile> file;
  TF_CHECK_OK(Env::Default()->NewRandomAccessFile(path, &file));
  io::RandomAccessInputStream packed(file.get());
  io::ZlibInputStream in(&packed, 100, 100, io::ZlibCompressionOptions::DEFAULT());
  tstring part;
  Print("not packed", in.ReadNBytes(5, &part));
  io::ZlibCompressionOptions odd;
  odd.window_bits = 99;
  std::unique_ptr<WritableFile> out;
  TF_CHECK_OK(Env::Default()->NewWritableFile(io::JoinPath(folder, "odd"), &out));
  io::ZlibOutputBuffer buffer(out.get(), 10, 10, odd);
  Print("odd options", buffer.Init());
}

void Records(const char* type) {
  const std::string path = io::JoinPath(folder, std::string("records") + type);
  {
    std::unique_ptr<WritableFile> file;
    TF_CHECK_OK(Env::Default()->NewWritableFile(path, &file));
    io::RecordWriter writer(file.get(), io::RecordWriterOptions::CreateRecordWriterOptions(type));
    for (int i = 0; i < 1000; ++i) TF_CHECK_OK(writer.WriteRecord("record " + std::to_string(i)));
    TF_CHECK_OK(writer.Flush());
    TF_CHECK_OK(writer.Close());
    TF_CHECK_OK(file->Close());
  }
  std::unique_ptr<RandomAccessFile> file;
  TF_CHECK_OK(Env::Default()->NewRandomAccessFile(path, &file));
  io::SequentialRecordReader reader(file.get(), io::RecordReaderOptions::CreateRecordReaderOptions(type));
  tstring record;
  int n = 0;
  std::string last;
  while (reader.ReadRecord(&record).ok()) ++n, last = record;
  std::printf("%s: %d records, %s, to %d\n", type, n, last.c_str(), static_cast<int>(reader.TellOffset()));
  std::printf("at the end: %d\n", static_cast<int>(reader.ReadRecord(&record).code()));
}

void Sound() {
  const std::vector<float> audio = {0, 0.5f, -0.5f, 1, -1, 2, -2, 1e-5f};
  std::string wav;
  TF_CHECK_OK(wav::EncodeAudioAsS16LEWav(audio.data(), 44100, 2, 4, &wav));
  std::printf("%d bytes:", static_cast<int>(wav.size()));
  for (unsigned char c : wav) std::printf(" %02x", c);
  std::vector<float> decoded;
  uint32 frames = 0, rate = 0;
  uint16 channels = 0;
  TF_CHECK_OK(wav::DecodeLin16WaveAsFloatVector(wav, &decoded, &frames, &channels, &rate));
  std::printf("\n%u frames of %u at %u:", frames, channels, rate);
  for (float v : decoded) std::printf(" %.9g", v);
  std::printf("\n");
  tstring out;
  Print("no rate", wav::EncodeAudioAsS16LEWav(audio.data(), 0, 2, 4, &out));
  Print("no channels", wav::EncodeAudioAsS16LEWav(audio.data(), 44100, 0, 4, &out));
  Print("null audio", wav::EncodeAudioAsS16LEWav(static_cast<float*>(nullptr), 44100, 2, 4, &out));
  Print("cut off", wav::DecodeLin16WaveAsFloatVector(wav.substr(0, 50), &decoded, &frames, &channels, &rate));
  Print("no WAV", wav::DecodeLin16WaveAsFloatVector("RIFX" + wav.substr(4), &decoded, &frames, &channels, &rate));
}

void Animation() {
  const std::string head("GIF89a\x0a\0\x0a\0\x91\0\0\xff\xff\xff\xff\0\0\0\0\xff\0\0\0", 25);
  const std::string image(
      "!\xf9\x04\0\0\0\0\0,\0\0\0\0\x0a\0\x0a\0\0\x02\x16\x8c-\x99\x87*\x1c\xdc"
      "3\xa0\x02u\xec\x95\xfa\xa8\xde`\x8c\x04\x91L\x01\0",
      43);
  for (const bool expand : {true, false}) {
    std::vector<uint8> pixels;
    std::string error;
    const std::string file = head + image + image + ";";
    const uint8* made = gif::Decode(
        file.data(), static_cast<int>(file.size()),
        [&](int frames, int width, int height, int channels) {
          std::printf("%d frames %d x %d x %d\n", frames, width, height, channels);
          pixels.resize(static_cast<size_t>(frames) * width * height * channels);
          return pixels.data();
        },
        &error, expand);
    unsigned sum = 0;
    for (size_t i = 0; i < pixels.size(); ++i) sum = sum * 31 + pixels[i];
    std::printf("%d %u, first %d %d %d, %s\n", made == pixels.data(), sum, pixels[0], pixels[1], pixels[2], error.c_str());
  }
  std::string error;
  std::printf("%d\n", gif::Decode("GIF", 3, [](int, int, int, int) -> uint8* { return nullptr; }, &error) == nullptr);
}

int main(int, char** argv) {
  folder = argv[1];
  Streams("zlib", io::ZlibCompressionOptions::DEFAULT(), 1 << 16);
  Streams("raw", io::ZlibCompressionOptions::RAW(), 100);
  Streams("gzip", io::ZlibCompressionOptions::GZIP(), 1000);
  BadStreams();
  SnappyStreams();
  for (const char* type : {"", "ZLIB", "GZIP", "SNAPPY"}) Records(type);
  Sound();
  Animation();
}
