#include "ops/data/fingerprint.h"

#include <unordered_map>

#include "kernels/cpu/hash.h"
#include "op/function_text.h"
#include "op/registry.h"
#include "ops/list/variant_codec.h"
#include "wire/tensor_proto.h"

namespace weft_engine::ops::data {

namespace {

using kernels::fingerprint64;
using kernels::fingerprint_cat64;

class Fingerprints {
 public:
  explicit Fingerprints(FunctionCaller* functions) : functions_(functions) {}

  Result<uint64_t> of(const Dataset& dataset) {
    if (auto it = known_.find(&dataset); it != known_.end()) return it->second;
    uint64_t print = fingerprint64(dataset.kind());
    // One that no op made (a window of another) is told by what its elements are.
    if (!dataset.origin()) {
      for (DType type : dataset.types()) print = fingerprint_cat64(print, uint64_t(type));
      for (const DatasetPtr& input : dataset.inputs()) WEFT_RETURN_IF_ERROR(mix(*input, print));
      return known_[&dataset] = print;
    }
    const auto& [node, inputs, functions] = *dataset.origin();
    const Signature& signature = node.spec().signature();
    for (size_t i = 0; i < signature.attrs.size(); ++i) {
      if (signature.attrs[i].name == "metadata") continue;
      WEFT_ASSIGN(std::string text, text_of(node.attrs()[i]));
      print = fingerprint_cat64(print, fingerprint64(text));
    }
    for (size_t arg = 0; arg < signature.inputs.size(); ++arg) {
      if (signature.inputs[arg].name.starts_with("seed")) continue;
      const auto range = node.input_range(int(arg));
      for (int i = range.begin; i < range.end; ++i) WEFT_RETURN_IF_ERROR(mix(inputs[size_t(i)], print));
    }
    return known_[&dataset] = print;
  }

 private:
  Status mix(const Dataset& dataset, uint64_t& print) {
    WEFT_ASSIGN(uint64_t other, of(dataset));
    print = fingerprint_cat64(print, other);
    return {};
  }
  Status mix(const Tensor& t, uint64_t& print) {
    if (!t.valid() || t.dtype() == DType::kResource) return {};
    if (auto dataset = dataset_of_tensor(t); dataset.ok()) return mix(**dataset, print);
    static const auto& kCodec = *new wire::VariantCodec(variant_codec());
    WEFT_ASSIGN(std::string bytes, wire::encode_tensor_content(t, &kCodec));
    print = fingerprint_cat64(print, fingerprint64(bytes));
    return {};
  }
  Result<std::string> text_of(const AttrValue& attr) {
    if (const auto* f = attr.get<FunctionAttr>()) {
      const FunctionDescriber describe = function_describer.load();
      return functions_ && describe ? describe(*functions_, *f) : Result<std::string>(f->name);
    }
    if (const auto* list = attr.get<std::vector<FunctionAttr>>()) {
      std::string out;
      for (const FunctionAttr& f : *list) {
        WEFT_ASSIGN(std::string text, text_of(AttrValue(f)));
        out += text;
      }
      return out;
    }
    return attr.to_string();
  }

  FunctionCaller* const functions_;
  std::unordered_map<const Dataset*, uint64_t> known_;
};

Status run_fingerprint(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  WEFT_ASSIGN(uint64_t print, fingerprint_of(*dataset, c.env().functions));
  c.set_output(0, Tensor::scalar(print));
  return {};
}

}  // namespace

Result<uint64_t> fingerprint_of(const Dataset& dataset, FunctionCaller* functions) { return Fingerprints(functions).of(dataset); }

void fingerprint(Registry& r) {
  r.add("DatasetFingerprint")
      .in("input_dataset: variant")
      .out("fingerprint: uint64")
      .doc("A number that is the same for datasets made in the same way.")
      .shape(shapes::scalar)
      .cpu(run_fingerprint);
}

}  // namespace weft_engine::ops::data
