// What this process shows of itself to others in clusters, and what it asks of them: certificates, a shared token, limits. From the environment, read once;
// all servers and connections of the process use it. docs/clusters.md lists the variables.
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"

namespace weft_engine::remote {

struct Settings {
  // The contents of PEM files; all three or none. With them every connection is TLS, and both sides must show a certificate that the authority signed.
  std::string certificate, key, authority;
  std::string tls_name;  // what the certificates of servers are for, where it is not the host of their address
  std::string token;  // calls without it are refused; empty: none is asked for
  std::string bind;  // what servers listen on; empty: their own address in the cluster decides
  int64_t max_message = -1;  // bytes of a request; -1: as many as gRPC takes
  int64_t max_send = UINT32_MAX;  // bytes of a message that goes by gRPC, which counts them in 32 bits
  int max_streams = 0;  // calls of one connection at a time; 0: any number
  int max_contexts = 1024;  // clients that a server keeps state for
  bool local_links = true;  // Unix sockets between tasks of one machine

  bool tls() const { return !certificate.empty(); }
};

// InvalidArgument, NotFound and so on name the variable that is wrong.
core::Result<Settings> settings_from_environment();
// The same, read at the first use of a cluster.
const core::Result<Settings>& settings();

// ResourceExhausted for a message of so many bytes that is not sent.
core::Status too_large(size_t bytes, size_t most);

// Whether `given` is the token, in a time that does not depend on where they differ.
bool same_token(std::string_view given, std::string_view token);

}  // namespace weft_engine::remote
