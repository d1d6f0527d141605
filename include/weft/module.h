// weft::Module: an object that holds variables and other modules by name, so that they can be listed, trained and saved.
//
//   struct Net : weft::Module {
//     weft::Variable w{weft::zeros({4, 2}), {.name = "w"}};
//     Net() : Module("net") { track("w", w); }
//     weft::Tensor operator()(const weft::Tensor& x) const { return weft::matmul(x, w); }
//   };
//
// What was handed to track() under a name is what TensorFlow calls an attribute: checkpoints and SavedModels use the same
// names, so that a Python class with attributes of these names reads them, and the other way round.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "weft/variable.h"

namespace weft {

// Variables and, in traces, nodes that are made while it lives have names that start with "name/". Scopes nest; a name that
// ends in "/" starts anew.
class WEFT_API NameScope {
 public:
  explicit NameScope(const std::string& name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  static const std::string& current();  // "outer/inner/", or empty

 private:
  std::string previous_;
};

template <class Signature>
class TracedFunction;  // weft/function.h

class WEFT_API Module {
 public:
  explicit Module(std::string name = "module");
  virtual ~Module();
  // Copies and moves mean the same variables: what was tracked stays tracked.
  Module(const Module&) = default;
  Module(Module&&) = default;
  Module& operator=(const Module&) = default;
  Module& operator=(Module&&) = default;

  // The name of the module.
  const std::string& name() const;
  // Its own and those of everything that it holds, each once: its own in the order of their names, then those of submodules.
  virtual std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const;
  std::vector<Variable> non_trainable_variables() const;
  NameScope name_scope() const { return NameScope(name()); }

  // What is saved of it.
  const std::shared_ptr<weft_engine::trace::TrackableState>& tracking() const { return tracking_; }

 protected:
  // A module of another kind than a plain object: an optimiser, a list.
  Module(std::string name, const std::string& kind);
  // One that stands for objects that are there already.
  Module(std::string name, std::shared_ptr<weft_engine::trace::TrackableState> tracking);

  // Variables, modules, shared pointers to modules, and vectors and maps of these.
  void track(const std::string& name, const Variable& v);
  void track(const std::string& name, const Module& m);
  template <class T>
  void track(const std::string& name, const std::shared_ptr<T>& m) {
    if (m) track(name, static_cast<const Module&>(*m));
  }
  // Functions are saved in SavedModels, with the graphs that they were traced into by then.
  template <class Signature>
  void track(const std::string& name, const TracedFunction<Signature>& f) {
    track_state(name, f.core().tracking());
  }
  template <class T>
  void track(const std::string& name, const std::vector<T>& list) {
    std::vector<std::pair<std::string, std::shared_ptr<weft_engine::trace::TrackableState>>> states;
    for (size_t i = 0; i < list.size(); ++i) states.emplace_back(std::to_string(i), state_of(list[i]));
    track_all(name, states, "trackable_list_wrapper");
  }
  template <class T>
  void track(const std::string& name, const std::map<std::string, T>& map) {
    std::vector<std::pair<std::string, std::shared_ptr<weft_engine::trace::TrackableState>>> states;
    for (const auto& [key, m] : map) states.emplace_back(key, state_of(m));
    track_all(name, states, "trackable_dict_wrapper");
  }

 private:
  static std::shared_ptr<weft_engine::trace::TrackableState> state_of(const Variable& v);
  static std::shared_ptr<weft_engine::trace::TrackableState> state_of(const Module& m) { return m.tracking_; }
  template <class T>
  static std::shared_ptr<weft_engine::trace::TrackableState> state_of(const std::shared_ptr<T>& m) {
    return static_cast<const Module&>(*m).tracking_;
  }
  void track_state(const std::string& name, const std::shared_ptr<weft_engine::trace::TrackableState>& state);
  void track_all(const std::string& name, const std::vector<std::pair<std::string, std::shared_ptr<weft_engine::trace::TrackableState>>>& children,
                 const char* kind);

  std::shared_ptr<const std::string> name_;
  std::shared_ptr<weft_engine::trace::TrackableState> tracking_;
};

}  // namespace weft
