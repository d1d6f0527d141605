#include "api/unwrap.h"
#include "core/error_notes.h"
#include "weft/data.h"
#include "wire/record.h"

namespace weft::data {
namespace {

void check(const core::Status& s, const std::string& path) {
  if (!s.ok()) api::check(core::find_note(s, core::kNoteFile) ? s : core::reworded(s, core::cat(path, ": ", s.message())));
}

}  // namespace

struct TFRecordReader::Impl {
  std::string path;
  std::unique_ptr<wire::ByteStream> stream;
  std::unique_ptr<wire::RecordReader> reader;
};

TFRecordReader::TFRecordReader(const std::string& path, const std::string& compression) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  check(wire::ByteStream::check_compression(compression), path);
  auto stream = wire::ByteStream::open(path, compression);
  check(stream.status(), path);
  impl_->stream = std::move(stream).value();
  impl_->reader = std::make_unique<wire::RecordReader>(*impl_->stream);
}
TFRecordReader::TFRecordReader(TFRecordReader&&) noexcept = default;
TFRecordReader& TFRecordReader::operator=(TFRecordReader&&) noexcept = default;
TFRecordReader::~TFRecordReader() = default;

bool TFRecordReader::next(std::string& record) {
  const auto found = impl_->reader->next(record, true);
  check(found.status(), impl_->path);
  if (!*found && !impl_->stream->complete()) check(core::data_loss("the compressed data are cut off"), impl_->path);
  return *found;
}

struct TFRecordWriter::Impl {
  std::string path;
  std::unique_ptr<wire::RecordWriter> writer;  // null: closed
  wire::RecordWriter& open() {
    if (!writer) throw Error(Code::kFailedPrecondition, path + ": the writer is closed");
    return *writer;
  }
};

TFRecordWriter::TFRecordWriter(const std::string& path, const std::string& compression) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  auto writer = wire::RecordWriter::create(path, compression);
  check(writer.status(), path);
  impl_->writer = std::move(writer).value();
}
TFRecordWriter::TFRecordWriter(TFRecordWriter&&) noexcept = default;
TFRecordWriter& TFRecordWriter::operator=(TFRecordWriter&& o) noexcept {
  std::swap(impl_, o.impl_);
  return *this;
}
TFRecordWriter::~TFRecordWriter() {
  if (impl_ && impl_->writer) (void)impl_->writer->finish();
}
void TFRecordWriter::write(std::string_view record) { check(impl_->open().write(record), impl_->path); }
void TFRecordWriter::flush() { check(impl_->open().flush(), impl_->path); }
void TFRecordWriter::close() {
  if (!impl_->writer) return;
  const auto writer = std::move(impl_->writer);
  check(writer->finish(), impl_->path);
}

std::vector<std::string> read_tfrecords(const std::string& path, const std::string& compression) {
  TFRecordReader reader(path, compression);
  std::vector<std::string> out;
  for (std::string record; reader.next(record);) out.push_back(std::move(record));
  return out;
}

}  // namespace weft::data
