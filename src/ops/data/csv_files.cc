// Datasets of the records of CSV files (RFC 4180).
#include "kernels/cpu/text.h"
#include "op/registry.h"
#include "ops/data/dataset.h"
#include "wire/byte_stream.h"

namespace weft_engine::ops::data {

namespace {

struct CsvFormat {
  char delimiter = ',';
  bool quotes = true, header = false;
  std::string na_value;
  std::vector<int64_t> select, exclude;  // columns, rising; at most one of them is not empty
};

class CsvDataset final : public Dataset {
 public:
  CsvDataset(std::vector<std::string> names, std::string compression, CsvFormat format, Element defaults, const std::vector<DType>& types,
             const std::vector<PartialShape>& shapes)
      : Dataset("CSV", types, shapes),
        names_(std::move(names)),
        compression_(std::move(compression)),
        format_(std::move(format)),
        defaults_(std::move(defaults)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  class Walk final : public IteratorOf<CsvDataset> {
   public:
    using IteratorOf::IteratorOf;

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      while (true) {
        if (stream_) {
          bool found = false;
          WEFT_RETURN_IF_ERROR(read_record(out, true, found));
          if (found) {
            if (out.size() != d().types().size())
              return invalid_argument("Expect ", d().types().size(), " fields but have ", out.size(), " in record");
            return {};
          }
          stream_.reset();
          ++file_;
        }
        end = file_ >= d().names_.size();
        if (end) return {};
        WEFT_RETURN_IF_ERROR(open());
      }
    }

   private:
    Status open() {
      WEFT_ASSIGN(stream_, wire::ByteStream::open(d().names_[file_], d().compression_));
      if (!d().format_.header) return {};
      Element ignored;
      bool found = false;
      WEFT_RETURN_IF_ERROR(read_record(ignored, false, found));
      return found ? Status() : invalid_argument("Can't read header of file");
    }
    // The next byte, or -1 at the end of the file.
    Status next(int& byte) {
      WEFT_ASSIGN(std::string_view bytes, stream_->peek());
      byte = bytes.empty() ? -1 : uint8_t(bytes[0]);
      if (byte >= 0) stream_->consume(1);
      return {};
    }
    Status skip_newline() {
      WEFT_ASSIGN(std::string_view bytes, stream_->peek());
      if (!bytes.empty() && bytes[0] == '\n') stream_->consume(1);
      return {};
    }
    // Reads to the end of the record even after an error, so that the next one may be good.
    Status read_record(Element& out, bool wanted, bool& found) {
      WEFT_ASSIGN(std::string_view bytes, stream_->peek());
      found = !bytes.empty();
      const CsvFormat& f = d().format_;
      Status result;
      size_t excluded = 0, taken = 0;
      bool end = !found;
      for (int64_t column = 0; !end; ++column) {
        const bool exclude = excluded < f.exclude.size() && f.exclude[excluded] == column;
        const bool include = wanted && ((f.select.empty() && f.exclude.empty()) || (taken < f.select.size() && f.select[taken] == column) ||
                                        (!f.exclude.empty() && !exclude));
        std::string field;
        Status s = read_field(field, end);
        if (s.ok() && include) s = store(field, out);
        if (result.ok()) result = s;
        // What is broken is the file, not the record.
        if (!s.ok() && s.code() != Code::kInvalidArgument) return s;
        taken += include;
        excluded += exclude;
      }
      return result;
    }
    Status read_field(std::string& field, bool& end) {
      WEFT_ASSIGN(std::string_view bytes, stream_->peek());
      if (d().format_.quotes && !bytes.empty() && bytes[0] == '"') return read_quoted(field, end);
      Status result;
      for (int byte = 0;;) {
        WEFT_RETURN_IF_ERROR(next(byte));
        end = byte < 0 || byte == '\n' || byte == '\r';
        if (byte == '\r') WEFT_RETURN_IF_ERROR(skip_newline());
        if (end || byte == uint8_t(d().format_.delimiter)) return result;
        if (d().format_.quotes && byte == '"' && result.ok()) result = invalid_argument("Unquoted fields cannot have quotes inside");
        field += char(byte);
      }
    }
    Status read_quoted(std::string& field, bool& end) {
      Status result;
      stream_->consume(1);
      for (int byte = 0;;) {
        WEFT_RETURN_IF_ERROR(next(byte));
        if (byte < 0) {
          end = true;
          return invalid_argument("Reached end of file without closing quoted field in record");
        }
        if (byte != '"') {
          field += char(byte);
          continue;
        }
        WEFT_RETURN_IF_ERROR(next(byte));
        end = byte < 0 || byte == '\n' || byte == '\r';
        if (byte == '\r') WEFT_RETURN_IF_ERROR(skip_newline());
        if (end || byte == uint8_t(d().format_.delimiter)) return result;
        if (byte == '"') field += '"';
        else if (result.ok()) result = invalid_argument("Quote inside a string has to be escaped by another quote");
      }
    }
    Status store(const std::string& field, Element& out) const {
      const size_t i = out.size();
      if (i >= d().types().size()) return invalid_argument("Expect ", d().types().size(), " fields but have more in record");
      const bool missing = field.empty() || field == d().format_.na_value;
      const Tensor& fallback = d().defaults_[i];
      if (missing && fallback.num_elements() == 1) {
        out.push_back(fallback.reshaped(Shape()));
        return {};
      }
      WEFT_ASSIGN(Tensor t, Tensor::zeros(d().types()[i], Shape()));
      out.push_back(t);
      if (missing) return invalid_argument("Field ", i, " is required but missing in record!");
      return dispatch<float, double, int32_t, int64_t, tstring>(t.dtype(), [&]<class T>(Tag<T>) -> Status {
        if constexpr (std::is_same_v<T, tstring>) {
          t.data<T>()[0] = field;
        } else if (!kernels::parse_number(field, t.data<T>()[0])) {
          return invalid_argument("Field ", i, " in record is not a valid ", dtype_name(dtype_of<T>), ": ", field);
        }
        return {};
      });
    }

    std::unique_ptr<wire::ByteStream> stream_;
    size_t file_ = 0;
  };
  const std::vector<std::string> names_;
  const std::string compression_;
  const CsvFormat format_;
  const Element defaults_;
};

Result<std::vector<int64_t>> columns_input(const KernelContext& c, std::string_view name) {
  const Tensor& t = c.input(name);
  if (t.rank() != 1) return invalid_argument("`", name, "` must be a vector", name == "select_cols" ? "." : "");
  std::vector<int64_t> columns(t.span<int64_t>().begin(), t.span<int64_t>().end());
  return columns;
}

Status check_rising(const std::vector<int64_t>& columns, std::string_view name) {
  for (size_t i = 1; i < columns.size(); ++i) {
    if (columns[i - 1] >= columns[i]) return invalid_argument(name, " should be strictly increasing indices");
  }
  if (!columns.empty() && columns[0] < 0) return invalid_argument(name, " should be non-negative indices");
  return {};
}

template <bool kExclude>
Status run_csv(KernelContext& c) {
  WEFT_ASSIGN(std::vector<std::string> names, strings_input(c, "filenames"));
  WEFT_ASSIGN(tstring compression, scalar_input<tstring>(c, "compression_type"));
  Element defaults = inputs_of(c, "record_defaults");
  for (size_t i = 0; i < defaults.size(); ++i) {
    if (defaults[i].rank() > 1) return invalid_argument("Each record default should be at most rank 1");
    if (defaults[i].num_elements() > 1)
      return invalid_argument("There should only be 1 default per field but field ", i, " has ", defaults[i].num_elements());
  }
  CsvFormat f;
  WEFT_ASSIGN(f.select, columns_input(c, "select_cols"));
  if constexpr (kExclude) {
    WEFT_ASSIGN(f.exclude, columns_input(c, "exclude_cols"));
  }
  WEFT_ASSIGN(int64_t buffer, scalar_input<int64_t>(c, "buffer_size"));
  if (buffer <= 0) return invalid_argument("buffer_size should be positive");
  WEFT_ASSIGN(tstring delimiter, scalar_input<tstring>(c, "field_delim"));
  if (delimiter.size() != 1) return invalid_argument("field_delim should be only 1 char");
  f.delimiter = delimiter.data()[0];
  WEFT_ASSIGN(f.header, scalar_input<bool>(c, "header"));
  WEFT_ASSIGN(f.quotes, scalar_input<bool>(c, "use_quote_delim"));
  WEFT_ASSIGN(tstring na_value, scalar_input<tstring>(c, "na_value"));
  f.na_value = na_value.str();
  if (!wire::ByteStream::check_compression(compression).ok()) return invalid_argument("Unsupported compression_type: ", compression.view(), ".");
  if (!f.select.empty() && f.select.size() != attr_types(c).size()) return invalid_argument("select_cols should match output size");
  WEFT_RETURN_IF_ERROR(check_rising(f.select, "select_cols"));
  if (!f.select.empty() && !f.exclude.empty()) return invalid_argument("Either select_cols or exclude_cols should be empty");
  WEFT_RETURN_IF_ERROR(check_rising(f.exclude, "exclude_cols"));
  return emit(c, std::make_shared<CsvDataset>(std::move(names), compression.str(), std::move(f), std::move(defaults), attr_types(c), attr_shapes(c)));
}

Status csv_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(0, 1).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(c.node().input_range("select_cols").begin, 1).status());
  const auto defaults = c.node().input_range("record_defaults");
  for (int i = defaults.begin; i < defaults.end; ++i) WEFT_RETURN_IF_ERROR(c.with_rank_at_most(i, 1).status());
  return dataset_of(c, {"compression_type", "buffer_size", "header", "field_delim", "use_quote_delim", "na_value"});
}

Status csv_v2_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(c.node().input_range("exclude_cols").begin, 1).status());
  return csv_shape(c);
}

}  // namespace

void csv_files(Registry& r) {
  r.add("CSVDataset")
      .in("filenames: string")
      .in("compression_type: string")
      .in("buffer_size: int64")
      .in("header: bool")
      .in("field_delim: string")
      .in("use_quote_delim: bool")
      .in("na_value: string")
      .in("select_cols: int64")
      .in("record_defaults: output_types")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list({float, double, int32, int64, string}) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("A former version of CSVDatasetV2.")
      .shape(csv_shape)
      .cpu(run_csv<false>);

  r.add("ExperimentalCSVDataset")
      .in("filenames: string")
      .in("compression_type: string")
      .in("buffer_size: int64")
      .in("header: bool")
      .in("field_delim: string")
      .in("use_quote_delim: bool")
      .in("na_value: string")
      .in("select_cols: int64")
      .in("record_defaults: output_types")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list({float, double, int32, int64, string}) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The former name of CSVDataset.")
      .shape(csv_shape)
      .cpu(run_csv<false>);

  r.add("CSVDatasetV2")
      .in("filenames: string")
      .in("compression_type: string")
      .in("buffer_size: int64")
      .in("header: bool")
      .in("field_delim: string")
      .in("use_quote_delim: bool")
      .in("na_value: string")
      .in("select_cols: int64")
      .in("record_defaults: output_types")
      .in("exclude_cols: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list({float, double, int32, int64, string}) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("A dataset of the records of CSV files.")
      .shape(csv_v2_shape)
      .cpu(run_csv<true>);
}

}  // namespace weft_engine::ops::data
