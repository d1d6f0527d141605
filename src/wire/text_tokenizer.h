// Words of protobuf's text format. Columns count as protobuf counts them: from 1, a tab goes on to the next
// multiple of eight.
#pragma once

#include <string>
#include <string_view>

namespace weft_engine::wire {

class TextTokenizer {
 public:
  enum class Kind { kStart, kEnd, kIdentifier, kInteger, kFloat, kString, kSymbol };
  struct Token {
    Kind kind = Kind::kStart;
    std::string_view text;     // strings with their quotes
    int line = 0, column = 0;  // from 0
  };

  explicit TextTokenizer(std::string_view text) : text_(text) {}
  // False at an error, which error() then tells, at line() and column().
  bool next();
  const Token& current() const { return current_; }
  const std::string& error() const { return error_; }
  int line() const { return line_; }
  int column() const { return column_; }

  // The value of a kString token, appended. False for a code point that does not exist.
  bool append_string(std::string& out);

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool end() const { return at_ >= text_.size(); }
  void step();
  void skip_space();
  bool number();
  bool string(char quote);
  bool escape();
  bool hex_digits(int count);
  bool fail(std::string why);

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 0, column_ = 0;
  Token current_;
  std::string error_;
};

}  // namespace weft_engine::wire
