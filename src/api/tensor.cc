#include "api/array_text.h"
#include "api/unwrap.h"
#include "core/own_memory.h"
#include "eager/copy.h"
#include "graph/graph_emitter.h"
#include "weft/tensor.h"

#include <ostream>

#include "weft/raw/math.h"

namespace weft {

using api::check;
using api::handle_of;
using api::value_of;

std::string to_string(DType t) { return core::dtype_name(static_cast<core::DType>(t)); }

Tensor::Tensor(const Tensor& o) : handle_(o.handle_) {
  if (handle_) static_cast<op::ValueRep*>(handle_)->add_ref();
}

Tensor::~Tensor() {
  if (handle_) static_cast<op::ValueRep*>(handle_)->drop_ref();
}

Tensor::Tensor(const char* text) : Tensor(of_strings({}, {text})) {}
Tensor::Tensor(const std::string& text) : Tensor(of_strings({}, {text})) {}
Tensor::Tensor(std::initializer_list<const char*> texts) : Tensor(std::vector<std::string>(texts.begin(), texts.end())) {}
Tensor::Tensor(const std::vector<std::string>& texts) : Tensor(of_strings({int64_t(texts.size())}, texts)) {}

Tensor Tensor::of_strings(std::vector<int64_t> shape, const std::vector<std::string>& values) {
  auto t = api::unwrap(core::Tensor::allocate(core::DType::kString, api::unwrap(core::Shape::make(shape))));
  if (t.num_elements() != int64_t(values.size())) check(core::invalid_argument(values.size(), " strings do not fill the shape ", t.shape()));
  for (size_t i = 0; i < values.size(); ++i) t.data<core::tstring>()[i] = values[i];
  return api::adopt(eager::TensorHandle::make(std::move(t), nullptr));
}

Tensor Tensor::from_bytes(DType dtype, std::vector<int64_t> shape, const void* bytes, size_t size) {
  const auto type = static_cast<core::DType>(dtype);
  if (!core::is_valid_dtype(int(dtype)) || !core::is_simple(type))
    check(core::invalid_argument("a tensor of ", weft::to_string(dtype), " cannot be made from bytes"));
  auto t = api::unwrap(core::Tensor::allocate(type, api::unwrap(core::Shape::make(shape))));
  if (t.byte_size() != size) check(core::invalid_argument(size, " bytes do not fill a ", weft::to_string(dtype), " tensor of shape ", t.shape()));
  if (size) std::memcpy(t.raw(), bytes, size);
  return api::adopt(eager::TensorHandle::make(std::move(t), nullptr));
}

Tensor Tensor::borrow(DType dtype, std::vector<int64_t> shape, void* data, size_t size, void (*deallocator)(void*, size_t, void*), void* arg) {
  const auto type = static_cast<core::DType>(dtype);
  const auto s = api::unwrap(core::Shape::make(shape));
  if (!core::is_valid_dtype(int(dtype)) || !core::is_simple(type) || !data ||
      core::multiply_without_overflow(s.num_elements(), int64_t(core::dtype_size(type))) != int64_t(size))
    check(core::invalid_argument(size, " bytes do not fill a ", weft::to_string(dtype), " tensor of shape ", s));
  if (reinterpret_cast<uintptr_t>(data) % std::min<size_t>(core::dtype_size(type), 8))
    check(core::invalid_argument("memory to borrow must be aligned for ", weft::to_string(dtype)));
  return api::adopt(eager::TensorHandle::make(core::Tensor(type, s, core::Buffer::wrap(data, size, deallocator, arg)), nullptr));
}

namespace api {

eager::TensorHandle* handle_of(const Tensor& t) {
  op::ValueRep* rep = rep_of(t);
  if (rep->owner()) {
    const auto at = graph::GraphEmitter::unwrap(op::Value(*rep->owner(), core::RefPtr<op::ValueRep>::share(rep)));
    throw Error(Code::kInvalidArgument,
                core::cat("the tensor '", at.node->name(), ":", at.index,
                          "' stands for a value of a function that is being traced: it has no data until the function is called. "
                          "Use ops on it, or return it from the function."));
  }
  return static_cast<eager::TensorHandle*>(rep);
}

op::Value to_value(const Tensor& t) {
  if (!t.has_value()) return {};
  op::ValueRep* rep = rep_of(t);
  // Whatever it is, what is made of it goes where this code is.
  return op::Value(trace::emitter_here(context()), core::RefPtr<op::ValueRep>::share(rep));
}

std::vector<op::Value> to_values(const std::vector<Tensor>& list) {
  std::vector<op::Value> out;
  out.reserve(list.size());
  for (const Tensor& t : list) out.push_back(to_value(t));
  return out;
}

std::vector<Tensor> from_values(const std::vector<op::Value>& values) {
  std::vector<Tensor> out;
  out.reserve(values.size());
  for (const op::Value& v : values) out.push_back(from_value(v));
  return out;
}

PartialShape outer_shape(const core::PartialShape& s) { return s.has_rank() ? PartialShape(s.dims()) : PartialShape(); }

}  // namespace api

DType Tensor::dtype() const { return static_cast<DType>(api::rep_of(*this)->dtype()); }
bool Tensor::is_symbolic() const { return api::rep_of(*this)->owner() != nullptr; }
PartialShape Tensor::partial_shape() const {
  op::ValueRep* rep = api::rep_of(*this);
  if (!rep->owner()) return {shape()};
  return api::outer_shape(rep->shape());
}
std::vector<int64_t> Tensor::shape() const {
  op::ValueRep* rep = api::rep_of(*this);
  if (!rep->owner()) return value_of(*this).shape().vec();
  const core::PartialShape s = rep->shape();
  if (!s.fully_known())
    check(core::invalid_argument("the shape of this tensor is ", s,
                                 " while the function is traced: use partial_shape(), or raw::Shape for the one it will have"));
  return api::outer_shape(s).dims;
}
int Tensor::rank() const {
  op::ValueRep* rep = api::rep_of(*this);
  if (!rep->owner()) return value_of(*this).rank();
  const core::PartialShape s = rep->shape();
  if (!s.has_rank()) check(core::invalid_argument("the rank of this tensor is not known while the function is traced"));
  return s.rank();
}
int64_t Tensor::size() const {
  int64_t n = 1;
  if (!is_symbolic()) return value_of(*this).num_elements();
  for (int64_t d : shape()) n *= d;
  return n;
}

std::string Tensor::device() const {
  if (is_symbolic()) return "";
  auto* d = handle_of(*this)->device();
  return d ? d->name() : api::context().host()->name();
}

Tensor Tensor::on(std::string_view device) const {
  auto& context = api::context();
  core::Device* target = api::unwrap(context.devices().resolve(device, false));
  return api::adopt(api::unwrap(eager::copy_to(context, core::RefPtr<eager::TensorHandle>::share(handle_of(*this)), target)));
}

namespace {

// A pointer to elements is good as long as the tensor is: what lies on a device has a copy on the host, which the handle keeps.
const core::Tensor& value_on_host(const Tensor& tensor) {
  (void)value_of(tensor);
  return *api::unwrap(handle_of(tensor)->host_tensor());
}

}  // namespace

const void* Tensor::checked_data(DType expected) const {
  const core::Tensor& t = value_on_host(*this);
  if (static_cast<DType>(t.dtype()) != expected)
    check(core::invalid_argument("the tensor holds ", core::dtype_name(t.dtype()), ", not ", weft::to_string(expected)));
  return t.raw();
}

std::span<const std::byte> Tensor::bytes() const {
  const core::Tensor& t = value_on_host(*this);
  if (!core::is_simple(t.dtype())) check(core::invalid_argument("a tensor of ", core::dtype_name(t.dtype()), " has no plain bytes"));
  return {static_cast<const std::byte*>(t.raw()), t.byte_size()};
}

std::vector<std::string> Tensor::strings() const {
  const core::Tensor& t = value_of(*this);
  if (t.dtype() != core::DType::kString) check(core::invalid_argument("the tensor holds ", core::dtype_name(t.dtype()), ", not strings"));
  std::vector<std::string> out;
  for (const auto& s : t.span<core::tstring>()) out.push_back(s.str());
  return out;
}

size_t Tensor::offset_of(const std::vector<int64_t>& at) const {
  const core::Tensor& t = value_of(*this);
  if (int(at.size()) != t.rank())
    check(core::invalid_argument("item() of a tensor of shape ", t.shape(), " needs ", t.rank(), " numbers, got ", at.size()));
  int64_t offset = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    const int64_t n = t.dim(int(i)), k = at[i] < 0 ? at[i] + n : at[i];
    if (k < 0 || k >= n) check(core::out_of_range("index ", at[i], " is out of range for dimension ", i, " of size ", n));
    offset = offset * n + k;
  }
  return size_t(offset);
}

std::string Tensor::to_string() const {
  if (!has_value()) return "<no value>";
  if (is_symbolic()) return core::cat("<symbolic> shape=", api::rep_of(*this)->shape(), " dtype=", weft::to_string(dtype()));
  return api::array_text(api::unwrap(core::to_host(value_of(*this))));
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) { return out << t.to_string(); }

Tensor operator+(const Tensor& a, const Tensor& b) { return a.dtype() == DType::string ? raw::Add(a, b) : raw::AddV2(a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return raw::Sub(a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return raw::Mul(a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return raw::RealDiv(a, b); }
Tensor operator%(const Tensor& a, const Tensor& b) { return raw::FloorMod(a, b); }
Tensor operator-(const Tensor& a) { return raw::Neg(a); }
Tensor operator==(const Tensor& a, const Tensor& b) { return raw::Equal(a, b); }
Tensor operator!=(const Tensor& a, const Tensor& b) { return raw::NotEqual(a, b); }
Tensor operator<(const Tensor& a, const Tensor& b) { return raw::Less(a, b); }
Tensor operator<=(const Tensor& a, const Tensor& b) { return raw::LessEqual(a, b); }
Tensor operator>(const Tensor& a, const Tensor& b) { return raw::Greater(a, b); }
Tensor operator>=(const Tensor& a, const Tensor& b) { return raw::GreaterEqual(a, b); }

}  // namespace weft
