// Messages in files. Bytes and texts are those of protobuf (tests/files/text).
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "io/message_file.h"
#include "tests/support/folder.h"

using namespace weft_engine::io;  // NOLINT
using weft_engine::core::Code;

namespace {

using weft_engine::testing::Folder;

constexpr std::string_view kBytes("\x18\x05\x22\x02\x08\x07", 6), kText = "version: 5\nversions { producer: 7 }\n";

}  // namespace

TEST_CASE("a message is read from binary and from text, whatever the file is called") {
  const Folder f;
  CHECK(*read_message("tensorflow.GraphDef", f.put("a.pb", kBytes)) == kBytes);
  CHECK(*read_message("tensorflow.GraphDef", f.put("a.pbtxt", kText)) == kBytes);
  CHECK(*read_message("tensorflow.GraphDef", f.put("text.pb", kText)) == kBytes);
  CHECK(*read_message("tensorflow.GraphDef", f.put("no_ending", kBytes)) == kBytes);
  CHECK(*read_message("tensorflow.CheckpointState", f.put("checkpoint", "model_checkpoint_path: \"m-1\"\n")) == std::string_view("\n\003m-1", 5));
  CHECK(read_message("tensorflow.GraphDef", f.put("empty.pb", ""))->empty());
  CHECK(read_message("tensorflow.GraphDef", f.put("empty.pbtxt", "# nothing\n"))->empty());
  CHECK(*read_file(f.put("plain", "x\0y")) == "x");
}

TEST_CASE("what cannot be read says why") {
  const Folder f;
  auto error = [](const auto& r) { return r.status().message(); };
  const auto missing = read_message("tensorflow.GraphDef", f.path + "/none.pb");
  CHECK(missing.status().code() == Code::kNotFound);
  CHECK(error(missing) == f.path + "/none.pb; No such file or directory");
  const std::string huge = f.put("huge.pb", "x");
  if (truncate(huge.c_str(), off_t(1) << 40) == 0) CHECK(read_file(huge).status().code() == Code::kResourceExhausted);  // holes take no room
  CHECK(read_message("tensorflow.GraphDef", f.path).status().code() == Code::kFailedPrecondition);
  CHECK(read_message("tensorflow.NoSuch", f.put("a.pb", kBytes)).status().code() == Code::kInvalidArgument);
  const auto broken = read_message("tensorflow.GraphDef", f.put("b.pb", kBytes.substr(0, 5)));
  CHECK(broken.status().code() == Code::kDataLoss);
  CHECK(error(broken).starts_with("Can't parse " + f.path + "/b.pb as binary proto"));
  const auto text = read_message("tensorflow.GraphDef", f.put("b.pbtxt", "version: 5\nbad: 1"));
  CHECK(text.status().code() == Code::kDataLoss);
  CHECK(error(text) == "Can't parse " + f.path + "/b.pbtxt as text proto: Error parsing text-format tensorflow.GraphDef: 2:4: " +
                           "Message type \"tensorflow.GraphDef\" has no field named \"bad\".");
  CHECK(read_message("tensorflow.GraphDef", f.put("b.pbtxt", kBytes)).status().code() == Code::kDataLoss);
}
