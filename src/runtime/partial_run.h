// PartialRun: one step in several calls. Each call feeds and fetches some of what was announced; every node
// runs once, in the first call that needs it.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "runtime/session.h"

namespace weft_engine::runtime {

class PartialRun {
 public:
  // Runs a part of the step; `done` are the nodes that ran before.
  using Runner = std::function<Status(std::span<const graph::Endpoint> feeds, std::span<Tensor> values, std::span<const graph::Endpoint> fetches,
                                      std::span<Tensor> results, std::span<graph::Node* const> targets, std::span<graph::Node* const> done)>;
  PartialRun(Runner runner, std::vector<graph::Endpoint> feeds, std::vector<graph::Endpoint> fetches, std::vector<graph::Node*> targets)
      : runner_(std::move(runner)), feeds_(std::move(feeds)), fetches_(std::move(fetches)), targets_(std::move(targets)) {}
  // Where the session runs elsewhere, so do the parts.
  PartialRun(Session& session, std::vector<graph::Endpoint> feeds, std::vector<graph::Endpoint> fetches, std::vector<graph::Node*> targets);

  // Errors as TensorFlow's: something fed or fetched twice, not announced, or not computable yet.
  Status run(std::span<const graph::Endpoint> feeds, std::span<Tensor> values, std::span<const graph::Endpoint> fetches, std::span<Tensor> results,
             std::span<graph::Node* const> targets);
  // All that was announced has been fed and fetched.
  bool complete();

 private:
  struct Known {
    graph::Endpoint at;
    Tensor value;
  };
  const Known* find(const graph::Endpoint& e) const;
  bool ran(const graph::Node* n) const;
  Status collect(std::span<const graph::Endpoint> fetches, std::span<graph::Node* const> targets, std::vector<graph::Node*>& fresh) const;

  const Runner runner_;
  Session* remote_ = nullptr;  // runs elsewhere
  std::string handle_;         // there
  const std::vector<graph::Endpoint> feeds_, fetches_;
  const std::vector<graph::Node*> targets_;
  std::mutex mutex_;
  std::vector<Known> known_;                // fed, and computed by earlier calls
  std::vector<graph::Endpoint> fed_, fetched_;
  std::vector<graph::Node*> ran_;
};

}  // namespace weft_engine::runtime
