// What tensorflow/core/weft_abi.h names, in terms of the engine. A TF_Tensor is a Tensor and nothing else, so that a pointer to a tensor of a run is
// handed out without a copy.
#pragma once

#include <cctype>

#include "capi/internal.h"
#include "graph/import.h"
#include "op/graph_version.h"
#include "op/kernel.h"
#include "tensorflow/core/weft_abi.h"

namespace weft_engine::capi {

static_assert(sizeof(TF_Tensor) == sizeof(Tensor));
inline TF_Tensor* as_c(Tensor* t) { return reinterpret_cast<TF_Tensor*>(t); }
inline const TF_Tensor* as_c(const Tensor* t) { return reinterpret_cast<const TF_Tensor*>(t); }
inline const op::NodeInfo& node_of(const weft_node* n) { return *reinterpret_cast<const op::NodeInfo*>(n); }
inline const weft_node* as_c(const op::NodeInfo& n) { return reinterpret_cast<const weft_node*>(&n); }

inline std::string_view view_of(weft_text t) { return t.data ? std::string_view(t.data, t.size) : std::string_view(); }
inline std::string string_of(weft_text t) { return std::string(view_of(t)); }
inline weft_text text_of(std::string_view s) { return {s.data(), s.size()}; }
inline weft_dims dims_of(const Shape& s) { return {s.dims().data(), s.rank()}; }
inline weft_dims dims_of(const PartialShape& s) { return {s.dims().data(), s.rank()}; }
inline weft_tensor_info info_of(const Tensor& t) { return {const_cast<void*>(t.raw()), dims_of(t.shape()), t.num_elements(), int(t.dtype())}; }
inline PartialShape partial_of(weft_dims d) { return partial_shape_from(d.dims, d.rank); }

// Of the graph whose kernels are made, or whose shapes are inferred, on this thread.
inline int graph_version() { return op::GraphVersion::current() >= 0 ? op::GraphVersion::current() : graph::kGraphDefVersion; }

// Null for OK.
inline TF_Status* returned(Status s) { return s.ok() ? nullptr : new TF_Status{std::move(s)}; }
inline Status taken(TF_Status* s) {
  if (!s) return {};
  const std::unique_ptr<TF_Status> owned(s);
  return owned->status;
}

inline bool valid_op_name(std::string_view name) {
  if (name.empty() || !std::isalpha(static_cast<unsigned char>(name[0]))) return false;
  for (char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '>') return false;
  }
  return true;
}

// Runs f of a library, which may throw.
template <class F>
Status caught(F&& f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return resource_exhausted("out of memory");
  } catch (const std::exception& e) {
    return internal_error(e.what());
  } catch (...) {
    return internal_error("an exception of unknown type");
  }
}

}  // namespace weft_engine::capi
