#include "tests/support/cases.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "io/attr_codec.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::testing {
namespace {

using wire::ProtoReader;

struct Tolerance {
  double relative, absolute;  // the second is of the largest number expected
};

std::optional<Tolerance> tolerance(DType t) {
  switch (t) {
    case DType::kDouble:
    case DType::kComplex128: return Tolerance{1e-9, 1e-10};
    case DType::kFloat:
    case DType::kComplex64: return Tolerance{2e-5, 5e-6};
    case DType::kHalf: return Tolerance{4e-3, 2e-3};
    case DType::kBfloat16: return Tolerance{3e-2, 1e-2};
    default: return std::nullopt;
  }
}

// Any number tensor as complex doubles.
std::vector<complex128> numbers(const Tensor& t) {
  std::vector<complex128> out;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    switch (t.dtype()) {
      case DType::kDouble: out.emplace_back(t.data<double>()[i]); break;
      case DType::kComplex128: out.push_back(t.data<complex128>()[i]); break;
      case DType::kFloat: out.emplace_back(t.data<float>()[i]); break;
      case DType::kComplex64: out.emplace_back(t.data<complex64>()[i].real(), t.data<complex64>()[i].imag()); break;
      case DType::kHalf: out.emplace_back(float(t.data<half>()[i])); break;
      default: out.emplace_back(float(t.data<bfloat16>()[i])); break;
    }
  }
  return out;
}

bool finite(const complex128& c) { return std::isfinite(c.real()) && std::isfinite(c.imag()); }
bool same_special(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

Result<Recorded> parse_tensor(std::string_view bytes) {
  if (bytes.empty()) return Recorded();
  WEFT_ASSIGN(Tensor t, wire::decode_tensor(bytes));
  return Recorded(std::move(t));
}

Status parse_node(ProtoReader node, std::string& op, std::string& name, op::AttrMap& attrs) {
  while (node.next()) {
    if (node.field() == 1) name = node.string();
    if (node.field() == 2) op = node.string();
    if (node.field() != 5) continue;
    ProtoReader entry = node.message();
    std::string key;
    std::string_view value;
    while (entry.next()) {
      if (entry.field() == 1) key = entry.string();
      if (entry.field() == 2) value = entry.bytes();
    }
    WEFT_ASSIGN(attrs[key], io::decode_attr(value));
  }
  return node.ok() ? Status() : data_loss("malformed NodeDef");
}

}  // namespace

Result<std::vector<std::string>> read_records(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return not_found("cannot read ", path);
  std::stringstream text;
  text << file.rdbuf();
  const std::string data = text.str();
  std::vector<std::string> records;
  for (size_t at = 0; at < data.size();) {
    uint32_t n;
    if (data.size() - at < 4) return data_loss(path, " ends inside a length");
    std::memcpy(&n, data.data() + at, 4);
    at += 4;
    if (data.size() - at < n) return data_loss(path, " ends inside a record");
    records.push_back(data.substr(at, n));
    at += n;
  }
  return records;
}

Result<OpCase> parse_case(std::string_view record) {
  OpCase c;
  std::string name;
  ProtoReader r(record);
  while (r.next()) {
    if (r.field() == 1) WEFT_RETURN_IF_ERROR(parse_node(r.message(), c.op, name, c.attrs));
    if (r.field() < 2 || r.field() > 5) continue;
    WEFT_ASSIGN(Recorded t, parse_tensor(r.bytes()));
    std::vector<Recorded>* const lists[] = {&c.inputs, &c.outputs, &c.output_grads, &c.input_grads};
    lists[r.field() - 2]->push_back(std::move(t));
  }
  return r.ok() ? Result<OpCase>(std::move(c)) : data_loss("malformed OpCase");
}

Result<SeqStep> parse_step(std::string_view record) {
  SeqStep s;
  ProtoReader r(record);
  while (r.next()) {
    switch (r.field()) {
      case 1: WEFT_RETURN_IF_ERROR(parse_node(r.message(), s.op, s.node_name, s.attrs)); break;
      case 2: {
        SeqStep::Arg arg;
        ProtoReader a = r.message();
        while (a.next()) {
          if (a.field() == 1) {
            WEFT_ASSIGN(arg.tensor, parse_tensor(a.bytes()));
          }
          if (a.field() == 2) arg.step = a.int32();
          if (a.field() == 3) arg.output = a.int32();
          if (a.field() == 4) arg.is_ref = a.boolean();
        }
        s.inputs.push_back(std::move(arg));
        break;
      }
      case 3: {
        WEFT_ASSIGN(Recorded t, parse_tensor(r.bytes()));
        s.outputs.push_back(std::move(t));
        break;
      }
      case 4: s.error_code = r.int32(); break;
      case 5: s.error_message = r.string(); break;
      case 6: s.sequence = r.string(); break;
      case 7: s.ref = r.boolean(); break;
      default: break;
    }
  }
  return r.ok() ? Result<SeqStep>(std::move(s)) : data_loss("malformed SeqStep");
}

// Calls f for each record of the files, with its number in the file. False, and a line printed, for a file or a record that cannot be read.
static bool each_record(const std::vector<std::string>& paths, const std::function<Status(const std::string&, int number)>& f) {
  for (const auto& path : paths) {
    auto records = read_records(path);
    Status status = records.status();
    int number = 0;
    for (size_t i = 0; status.ok() && i < records->size(); ++i) status = f((*records)[i], ++number);
    if (status.ok()) continue;
    std::printf("%s: %s\n", path.c_str(), status.to_string().c_str());
    return false;
  }
  return true;
}

bool each_case(const std::vector<std::string>& paths, const std::string& only, const std::function<void(const OpCase&, int)>& f) {
  return each_record(paths, [&](const std::string& record, int number) -> Status {
    WEFT_ASSIGN(const OpCase c, parse_case(record));
    if (only.empty() || c.op == only) f(c, number);
    return {};
  });
}

bool each_sequence(const std::vector<std::string>& paths, const std::string& only, const std::function<void(const std::vector<SeqStep>&)>& f) {
  std::vector<SeqStep> sequence;
  const auto finish = [&] {
    if (!sequence.empty() && sequence[0].sequence.starts_with(only)) f(sequence);
    sequence.clear();
  };
  const bool read = each_record(paths, [&](const std::string& record, int) -> Status {
    WEFT_ASSIGN(SeqStep step, parse_step(record));
    if (!step.sequence.empty()) finish();
    if (sequence.empty() && step.sequence.empty()) return data_loss("a step before its sequence");
    sequence.push_back(std::move(step));
    return {};
  });
  if (read) finish();
  return read;
}

DType plain_type(DType t) {
  switch (t) {
    case DType::kQint8: return DType::kInt8;
    case DType::kQuint8: return DType::kUint8;
    case DType::kQint16: return DType::kInt16;
    case DType::kQuint16: return DType::kUint16;
    case DType::kQint32: return DType::kInt32;
    default: return t;
  }
}
Tensor plain(const Tensor& t) { return plain_type(t.dtype()) == t.dtype() ? t : t.viewed_as(plain_type(t.dtype()), t.shape()); }

std::vector<Tensor> in_recorded_types(std::vector<Tensor> got, const std::vector<Recorded>& want) {
  for (size_t i = 0; i < got.size() && i < want.size(); ++i) {
    if (want[i] && want[i]->dtype() != got[i].dtype() && plain_type(want[i]->dtype()) == got[i].dtype())
      got[i] = got[i].viewed_as(want[i]->dtype(), got[i].shape());
  }
  return got;
}

std::string difference(const Tensor& got, const Tensor& want, double scale) {
  if (got.dtype() != want.dtype()) return cat("is ", dtype_name(got.dtype()), ", expected ", dtype_name(want.dtype()));
  if (got.shape() != want.shape()) return cat("has shape ", got.shape(), ", expected ", want.shape());
  if (want.dtype() == DType::kString) {
    for (int64_t i = 0; i < want.num_elements(); ++i) {
      if (got.data<tstring>()[i] != want.data<tstring>()[i])
        return cat("element ", i, " is '", got.data<tstring>()[i].view(), "', expected '", want.data<tstring>()[i].view(), "'");
    }
    return {};
  }
  const auto tol = tolerance(want.dtype());
  if (!tol) {
    const bool same = want.byte_size() == 0 || std::memcmp(got.raw(), want.raw(), want.byte_size()) == 0;
    return same ? "" : cat("is ", got.summary(8), ", expected ", want.summary(8));
  }
  const auto a = numbers(got), b = numbers(want);
  double largest = scale;
  for (const auto& v : b) {
    if (finite(v)) largest = std::max(largest, std::abs(v));
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (!finite(a[i]) || !finite(b[i])) {
      if (!same_special(a[i].real(), b[i].real()) || !same_special(a[i].imag(), b[i].imag()))
        return cat("element ", i, " is ", a[i].real(), ", expected ", b[i].real());
      continue;
    }
    const double off = std::abs(a[i] - b[i]);
    if (off > tol->relative * std::abs(b[i]) + tol->absolute * largest + 1e-30)
      return cat("element ", i, " is ", a[i].real(), ", expected ", b[i].real(), " (off by ", off, ")");
  }
  return {};
}

std::string difference(const std::vector<Tensor>& got, const std::vector<Recorded>& want) {
  if (got.size() != want.size()) return cat(got.size(), " outputs, expected ", want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (!want[i]) continue;
    if (std::string d = difference(got[i], *want[i]); !d.empty()) return cat("output ", i, " ", d);
  }
  return {};
}

}  // namespace weft_engine::testing
