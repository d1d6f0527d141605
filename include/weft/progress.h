// Progress: how far a loop is, how fast, and how long it will take. On a terminal one line, drawn again in place at most ten times a
// second; elsewhere (files, pipes) one plain line at the end.
//
//   Progress bar(steps, {.label = "epoch 1/5"});
//   for (int i = 0; i < steps; ++i) bar.step({{"loss", loss}});
//   bar.finish({{"loss", loss}, {"val_loss", val_loss}});
//
// shows: epoch 1/5 [===========>        ] 33/57  412/s  ETA 0:01  loss: 0.2291
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/export.h"

namespace weft {

struct ProgressOptions {
  std::string label = {};
  std::string unit = {};               // of the steps, in the line at the end; without one "steps"
  std::ostream* out = nullptr;         // std::cout if null
  std::optional<bool> terminal = {};   // whether `out` is one; else found out for std::cout and std::cerr
  int columns = 0;                     // of the terminal; 0: asked of it
  double interval = 0.1;               // seconds between two drawings
  std::function<double()> clock = {};  // seconds, for tests
};

class WEFT_API Progress {
 public:
  using Metrics = std::vector<std::pair<std::string, double>>;

  explicit Progress(int64_t total, ProgressOptions options = {});  // total: -1 if it is not known
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // ends the line, if finish() was not called

  // How far it is, and values to show.
  void update(int64_t done, const Metrics& metrics = {});
  void step(const Metrics& metrics = {}) { update(done_ + 1, metrics); }
  void finish(const Metrics& metrics = {});  // the last line, with the time that all took

 private:
  std::string line(double now, int columns) const;
  std::string last_line(double now) const;
  void draw(double now);
  double now() const;

  int64_t total_, done_ = 0;
  ProgressOptions options_;
  std::ostream& out_;
  bool terminal_ = false, finished_ = false, drawn_ = false;
  double start_ = 0, last_ = 0;
  Metrics metrics_;
};

}  // namespace weft
