#include "remote/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "wire/file.h"

namespace weft_engine::remote {

using namespace weft_engine::core;

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The contents of the file that the variable names; empty where it is not set.
Result<std::string> file_of(const char* name) {
  const std::string path = variable(name);
  if (path.empty()) return std::string();
  constexpr size_t kMost = 1 << 20;
  std::string text;
  if (const Status s = wire::read_file(path, text, kMost); !s.ok()) return Status(s.code(), cat(name, ": ", s.message()));
  if (text.empty()) return invalid_argument(name, ": the file ", path, " is empty");
  return text;
}

Status read_number(const char* name, int64_t low, int64_t high, auto& out) {
  const std::string text = variable(name);
  if (text.empty()) return {};
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
    return invalid_argument(name, " must be a whole number from ", low, " to ", high, ", got '", text, "'");
  out = std::remove_reference_t<decltype(out)>(value);
  return {};
}

// A token travels in a header: printable characters without spaces.
Status read_token(std::string& token) {
  constexpr const char* kName = "WEFT_CLUSTER_TOKEN_FILE";
  WEFT_ASSIGN(token, file_of(kName));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' ')) token.pop_back();
  if (variable(kName).empty()) return {};
  constexpr size_t kShortest = 16, kLongest = 4096;
  if (token.size() < kShortest || token.size() > kLongest)
    return invalid_argument(kName, ": a token has ", kShortest, " to ", kLongest, " characters, the file has ", token.size());
  if (!std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 127; }))
    return invalid_argument(kName, ": a token is one line of printable ASCII characters without spaces");
  return {};
}

}  // namespace

Result<Settings> settings_from_environment() {
  Settings s;
  WEFT_ASSIGN(s.certificate, file_of("WEFT_TLS_CERT"));
  WEFT_ASSIGN(s.key, file_of("WEFT_TLS_KEY"));
  WEFT_ASSIGN(s.authority, file_of("WEFT_TLS_CA"));
  if (s.certificate.empty() != s.key.empty() || s.key.empty() != s.authority.empty())
    return invalid_argument(
        "WEFT_TLS_CERT, WEFT_TLS_KEY and WEFT_TLS_CA belong together: a task shows its certificate, and asks for one that the authority signed");
  s.tls_name = variable("WEFT_TLS_NAME");
  s.bind = variable("WEFT_CLUSTER_BIND");
  WEFT_RETURN_IF_ERROR(read_token(s.token));
  int64_t megabytes = -1;
  WEFT_RETURN_IF_ERROR(read_number("WEFT_CLUSTER_MAX_MESSAGE_MB", 1, 2047, megabytes));
  if (megabytes > 0) s.max_message = megabytes << 20;
  megabytes = -1;
  WEFT_RETURN_IF_ERROR(read_number("WEFT_CLUSTER_MAX_SEND_MB", 1, 4095, megabytes));
  if (megabytes > 0) s.max_send = megabytes << 20;
  WEFT_RETURN_IF_ERROR(read_number("WEFT_CLUSTER_MAX_STREAMS", 1, 1 << 30, s.max_streams));
  WEFT_RETURN_IF_ERROR(read_number("WEFT_CLUSTER_MAX_CONTEXTS", 1, 1 << 30, s.max_contexts));
  WEFT_RETURN_IF_ERROR(read_number("WEFT_CLUSTER_LOCAL_LINKS", 0, 1, s.local_links));
  return s;
}

Status too_large(size_t bytes, size_t most) {
  return resource_exhausted("a message of ", bytes, " bytes is larger than ", most,
                            " bytes, the most that is sent by gRPC (WEFT_CLUSTER_MAX_SEND_MB)");
}

const Result<Settings>& settings() {
  static const auto& read = *new Result<Settings>(settings_from_environment());
  return read;
}

}  // namespace weft_engine::remote
