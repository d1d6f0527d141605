#include "remote/data_service/journal.h"

#include "wire/byte_stream.h"
#include "wire/record.h"

namespace weft_engine::remote::data_service {

static std::string journal_file(const std::string& folder, int64_t number) { return cat(folder, "/journal_", number); }

Status read_journal(const std::string& folder, const std::function<Status(std::string_view)>& update) {
  for (int64_t number = 0; wire::file_exists(journal_file(folder, number)); ++number) {
    WEFT_ASSIGN(std::unique_ptr<wire::ByteStream> stream, wire::ByteStream::open(journal_file(folder, number), ""));
    wire::RecordReader reader(*stream);
    std::string record;
    while (true) {
      auto more = reader.next(record);
      if (!more.ok() && reader.cut_off()) break;
      WEFT_RETURN_IF_ERROR(more.status());
      if (!*more) break;
      WEFT_RETURN_IF_ERROR(update(record));
    }
  }
  return {};
}

Result<std::unique_ptr<JournalWriter>> JournalWriter::create(const std::string& folder) {
  WEFT_RETURN_IF_ERROR(wire::create_folders(folder));
  int64_t number = 0;
  while (wire::file_exists(journal_file(folder, number))) ++number;
  WEFT_ASSIGN(std::unique_ptr<core::WritableFile> file, wire::open_to_write(journal_file(folder, number)));
  return std::unique_ptr<JournalWriter>(new JournalWriter(std::move(file)));
}

Status JournalWriter::write(std::string_view update) {
  std::string record;
  wire::append_record(record, update);
  WEFT_RETURN_IF_ERROR(file_->append(record));
  WEFT_RETURN_IF_ERROR(file_->flush());
  return file_->sync();
}

Status write_record_file(const std::string& name, std::string_view record) {
  std::string bytes;
  wire::append_record(bytes, record);
  return wire::write_file(name, bytes);
}

Result<std::string> read_record_file(const std::string& name) {
  WEFT_ASSIGN(std::unique_ptr<wire::ByteStream> stream, wire::ByteStream::open(name, ""));
  wire::RecordReader reader(*stream);
  std::string record;
  WEFT_ASSIGN(bool there, reader.next(record, true));
  if (!there) return data_loss(name, " holds no record");
  return record;
}

}  // namespace weft_engine::remote::data_service
