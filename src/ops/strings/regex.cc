// Regular expressions, by RE2. This file alone includes it.
#include <dlfcn.h>
#include <re2/re2.h>

#include "kernels/cpu/text.h"
#include "op/api_traits.h"
#include "op/batching.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using re2::StringPiece;

// RE2 is loaded at the first pattern, by itself: a program that uses another version of RE2 must not get
// this one's functions, nor we that one's. Only its inline functions may be called without this table,
// and no string may change owners, since the program may have its own operator new.
class Re2Library {
 public:
  void (*construct)(void* self, const StringPiece& pattern, const RE2::Options& options) = nullptr;
  void (*destroy)(void* self) = nullptr;
  bool (*match)(const RE2* self, const StringPiece& text, size_t begin, size_t end, RE2::Anchor anchor, StringPiece* groups, int n) = nullptr;

  static const Re2Library& get() {
    static const Re2Library* library = new Re2Library();
    return *library;
  }
  bool loaded() const { return construct && destroy && match; }

 private:
  Re2Library() {
    int flags = RTLD_NOW | RTLD_LOCAL;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    flags |= RTLD_DEEPBIND;  // the sanitizers refuse it
#endif
    void* library = dlopen("libre2.so.9", flags);
    if (!library) return;
    auto find = [&](const char* name, auto& f) { f = reinterpret_cast<std::decay_t<decltype(f)>>(dlsym(library, name)); };
    find("_ZN3re23RE2C1ERKNS_11StringPieceERKNS0_7OptionsE", construct);
    find("_ZN3re23RE2D1Ev", destroy);
    find("_ZNK3re23RE25MatchERKNS_11StringPieceEmmNS0_6AnchorEPS1_i", match);
  }
};

constexpr int kMaxGroups = 17;  // the match itself and \1 to \9 need ten; RE2's own limit

// One compiled pattern, in memory that RE2's own functions make and unmake.
class Regex {
 public:
  static Result<std::shared_ptr<const Regex>> compile(std::string_view pattern) {
    if (!Re2Library::get().loaded()) return unavailable("this needs RE2 (libre2.so.9), which could not be loaded");
    auto regex = std::make_shared<const Regex>(pattern);
    if (!regex->re().ok()) return invalid_argument("Invalid pattern: ", pattern, ", error: ", regex->re().error());
    return regex;
  }
  explicit Regex(std::string_view pattern) {
    RE2::Options options;
    options.set_log_errors(false);
    Re2Library::get().construct(memory_, StringPiece(pattern.data(), pattern.size()), options);
  }
  Regex(const Regex&) = delete;
  ~Regex() { Re2Library::get().destroy(memory_); }

  bool match(std::string_view s, size_t from, RE2::Anchor anchor, StringPiece* groups, int n) const {
    return Re2Library::get().match(&re(), StringPiece(s.data(), s.size()), from, s.size(), anchor, groups, n);
  }
  int groups() const { return re().NumberOfCapturingGroups(); }

 private:
  const RE2& re() const { return *reinterpret_cast<const RE2*>(memory_); }
  alignas(RE2) char memory_[sizeof(RE2)];
};

// The text that stands for a match: \0 to \9 are its groups.
struct Rewrite {
  std::string_view text;

  int last_group() const {
    int last = 0;
    for (size_t i = 0; i + 1 < text.size(); ++i)
      if (text[i] == '\\' && text[i + 1] >= '0' && text[i + 1] <= '9') last = std::max(last, text[++i] - '0');
      else if (text[i] == '\\') ++i;
    return last;
  }
  // False for an escape that means nothing; what comes before it has been added.
  bool add_to(std::string& out, const StringPiece* groups) const {
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\') {
        out.push_back(text[i]);
        continue;
      }
      const char next = ++i < text.size() ? text[i] : '\0';
      if (next >= '0' && next <= '9') {
        const StringPiece& group = groups[next - '0'];
        if (!group.empty()) out.append(group.data(), group.size());
      } else if (next == '\\') {
        out.push_back('\\');
      } else {
        return false;
      }
    }
    return true;
  }
};

// As RE2::Replace and RE2::GlobalReplace: a rewrite that names a group the pattern lacks changes nothing.
std::string replaced(std::string_view s, const Regex& regex, const Rewrite& rewrite, bool all) {
  StringPiece groups[kMaxGroups];
  const int n = 1 + rewrite.last_group();
  std::string out;
  size_t at = 0, last_end = s.npos;
  if (n > 1 + regex.groups()) return std::string(s);
  if (!all) {
    if (!regex.match(s, 0, RE2::UNANCHORED, groups, n)) return std::string(s);
    const auto begin = size_t(groups[0].data() - s.data());
    out.append(s.substr(0, begin));
    if (!rewrite.add_to(out, groups)) return std::string(s);
    return out.append(s.substr(begin + groups[0].size()));
  }
  while (at <= s.size() && regex.match(s, at, RE2::UNANCHORED, groups, n)) {
    const auto begin = size_t(groups[0].data() - s.data());
    out.append(s.substr(at, begin - at));
    if (begin == last_end && groups[0].empty()) {
      // Nothing right behind the last match is no match: step over one character.
      const auto step = begin < s.size() ? size_t(kernels::next_utf8(s, begin).bad ? 1 : kernels::next_utf8(s, begin).bytes) : 1;
      out.append(s.substr(std::min(begin, s.size()), step));
      at = begin + step;
      continue;
    }
    rewrite.add_to(out, groups);
    at = last_end = begin + groups[0].size();
  }
  if (at < s.size()) out.append(s.substr(at));
  return out;
}

Status match_all(KernelContext& c, const Regex& regex) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  const tstring* s = in.data<tstring>();
  bool* matches = out->data<bool>();
  for (int64_t i = 0; i < in.num_elements(); ++i) matches[i] = regex.match(s[i].view(), 0, RE2::ANCHOR_BOTH, nullptr, 0);
  return {};
}

Status replace_all(KernelContext& c, const Regex& regex, std::string_view rewrite) {
  const Tensor& in = c.input(0);
  const bool global = c.attr<bool>("replace_global");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  for (int64_t i = 0; i < in.num_elements(); ++i) out->data<tstring>()[i] = replaced(in.data<tstring>()[i].view(), regex, Rewrite{rewrite}, global);
  return {};
}

Status require_scalar(const Tensor& t, std::string_view name) {
  if (t.rank() == 0) return {};
  return invalid_argument(name, " must be scalar, but received ", t.shape());
}

Status run_full_match(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(require_scalar(c.input(1), "Pattern"));
  WEFT_ASSIGN(auto regex, Regex::compile(c.input(1).data<tstring>()[0].view()));
  return match_all(c, *regex);
}

Status run_replace(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(require_scalar(c.input(1), "Pattern"));
  WEFT_RETURN_IF_ERROR(require_scalar(c.input(2), "Rewrite"));
  WEFT_ASSIGN(auto regex, Regex::compile(c.input(1).data<tstring>()[0].view()));
  return replace_all(c, *regex, c.input(2).data<tstring>()[0].view());
}

struct StaticFullMatch {
  std::shared_ptr<const Regex> regex;
  static Result<StaticFullMatch> make(const NodeInfo& node) {
    WEFT_ASSIGN(auto regex, Regex::compile(node.attr<std::string>("pattern")));
    return StaticFullMatch{regex};
  }
  Status run(KernelContext& c) const { return match_all(c, *regex); }
};

struct StaticReplace {
  std::shared_ptr<const Regex> regex;
  static Result<StaticReplace> make(const NodeInfo& node) {
    WEFT_ASSIGN(auto regex, Regex::compile(node.attr<std::string>("pattern")));
    return StaticReplace{regex};
  }
  Status run(KernelContext& c) const { return replace_all(c, *regex, c.attr<std::string>("rewrite")); }
};

// Everything behind the first input is a scalar.
Status regex_shape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  return shapes::unchanged(c);
}

}  // namespace

void regex(Registry& r) {
  r.add("RegexFullMatch")
      .doc("Whether each string matches a pattern from end to end.")
      .in("input: string")
      .in("pattern: string")
      .out("output: bool")
      .shape(regex_shape)
      .batch(batch_leading<1>)
      .cpu(run_full_match);

  r.add("RegexReplace")
      .doc("Replaces what matches a pattern.")
      .in("input: string")
      .in("pattern: string")
      .in("rewrite: string")
      .out("output: string")
      .attr("replace_global: bool = true")
      .shape(regex_shape)
      .no_grad()
      .cpu(run_replace);

  r.add("StaticRegexFullMatch")
      .doc("Whether each string matches a fixed pattern from end to end.")
      .in("input: string")
      .out("output: bool")
      .attr("pattern: string")
      .shape(regex_shape)
      .traits({.elementwise = true})
      .cpu<StaticFullMatch>();

  r.add("StaticRegexReplace")
      .doc("Replaces what matches a fixed pattern.")
      .in("input: string")
      .out("output: string")
      .attr("pattern: string")
      .attr("rewrite: string")
      .attr("replace_global: bool = true")
      .shape(regex_shape)
      .traits({.elementwise = true})
      .cpu<StaticReplace>();

  set_api_trait(r, {"RegexFullMatch", "RegexReplace"}, ApiTrait::kDispatchesAsUnary);
}

}  // namespace weft_engine::ops
