// Notes (Status::payloads) on errors that a front end words in its own way, or that a caller has to tell from others. The message stays for people.
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"

namespace weft_engine::core {

inline constexpr char kNoteNoGradient[] = "weft/no_gradient";              // the op that has no gradient
inline constexpr char kNoteGradientDisabled[] = "weft/gradient_disabled";  // the message, without the node
inline constexpr char kNoteGradientShape[] = "weft/gradient_shape";        // the message, without the node
inline constexpr char kNoteOutOfScope[] = "weft/out_of_scope";  // lines: tensor, type, shape, "inside" (of this function) or "elsewhere"
inline constexpr char kNoteNameTaken[] = "weft/name_taken";  // the function that another definition stands for
inline constexpr char kNoteNamesNode[] = "weft/names_node";  // the node: the message says by itself which one it is about
inline constexpr char kNoteFile[] = "weft/file";             // the file or folder, which the message names
inline constexpr char kNoteNoTable[] = "weft/no_table";      // a file of rows is broken in a way that shows before a row is looked for
inline constexpr char kNoteVariableAgain[] = "weft/variable_again";  // a function makes a variable in a call that is not its first
inline constexpr char kNoteUninitialized[] = "weft/uninitialized";   // a variable without a value was read
inline constexpr char kNoteUnknownOp[] = "weft/unknown_op";          // neither an op nor a function; its name
inline constexpr char kNoteSender[] = "weft/sender";                 // the task of a cluster that told of the error
inline constexpr char kNoteTarget[] = "weft/remote_target";  // the task that a call failed to reach, be it a call of the sender's; in the message
inline constexpr char kNoteTaskLost[] = "weft/task_lost";    // the task does not answer, or is another process than before
// Follows from an error elsewhere, which is the one to report. TensorFlow's key: it looks for the same note.
inline constexpr char kNoteDerived[] = "type.googleapis.com/tensorflow.DerivedStatus";

// The error with its own message as the note.
inline Status with_note(const Status& s, const char* key) { return s.with_payload(key, s.message()); }

// Null where it has none of that name.
inline const std::string* find_note(const Status& s, std::string_view key) {
  for (const auto& [name, value] : s.payloads()) {
    if (name == key) return &value;
  }
  return nullptr;
}

// The error, whose message names the node itself: who knows where it came from adds nothing.
inline Status names_node(const Status& s, std::string_view node) { return s.with_payload(kNoteNamesNode, std::string(node)); }

// The error in other words: the code, the notes and the origin stay.
inline Status reworded(const Status& s, std::string message) {
  Status out(s.code(), std::move(message));
  for (const auto& [key, value] : s.payloads()) out = out.with_payload(key, value);
  return out.with_origin(s.origin());
}

// The error as it came out of a node: named in the origin and, as TensorFlow does, at the end of the message.
inline Status at_node(const Status& s, const std::string& node) {
  if (s.ok()) return s;
  Status::Origin origin = s.origin();
  if (origin.node.empty()) origin.node = node;
  return s.with_suffix(cat("\n\t [[{{node ", node, "}}]]")).with_origin(std::move(origin));
}

}  // namespace weft_engine::core
