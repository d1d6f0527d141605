// Learning curves as a picture that needs no program to look at: an SVG with axes, ticks and a legend, readable on light and dark.
//
//   plot::write_curves("run/curves.svg", {{"loss", loss}, {"val_loss", val_loss}, {"accuracy", accuracy}});
#pragma once

#include <string>
#include <vector>

#include "weft/error.h"

namespace weft::plot {

struct Series {
  std::string name;
  std::vector<double> y;
  std::vector<double> x = {};  // without them 1, 2, 3, ...
  std::string panel = {};      // series of one panel share its axes; without one it is the name without "val_"
};

struct PlotOptions {
  std::string title = {};
  std::string x_label = "epoch";
  int panel_width = 460, panel_height = 300;
  int columns = 2;     // panels beside each other
  bool log_y = false;  // values that are not positive are left out then
};

// Values that are no numbers leave a gap. The file is replaced as a whole, so that a browser may look while training goes on.
WEFT_API void write_curves(const std::string& path, const std::vector<Series>& series, const PlotOptions& options = {});
WEFT_API std::string curves_svg(const std::vector<Series>& series, const PlotOptions& options = {});

}  // namespace weft::plot
