// Files and helpers of core/lib and core/util, by the names of TensorFlow 2.21 (tsl) and by the old ones. Prints what it prints with TensorFlow.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/lib/io/buffered_inputstream.h"
#include "tensorflow/core/lib/io/inputbuffer.h"
#include "tensorflow/core/lib/io/random_inputstream.h"
#include "tensorflow/core/lib/io/record_reader.h"
#include "tensorflow/core/lib/io/record_writer.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/util/env_var.h"
#include "tensorflow/core/util/event.pb.h"
#include "tensorflow/core/util/events_writer.h"
#include "tsl/platform/path.h"
#include "tsl/platform/strcat.h"
#include "xla/tsl/platform/errors.h"
#include "xla/tsl/platform/status.h"
#include "xla/tsl/util/command_line_flags.h"

using namespace tensorflow;  // NOLINT

template <class S>
void Print(const char* what, const S& s) {
  std::printf("%s: %d %s\n", what, static_cast<int>(s.code()), std::string(s.message()).c_str());
}

std::unique_ptr<RandomAccessFile> Open(const std::string& name) {
  std::unique_ptr<RandomAccessFile> file;
  TF_CHECK_OK(Env::Default()->NewRandomAccessFile(name, &file));
  return file;
}

void Lines(const std::string& folder) {
  const std::string name = tsl::io::JoinPath(folder, "lines");
  TF_CHECK_OK(WriteStringToFile(Env::Default(), name, "first\r\nsecond\n\nlast"));
  auto file = Open(name);
  io::InputBuffer in(file.get(), 4);
  for (std::string line; in.ReadLine(&line).ok();) std::printf("[%s] %d\n", line.c_str(), static_cast<int>(in.Tell()));
  std::string text;
  Print("at the end", in.ReadLine(&text));
  Print("seek", in.Seek(3));
  Print("five", in.ReadNBytes(5, &text));
  std::printf("%d bytes at %d\n", static_cast<int>(text.size()), static_cast<int>(in.Tell()));
  Print("skip", in.SkipNBytes(2));
  Print("too many", in.ReadNBytes(100, &text));
  std::printf("[%s]\n", text.c_str());
  Print("back", in.SkipNBytes(-1));

  io::RandomAccessInputStream stream(file.get());
  io::BufferedInputStream buffered(&stream, 3);
  tstring part;
  Print("four", buffered.ReadNBytes(4, &part));
  std::printf("[%s] %d\n", std::string(part).c_str(), static_cast<int>(buffered.Tell()));
  std::string line;
  Print("line", buffered.ReadLine(&line));
  std::printf("[%s] %d\n", line.c_str(), static_cast<int>(buffered.Tell()));
  Print("skip", buffered.SkipNBytes(3));
  std::string rest;
  Print("rest", buffered.ReadAll(&rest));
  std::printf("[%s]\n", rest.c_str());
  Print("reset", buffered.Reset());
  Print("seek", buffered.Seek(2));
  Print("line", buffered.ReadLine(&line));
  std::printf("[%s]\n", line.c_str());
  Print("negative", buffered.ReadNBytes(-1, &part));
}

void Records(const std::string& folder) {
  const std::string name = tsl::io::JoinPath(folder, "records");
  {
    std::unique_ptr<WritableFile> file;
    TF_CHECK_OK(Env::Default()->NewWritableFile(name, &file));
    io::RecordWriter writer(file.get());
    for (const char* record : {"one", "", "three"}) Print("write", writer.WriteRecord(record));
    Print("flush", writer.Flush());
    Print("close", writer.Close());
    Print("closed", writer.WriteRecord("more"));
    TF_CHECK_OK(file->Close());
  }
  auto file = Open(name);
  io::RecordReader reader(file.get());
  uint64 offset = 0;
  tstring record;
  for (int i = 0; i < 5; ++i) {
    Print("read", reader.ReadRecord(&offset, &record));
    std::printf("[%s] next %d\n", std::string(record).c_str(), static_cast<int>(offset));
  }
  io::SequentialRecordReader again(file.get());
  int skipped = 0;
  Print("skip", again.SkipRecords(2, &skipped));
  Print("read", again.ReadRecord(&record));
  std::printf("[%s] %d\n", std::string(record).c_str(), skipped);
  Print("more", again.ReadRecord(&record));
  Print("end", again.ReadRecord(&record));

  std::string bytes;
  TF_CHECK_OK(ReadFileToString(Env::Default(), name, &bytes));
  auto damaged = [&](const char* what, const std::string& data) {
    TF_CHECK_OK(WriteStringToFile(Env::Default(), name, data));
    auto bad = Open(name);
    io::RecordReader of(bad.get());
    uint64 at = 0;
    Print(what, of.ReadRecord(&at, &record));
  };
  std::string changed = bytes;
  changed[13] ^= 1;
  damaged("changed", changed);
  changed = bytes;
  changed[1] ^= 1;
  damaged("wrong length", changed);
  damaged("short record", bytes.substr(0, 14));
  damaged("short head", bytes.substr(0, 5));
  damaged("empty", "");
  changed = bytes;
  changed[20] ^= 1;  // in the second record's length
  TF_CHECK_OK(WriteStringToFile(Env::Default(), name, changed));
  auto bad = Open(name);
  io::SequentialRecordReader second(bad.get());
  Print("first", second.ReadRecord(&record));
  Print("second", second.ReadRecord(&record));
  io::SequentialRecordReader skipping(bad.get());
  Print("skip to it", skipping.SkipRecords(3, &skipped));
  std::printf("%d\n", skipped);
}

void Variables() {
  ::setenv("FILES_TRUE", "True", 1);
  ::setenv("FILES_NUMBER", "42", 1);
  ::setenv("FILES_TEXT", "text", 1);
  bool flag = false;
  int64_t number = 0;
  float real = 0;
  std::string text;
  Print("bool", ReadBoolFromEnvVar("FILES_TRUE", false, &flag));
  Print("int", ReadInt64FromEnvVar("FILES_NUMBER", 1, &number));
  Print("float", ReadFloatFromEnvVar("FILES_NUMBER", 1, &real));
  Print("string", ReadStringFromEnvVar("FILES_TEXT", "", &text));
  std::printf("%d %d %g %s\n", flag, static_cast<int>(number), real, text.c_str());
  Print("no bool", ReadBoolFromEnvVar("FILES_TEXT", true, &flag));
  Print("no int", ReadInt64FromEnvVar("FILES_TEXT", 7, &number));
  Print("unset", ReadStringFromEnvVar("FILES_UNSET", "otherwise", &text));
  std::printf("%d %d %s\n", flag, static_cast<int>(number), text.c_str());
}

void Events(const std::string& folder) {
  EventsWriter writer(tsl::io::JoinPath(folder, "events"));
  Print("init", writer.InitWithSuffix(".here"));
  Event event;
  event.set_step(3);
  auto* value = event.mutable_summary()->add_value();
  value->set_tag("loss");
  value->set_simple_value(0.5);
  writer.WriteEvent(event);
  Print("flush", writer.Flush());
  const std::string name = writer.FileName();
  std::printf("%d %d\n", name.find("events.out.tfevents.") != name.npos, name.rfind(".here") == name.size() - 5);
  Print("close", writer.Close());
  auto file = Open(name);
  io::SequentialRecordReader reader(file.get());
  for (tstring record; reader.ReadRecord(&record).ok();) {
    Event read;
    if (!read.ParseFromString(std::string(record))) continue;
    std::printf("%d [%s] %d %s\n", static_cast<int>(read.step()), read.file_version().c_str(), read.summary().value_size(),
                read.summary().value_size() ? read.summary().value(0).tag().c_str() : "");
  }
}

tsl::Status Fails() { return tsl::errors::NotFound("nothing ", 3); }
tsl::Status Passes() {
  TF_RETURN_IF_ERROR(Fails());
  return tsl::OkStatus();
}

int main(int, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Lines(argv[1]);
  Records(argv[1]);
  Variables();
  Events(argv[1]);
  Print("tsl", Passes());
  int32_t n = 1;
  char program[] = "program", flag[] = "--n=5";
  char* arguments[] = {program, flag, nullptr};
  int count = 2;
  const bool parsed = tsl::Flags::Parse(&count, arguments, {tsl::Flag("n", &n, "a number")});
  std::printf("%d %d %d %s\n", parsed, n, count, tsl::strings::StrCat("a", 1).c_str());
}
