// Structures of arguments and results, from the text in which weft/nest.h writes them.
#include <cstdlib>
#include <span>

#include "core/cat.h"
#include "saved_model/describe.h"

namespace weft_engine::saved_model {
namespace {

using Kind = StructuredValue::Kind;

class Parser {
 public:
  Parser(std::string_view text, std::span<const StructuredValue> tensors) : text_(text), tensors_(tensors) {}

  bool done() const { return at_ == text_.size(); }

  Result<StructuredValue> item() {
    if (done()) return bad();
    StructuredValue v;
    switch (text_[at_++]) {
      case 't':
        if (next_ == tensors_.size()) return bad();
        return tensors_[next_++];
      case 'b':
        v.kind = Kind::kBool;
        v.integer = std::atoll(number().c_str());
        return v;
      case 'i':
        v.kind = Kind::kInt;
        v.integer = std::atoll(number().c_str());
        return v;
      case 'f':
        v.kind = Kind::kFloat;
        v.number = std::strtod(number().c_str(), nullptr);
        return v;
      case 's':
        v.kind = Kind::kString;
        v.text = text();
        return v;
      case 'n': return v;
      case 'o': return item();
      case '[': {
        v.kind = Kind::kList;
        while (!done() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
        while (!done() && text_[at_] != ']') {
          WEFT_ASSIGN(StructuredValue x, item());
          v.items.emplace_back("", std::move(x));
        }
        ++at_;
        return v;
      }
      case '{': {
        v.kind = Kind::kDict;
        while (!done() && text_[at_] != '}') {
          ++at_;  // 's'
          std::string key = text();
          WEFT_ASSIGN(StructuredValue x, item());
          v.items.emplace_back(std::move(key), std::move(x));
        }
        ++at_;
        return v;
      }
      default: return bad();
    }
  }

 private:
  Status bad() const { return internal_error("a structure that cannot be read: ", text_); }
  std::string number() {
    const size_t end = std::min(text_.find(';', at_), text_.size());
    std::string s(text_.substr(at_, end - at_));
    at_ = std::min(end + 1, text_.size());
    return s;
  }
  std::string text() {
    const size_t colon = std::min(text_.find(':', at_), text_.size());
    const size_t n = size_t(std::atoll(std::string(text_.substr(at_, colon - at_)).c_str()));
    at_ = std::min(colon + 1, text_.size());
    std::string s(text_.substr(at_, n));
    at_ += s.size();
    return s;
  }

  std::string_view text_;
  std::span<const StructuredValue> tensors_;
  size_t at_ = 0, next_ = 0;
};

}  // namespace

Result<StructuredValue> parse_structure(std::string_view text, std::span<const StructuredValue> tensors, bool single) {
  Parser parser(text, tensors);
  std::vector<StructuredValue> items;
  while (!parser.done()) {
    WEFT_ASSIGN(StructuredValue v, parser.item());
    items.push_back(std::move(v));
  }
  if (single && items.empty()) return none_value();
  if (single && items.size() == 1) return std::move(items[0]);
  return list_value(Kind::kTuple, std::move(items));
}

}  // namespace weft_engine::saved_model
