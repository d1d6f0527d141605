// The journal of a dispatcher: its updates as TFRecords, in files journal_0, journal_1, ...; each start of a dispatcher begins the next.
#pragma once

#include <functional>

#include "remote/data_service/messages.h"
#include "wire/file.h"

namespace weft_engine::remote::data_service {

// Calls `update` for all there are. What was cut off at the end of a file when its writer died was never acted upon.
Status read_journal(const std::string& folder, const std::function<Status(std::string_view)>& update);

class JournalWriter {
 public:
  static Result<std::unique_ptr<JournalWriter>> create(const std::string& folder);
  // On the disk when this returns.
  Status write(std::string_view update);

 private:
  explicit JournalWriter(std::unique_ptr<core::WritableFile> file) : file_(std::move(file)) {}
  const std::unique_ptr<core::WritableFile> file_;
};

// A file of one record.
Status write_record_file(const std::string& name, std::string_view record);
Result<std::string> read_record_file(const std::string& name);

}  // namespace weft_engine::remote::data_service
