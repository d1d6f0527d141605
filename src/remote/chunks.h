// Chunks: a message that is larger than gRPC takes, as several messages of a stream: a header with the lengths of its runs of bytes, then their bytes. Between weft's tasks
// alone: each says by a header of the call that it reads them.
#pragma once

#include <optional>

#include "remote/transport.h"

namespace weft_engine::remote {

// No message is longer than `most`, unless that is smaller than the header.
std::vector<Message> cut(const Message& message, size_t most);

// Puts chunks together. Large runs are received into memory of their own, which a tensor can take over.
class ChunkReader {
 public:
  // `most`: bytes of a message that was cut; -1: any number.
  explicit ChunkReader(int64_t most) : most_(most) {}
  // The message, where it was not cut or this is its last chunk. ResourceExhausted, InvalidArgument: the stream makes no sense from here on.
  Result<std::optional<Message>> add(Message part);

 private:
  Status begin(std::vector<uint64_t> runs);
  Status begin_run();

  const int64_t most_;
  bool open_ = false;  // a header came, and not yet all that it announced
  std::vector<uint64_t> runs_;
  size_t run_ = 0;
  uint64_t left_ = 0;  // of the run
  std::string small_;
  RefPtr<Buffer> large_;
  char* to_ = nullptr;
  Message message_;
};

}  // namespace weft_engine::remote
