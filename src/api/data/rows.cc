#include "api/data/rows.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "weft/saved_model.h"

namespace weft::data {
namespace {

// A tensor whose bytes `fill` writes.
template <class Fill>
Tensor filled(DType dtype, std::vector<int64_t> shape, size_t size, Fill fill) {
  if (size == 0) return Tensor::from_bytes(dtype, std::move(shape), nullptr, 0);
  constexpr size_t kAlignment = 64;
  void* memory = std::aligned_alloc(kAlignment, (size + kAlignment - 1) / kAlignment * kAlignment);
  if (!memory) throw Error(Code::kResourceExhausted, "no memory for a batch of " + std::to_string(size) + " bytes");
  const auto release = [](void* data, size_t, void*) { std::free(data); };
  fill(static_cast<std::byte*>(memory));
  try {
    return Tensor::borrow(dtype, std::move(shape), memory, size, release, nullptr);
  } catch (...) {
    std::free(memory);
    throw;
  }
}

template <size_t kSize>
void copy_rows(std::byte* to, const std::byte* from, std::span<const int64_t> rows) {
  for (const int64_t r : rows) {
    std::memcpy(to, from + size_t(r) * kSize, kSize);
    to += kSize;
  }
}

void copy_rows(std::byte* to, const std::byte* from, size_t size, std::span<const int64_t> rows) {
  switch (size) {
    case 1: return copy_rows<1>(to, from, rows);
    case 4: return copy_rows<4>(to, from, rows);
    case 8: return copy_rows<8>(to, from, rows);
    default: break;
  }
  for (size_t i = 0; i < rows.size();) {
    size_t n = 1;  // rows that follow each other go in one copy
    while (i + n < rows.size() && rows[i + n] == rows[i] + int64_t(n)) ++n;
    std::memcpy(to, from + size_t(rows[i]) * size, n * size);
    to += n * size;
    i += n;
  }
}

}  // namespace

Columns::Columns(std::vector<Tensor> tensors) {
  if (tensors.empty()) throw Error(Code::kInvalidArgument, "a dataset of slices needs at least one tensor");
  for (size_t i = 0; i < tensors.size(); ++i) {
    Column c{.tensor = tensors[i], .dtype = tensors[i].dtype(), .row_shape = tensors[i].shape()};
    if (c.row_shape.empty()) throw Error(Code::kInvalidArgument, "tensor " + std::to_string(i) + " is a scalar and has no slices");
    const int64_t n = c.row_shape[0];
    if (i == 0) rows_ = n;
    if (n != rows_)
      throw Error(Code::kInvalidArgument,
                  "tensor " + std::to_string(i) + " has " + std::to_string(n) + " slices, the first one has " + std::to_string(rows_));
    c.row_shape.erase(c.row_shape.begin());
    if (c.dtype == DType::string) {
      c.strings = c.tensor.strings();
      c.row_size = n ? c.strings.size() / size_t(n) : 0;
    } else {
      c.bytes = c.tensor.bytes().data();
      c.row_size = n ? c.tensor.bytes().size() / size_t(n) : 0;
    }
    columns_.push_back(std::move(c));
  }
}

Tensor Columns::rows_of(const Column& c, std::vector<int64_t> shape, std::span<const int64_t> rows) const {
  if (c.dtype == DType::string) {
    std::vector<std::string> values;
    values.reserve(rows.size() * c.row_size);
    for (const int64_t r : rows) {
      const auto first = c.strings.begin() + r * int64_t(c.row_size);
      values.insert(values.end(), first, first + int64_t(c.row_size));
    }
    return Tensor::of_strings(std::move(shape), values);
  }
  return filled(c.dtype, std::move(shape), rows.size() * c.row_size, [&](std::byte* to) { copy_rows(to, c.bytes, c.row_size, rows); });
}

Element Columns::row(int64_t i) const {
  Element out;
  for (const Column& c : columns_) {
    if (c.dtype == DType::string) out.push_back(rows_of(c, c.row_shape, {&i, 1}));
    else out.push_back(Tensor::from_bytes(c.dtype, c.row_shape, c.bytes + size_t(i) * c.row_size, c.row_size));
  }
  return out;
}

Element Columns::gather(std::span<const int64_t> rows) const {
  Element out;
  for (const Column& c : columns_) {
    std::vector<int64_t> shape{int64_t(rows.size())};
    shape.insert(shape.end(), c.row_shape.begin(), c.row_shape.end());
    out.push_back(rows_of(c, std::move(shape), rows));
  }
  return out;
}

Element stack(std::span<const Element> elements) {
  Element out;
  const size_t n = elements.size();
  const Element& first = elements[0];
  for (const Element& e : elements) {
    if (e.size() != first.size())
      throw Error(Code::kInvalidArgument,
                  "Cannot batch elements of " + std::to_string(first.size()) + " and of " + std::to_string(e.size()) + " tensors.");
  }
  for (size_t k = 0; k < first.size(); ++k) {
    const DType dtype = first[k].dtype();
    const std::vector<int64_t> row_shape = first[k].shape();
    for (size_t i = 1; i < n; ++i) {
      if (elements[i][k].dtype() != dtype)
        throw Error(Code::kInvalidArgument, "Cannot batch tensors with different types in component " + std::to_string(k) + ". First element had " +
                                                to_string(dtype) + " and element " + std::to_string(i) + " had " + to_string(elements[i][k].dtype()) +
                                                ".");
      if (elements[i][k].shape() != row_shape)
        throw Error(Code::kInvalidArgument, "Cannot batch tensors with different shapes in component " + std::to_string(k) +
                                                ". First element had shape " + to_string(PartialShape(row_shape)) + " and element " +
                                                std::to_string(i) + " had shape " + to_string(PartialShape(elements[i][k].shape())) + ".");
    }
    std::vector<int64_t> shape{int64_t(n)};
    shape.insert(shape.end(), row_shape.begin(), row_shape.end());
    if (dtype == DType::string) {
      std::vector<std::string> values;
      for (const Element& e : elements) {
        for (std::string& s : e[k].strings()) values.push_back(std::move(s));
      }
      out.push_back(Tensor::of_strings(std::move(shape), values));
      continue;
    }
    const size_t size = first[k].bytes().size();
    out.push_back(filled(dtype, std::move(shape), n * size, [&](std::byte* to) {
      for (const Element& e : elements) {
        const auto bytes = e[k].bytes();
        std::memcpy(to, bytes.data(), size);
        to += size;
      }
    }));
  }
  return out;
}

}  // namespace weft::data
