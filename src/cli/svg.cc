#include <algorithm>
#include <cmath>
#include <map>

#include "cli/picture.h"
#include "cli/text.h"

namespace weft::cli {
namespace {

constexpr double kMargin = 16, kLegendLine = 18, kTitle = 20;
// Light fills that stay apart in print, for devices in the order of their names.
constexpr const char* kFills[] = {"#d6e8fa", "#fde3c4", "#d9f0d3", "#f5d3e4", "#e5dcf4", "#fbf3b9", "#d5eeee", "#ecdccb"};

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", v);
  return text;
}

class Writer {
 public:
  std::string write(const Picture& p) {
    collect(p);
    const double legend = devices_.empty() ? 0 : kLegendLine * double(devices_.size()) + 8;
    const double top = kMargin + kTitle + legend;
    double w = std::max(p.w, double(p.title.size()) * kCharWidth * 1.2) + 2 * kMargin;
    for (const auto& [d, fill] : devices_) w = std::max(w, double(d.size()) * kCharWidth + 60);
    const double h = p.h + top + kMargin;
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(w) + "\" height=\"" + number(h) + "\" viewBox=\"0 0 " + number(w) + " " +
           number(h) +
           "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\">\n"
           "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
           "orient=\"auto-start-reverse\">"
           "<path d=\"M0 0L8 4L0 8z\" fill=\"#667\"/></marker></defs>\n"
           "<style>.box{stroke:#556;stroke-width:1}.group{stroke-dasharray:none;stroke-width:2}.op{font-weight:bold;font-size:12px}.name{"
           "fill:#445}"
           ".wire{fill:none;stroke:#667;stroke-width:1.2}.control{stroke-dasharray:4 3;stroke:#99a}"
           ".label{font-size:9.5px;fill:#335;paint-order:stroke;stroke:#fff;stroke-width:3px}.title{font-weight:bold}</style>\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
    text(kMargin, kMargin + 12, p.title, "class=\"title\" font-size=\"14\"");
    double y = kMargin + kTitle + 10;
    for (const auto& [device, fill] : devices_) {
      out_ += "<rect x=\"" + number(kMargin) + "\" y=\"" + number(y - 10) + "\" width=\"22\" height=\"13\" class=\"box\" fill=\"" + fill + "\"/>\n";
      text(kMargin + 30, y, device.empty() ? "anywhere" : device, "class=\"name\"");
      y += kLegendLine;
    }
    draw(p, kMargin, top);
    return out_ + "</svg>\n";
  }

 private:
  void collect(const Picture& p) {
    for (const Box& b : p.boxes) {
      if (!b.device.empty()) devices_.emplace(b.device, "");
      for (const Picture& i : b.inner) collect(i);
    }
    size_t k = 0;
    for (auto& [d, fill] : devices_) fill = kFills[k++ % std::size(kFills)];
  }

  void text(double x, double y, const std::string& s, const std::string& more) {
    out_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + more + ">" + xml(s) + "</text>\n";
  }

  std::string fill_of(const Box& b) const {
    if (auto it = devices_.find(b.device); it != devices_.end()) return it->second;
    switch (b.kind) {
      case Box::Kind::kGroup: return "#eef0f4";
      case Box::Kind::kInput: return "#dff0df";
      case Box::Kind::kOutput: return "#f6dfdc";
      case Box::Kind::kVariable: return "#fff3cd";
      default: return b.inner.empty() ? "#f7f8fa" : "#ffffff";
    }
  }

  void draw(const Picture& p, double dx, double dy) {
    out_ += "<g transform=\"translate(" + number(dx) + "," + number(dy) + ")\">\n";
    for (const Wire& w : p.wires) wire(w);
    for (const Box& b : p.boxes) box(b);
    for (const Wire& w : p.wires) {
      if (w.label.empty() || w.points.size() < 2) continue;
      // On the first piece, where the tensor leaves its op.
      const Point a = w.points[0], b = w.points[1];
      const double t = w.points.size() == 2 ? 0.5 : 0.4;
      text(a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t + 3, w.label, "class=\"label\" text-anchor=\"middle\"");
    }
    out_ += "</g>\n";
  }

  void wire(const Wire& w) {
    if (w.points.size() < 2) return;
    std::string d = "M" + number(w.points[0].x) + " " + number(w.points[0].y);
    for (size_t i = 1; i < w.points.size(); ++i) {
      const Point a = w.points[i - 1], b = w.points[i];
      // Smooth through the bends, upright at the ends.
      const auto slope = [&](size_t k) -> Point {
        if (k == 0 || k + 1 == w.points.size()) return {0, (b.y - a.y) * 1.3};
        const Point before = w.points[k - 1], at = w.points[k], after = w.points[k + 1];
        if (before.x == at.x || at.x == after.x) return {0, b.y - a.y};
        const double scale = (b.y - a.y) / std::max(1.0, std::abs(after.y - before.y));
        return {(after.x - before.x) * std::abs(scale), (after.y - before.y) * std::abs(scale)};
      };
      const Point p = slope(i - 1), q = slope(i);
      d += "C" + number(a.x + p.x / 3) + " " + number(a.y + p.y / 3) + " " + number(b.x - q.x / 3) + " " + number(b.y - q.y / 3) + " " + number(b.x) +
           " " + number(b.y);
    }
    out_ += "<path d=\"" + d + "\" class=\"wire" + (w.control ? " control" : "") + "\" marker-end=\"url(#a)\"/>\n";
  }

  void box(const Box& b) {
    const bool round = b.kind == Box::Kind::kInput || b.kind == Box::Kind::kOutput;
    out_ += "<g><title>" + xml(b.tooltip) + "</title><rect x=\"" + number(b.x) + "\" y=\"" + number(b.y) + "\" width=\"" + number(b.w) +
            "\" height=\"" + number(b.h) + "\" rx=\"" + (round ? "14" : "4") + "\" class=\"box" + (b.kind == Box::Kind::kGroup ? " group" : "") +
            "\" fill=\"" + fill_of(b) + "\"/>\n";
    double y = b.y + 15;
    const double middle = b.x + b.w / 2;
    text(middle, y, b.title, "class=\"op\" text-anchor=\"middle\"");
    for (const auto& l : b.lines) text(middle, y += kLineHeight, l, "class=\"name\" text-anchor=\"middle\"");
    y += kPadding + 2;
    double x = b.x + kPadding;
    for (const Picture& i : b.inner) {
      out_ += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(i.w) + "\" height=\"" + number(i.h + kTitle) +
              "\" rx=\"6\" fill=\"#fcfcff\" stroke=\"#99b\" stroke-dasharray=\"6 3\"/>\n";
      text(x + 6, y + 14, i.title, "class=\"title\" fill=\"#446\"");
      draw(i, x, y + kTitle);
      x += i.w + kPadding;
    }
    out_ += "</g>\n";
  }

  std::string out_;
  std::map<std::string, std::string> devices_;  // with their colours
};

// ---- Graphviz -----------------------------------------------------------------------------------------------

std::string dot_text(const std::string& s) {
  std::string out = "\"";
  for (const char c : utf8(s)) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out + "\"";
}

void dot_boxes(const Picture& p, const std::string& prefix, const std::string& indent, std::string& out) {
  for (size_t i = 0; i < p.boxes.size(); ++i) {
    const Box& b = p.boxes[i];
    const std::string id = prefix + std::to_string(i);
    std::string label = b.title;
    for (const auto& l : b.lines) label += "\n" + l;
    const char* shape = b.kind == Box::Kind::kInput || b.kind == Box::Kind::kOutput ? "ellipse" : b.kind == Box::Kind::kGroup ? "box3d" : "box";
    out += indent + dot_text(id) + " [label=" + dot_text(label) + ", shape=" + shape + (b.device.empty() ? "" : ", tooltip=" + dot_text(b.device)) +
           "];\n";
    for (size_t k = 0; k < b.inner.size(); ++k) {
      const std::string inner = id + "_" + std::to_string(k) + "_";
      out += indent + "subgraph " + dot_text("cluster_" + inner) + " {\n" + indent + "  label=" + dot_text(b.inner[k].title) + ";\n";
      dot_boxes(b.inner[k], inner, indent + "  ", out);
      out += indent + "}\n";
      if (!b.inner[k].boxes.empty())
        out += indent + dot_text(id) + " -> " + dot_text(inner + "0") + " [style=dotted, lhead=" + dot_text("cluster_" + inner) + "];\n";
    }
  }
  for (const Wire& w : p.wires) {
    out += indent + dot_text(prefix + std::to_string(w.from)) + " -> " + dot_text(prefix + std::to_string(w.to)) + " [label=" + dot_text(w.label) +
           (w.control ? ", style=dashed" : "") + "];\n";
  }
}

}  // namespace

std::string to_svg(const Picture& picture) { return Writer().write(picture); }

std::string to_dot(const Picture& picture) {
  std::string out = "digraph " + dot_text(picture.title) +
                    " {\n  compound=true;\n  node [fontname=\"Helvetica\", fontsize=10];\n  edge [fontname=\"Helvetica\", fontsize=9];\n";
  dot_boxes(picture, "n", "  ", out);
  return out + "}\n";
}

}  // namespace weft::cli
