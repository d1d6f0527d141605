#include "weft/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace weft {
namespace {

int descriptor_of(const std::ostream& out) { return &out == &std::cout ? 1 : &out == &std::cerr || &out == &std::clog ? 2 : -1; }

bool is_terminal(const std::ostream& out) {
  const int fd = descriptor_of(out);
  const char* term = std::getenv("TERM");
  return fd >= 0 && ::isatty(fd) && term && std::string(term) != "dumb";
}

int columns_of(const std::ostream& out) {
  winsize size{};
  const int fd = descriptor_of(out);
  return fd >= 0 && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// Names come from programs: a control character in one would move the cursor.
std::string plain(std::string s) {
  for (char& c : s) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
  }
  return s;
}

std::string formatted(const char* format, double v) {
  char text[48];
  std::snprintf(text, sizeof text, format, v);
  return text;
}

std::string value(double v) {
  if (!std::isfinite(v)) return formatted("%g", v);
  if (v == std::floor(v) && std::abs(v) < 1e6) return formatted("%.0f", v);
  return formatted(std::abs(v) >= 1e-3 && std::abs(v) < 1e6 ? "%.4f" : "%.4e", v);
}

std::string per_second(double rate) {
  if (!std::isfinite(rate) || rate <= 0) return "";
  return rate >= 10 ? formatted("%.0f/s", rate) : rate >= 1 ? formatted("%.1f/s", rate) : formatted("%.1f s each", 1 / rate);
}

std::string clock_time(double seconds) {
  const auto s = int64_t(std::clamp(std::ceil(seconds), 0.0, 359999.0));
  char text[48];
  if (s >= 3600) std::snprintf(text, sizeof text, "%d:%02d:%02d", int(s / 3600), int(s / 60 % 60), int(s % 60));
  else std::snprintf(text, sizeof text, "%d:%02d", int(s / 60), int(s % 60));
  return text;
}

std::string duration(double seconds) { return seconds < 100 ? formatted(seconds < 10 ? "%.2f s" : "%.1f s", seconds) : clock_time(seconds); }

std::string listed(const Progress::Metrics& metrics) {
  std::string out;
  for (const auto& [name, v] : metrics) out += "  " + plain(name) + ": " + value(v);
  return out;
}

}  // namespace

Progress::Progress(int64_t total, ProgressOptions options)
    : total_(total), options_(std::move(options)), out_(options_.out ? *options_.out : std::cout) {
  terminal_ = options_.terminal.value_or(is_terminal(out_));
  start_ = now();
  last_ = start_ - options_.interval;
  if (terminal_) draw(start_);
}

Progress::~Progress() {
  if (finished_ || !drawn_) return;
  try {
    out_ << '\n' << std::flush;
  } catch (...) {  // a stream that throws; there is no one to tell
  }
}

double Progress::now() const {
  if (options_.clock) return options_.clock();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Progress::update(int64_t done, const Metrics& metrics) {
  if (finished_) return;
  done_ = done;
  if (!metrics.empty()) metrics_ = metrics;
  if (!terminal_) return;
  const double t = now();
  if (t - last_ >= options_.interval) draw(t);
}

void Progress::finish(const Metrics& metrics) {
  if (finished_) return;
  finished_ = true;
  if (!metrics.empty()) metrics_ = metrics;
  out_ << (terminal_ ? "\r" : "") << last_line(now()) << (terminal_ ? "\x1b[K\n" : "\n") << std::flush;
}

void Progress::draw(double t) {
  last_ = t;
  drawn_ = true;
  out_ << '\r' << line(t, options_.columns > 0 ? options_.columns : columns_of(out_)) << "\x1b[K" << std::flush;
}

// The bar gives way first where the terminal is narrow, then the end of the line.
std::string Progress::line(double t, int columns) const {
  const double elapsed = t - start_, rate = elapsed > 0 ? double(done_) / elapsed : 0;
  const std::string label = options_.label.empty() ? "" : plain(options_.label) + " ";
  std::string rest = std::to_string(done_) + (total_ >= 0 ? "/" + std::to_string(total_) : "");
  if (const std::string speed = per_second(rate); !speed.empty()) rest += "  " + speed;
  if (total_ > done_ && rate > 0) rest += "  ETA " + clock_time(double(total_ - done_) / rate);
  rest += listed(metrics_);
  std::string bar;
  const int room = columns - 1 - int(label.size()) - int(rest.size()) - 3, width = std::min(room, 30);
  if (total_ > 0 && width >= 5) {
    const int filled = int(std::clamp(double(done_) / double(total_), 0.0, 1.0) * width);
    bar = "[";
    bar.append(size_t(filled), '=');
    if (filled < width) bar += '>';
    bar.resize(size_t(width) + 1, ' ');
    bar += "] ";
  }
  std::string out = label + bar + rest;
  if (int(out.size()) > columns - 1) {
    size_t end = size_t(std::max(columns - 1, 0));
    while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;  // not inside a character
    out.resize(end);
  }
  return out;
}

std::string Progress::last_line(double t) const {
  const double elapsed = t - start_;
  std::string out = options_.label.empty() ? "" : plain(options_.label) + "  ";
  out += std::to_string(done_) + " " + (options_.unit.empty() ? "steps" : plain(options_.unit)) + " in " + duration(elapsed);
  if (const std::string speed = per_second(elapsed > 0 ? double(done_) / elapsed : 0); !speed.empty()) out += " (" + speed + ")";
  return out + listed(metrics_);
}

}  // namespace weft
