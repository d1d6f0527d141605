// Event files for TensorBoard: what happens while a model learns, by tag and step.
//
//   SummaryWriter log("runs/first");
//   log.scalar("loss", loss, step);
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/graph.h"
#include "weft/tensor.h"

namespace weft {

struct SummaryOptions {
  std::string filename_suffix = ".v2";
  int64_t max_queue = 10;      // events held back before they are written
  double flush_seconds = 120;  // and for how long
};

// Writes one file, in a folder that is made if need be. May be used from many threads. A tag is any text in UTF-8 that is not empty;
// slashes group tags.
class WEFT_API SummaryWriter {
 public:
  explicit SummaryWriter(const std::string& logdir, const SummaryOptions& options = {});
  SummaryWriter(SummaryWriter&&) noexcept;
  SummaryWriter& operator=(SummaryWriter&&) noexcept;
  ~SummaryWriter();  // closes; call close() to hear of errors

  // Writes a number, text, tensor or graph.
  void scalar(const std::string& tag, double value, int64_t step);
  // Of all finite values of a tensor of numbers.
  void histogram(const std::string& tag, const Tensor& values, int64_t step, int buckets = 30);
  // [height, width, channels] or several of them, as write_png() takes them.
  void image(const std::string& tag, const Tensor& images, int64_t step, int max_outputs = 3);
  void text(const std::string& tag, const std::string& markdown, int64_t step);
  void tensor(const std::string& tag, const Tensor& value, int64_t step, const std::string& plugin);
  void graph(const Graph& graph, int64_t step = 0);
  void graph_def(std::string_view serialized, int64_t step = 0);

  // Writes what is buffered.
  void flush();
  void close();
  const std::string& path() const;  // of the file

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What a file tells, in its order.
struct SummaryEvent {
  double wall_time = 0;
  int64_t step = 0;
  std::string tag;
  std::string plugin;  // "scalars", "histograms", "images", "text", ...; "graph" for a serialized GraphDef
  Tensor value;        // scalars of the former format are float tensors too
};
// Of an event file, or of all in a folder (by name). A last record that is only half there is left out: someone may be writing it.
WEFT_API std::vector<SummaryEvent> read_events(const std::string& path);

}  // namespace weft
