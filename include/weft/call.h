// One op call, put together by hand: what the generated wrappers in weft/raw.h are made of, and the way
// to call an op that a library added.
//
//   Tensor y = Call("MatMul").in(a).in(b).attr("transpose_b", true).one();
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/tensor.h"

namespace weft {

class WEFT_API Call {
 public:
  explicit Call(std::string_view op);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // The next input, or a list of them.
  Call& in(const Tensor& t);
  Call& in(const std::vector<Tensor>& list);
  // An attribute; those that follow from the inputs need not be set.
  Call& attr(std::string_view name, int64_t v);
  Call& attr(std::string_view name, int v) { return attr(name, int64_t(v)); }
  Call& attr(std::string_view name, float v);
  Call& attr(std::string_view name, double v) { return attr(name, float(v)); }
  Call& attr(std::string_view name, bool v);
  Call& attr(std::string_view name, const std::string& v);
  Call& attr(std::string_view name, const char* v) { return attr(name, std::string(v)); }
  Call& attr(std::string_view name, DType v);
  Call& attr(std::string_view name, const PartialShape& v);
  Call& attr(std::string_view name, const Tensor& v);
  Call& attr(std::string_view name, const std::vector<int64_t>& v);
  Call& attr(std::string_view name, const std::vector<float>& v);
  Call& attr(std::string_view name, const std::vector<bool>& v);
  Call& attr(std::string_view name, const std::vector<std::string>& v);
  Call& attr(std::string_view name, const std::vector<DType>& v);
  Call& attr(std::string_view name, const std::vector<PartialShape>& v);
  Call& attr(std::string_view name, const std::vector<Tensor>& v);
  // An attribute that names a function, or several.
  Call& function(std::string_view name, const std::string& function_name);
  Call& functions(std::string_view name, const std::vector<std::string>& function_names);
  // Where the op runs, in place of the scope's device.
  Call& device(std::string_view device);

  std::vector<Tensor> run();  // all outputs
  Tensor one();               // the only output

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weft
