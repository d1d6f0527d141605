// SPDX-License-Identifier: Apache-2.0
//
// Scanner: what a text begins with, step by step: Scanner(s).Many(Scanner::DIGIT).OneLiteral("px").Eos().GetResult().
#ifndef TENSORFLOW_CORE_PLATFORM_SCANNER_H_
#define TENSORFLOW_CORE_PLATFORM_SCANNER_H_

#include <string_view>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace strings {

class Scanner {
 public:
  enum CharClass {
    ALL,
    DIGIT,
    LETTER,
    LETTER_DIGIT,
    LETTER_DIGIT_DASH_UNDERSCORE,
    LETTER_DIGIT_DASH_DOT_SLASH,
    LETTER_DIGIT_DASH_DOT_SLASH_UNDERSCORE,
    LETTER_DIGIT_DOT,
    LETTER_DIGIT_DOT_PLUS_MINUS,
    LETTER_DIGIT_DOT_UNDERSCORE,
    LETTER_DIGIT_UNDERSCORE,
    LOWERLETTER,
    LOWERLETTER_DIGIT,
    LOWERLETTER_DIGIT_UNDERSCORE,
    NON_ZERO_DIGIT,
    SPACE,
    UPPERLETTER,
    RANGLE,
  };

  explicit Scanner(std::string_view source) : rest_(source), start_(source.data()) {}
  Scanner(const Scanner&) = delete;
  void operator=(const Scanner&) = delete;

  Scanner& One(CharClass c) {
    if (rest_.empty() || !Matches(c, rest_[0])) return Fail();
    rest_.remove_prefix(1);
    return *this;
  }
  Scanner& Any(CharClass c) {
    while (!rest_.empty() && Matches(c, rest_[0])) rest_.remove_prefix(1);
    return *this;
  }
  Scanner& Many(CharClass c) { return One(c).Any(c); }
  Scanner& AnySpace() { return Any(SPACE); }
  Scanner& OneLiteral(std::string_view s) { return Literal(s) ? *this : Fail(); }
  Scanner& ZeroOrOneLiteral(std::string_view s) {
    Literal(s);
    return *this;
  }
  Scanner& Eos() { return rest_.empty() ? *this : Fail(); }
  // To the first `end`, which stays; escaped ones (behind a backslash) do not count.
  Scanner& ScanUntil(char end) { return Until(end, false); }
  Scanner& ScanEscapedUntil(char end) { return Until(end, true); }
  // What GetResult gives is from here; to here.
  Scanner& RestartCapture() {
    start_ = rest_.data();
    stop_ = nullptr;
    return *this;
  }
  Scanner& StopCapture() {
    stop_ = rest_.data();
    return *this;
  }

  char Peek(char otherwise = '\0') const { return rest_.empty() ? otherwise : rest_[0]; }
  int empty() const { return rest_.empty(); }
  // False, and nothing given, where a step failed.
  bool GetResult(std::string_view* remaining = nullptr, std::string_view* capture = nullptr) {
    if (failed_) return false;
    if (remaining) *remaining = rest_;
    if (capture) *capture = std::string_view(start_, static_cast<size_t>((stop_ ? stop_ : rest_.data()) - start_));
    return true;
  }

 private:
  Scanner& Fail() {
    failed_ = true;
    return *this;
  }
  bool Literal(std::string_view s) {
    if (rest_.substr(0, s.size()) != s) return false;
    rest_.remove_prefix(s.size());
    return true;
  }
  Scanner& Until(char end, bool escaped) {
    for (; !rest_.empty() && rest_[0] != end; rest_.remove_prefix(1)) {
      if (!escaped || rest_[0] != '\\') continue;
      rest_.remove_prefix(1);
      if (rest_.empty()) return Fail();
    }
    return rest_.empty() ? Fail() : *this;
  }
  static bool Matches(CharClass c, char ch) {
    const bool digit = ch >= '0' && ch <= '9', lower = ch >= 'a' && ch <= 'z', upper = ch >= 'A' && ch <= 'Z';
    const bool letter = lower || upper, alnum = letter || digit;
    const auto among = [ch](std::string_view some) { return ch != '\0' && some.find(ch) != std::string_view::npos; };
    switch (c) {
      case ALL: return true;
      case DIGIT: return digit;
      case LETTER: return letter;
      case LETTER_DIGIT: return alnum;
      case LETTER_DIGIT_DASH_UNDERSCORE: return alnum || among("-_");
      case LETTER_DIGIT_DASH_DOT_SLASH: return alnum || among("-./");
      case LETTER_DIGIT_DASH_DOT_SLASH_UNDERSCORE: return alnum || among("-./_");
      case LETTER_DIGIT_DOT: return alnum || among(".");
      case LETTER_DIGIT_DOT_PLUS_MINUS: return alnum || among(".+-");
      case LETTER_DIGIT_DOT_UNDERSCORE: return alnum || among("._");
      case LETTER_DIGIT_UNDERSCORE: return alnum || among("_");
      case LOWERLETTER: return lower;
      case LOWERLETTER_DIGIT: return lower || digit;
      case LOWERLETTER_DIGIT_UNDERSCORE: return lower || digit || among("_");
      case NON_ZERO_DIGIT: return digit && ch != '0';
      case SPACE: return among(" \t\n\v\f\r");
      case UPPERLETTER: return upper;
      case RANGLE: return ch == '>';
    }
    return false;
  }

  std::string_view rest_;
  const char* start_;
  const char* stop_ = nullptr;
  bool failed_ = false;
};

}  // namespace strings
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_SCANNER_H_
