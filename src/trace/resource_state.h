// Things that functions capture besides variables, and that are saved with them: files, and tables that are made and filled
// when a model is loaded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/concrete_function.h"
#include "trace/trackable.h"

namespace weft_engine::trace {

// A state whose tensor functions capture.
class CapturedState : public TrackableState {
 public:
  using TrackableState::TrackableState;
  virtual const RefPtr<eager::TensorHandle>& handle() const = 0;
};

// A file of the model. Functions see its name.
class AssetState final : public CapturedState {
 public:
  explicit AssetState(std::string path);
  const std::string& path() const { return path_; }
  const RefPtr<eager::TensorHandle>& handle() const override { return handle_; }

 private:
  std::string path_;
  RefPtr<eager::TensorHandle> handle_;
};

// A table that never changes once it is filled.
class TableState final : public CapturedState {
 public:
  struct Spec {
    DType keys = DType::kInvalid, values = DType::kInvalid;
    // Filled from these, or from a text file.
    Value key_tensor, value_tensor;
    std::shared_ptr<AssetState> file;
    int64_t key_column = 0, value_column = 0, vocabulary_size = -1;
    std::string delimiter = "\t";
  };
  static Result<std::shared_ptr<TableState>> make(eager::Context& context, Spec spec);
  ~TableState() override;

  const Spec& spec() const { return spec_; }
  const RefPtr<eager::TensorHandle>& handle() const override { return handle_; }
  // How a loader makes, fills and drops it: functions without arguments.
  const std::shared_ptr<ConcreteFunction>& creator() const { return creator_; }
  const std::shared_ptr<ConcreteFunction>& initializer() const { return initializer_; }
  const std::shared_ptr<ConcreteFunction>& destroyer() const { return destroyer_; }

 private:
  TableState(eager::Context& context, Spec spec) : CapturedState("table"), context_(context), spec_(std::move(spec)) {}
  Status fill(Emitter& emitter, const Value& handle) const;

  eager::Context& context_;
  Spec spec_;
  RefPtr<eager::TensorHandle> handle_;
  std::shared_ptr<ConcreteFunction> creator_, initializer_, destroyer_;
};

}  // namespace weft_engine::trace
