#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <limits>
#include <set>

#include "api/data/internal.h"
#include "api/unwrap.h"
#include "weft/data.h"
#include "wire/byte_stream.h"

namespace weft::data {
namespace {

struct Cell {
  std::string_view text;  // of the file, or of what Records keeps
  bool quoted = false;
};
using Row = std::vector<Cell>;

std::string place(const std::string& name, int64_t line) { return name + ":" + std::to_string(line); }

// One record after the other. Quotes may hold delimiters, line ends and doubled quotes.
class Records {
 public:
  Records(std::string_view text, const std::string& name, char delimiter) : text_(text), name_(name), delimiter_(delimiter) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // the mark that some editors put in front
  }

  // False at the end. Empty lines are skipped.
  bool next(Row& row) {
    row.clear();
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) end_line();
    if (at_ >= text_.size()) return false;
    first_line_ = line_;
    do {
      row.push_back(text_.substr(at_, 1) == "\"" ? quoted() : plain());
    } while (take_delimiter());
    if (at_ < text_.size()) end_line();
    return true;
  }
  int64_t line() const { return first_line_; }  // where the last record began

 private:
  bool take_delimiter() {
    if (at_ >= text_.size() || text_[at_] != delimiter_) return false;
    ++at_;
    return true;
  }
  void end_line() {
    if (text_[at_++] == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
  }
  Cell plain() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
    return {text_.substr(begin, at_ - begin), false};
  }
  Cell quoted() {
    const int64_t opened = line_;
    const size_t begin = ++at_;
    bool doubled = false;
    for (;; ++at_) {
      if (at_ >= text_.size()) bad(place(name_, opened), "a quote is opened and never closed");
      if (text_[at_] == '"') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
        ++at_;
        doubled = true;
      }
      line_ += text_[at_] == '\n';
    }
    Cell cell{text_.substr(begin, at_ - begin), true};
    if (doubled) {
      std::string& kept = kept_.emplace_back();
      for (size_t i = 0; i < cell.text.size(); ++i) {
        kept += cell.text[i];
        i += cell.text[i] == '"';
      }
      cell.text = kept;
    }
    ++at_;
    if (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n' && text_[at_] != '\r')
      bad(place(name_, line_), std::string("a closing quote is followed by '") + text_[at_] + "'; quotes inside quotes are doubled");
    return cell;
  }

  std::string_view text_;
  const std::string& name_;
  const char delimiter_;
  size_t at_ = 0;
  int64_t line_ = 1, first_line_ = 1;
  std::deque<std::string> kept_;  // cells whose doubled quotes had to be taken out
};

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

template <class T>
bool parse_number(std::string_view s, T& v) {
  s = trimmed(s);
  if (s.size() > 1 && s[0] == '+' && s[1] != '-') s.remove_prefix(1);
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if constexpr (std::is_floating_point_v<T>) {
    // What is too large or too small for the type is inf or 0, as everywhere else.
    if (error == std::errc::result_out_of_range && end == s.data() + s.size()) return v = T(std::strtod(std::string(s).c_str(), nullptr)), true;
  }
  return error == std::errc() && end == s.data() + s.size();
}

bool parse_bool(std::string_view s, bool& v) {
  s = trimmed(s);
  for (const auto& [text, value] :
       {std::pair{"true", true}, {"True", true}, {"TRUE", true}, {"1", true}, {"false", false}, {"False", false}, {"FALSE", false}, {"0", false}}) {
    if (s == text) return v = value, true;
  }
  return false;
}

struct Column {
  std::string name;
  std::vector<std::string_view> texts;
  std::vector<char> missing;
  bool any_missing = false;
};

class Typing {
 public:
  Typing(const Column& column, const std::vector<int64_t>& lines, const std::string& file) : c_(column), lines_(lines), file_(file) {}

  Tensor typed(DType dtype) const {
    switch (dtype) {
      case DType::string: return Tensor::of_strings({int64_t(c_.texts.size())}, {c_.texts.begin(), c_.texts.end()});
      case DType::float32: return numbers<float>("a number");
      case DType::float64: return numbers<double>("a number");
      case DType::int8: return numbers<int8_t>("an int8");
      case DType::int16: return numbers<int16_t>("an int16");
      case DType::int32: return numbers<int32_t>("an int32");
      case DType::int64: return numbers<int64_t>("an int64");
      case DType::uint8: return numbers<uint8_t>("a uint8");
      case DType::uint16: return numbers<uint16_t>("a uint16");
      case DType::uint32: return numbers<uint32_t>("a uint32");
      case DType::uint64: return numbers<uint64_t>("a uint64");
      case DType::boolean: return numbers<bool>("true or false");
      default: throw Error(Code::kUnimplemented, file_ + ": column '" + c_.name + "': CSV columns cannot be of type " + to_string(dtype));
    }
  }

  DType inferred() const {
    bool whole = true, exact = true, number = true;
    for (size_t i = 0; i < c_.texts.size() && number; ++i) {
      if (c_.missing[i]) continue;
      int64_t v = 0;
      double d = 0;
      if (whole && !parse_number(c_.texts[i], v)) whole = false;
      else if (whole) exact = exact && v >= -kFloatExact && v <= kFloatExact;
      if (!whole) number = parse_number(c_.texts[i], d);
    }
    if (!number) return DType::string;
    if (whole && !c_.any_missing) return c_.texts.empty() ? DType::float32 : DType::int64;
    return whole && !exact ? DType::float64 : DType::float32;  // NaN needs a float; large whole numbers one that holds them
  }

 private:
  static constexpr int64_t kFloatExact = 1 << 24;

  template <class T>
  Tensor numbers(const char* what) const {
    const size_t n = c_.texts.size();
    const auto out = std::make_unique<T[]>(n);
    for (size_t i = 0; i < n; ++i) {
      if (c_.missing[i]) {
        if constexpr (std::is_floating_point_v<T>) {
          out[i] = std::numeric_limits<T>::quiet_NaN();
          continue;
        } else {
          throw Error(Code::kInvalidArgument, place(file_, lines_[i]) + ": column '" + c_.name + "' has no value here, and nothing to fill in");
        }
      }
      bool fits;
      if constexpr (std::is_same_v<T, bool>) fits = parse_bool(c_.texts[i], out[i]);
      else fits = parse_number(c_.texts[i], out[i]);
      if (!fits)
        throw Error(Code::kInvalidArgument,
                    place(file_, lines_[i]) + ": column '" + c_.name + "': '" + std::string(c_.texts[i]) + "' is not " + what);
    }
    return Tensor::of<T>({int64_t(n)}, std::span<const T>(out.get(), n));
  }

  const Column& c_;
  const std::vector<int64_t>& lines_;
  const std::string& file_;
};

std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& n : names) out += (out.empty() ? "" : ", ") + n;
  return out.empty() ? "none" : out;
}

size_t find_column(const std::vector<std::string>& names, const std::string& name, const std::string& file) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end())
    throw Error(Code::kNotFound, (file.empty() ? "" : file + ": ") + "there is no column '" + name + "'; there are: " + list_of(names));
  return size_t(it - names.begin());
}

std::vector<std::string> column_names(Records& records, const std::string& file, const CsvOptions& options, Row& first, bool& has_first) {
  std::vector<std::string> names = options.names;
  Row row;
  if (options.header) {
    if (!records.next(row)) bad(file, "the file is empty; its first line should name the columns");
    if (names.empty()) {
      for (const Cell& c : row) names.push_back(std::string(trimmed(c.text)));
    } else if (names.size() != row.size()) {
      throw Error(Code::kInvalidArgument,
                  file + ": " + std::to_string(names.size()) + " names are given for " + std::to_string(row.size()) + " columns");
    }
  }
  has_first = records.next(first);
  if (names.empty() && has_first) {
    for (size_t i = 0; i < first.size(); ++i) names.push_back(std::to_string(i));
  }
  std::set<std::string> seen;
  for (const auto& n : names) {
    if (!seen.insert(n).second) throw Error(Code::kInvalidArgument, file + ": two columns are named '" + n + "'; give names");
  }
  return names;
}

}  // namespace

const Tensor& Csv::operator[](const std::string& name) const { return columns[find_column(names, name, "")]; }

Tensor Csv::matrix(const std::vector<std::string>& of, DType dtype) const {
  std::vector<size_t> which;
  for (const auto& n : of) which.push_back(find_column(names, n, ""));
  if (of.empty()) {
    for (size_t i = 0; i < columns.size(); ++i) which.push_back(i);
  }
  const size_t n = size_t(rows()), width = which.size();
  const auto fill = [&]<class T>(T) {
    std::vector<T> out(n * width);
    for (size_t k = 0; k < width; ++k) {
      const Tensor& c = columns[which[k]];
      const auto copy = [&]<class From>(From) {
        const auto values = c.data<From>();
        for (size_t i = 0; i < n; ++i) out[i * width + k] = T(values[i]);
      };
      switch (c.dtype()) {
        case DType::float32: copy(float()); break;
        case DType::float64: copy(double()); break;
        case DType::int8: copy(int8_t()); break;
        case DType::int16: copy(int16_t()); break;
        case DType::int32: copy(int32_t()); break;
        case DType::int64: copy(int64_t()); break;
        case DType::uint8: copy(uint8_t()); break;
        case DType::uint16: copy(uint16_t()); break;
        case DType::uint32: copy(uint32_t()); break;
        case DType::uint64: copy(uint64_t()); break;
        case DType::boolean: copy(bool()); break;
        default:
          throw Error(Code::kInvalidArgument, "column '" + names[which[k]] + "' holds " + to_string(c.dtype()) + ", which no matrix of numbers can");
      }
    }
    return Tensor::of<T>({int64_t(n), int64_t(width)}, std::span<const T>(out));
  };
  switch (dtype) {
    case DType::float32: return fill(float());
    case DType::float64: return fill(double());
    case DType::int32: return fill(int32_t());
    case DType::int64: return fill(int64_t());
    default: throw Error(Code::kUnimplemented, "a matrix of columns is float, double, int32 or int64, not " + to_string(dtype));
  }
}

Csv parse_csv(std::string_view text, const std::string& name, const CsvOptions& options) {
  Records records(text, name, options.delimiter);
  Row row;
  bool more = false;
  const std::vector<std::string> names = column_names(records, name, options, row, more);
  std::vector<size_t> which;  // of each column that is kept, its place in the file
  for (const auto& n : options.select.empty() ? names : options.select) which.push_back(find_column(names, n, name));
  for (const auto& [n, t] : options.types) find_column(names, n, name);
  for (const auto& [n, t] : options.fill) find_column(names, n, name);

  std::vector<Column> columns;
  std::vector<const std::string*> fill;
  for (const size_t i : which) {
    columns.push_back({names[i], {}, {}, false});
    const auto f = options.fill.find(names[i]);
    fill.push_back(f == options.fill.end() ? nullptr : &f->second);
  }
  std::vector<int64_t> lines;
  for (; more; more = records.next(row)) {
    if (row.size() != names.size())
      bad(place(name, records.line()), std::to_string(row.size()) + " values where there are " + std::to_string(names.size()) + " columns");
    lines.push_back(records.line());
    for (size_t k = 0; k < which.size(); ++k) {
      Cell cell = row[which[k]];
      Column& column = columns[k];
      bool missing = !cell.quoted && std::find(options.missing.begin(), options.missing.end(), trimmed(cell.text)) != options.missing.end();
      if (missing) cell.text = fill[k] ? std::string_view(*fill[k]) : std::string_view();
      missing = missing && !fill[k];
      column.any_missing |= missing;
      column.missing.push_back(missing);
      column.texts.push_back(cell.text);
    }
  }
  Csv out;
  for (Column& c : columns) {
    const Typing typing(c, lines, name);
    const auto given = options.types.find(c.name);
    out.columns.push_back(typing.typed(given != options.types.end() ? given->second : typing.inferred()));
    out.names.push_back(c.name);
    c = {};  // its texts are no longer needed
  }
  return out;
}

Csv read_csv(const std::string& path, const CsvOptions& options) {
  if (!path.ends_with(".gz")) return parse_csv(read_file(path), path, options);
  const auto stream = api::unwrap(wire::ByteStream::open(path, "GZIP"));
  std::string text;
  const core::Status s = stream->read(UINT64_MAX, text);
  if (!s.ok()) bad(path, "the compressed data are damaged: " + s.message());
  if (!stream->complete()) bad(path, "the compressed data are cut off");
  return parse_csv(text, path, options);
}

}  // namespace weft::data
