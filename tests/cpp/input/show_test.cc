// Curves and progress bars.
#include <cmath>
#include <sstream>

#include "testing.h"
#include "weft/data.h"
#include "weft/plot.h"
#include "weft/progress.h"

using namespace weft;           // NOLINT
using namespace weft::testing;  // NOLINT

namespace {

size_t times(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

// Every tag is closed, and nothing stands for itself that would begin one.
bool well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const size_t end = svg.find('>', at);
    if (end == std::string::npos || svg.substr(at + 1, end - at - 1).find('<') != std::string::npos) return false;
    const std::string tag = svg.substr(at + 1, end - at - 1);
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty() && svg.starts_with("<svg ");
}

}  // namespace

TEST_CASE("curves: a panel for loss and val_loss, one for accuracy") {
  const Scratch scratch;
  plot::write_curves(scratch("deep/er/c.svg"), {{"loss", {2, 1, 0.5}}, {"val_loss", {2.1, 1.2, 0.9}}, {"accuracy", {0.1, 0.5, 0.93}}},
                     {.title = "a < b & c"});
  const std::string svg = data::read_file(scratch("deep/er/c.svg"));
  CHECK(well_formed(svg));
  CHECK(times(svg, "class=\"name\"") == 2);
  CHECK(times(svg, "<circle") == 9);
  CHECK(contains(svg, ">val_loss</text>"));
  CHECK(contains(svg, "a &lt; b &amp; c"));
  CHECK(contains(svg, "prefers-color-scheme:dark"));
  CHECK(times(svg, "text-anchor=\"middle\">2</text>") == 2);  // epoch 2, in both
  CHECK(times(svg, ">1.5</text>") >= 1);
  CHECK(contains(error_of([&] { plot::write_curves(scratch("c.png"), {}); }), "SVG"));
}

TEST_CASE("curves of odd values") {
  CHECK(well_formed(plot::curves_svg({})));
  CHECK(well_formed(plot::curves_svg({{"empty", {}}})));
  CHECK(times(plot::curves_svg({{"one", {3}}}), "<circle") == 1);
  const std::string gap = plot::curves_svg({{"g", {1, NAN, 2, 3, INFINITY}}});
  CHECK(times(gap, "<circle") == 3);
  CHECK(gap.find("nan") == std::string::npos);
  CHECK(gap.find("inf") == std::string::npos);
  for (const auto& y : {std::vector<double>{1e300, -1e300}, {5e-324, 0}, {7, 7, 7}, {-1, -2}, {1e-30, 2e-30}, {1e15, 1e15 + 1}}) {
    for (const bool log : {false, true}) {
      const std::string svg = plot::curves_svg({{"y", y}}, {.log_y = log});
      CHECK(well_formed(svg));
      CHECK(svg.find("nan") == std::string::npos);
      CHECK(svg.find("inf") == std::string::npos);
    }
  }
  CHECK(contains(plot::curves_svg({{"y", {0.001, 0.1, 10}}}, {.log_y = true}), ">0.01</text>"));
  std::vector<double> many(200000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = std::sin(double(i) / 1000);
  CHECK(plot::curves_svg({{"many", many}}).size() < 40000);
  CHECK(contains(error_of([] { plot::curves_svg({{"y", {1, 2}, {1}}}); }), "series 'y' has 1 x for 2 y"));
  CHECK(well_formed(plot::curves_svg({{"<script>\x01", {1, 2}}})));
}

TEST_CASE("a progress bar on a terminal") {
  std::ostringstream out;
  double t = 0;
  {
    Progress bar(57, {.label = "epoch 1/5", .out = &out, .terminal = true, .columns = 100, .clock = [&] { return t; }});
    for (int i = 1; i <= 57; ++i) {
      t += 0.01;
      bar.step({{"loss", 1.0 / i}, {"accuracy", 0.5}});
    }
    bar.finish({{"loss", 0.0175439}, {"val_loss", 12.5}});
    bar.step();  // nothing more
  }
  const std::string all = out.str();
  CHECK(times(all, "\r") <= 2 + 6);  // ten a second at most, the first and the last
  CHECK(times(all, "\r") >= 6);
  CHECK(times(all, "\n") == 1);
  CHECK(contains(all, "\repoch 1/5 [>                             ] 0/57\x1b[K"));
  CHECK(contains(all, "\repoch 1/5 [===========>                  ] 21/57  100/s  ETA 0:01  loss: 0.0476  accuracy: 0.5000\x1b[K"));
  CHECK(contains(all, "\repoch 1/5  57 steps in 0.57 s (100/s)  loss: 0.0175  val_loss: 12.5000\x1b[K\n"));
  for (size_t at = 0, end; (end = all.find("\x1b[K", at)) != std::string::npos; at = end + 3) CHECK(end - at <= 100);
}

TEST_CASE("a progress bar elsewhere is one line at the end") {
  std::ostringstream out;
  double t = 100;
  Progress bar(-1, {.label = "evil\r\x1b[2J", .unit = "batches", .out = &out, .clock = [&] { return t; }});
  for (int i = 0; i < 5; ++i) {
    t += 60;
    bar.step({{"loss", 3}});
  }
  CHECK(out.str().empty());
  bar.finish({{"loss", NAN}, {"rate", 1e-5}});
  CHECK(out.str() == "evil  [2J  5 batches in 5:00 (60.0 s each)  loss: nan  rate: 1.0000e-05\n");
}

TEST_CASE("narrow terminals, unknown totals and unfinished bars") {
  std::ostringstream out;
  double t = 0;
  {
    Progress bar(1000, {.label = "training", .out = &out, .terminal = true, .columns = 30, .clock = [&] { return t; }});
    t = 1;
    bar.update(500, {{"loss", 0.25}, {"accuracy", 0.75}});
  }
  const std::string all = out.str();
  CHECK(contains(all, "\rtraining 500/1000  500/s  ETA\x1b[K"));
  CHECK(all.ends_with("\n"));
  std::ostringstream other;
  {
    Progress bar(-1, {.out = &other, .terminal = true, .columns = 60, .clock = [&] { return t; }});
    t = 8001;
    bar.update(4);
    t = 8002;
    bar.finish();
  }
  CHECK(contains(other.str(), "\r4  2000.0 s each\x1b[K"));
}
