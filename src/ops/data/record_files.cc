// Datasets of records in files: TFRecord files, lines of text, records of a fixed length.
#include <algorithm>
#include <cstring>

#include "op/registry.h"
#include "ops/data/dataset.h"
#include "wire/file.h"
#include "wire/record.h"

namespace weft_engine::ops::data {

using wire::ByteStream;

namespace {

// Strings, from one file after the other.
class FilesDataset : public Dataset {
 public:
  FilesDataset(std::string_view kind, std::vector<std::string> names, std::string compression)
      : Dataset(kind, {DType::kString}, {PartialShape::scalar()}), names_(std::move(names)), compression_(std::move(compression)) {}
  const std::vector<std::string>& names() const { return names_; }
  const std::string& compression() const { return compression_; }

 private:
  const std::vector<std::string> names_;
  const std::string compression_;
};

class FilesIterator : public IteratorOf<FilesDataset> {
 public:
  using IteratorOf::IteratorOf;

 protected:
  Status advance(IteratorContext&, Element& out, bool& end) override {
    while (file_ < d().names().size()) {
      if (!stream_) {
        auto opened = ByteStream::open(d().names()[file_], d().compression());
        if (!opened.ok()) {
          // A folder opens, and fails when it is read.
          file_ += opened.status().code() == Code::kFailedPrecondition && leave_broken_files();
          return opened.status();
        }
        stream_ = std::move(opened).value();
        Status s = start(*stream_);
        if (!s.ok()) {
          stream_.reset();
          file_ += s.code() == Code::kOutOfRange;
          return s;
        }
      }
      tstring record;
      Result<bool> found = read(*stream_, record);
      if (found.ok() && *found) {
        WEFT_ASSIGN(Tensor t, Tensor::allocate(DType::kString, Shape()));
        t.data<tstring>()[0] = std::move(record);
        out.push_back(std::move(t));
        return {};
      }
      if (!found.ok() && !leave_broken_files()) return found.status();
      stream_.reset();
      ++file_;
      if (!found.ok()) return found.status();
    }
    end = true;
    return {};
  }
  const std::string& file_name() const { return d().names()[file_]; }
  size_t file_number() const { return file_; }

  // After an error in a file, does who asks again get the next file?
  virtual bool leave_broken_files() const { return true; }
  virtual Status start(ByteStream&) { return {}; }
  // False: the file has ended.
  virtual Result<bool> read(ByteStream& stream, tstring& record) = 0;

 private:
  size_t file_ = 0;
  std::unique_ptr<ByteStream> stream_;
};

class TFRecordDataset final : public FilesDataset {
 public:
  TFRecordDataset(std::vector<std::string> names, std::string compression, std::vector<int64_t> offsets)
      : FilesDataset("TFRecord", std::move(names), std::move(compression)), offsets_(std::move(offsets)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  class Walk final : public FilesIterator {
   public:
    explicit Walk(const TFRecordDataset& d) : FilesIterator(d), offsets_(d.offsets_) {}

   protected:
    Status start(ByteStream& stream) override {
      at_ = 0;
      if (offsets_.empty()) return {};
      return stream.skip(uint64_t(offsets_[file_number()]), at_);
    }
    Result<bool> read(ByteStream& stream, tstring& record) override {
      wire::RecordReader reader(stream, at_);
      auto found = reader.next(record);
      at_ = reader.at();
      return found;
    }

   private:
    const std::vector<int64_t>& offsets_;
    uint64_t at_ = 0;
  };
  const std::vector<int64_t> offsets_;  // where to begin in each file; empty: at the front
};

class TextLineDataset final : public FilesDataset {
 public:
  using FilesDataset::FilesDataset;

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  class Walk final : public FilesIterator {
   public:
    explicit Walk(const TextLineDataset& d) : FilesIterator(d) {}

   protected:
    bool leave_broken_files() const override { return false; }
    Result<bool> read(ByteStream& stream, tstring& record) override {
      auto found = stream.read_line(line_);
      std::erase(line_, '\r');  // not only before '\n': so does TensorFlow
      record = line_;
      return found;
    }

   private:
    std::string line_;
  };
};

struct FixedLengths {
  int64_t header, record, footer;
};

class FixedLengthRecordDataset final : public FilesDataset {
 public:
  FixedLengthRecordDataset(std::vector<std::string> names, std::string compression, FixedLengths lengths)
      : FilesDataset("FixedLengthRecordV2", std::move(names), std::move(compression)), lengths_(lengths) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  class Walk final : public FilesIterator {
   public:
    explicit Walk(const FixedLengthRecordDataset& d) : FilesIterator(d), lengths_(d.lengths_), plain_(d.compression().empty()) {}

   protected:
    Status start(ByteStream& stream) override {
      prefetched_.clear();
      body_ = 0;
      if (plain_) {
        int64_t size = 0;
        WEFT_RETURN_IF_ERROR(wire::open_to_read(file_name(), size).status());
        const uint64_t body = uint64_t(size) - uint64_t(lengths_.header) - uint64_t(lengths_.footer);
        if (body % uint64_t(lengths_.record) != 0) return invalid_argument(odd_length(body));
      }
      uint64_t skipped = 0;
      WEFT_RETURN_IF_ERROR(stream.skip(uint64_t(lengths_.header), skipped));
      WEFT_RETURN_IF_ERROR(stream.read(uint64_t(lengths_.footer), prefetched_));
      if (skipped < uint64_t(lengths_.header) || prefetched_.size() < uint64_t(lengths_.footer))
        return out_of_range(plain_ ? "Read less bytes than requested" : "EOF reached");
      return {};
    }
    // As many bytes as the footer has are held back: they are a record only if a whole one follows.
    Result<bool> read(ByteStream& stream, tstring& record) override {
      std::string more;
      WEFT_RETURN_IF_ERROR(stream.read(uint64_t(lengths_.record), more));
      if (more.empty()) return false;
      body_ += more.size();
      if (more.size() < uint64_t(lengths_.record)) return data_loss(odd_length(body_));
      prefetched_ += more;
      record = std::string_view(prefetched_).substr(0, size_t(lengths_.record));
      prefetched_.erase(0, size_t(lengths_.record));
      return true;
    }

   private:
    std::string odd_length(uint64_t body) const {
      return cat("Excluding the header (", lengths_.header, " bytes) and footer (", lengths_.footer, " bytes), input file \"", file_name(),
                 "\" has body length ", body, " bytes, which is not an exact multiple of the record length (", lengths_.record, " bytes).");
    }
    const FixedLengths lengths_;
    const bool plain_;
    std::string prefetched_;
    uint64_t body_ = 0;
  };
  const FixedLengths lengths_;
};

struct FileInputs {
  std::vector<std::string> names;
  std::string compression;
  int64_t buffer = 0;
};

Result<FileInputs> file_inputs(const KernelContext& c, bool compressed) {
  FileInputs in;
  WEFT_ASSIGN(in.names, strings_input(c, "filenames"));
  if (compressed) {
    WEFT_ASSIGN(tstring compression, scalar_input<tstring>(c, "compression_type"));
    in.compression = compression.str();
  }
  WEFT_ASSIGN(in.buffer, scalar_input<int64_t>(c, "buffer_size"));
  return in;
}

template <bool kOffsets>
Status run_tf_record(KernelContext& c) {
  WEFT_ASSIGN(FileInputs in, file_inputs(c, true));
  if (in.compression != "SNAPPY" && !ByteStream::check_compression(in.compression).ok())
    in.compression.clear();  // as TensorFlow, which only notes it in the log
  std::vector<int64_t> offsets;
  if constexpr (kOffsets) {
    const Tensor& t = c.input("byte_offsets");
    if (t.rank() > 1) return invalid_argument("`byte_offsets` must be a scalar or a vector.");
    offsets.assign(t.span<int64_t>().begin(), t.span<int64_t>().end());
    if (!offsets.empty() && offsets.size() != in.names.size()) return invalid_argument("`byte_offsets` must be of same size as `filenames`");
    for (int64_t offset : offsets) {
      if (offset < 0) return invalid_argument("`byte_offsets` must not be negative, got ", offset);
    }
  }
  return emit(c, std::make_shared<TFRecordDataset>(std::move(in.names), std::move(in.compression), std::move(offsets)));
}

Status run_text_line(KernelContext& c) {
  WEFT_ASSIGN(FileInputs in, file_inputs(c, true));
  if (in.buffer < 0) return invalid_argument("`buffer_size` must be >= 0 (0 == default)");
  WEFT_RETURN_IF_ERROR(ByteStream::check_compression(in.compression));
  return emit(c, std::make_shared<TextLineDataset>("TextLine", std::move(in.names), std::move(in.compression)));
}

template <bool kCompressed>
Status run_fixed_length(KernelContext& c) {
  FixedLengths lengths;
  WEFT_ASSIGN(lengths.header, scalar_input<int64_t>(c, "header_bytes"));
  if (lengths.header < 0) return invalid_argument("`header_bytes` must be >= 0");
  WEFT_ASSIGN(lengths.record, scalar_input<int64_t>(c, "record_bytes"));
  if (lengths.record <= 0) return invalid_argument("`record_bytes` must be > 0");
  WEFT_ASSIGN(lengths.footer, scalar_input<int64_t>(c, "footer_bytes"));
  if (lengths.footer < 0) return invalid_argument("`footer_bytes` must be >= 0");
  WEFT_ASSIGN(FileInputs in, file_inputs(c, kCompressed));
  if (in.buffer < 0) return invalid_argument("`buffer_size` must be >= 0");
  WEFT_RETURN_IF_ERROR(ByteStream::check_compression(in.compression));
  return emit(c, std::make_shared<FixedLengthRecordDataset>(std::move(in.names), std::move(in.compression), lengths));
}

Status files_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(0, 1).status());
  return dataset_of(c, {"buffer_size"});
}

Status fixed_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(0, 1).status());
  return dataset_of(c, {"header_bytes", "record_bytes", "footer_bytes", "buffer_size"});
}

}  // namespace

void record_files(Registry& r) {
  r.add("TFRecordDataset")
      .in("filenames: string")
      .in("compression_type: string")
      .in("buffer_size: int64")
      .out("handle: variant")
      .full_type("DATASET(TENSOR(STRING))")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset of the records of TFRecord files.")
      .shape(files_shape)
      .cpu(run_tf_record<false>);

  r.add("TFRecordDatasetV2")
      .in("filenames: string")
      .in("compression_type: string")
      .in("buffer_size: int64")
      .in("byte_offsets: int64")
      .out("handle: variant")
      .full_type("DATASET(TENSOR(STRING))")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset of the records of TFRecord files from given offsets on.")
      .shape(files_shape)
      .cpu(run_tf_record<true>);

  r.add("TextLineDataset")
      .in("filenames: string")
      .in("compression_type: string")
      .in("buffer_size: int64")
      .out("handle: variant")
      .full_type("DATASET(TENSOR(STRING))")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset of the lines of text files.")
      .shape(files_shape)
      .cpu(run_text_line);

  r.add("FixedLengthRecordDataset")
      .in("filenames: string")
      .in("header_bytes: int64")
      .in("record_bytes: int64")
      .in("footer_bytes: int64")
      .in("buffer_size: int64")
      .out("handle: variant")
      .full_type("DATASET(TENSOR(STRING))")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A former version of FixedLengthRecordDatasetV2.")
      .shape(fixed_shape)
      .cpu(run_fixed_length<false>);

  r.add("FixedLengthRecordDatasetV2")
      .in("filenames: string")
      .in("header_bytes: int64")
      .in("record_bytes: int64")
      .in("footer_bytes: int64")
      .in("buffer_size: int64")
      .in("compression_type: string")
      .out("handle: variant")
      .full_type("DATASET(TENSOR(STRING))")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset of the records of files whose records have one length.")
      .shape(fixed_shape)
      .cpu(run_fixed_length<true>);
}

}  // namespace weft_engine::ops::data
