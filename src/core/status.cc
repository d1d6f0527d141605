#include "core/status.h"

namespace weft_engine::core {

const char* code_name(Code code) {
  static constexpr const char* kNames[] = {"OK",       "Cancelled",      "Unknown",          "InvalidArgument",   "DeadlineExceeded",
                                           "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
                                           "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
                                           "DataLoss", "Unauthenticated"};
  auto i = static_cast<unsigned>(code);
  return i < std::size(kNames) ? kNames[i] : "Unknown";
}

Status::Status(Code code, std::string message) {
  if (code != Code::kOk) rep_ = std::make_shared<const Rep>(Rep{code, std::move(message), {}, {}});
}

const std::string& Status::message() const {
  static const auto& kEmpty = *new std::string;
  return rep_ ? rep_->message : kEmpty;
}

std::string Status::to_string() const { return ok() ? "OK" : cat(code_name(code()), ": ", message()); }

Status Status::with_suffix(std::string_view suffix) const {
  if (ok()) return *this;
  Rep rep = *rep_;
  rep.message += suffix;
  return Status(std::make_shared<const Rep>(std::move(rep)));
}

const Status::Origin& Status::origin() const {
  static const auto& kUnknown = *new Origin;
  return rep_ ? rep_->origin : kUnknown;
}

Status Status::with_origin(Origin origin) const {
  if (ok()) return *this;
  Rep rep = *rep_;
  rep.origin = std::move(origin);
  return Status(std::make_shared<const Rep>(std::move(rep)));
}

const Status::Payloads& Status::payloads() const {
  static const auto& kNone = *new Payloads;
  return rep_ ? rep_->payloads : kNone;
}

Status Status::with_payload(std::string key, std::string value) const {
  if (ok()) return *this;
  Rep rep = *rep_;
  for (auto& p : rep.payloads) {
    if (p.first == key) {
      p.second = std::move(value);
      return Status(std::make_shared<const Rep>(std::move(rep)));
    }
  }
  rep.payloads.emplace_back(std::move(key), std::move(value));
  return Status(std::make_shared<const Rep>(std::move(rep)));
}

}  // namespace weft_engine::core
