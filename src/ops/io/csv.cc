// Columns from lines of comma-separated values (RFC 4180).
#include "kernels/cpu/text.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

struct DecodeCsv {
  char delimiter;
  bool quotes;
  std::string na_value;
  std::vector<int64_t> columns;  // the wanted ones, rising; empty: all
  std::vector<DType> types;

  static Result<DecodeCsv> make(const NodeInfo& node) {
    const std::string& delimiter = node.attr<std::string>("field_delim");
    DecodeCsv k{.delimiter = delimiter.empty() ? '\0' : delimiter[0],
                .quotes = node.attr<bool>("use_quote_delim"),
                .na_value = node.attr<std::string>("na_value"),
                .columns = node.attr<std::vector<int64_t>>("select_cols"),
                .types = node.attr<std::vector<DType>>("OUT_TYPE")};
    if (delimiter.size() != 1) return invalid_argument("field_delim should be only 1 char");
    if (!k.columns.empty() && k.columns.size() != k.types.size()) return invalid_argument("select_cols should match output size");
    for (size_t i = 0; i < k.columns.size(); ++i) {
      if (i && k.columns[i] <= k.columns[i - 1]) return invalid_argument("select_cols should be strictly increasing indices");
      if (k.columns[i] < 0) return invalid_argument("select_cols should be non-negative indices");
    }
    return k;
  }

  bool wants(size_t taken, int64_t field) const { return columns.empty() || (taken < columns.size() && columns[taken] == field); }

  // One field from `at` on; leaves `at` behind the delimiter.
  Status read_field(std::string_view s, size_t& at, std::string& field) const {
    if (!quotes || s[at] != '"') {
      for (; at < s.size() && s[at] != delimiter; ++at) {
        if ((quotes && s[at] == '"') || s[at] == '\n' || s[at] == '\r') return invalid_argument("Unquoted fields cannot have quotes/CRLFs inside");
        field += s[at];
      }
      ++at;
      return {};
    }
    // A quote ends the field only before a delimiter or the end.
    for (++at; at + 1 < s.size() && (s[at] != '"' || s[at + 1] != delimiter);) {
      if (s[at] == '"') {
        if (s[at + 1] != '"') return invalid_argument("Quote inside a string has to be escaped by another quote");
        ++at;
      }
      field += s[at++];
    }
    if (at >= s.size() || s[at] != '"') return invalid_argument("Quoted field has to end with quote followed by delim or end");
    at += 2;
    return {};
  }

  Status read_record(std::string_view s, std::vector<std::string>& fields) const {
    int64_t number = 0;
    for (size_t at = 0; at < s.size();) {
      if (s[at] == '\n' || s[at] == '\r') {
        ++at;
        continue;
      }
      std::string field;
      WEFT_RETURN_IF_ERROR(read_field(s, at, field));
      if (!wants(fields.size(), number++)) continue;
      fields.push_back(std::move(field));
      if (!columns.empty() && fields.size() == columns.size()) return {};
    }
    // A delimiter at the very end has an empty field behind it.
    if (!s.empty() && wants(fields.size(), number) && s.back() == delimiter) fields.emplace_back();
    return {};
  }

  template <class T>
  Status store(Tensor& out, int64_t row, const std::string& field, size_t column) const {
    if constexpr (std::is_same_v<T, tstring>) {
      out.data<T>()[row] = field;
    } else if (!kernels::parse_number(field, out.data<T>()[row])) {
      return invalid_argument("Field ", column, " in record ", row, " is not a valid ", dtype_name(dtype_of<T>), ": ", field);
    }
    return {};
  }

  Status run(KernelContext& c) const {
    const Tensor& records = c.input(0);
    const auto defaults = c.input_list("record_defaults");
    for (size_t i = 0; i < defaults.size(); ++i) {
      if (defaults[i]->rank() > 1) return invalid_argument("Each record default should be at most rank 1");
      if (defaults[i]->num_elements() > 1)
        return invalid_argument("There should only be 1 default per field but field ", i, " has ", defaults[i]->num_elements());
    }
    std::vector<Tensor*> out(types.size());
    for (size_t i = 0; i < types.size(); ++i) {
      WEFT_ASSIGN(out[i], c.allocate(int(i), records.shape()));
    }
    std::vector<std::string> fields;
    for (int64_t row = 0; row < records.num_elements(); ++row) {
      fields.clear();
      WEFT_RETURN_IF_ERROR(read_record(records.data<tstring>()[row].view(), fields));
      if (fields.size() != types.size()) return invalid_argument("Expect ", types.size(), " fields but have ", fields.size(), " in record ", row);
      for (size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].empty() || fields[i] == na_value) {
          if (defaults[i]->num_elements() != 1) return invalid_argument("Field ", i, " is required but missing in record ", row, "!");
          copy_elements(*defaults[i], 0, *out[i], row, 1);
          continue;
        }
        WEFT_RETURN_IF_ERROR(
            (dispatch<float, double, int32_t, int64_t, tstring>(types[i], [&]<class T>(Tag<T>) { return store<T>(*out[i], row, fields[i], i); })));
      }
    }
    return {};
  }
};

Status decode_csv_shape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    WEFT_ASSIGN(PartialShape d, c.with_rank_at_most(i, 1));
    if (d.rank() == 1 && d.dim(0) > 1) return invalid_argument("Shape of a default must be a length-0 or length-1 vector, or a scalar.");
  }
  return shapes::unchanged(c);
}

}  // namespace

void csv(Registry& r) {
  r.add("DecodeCSV")
      .doc("Typed columns from lines of comma-separated values.")
      .in("records: string")
      .in("record_defaults: OUT_TYPE")
      .out("output: OUT_TYPE")
      .attr("OUT_TYPE: list({float, double, int32, int64, string}) >= 1")
      .attr("field_delim: string = ','")
      .attr("use_quote_delim: bool = true")
      .attr("na_value: string = ''")
      .attr("select_cols: list(int) = []")
      .shape(decode_csv_shape)
      .cpu<DecodeCsv>();
}

}  // namespace weft_engine::ops
