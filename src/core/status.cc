#include "core/status.h"

#include <atomic>

namespace weft_engine::core {

const char* code_name(Code code) {
  static constexpr const char* kNames[] = {"OK",       "Cancelled",      "Unknown",          "InvalidArgument",   "DeadlineExceeded",
                                           "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
                                           "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
                                           "DataLoss", "Unauthenticated"};
  auto i = static_cast<unsigned>(code);
  return i < std::size(kNames) ? kNames[i] : "Unknown";
}

struct Status::Rep {
  Code code;
  std::string message;
  Payloads payloads{};
  Origin origin{};
  mutable std::atomic<int64_t> holders{1};

  Rep(Code c, std::string text) : code(c), message(std::move(text)) {}
  Rep(const Rep& other) : code(other.code), message(other.message), payloads(other.payloads), origin(other.origin) {}
};

Status::Status(Code code, std::string message) {
  if (code != Code::kOk) rep_ = new Rep(code, std::move(message));
}

void Status::keep(const Rep* rep) { rep->holders.fetch_add(1, std::memory_order_relaxed); }

void Status::release(const Rep* rep) {
  if (rep->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete rep;
}

Status make_error(Code code, const char* kinds, const uintptr_t* words) { return Status(code, cat_words(kinds, words)); }

Status missing_value() { return internal_error("a result has neither a value nor an error"); }

Code Status::code() const { return rep_ ? rep_->code : Code::kOk; }

const std::string& Status::message() const {
  static const auto& kEmpty = *new std::string;
  return rep_ ? rep_->message : kEmpty;
}

std::string Status::to_string() const { return ok() ? "OK" : cat(code_name(code()), ": ", message()); }

Status Status::with_suffix(std::string_view suffix) const {
  if (ok()) return *this;
  auto rep = std::make_unique<Rep>(*rep_);
  rep->message += suffix;
  return Status(rep.release());
}

const Status::Origin& Status::origin() const {
  static const auto& kUnknown = *new Origin;
  return rep_ ? rep_->origin : kUnknown;
}

Status Status::with_origin(Origin origin) const {
  if (ok()) return *this;
  auto rep = std::make_unique<Rep>(*rep_);
  rep->origin = std::move(origin);
  return Status(rep.release());
}

const Status::Payloads& Status::payloads() const {
  static const auto& kNone = *new Payloads;
  return rep_ ? rep_->payloads : kNone;
}

Status Status::with_payload(std::string key, std::string value) const {
  if (ok()) return *this;
  auto rep = std::make_unique<Rep>(*rep_);
  for (auto& p : rep->payloads) {
    if (p.first == key) {
      p.second = std::move(value);
      return Status(rep.release());
    }
  }
  rep->payloads.emplace_back(std::move(key), std::move(value));
  return Status(rep.release());
}

}  // namespace weft_engine::core
