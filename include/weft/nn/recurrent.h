// Layers that walk over time: SimpleRNN, LSTM and GRU with Keras' weights and gates, both directions at once, and any layer
// for each step by itself. Inputs are [batch, time, features]; further inputs are the states to start from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "weft/nn/layer.h"

namespace weft::nn {

struct RNNOptions {
  Activation activation = "tanh", recurrent_activation = "sigmoid";  // SimpleRNN has the first alone
  bool use_bias = true;
  bool unit_forget_bias = true;  // LSTM: the bias of the forget gate starts at one
  bool reset_after = true;       // GRU: the reset gate is applied after the product
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;  // one mask for all steps and gates
  int64_t seed = -1;
  bool return_sequences = false;  // the output of every step
  bool return_state = false;      // apply() gives the last states too
  bool go_backwards = false;
  bool unroll = false;  // in a graph: the steps one after the other, however many; else short sequences alone, and a loop
  bool zero_output_for_mask = false;  // else a step that does not count gives the output of the one before
  std::string name = {};
};

// One step. Its call takes {x, states...} and gives {output, states...}.
class WEFT_API RNNCell : public Layer {
 public:
  void build(const PartialShape& input) override;
  void build_many(const std::vector<PartialShape>& inputs) override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const override;

  // The size of a state.
  int64_t units() const { return units_; }
  // How many states a cell has.
  int num_states() const { return num_states_; }
  // What the input adds to the gates; x may be all steps together.
  virtual Tensor project(const Tensor& x) const;
  // The new states, of which the first is the output. `kept` has the values of the state that survive dropout, or none.
  virtual std::vector<Tensor> step(const Tensor& projected, const std::vector<Tensor>& states, const Tensor& kept) const = 0;

 protected:
  RNNCell(const std::string& type, int64_t units, int gates, int num_states, const RNNOptions& o);
  Tensor recurrent(const Tensor& h, const Tensor& kept) const;  // h times the recurrent kernel
  virtual std::vector<int64_t> bias_shape() const { return {gates_ * units_}; }
  virtual Initializer bias_start() const { return o_.bias_initializer; }
  int64_t units_;
  int gates_, num_states_;
  RNNOptions o_;
  Variable kernel_, recurrent_, bias_;
};
class WEFT_API SimpleRNNCell : public LayerOf<SimpleRNNCell, RNNCell> {
 public:
  explicit SimpleRNNCell(int64_t units, const RNNOptions& o = {});
  std::vector<Tensor> step(const Tensor& projected, const std::vector<Tensor>& states, const Tensor& kept) const override;
};
class WEFT_API LSTMCell : public LayerOf<LSTMCell, RNNCell> {
 public:
  explicit LSTMCell(int64_t units, const RNNOptions& o = {});
  std::vector<Tensor> step(const Tensor& projected, const std::vector<Tensor>& states, const Tensor& kept) const override;

 protected:
  Initializer bias_start() const override;
};
class WEFT_API GRUCell : public LayerOf<GRUCell, RNNCell> {
 public:
  explicit GRUCell(int64_t units, const RNNOptions& o = {});
  Tensor project(const Tensor& x) const override;
  std::vector<Tensor> step(const Tensor& projected, const std::vector<Tensor>& states, const Tensor& kept) const override;

 protected:
  std::vector<int64_t> bias_shape() const override;
};

// A cell over all steps.
class WEFT_API RNN : public Layer {
 public:
  void build(const PartialShape& input) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor&, const Tensor& mask) const override { return o_.return_sequences ? mask : Tensor(); }
  const RNNCell& cell() const { return *cell_; }
  const RNNOptions& options() const { return o_; }
  // A layer of the same kind with weights of its own.
  virtual std::shared_ptr<RNN> again(const RNNOptions& o) const = 0;

 protected:
  RNN(const std::string& type, std::shared_ptr<RNNCell> cell, const RNNOptions& o);

 private:
  std::shared_ptr<RNNCell> cell_;
  RNNOptions o_;
  Variable seed_;
};
#define WEFT_RNN(Name)                                              \
  class WEFT_API Name : public LayerOf<Name, RNN> {                 \
   public:                                                          \
    explicit Name(int64_t units, const RNNOptions& o = {});         \
    std::shared_ptr<RNN> again(const RNNOptions& o) const override; \
  };
WEFT_RNN(SimpleRNN)
WEFT_RNN(LSTM)
WEFT_RNN(GRU)
#undef WEFT_RNN

struct BidirectionalOptions {
  std::string merge_mode = "concat";           // "sum", "ave", "mul"; empty: apply() gives both
  std::shared_ptr<RNN> backward_layer = {};    // none: one like the forward layer
  std::string name = {};
};
// A layer from the first step on, and one from the last.
class WEFT_API Bidirectional : public LayerOf<Bidirectional> {
 public:
  explicit Bidirectional(const RNN& layer, BidirectionalOptions o = {});
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor& x, const Tensor& mask) const override { return forward_->compute_mask(x, mask); }

 private:
  std::shared_ptr<RNN> forward_, backward_;
  std::string merge_mode_;
};

// A layer for each step by itself.
class WEFT_API TimeDistributed : public LayerOf<TimeDistributed> {
 public:
  explicit TimeDistributed(const AnyLayer& layer, const std::string& name = {});
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor&, const Tensor& mask) const override { return mask; }

 private:
  std::shared_ptr<Layer> layer_;
};

}  // namespace weft::nn
