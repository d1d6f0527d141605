#include "ops/state/lookup_text_file.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "wire/byte_stream.h"

namespace weft_engine::ops {

using namespace weft_engine::core;  // NOLINT

namespace {

std::vector<std::string_view> split(std::string_view line, char delimiter) {
  std::vector<std::string_view> out;
  for (size_t begin = 0;;) {
    const size_t end = line.find(delimiter, begin);
    out.push_back(line.substr(begin, end - begin));
    if (end == std::string_view::npos) return out;
    begin = end + 1;
  }
}

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const size_t begin = s.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return s.substr(begin, s.find_last_not_of(kSpace) - begin + 1);
}

template <class T>
bool parse(std::string_view s, T& out) {
  s = trimmed(s);
  if (s.starts_with('+')) {
    s.remove_prefix(1);
    if (s.starts_with('-')) return false;
  }
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), out);
  return error == std::errc() && end == s.data() + s.size() && !s.empty();
}

// One column of the table, growing line by line.
class Column {
 public:
  Column(DType dtype, int64_t index) : dtype_(dtype), index_(index) {}

  Status add(std::string_view line, const std::vector<std::string_view>& fields, int64_t number, int64_t offset) {
    if (index_ == TextFileColumns::kLineNumber) {
      int64_t id;
      if (__builtin_add_overflow(number, offset, &id)) return invalid_argument("line number ", number, " with offset ", offset, " is out of range");
      numbers_.push_back(id);
      return {};
    }
    const std::string_view field = index_ == TextFileColumns::kWholeLine ? line : fields[size_t(index_)];
    bool good = true;
    switch (dtype_) {
      case DType::kString: strings_.emplace_back(field); break;
      case DType::kInt64: good = parse(field, numbers_.emplace_back()); break;
      case DType::kInt32: {
        int32_t v = 0;
        good = parse(field, v);
        numbers_.push_back(v);
        break;
      }
      case DType::kFloat: {
        float v = 0;
        good = parse(field, v);
        reals_.push_back(v);
        break;
      }
      case DType::kDouble: good = parse(field, reals_.emplace_back()); break;
      default: return invalid_argument("Data type ", dtype_, " not supported.");
    }
    if (!good) return invalid_argument("Field ", field, " in line ", number, " is not a valid ", dtype_, ".");
    return {};
  }

  // Of the first n lines.
  Result<Tensor> tensor(int64_t n) const {
    WEFT_ASSIGN(Tensor t, Tensor::allocate(dtype_, Shape({n})));
    for (int64_t i = 0; i < n; ++i) {
      const size_t k = size_t(i);
      switch (dtype_) {
        case DType::kString: t.data<tstring>()[i] = strings_[k]; break;
        case DType::kInt64: t.data<int64_t>()[i] = numbers_[k]; break;
        case DType::kInt32: t.data<int32_t>()[i] = int32_t(numbers_[k]); break;
        case DType::kFloat: t.data<float>()[i] = float(reals_[k]); break;
        case DType::kDouble: t.data<double>()[i] = reals_[k]; break;
        default: break;
      }
    }
    return t;
  }

 private:
  DType dtype_;
  int64_t index_;
  std::vector<tstring> strings_;
  std::vector<int64_t> numbers_;
  std::vector<double> reals_;
};

Status check_columns(const TextFileColumns& c, DType key, DType value) {
  auto readable = [](DType t) { return is_integer_type(t) || t == DType::kString; };
  if (c.key_index == c.kLineNumber && key != DType::kInt64)
    return invalid_argument("Key index for line number requires table key dtype of int64, got ", key);
  if (c.key_index == c.kWholeLine && !readable(key))
    return invalid_argument("Key index for whole line requires string or integer table key, got table dtype ", key);
  if (c.value_index == c.kLineNumber && value != DType::kInt64)
    return invalid_argument("Value index for line number requires table value dtype of int64, got ", value);
  if (c.value_index == c.kWholeLine && !readable(value))
    return invalid_argument("Value index for whole line requires table value dtype of integer or string, got ", value);
  return {};
}

}  // namespace

Status read_text_file(const std::string& path, const TextFileColumns& c, DType key_dtype, DType value_dtype, Tensor& keys, Tensor& values) {
  WEFT_RETURN_IF_ERROR(check_columns(c, key_dtype, value_dtype));
  WEFT_ASSIGN(std::unique_ptr<wire::ByteStream> file, wire::ByteStream::open(path, ""));
  Column key_column(key_dtype, c.key_index), value_column(value_dtype, c.value_index);
  const int64_t last_field = std::max(c.key_index, c.value_index);
  int64_t n = 0, position = 0;
  Status status;
  for (std::string line; status.ok();) {
    WEFT_ASSIGN(bool found, file->read_line(line));
    if (!found) {
      if (c.vocab_size != -1 && n != c.vocab_size)
        status = invalid_argument("Invalid vocab_size in ", path, ": expected ", c.vocab_size, " but got ", n);
      break;
    }
    position += int64_t(line.size()) + 1;
    if (c.vocab_size != -1 && n >= c.vocab_size) {
      if (n == 0) status = out_of_range("Finished reading ", c.vocab_size, " of lines from ", path);
      break;
    }
    std::erase(line, '\r');
    if (line.empty()) {
      status = invalid_argument("Invalid content in ", path, ": empty line found at position ", position, ".");
      break;
    }
    std::vector<std::string_view> fields;
    if (last_field >= 0) {
      fields = split(line, c.delimiter);
      if (int64_t(fields.size()) <= last_field) {
        status = invalid_argument("Invalid number of columns in ", path, " line ", n, " (", line, ") : expected at least ", uint64_t(last_field) + 1,
                                  " got ", fields.size());
        break;
      }
    }
    status = key_column.add(line, fields, n, c.offset);
    if (status.ok()) status = value_column.add(line, fields, n, c.offset);
    if (status.ok()) ++n;
  }
  WEFT_ASSIGN(keys, key_column.tensor(n));
  WEFT_ASSIGN(values, value_column.tensor(n));
  return status;
}

}  // namespace weft_engine::ops
