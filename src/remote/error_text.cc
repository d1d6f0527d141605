#include "remote/error_text.h"

#include <cctype>

namespace weft_engine::remote {

using core::cat;
using core::Code;
using core::Status;

namespace {

constexpr std::string_view kTarget = "Additional GRPC error information from remote target ";

// What stands behind `before`, up to the first character that is not `part`'s. Nothing: `before` is not there.
template <class F>
std::string behind(std::string_view text, std::string_view before, F part) {
  size_t begin = text.find(before);
  if (begin == text.npos) return {};
  begin += before.size();
  size_t end = begin;
  while (end < text.size() && part(text[end])) ++end;
  return std::string(text.substr(begin, end - begin));
}

bool of_task_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '/' || c == ':' || c == '_' || c == '-'; }

}  // namespace

Status with_notes_of_text(Status s) {
  if (s.ok()) return s;
  const std::string text = s.message();
  const auto says = [&](std::string_view words) { return text.find(words) != text.npos; };
  const auto note = [&](bool holds, const char* key, std::string value = {}) {
    if (holds && !core::find_note(s, key)) s = s.with_payload(key, std::move(value));
  };
  const std::string node = behind(text, "{{node ", [](char c) { return c != '}'; });
  note(!node.empty(), core::kNoteNamesNode, node);
  std::string task = behind(text, kTarget, of_task_name);
  while (task.ends_with(':')) task.pop_back();
  note(!task.empty(), core::kNoteTarget, task);
  note(says("[_Derived_]") || says("while calling /tensorflow.WorkerService/RecvTensor"), core::kNoteDerived);
  if (s.code() == Code::kInvalidArgument)
    note(says("unknown device") || says("Unable to find the relevant tensor remote_handle"), core::kNoteTaskLost);
  if (s.code() == Code::kNotFound) note(says("is neither a type of a primitive operation nor a name of a function registered"), core::kNoteUnknownOp);
  if (s.code() == Code::kFailedPrecondition) note(says("uninitialized"), core::kNoteUninitialized);
  return s;
}

Status error_of_target(const Status& s, const std::string& task) {
  const Status named = s.with_suffix(cat("\n", kTarget, task));
  return core::find_note(s, core::kNoteTarget) ? named : named.with_payload(core::kNoteTarget, task);
}

Status error_of_task(const std::string& task, std::string_view method, const Status& s) {
  return error_of_target(s, task).with_suffix(cat(" while calling ", method, ":\n:", code_name(s.code())));
}

}  // namespace weft_engine::remote
