#include "trace/resource_state.h"

#include "api/unwrap.h"
#include "weft/raw/state.h"
#include "weft/lookup.h"

namespace weft {
namespace {

const trace::CapturedState& captured(const Module& m) { return static_cast<const trace::CapturedState&>(*m.tracking()); }

Tensor tensor_of(const Module& m) { return api::adopt(captured(m).handle()); }

std::shared_ptr<trace::TrackableState> table(trace::TableState::Spec spec) {
  return api::unwrap(trace::TableState::make(api::context(), std::move(spec)));
}

trace::TableState::Spec from_tensors(const Tensor& keys, const Tensor& values) {
  trace::TableState::Spec s;
  s.keys = api::inner_type(keys.dtype());
  s.values = api::inner_type(values.dtype());
  s.key_tensor = trace::eager_emitter(api::context()).wrap(core::RefPtr<eager::TensorHandle>::share(api::handle_of(keys)));
  s.value_tensor = trace::eager_emitter(api::context()).wrap(core::RefPtr<eager::TensorHandle>::share(api::handle_of(values)));
  return s;
}

trace::TableState::Spec from_file(const Asset& file, const TextFileTable& f) {
  trace::TableState::Spec s;
  s.keys = api::inner_type(f.keys);
  s.values = api::inner_type(f.values);
  s.file = std::static_pointer_cast<trace::AssetState>(file.tracking());
  s.key_column = f.key_column;
  s.value_column = f.value_column;
  s.vocabulary_size = f.vocabulary_size;
  s.delimiter = f.delimiter;
  return s;
}

}  // namespace

Asset::Asset(const std::string& path) : Module("asset", std::make_shared<trace::AssetState>(path)) {}
Tensor Asset::path() const { return tensor_of(*this); }

StaticHashTable::StaticHashTable(const Tensor& keys, const Tensor& values, const Tensor& default_value)
    : Module("table", table(from_tensors(keys, values))), default_(default_value) {}
StaticHashTable::StaticHashTable(const Asset& file, const Tensor& default_value, const TextFileTable& format)
    : Module("table", table(from_file(file, format))), default_(default_value) {
  track("_asset", file);
}

Tensor StaticHashTable::handle() const { return tensor_of(*this); }
Tensor StaticHashTable::lookup(const Tensor& keys) const { return raw::LookupTableFindV2(handle(), keys, default_); }
Tensor StaticHashTable::size() const { return raw::LookupTableSizeV2(handle()); }

}  // namespace weft
