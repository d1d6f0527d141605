#include "weft/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "weft/data.h"

namespace weft::plot {
namespace {

// Told apart by most eyes, also without colours by their order in the legend; the second of a pair is for dark backgrounds.
struct Colour {
  const char *light, *dark;
};
constexpr Colour kColours[] = {{"#0b66c3", "#6cb6ff"}, {"#d4550a", "#f69d50"}, {"#12805c", "#57d1a4"},
                               {"#8a3ffc", "#c297ff"}, {"#b5106b", "#ff8ac4"}, {"#6b6a00", "#d8d13c"}};
constexpr int kColourCount = int(std::size(kColours));

std::string escaped(const std::string& s) {
  std::string out;
  for (const char c : s) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 32 || c == 127 ? ' ' : c;
    }
  }
  return out;
}

std::string number(double v) {  // for coordinates
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", v);
  return text;
}
std::string label(double v) {  // human-readable
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", std::abs(v) < 1e-300 ? 0.0 : v);
  return text;
}

struct Point {
  double x, y;
};

// From data to pixels, and where the ticks are.
struct Axis {
  double low = 0, high = 1;  // in data, or in powers of ten
  bool log = false;
  std::vector<double> ticks;

  double place(double v) const { return std::clamp(((log ? std::log10(v) : v) - low) / (high - low), 0.0, 1.0); }

  // Ticks at 1, 2 or 5 times a power of ten.
  void scale(double min, double max, int wanted, bool whole, bool widen) {
    if (!(min <= max)) min = 0, max = 1;
    if (log) min = std::log10(min), max = std::log10(max);
    constexpr double kLargest = 1e307, kSmallest = 1e-290;  // so that neither the distance nor a step is inf or 0
    min = std::max(min, -kLargest), max = std::min(max, kLargest);
    if (!(max - min > kSmallest)) {
      const double room = widen ? std::max(std::abs(min) * 0.1, 1e-12) : 0.5;
      min -= room, max += room;
    }
    double step = std::pow(10.0, std::floor(std::log10((max - min) / wanted)));
    for (const double times : {2.0, 2.5, 2.0}) {
      if ((max - min) / step <= wanted) break;
      step *= times;
    }
    if (whole || log) step = std::max(step, 1.0);
    low = widen ? std::floor(min / step + 1e-9) * step : min;
    high = widen ? std::ceil(max / step - 1e-9) * step : max;
    if (!(low < high) || !std::isfinite(low) || !std::isfinite(high)) low = min, high = max;
    const double first = std::ceil(low / step - 1e-9);
    for (int i = 0; i < 100 && (first + i) * step <= high + step * 1e-9; ++i) {
      const double at = (first + i) * step, v = log ? std::pow(10.0, at) : at;
      if (std::isfinite(v) && (!log || v > 0)) ticks.push_back(v);
    }
  }
};

// At most two points for each pixel column, the lowest and the highest: as many as can be seen.
std::vector<Point> thinned(const std::vector<Point>& points, const Axis& x, int pixels) {
  if (points.size() <= size_t(pixels) * 4) return points;
  std::vector<Point> out;
  for (size_t i = 0; i < points.size();) {
    const int column = int(x.place(points[i].x) * pixels);
    size_t low = i, high = i, end = i;
    for (; end < points.size() && int(x.place(points[end].x) * pixels) == column; ++end) {
      if (points[end].y < points[low].y) low = end;
      if (points[end].y > points[high].y) high = end;
    }
    out.push_back(points[std::min(low, high)]);
    if (low != high) out.push_back(points[std::max(low, high)]);
    i = std::max(end, i + 1);
  }
  return out;
}

struct Panel {
  std::string name;
  std::vector<const Series*> series;
};

std::vector<Panel> panels_of(const std::vector<Series>& series) {
  std::vector<Panel> out;
  for (const Series& s : series) {
    const std::string name = !s.panel.empty() ? s.panel : s.name.starts_with("val_") ? s.name.substr(4) : s.name;
    auto it = std::find_if(out.begin(), out.end(), [&](const Panel& p) { return p.name == name; });
    if (it == out.end()) it = out.insert(out.end(), {name, {}});
    it->series.push_back(&s);
  }
  if (out.empty()) out.push_back({});
  return out;
}

// The unbroken pieces of a series.
std::vector<std::vector<Point>> pieces_of(const Series& s, bool log_y) {
  std::vector<std::vector<Point>> out(1);
  for (size_t i = 0; i < s.y.size(); ++i) {
    const Point p{s.x.empty() ? double(i + 1) : s.x[i], s.y[i]};
    if (std::isfinite(p.x) && std::isfinite(p.y) && (!log_y || p.y > 0)) out.back().push_back(p);
    else if (!out.back().empty()) out.emplace_back();
  }
  return out;
}

class Drawing {
 public:
  Drawing(const PlotOptions& options, std::string& out) : o_(options), out_(out) {}

  void panel(const Panel& p, double left, double top) {
    constexpr double kLeft = 62, kRight = 16, kTop = 54, kBottom = 46;
    x0_ = left + kLeft, x1_ = left + o_.panel_width - kRight, y0_ = top + kTop, y1_ = top + o_.panel_height - kBottom;
    std::vector<std::vector<std::vector<Point>>> all;
    double x_min = std::numeric_limits<double>::infinity(), x_max = -x_min, y_min = x_min, y_max = -x_min;
    bool whole = true;
    for (const Series* s : p.series) {
      all.push_back(pieces_of(*s, o_.log_y));
      for (const auto& piece : all.back()) {
        for (const Point& q : piece) {
          x_min = std::min(x_min, q.x), x_max = std::max(x_max, q.x);
          y_min = std::min(y_min, q.y), y_max = std::max(y_max, q.y);
          whole = whole && q.x == std::floor(q.x);
        }
      }
    }
    Axis x, y;
    y.log = o_.log_y;
    x.scale(x_min, x_max, 8, whole, false);
    y.scale(y_min, y_max, 6, false, true);
    axes(p, x, y, left, top);
    for (size_t i = 0; i < p.series.size(); ++i) {
      const std::string colour = " class=\"s" + std::to_string(i % kColourCount) + "\"";
      for (const auto& piece : all[i]) line(thinned(piece, x, int(x1_ - x0_)), x, y, colour, i);
    }
    legend(p, top);
  }

 private:
  double px(const Axis& a, double v) const { return x0_ + a.place(v) * (x1_ - x0_); }
  double py(const Axis& a, double v) const { return y1_ - a.place(v) * (y1_ - y0_); }

  void text(double x, double y, const char* anchor, const std::string& s, const char* more = "") {
    out_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\"" + more + ">" + escaped(s) + "</text>\n";
  }
  void rule(double xa, double ya, double xb, double yb, const char* kind) {
    out_ += "<line class=\"" + std::string(kind) + "\" x1=\"" + number(xa) + "\" y1=\"" + number(ya) + "\" x2=\"" + number(xb) + "\" y2=\"" +
            number(yb) + "\"/>\n";
  }

  void axes(const Panel& p, const Axis& x, const Axis& y, double left, double top) {
    for (const double t : y.ticks) {
      rule(x0_, py(y, t), x1_, py(y, t), "grid");
      text(x0_ - 8, py(y, t) + 4, "end", label(t));
    }
    for (const double t : x.ticks) {
      rule(px(x, t), y1_, px(x, t), y1_ + 5, "axis");
      text(px(x, t), y1_ + 19, "middle", label(t));
    }
    rule(x0_, y0_, x0_, y1_, "axis");
    rule(x0_, y1_, x1_, y1_, "axis");
    text((x0_ + x1_) / 2, y1_ + 38, "middle", o_.x_label);
    text(left + 16, top + 22, "start", p.name, " class=\"name\"");
  }

  void line(const std::vector<Point>& points, const Axis& x, const Axis& y, const std::string& colour, size_t index) {
    if (points.empty()) return;
    // The second series of a panel is dashed, so that the two can be told apart without colours.
    const char* dash = index % 2 ? " stroke-dasharray=\"6 3\"" : "";
    out_ += "<polyline" + colour + dash + " points=\"";
    for (size_t i = 0; i < points.size(); ++i) out_ += (i ? " " : "") + number(px(x, points[i].x)) + "," + number(py(y, points[i].y));
    out_ += "\"/>\n";
    constexpr size_t kFewEnoughForDots = 40;
    if (points.size() > kFewEnoughForDots) return;
    for (const Point& p : points) out_ += "<circle" + colour + " cx=\"" + number(px(x, p.x)) + "\" cy=\"" + number(py(y, p.y)) + "\" r=\"2.5\"/>\n";
  }

  void legend(const Panel& p, double top) {
    double at = x1_;
    for (size_t i = p.series.size(); i-- > 0;) {  // from the right, so that its width need not be known
      const std::string& name = p.series[i]->name;
      at -= 7.2 * double(name.size());
      text(at, top + 42, "start", name);
      const std::string colour = " class=\"s" + std::to_string(i % kColourCount) + "\"";
      out_ += "<polyline" + colour + (i % 2 ? " stroke-dasharray=\"6 3\"" : "") + " points=\"" + number(at - 26) + "," + number(top + 38) + " " +
              number(at - 6) + "," + number(top + 38) + "\"/>\n";
      at -= 40;
    }
  }

  const PlotOptions& o_;
  std::string& out_;
  double x0_ = 0, x1_ = 0, y0_ = 0, y1_ = 0;
};

std::string style() {
  std::string light, dark;
  for (int i = 0; i < kColourCount; ++i) {
    const std::string s = std::to_string(i);
    light += "polyline.s" + s + "{stroke:" + kColours[i].light + "}circle.s" + s + "{fill:" + kColours[i].light + "}";
    dark += "polyline.s" + s + "{stroke:" + kColours[i].dark + "}circle.s" + s + "{fill:" + kColours[i].dark + "}";
  }
  return "<style>text{font:12px system-ui,sans-serif;fill:#333}.name{font-weight:600;font-size:14px}.title{font-weight:600;font-size:16px}"
         ".paper{fill:#fff}.grid{stroke:#e2e2e2}.axis{stroke:#777}polyline{fill:none;stroke-width:2;stroke-linejoin:round}" +
         light + "@media(prefers-color-scheme:dark){text{fill:#ddd}.paper{fill:#15181c}.grid{stroke:#2e343b}.axis{stroke:#999}" + dark +
         "}</style>\n";
}

}  // namespace

std::string curves_svg(const std::vector<Series>& series, const PlotOptions& options) {
  if (options.panel_width < 160 || options.panel_height < 140 || options.panel_width > 10000 || options.panel_height > 10000 || options.columns < 1)
    throw Error(Code::kInvalidArgument, "a panel is 160x140 to 10000x10000 pixels, and there is at least one column");
  for (const Series& s : series) {
    if (!s.x.empty() && s.x.size() != s.y.size())
      throw Error(Code::kInvalidArgument,
                  "series '" + s.name + "' has " + std::to_string(s.x.size()) + " x for " + std::to_string(s.y.size()) + " y");
  }
  const std::vector<Panel> panels = panels_of(series);
  const int columns = std::min(options.columns, int(panels.size())), rows = (int(panels.size()) + columns - 1) / columns;
  const int head = options.title.empty() ? 0 : 34, width = columns * options.panel_width, height = head + rows * options.panel_height;
  const std::string w = std::to_string(width), h = std::to_string(height);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h + "\" viewBox=\"0 0 " + w + " " + h + "\">\n" +
                    style() + "<rect class=\"paper\" width=\"" + w + "\" height=\"" + h + "\"/>\n";
  if (head) out += "<text class=\"title\" x=\"16\" y=\"24\">" + escaped(options.title) + "</text>\n";
  Drawing drawing(options, out);
  for (size_t i = 0; i < panels.size(); ++i)
    drawing.panel(panels[i], double(int(i) % columns * options.panel_width), head + double(int(i) / columns * options.panel_height));
  return out + "</svg>\n";
}

void write_curves(const std::string& path, const std::vector<Series>& series, const PlotOptions& options) {
  if (path.ends_with(".png")) throw Error(Code::kUnimplemented, path + ": curves are written as SVG; name the file .svg");
  data::write_file(path, curves_svg(series, options));
}

}  // namespace weft::plot
