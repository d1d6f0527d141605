#include "runtime/partial_run.h"

#include <algorithm>

namespace weft_engine::runtime {

using graph::Endpoint;
using graph::Node;

namespace {

template <class V, class T>
bool contains(const V& v, const T& x) {
  return std::find(v.begin(), v.end(), x) != v.end();
}

std::string label(const Endpoint& e) { return cat(e.node->name(), ":", e.index); }

}  // namespace

PartialRun::PartialRun(Session& session, std::vector<Endpoint> feeds, std::vector<Endpoint> fetches, std::vector<Node*> targets)
    : PartialRun([&session](std::span<const Endpoint> fed, std::span<Tensor> values, std::span<const Endpoint> wanted, std::span<Tensor> results,
                            std::span<Node* const> nodes,
                            std::span<Node* const> done) { return session.run(fed, values, wanted, results, nodes, {.done = done}); },
                 std::move(feeds), std::move(fetches), std::move(targets)) {
  if (session.remote()) remote_ = &session;
}

bool PartialRun::complete() {
  std::lock_guard lock(mutex_);
  return fed_.size() == feeds_.size() && fetched_.size() == fetches_.size();
}

const PartialRun::Known* PartialRun::find(const Endpoint& e) const {
  for (const Known& k : known_) {
    if (k.at == e) return &k;
  }
  return nullptr;
}

bool PartialRun::ran(const Node* n) const { return contains(ran_, n); }

// The nodes that this call has to run. A feed that has not come yet is in the way of what reads it.
Status PartialRun::collect(std::span<const Endpoint> fetches, std::span<Node* const> targets, std::vector<Node*>& fresh) const {
  std::vector<Node*> todo;
  Status status;
  auto want_node = [&](Node* n) {
    if (ran(n) || contains(fresh, n)) return;
    fresh.push_back(n);
    todo.push_back(n);
  };
  auto want = [&](const Endpoint& e) {
    if (find(e)) return;
    if (contains(feeds_, e)) {
      status = invalid_argument("Tensor ", label(e), " can't be computed from the feeds that have been fed so far.");
      return;
    }
    want_node(e.node);
  };
  for (const Endpoint& e : fetches) want(e);
  for (Node* t : targets) want_node(t);
  while (!todo.empty() && status.ok()) {
    Node* n = todo.back();
    todo.pop_back();
    for (const Endpoint& e : n->inputs()) want(e);
    for (Node* c : n->control_inputs()) want_node(c);
  }
  return status;
}

Status PartialRun::run(std::span<const Endpoint> feeds, std::span<Tensor> values, std::span<const Endpoint> fetches, std::span<Tensor> results,
                       std::span<Node* const> targets) {
  std::lock_guard lock(mutex_);
  if (remote_) {
    if (handle_.empty()) {
      WEFT_ASSIGN(RemoteSession::Names announced, remote_->names(feeds_, fetches_, targets_));
      WEFT_ASSIGN(handle_, remote_->remote()->setup_partial_run(announced));
    }
    WEFT_ASSIGN(RemoteSession::Names names, remote_->names(feeds, fetches, targets));
    RemoteSession::Step step{std::move(names), values, results};
    step.partial_run = handle_;
    return remote_->remote()->run(step);
  }
  for (const Endpoint& f : feeds) {
    if (!contains(feeds_, f)) return invalid_argument("The feed ", label(f), " was not specified in partial_run_setup.");
    if (contains(fed_, f)) return invalid_argument("The feed ", label(f), " has already been fed.");
  }
  for (const Endpoint& f : fetches) {
    if (!contains(fetches_, f)) return invalid_argument("The fetch ", label(f), " was not specified in partial_run_setup.");
    if (contains(fetched_, f)) return invalid_argument("The fetch ", label(f), " has already been fetched.");
  }
  for (Node* t : targets) {
    if (!contains(targets_, t)) return invalid_argument("The target ", t->name(), " was not specified in partial_run_setup.");
  }
  const size_t before = known_.size();
  for (size_t i = 0; i < feeds.size(); ++i) known_.push_back({feeds[i], values[i]});
  std::vector<Node*> fresh;
  if (Status s = collect(fetches, targets, fresh); !s.ok()) {
    known_.resize(before);
    return s;
  }
  // Targets that were announced run as soon as they can.
  for (Node* t : targets_) {
    std::vector<Node*> more = fresh;
    if (collect({}, std::span<Node* const>(&t, 1), more).ok()) fresh = std::move(more);
  }
  // What later calls may read of these nodes is kept, so that they run once.
  std::vector<Endpoint> wanted;
  for (const Endpoint& f : fetches) {
    if (!find(f) && !contains(wanted, f)) wanted.push_back(f);
  }
  for (Node* n : fresh) {
    for (const graph::Use& u : n->uses()) {
      const Endpoint e{n, u.output};
      if (!contains(fresh, u.node) && !find(e) && !contains(wanted, e) && !is_ref_type(n->output_type(u.output))) wanted.push_back(e);
    }
  }
  std::vector<Endpoint> given;
  std::vector<Tensor> given_values;
  for (const Known& k : known_) {
    given.push_back(k.at);
    given_values.push_back(k.value);
  }
  std::vector<Tensor> got(wanted.size());
  if (!fresh.empty()) {
    std::vector<Node*> effects(fresh.begin(), fresh.end());
    if (Status s = runner_(given, given_values, wanted, got, effects, ran_); !s.ok()) {
      known_.resize(before);
      return s;
    }
  }
  ran_.insert(ran_.end(), fresh.begin(), fresh.end());
  for (size_t i = 0; i < wanted.size(); ++i) known_.push_back({wanted[i], std::move(got[i])});
  for (size_t i = 0; i < fetches.size(); ++i) results[i] = find(fetches[i])->value;
  fed_.insert(fed_.end(), feeds.begin(), feeds.end());
  fetched_.insert(fetched_.end(), fetches.begin(), fetches.end());
  return {};
}

}  // namespace weft_engine::runtime
