#include "remote/own_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/log.h"
#include "remote/local_channel.h"
#include "remote/settings.h"

namespace weft_engine::remote {
namespace {

std::string host_of(const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return host;
}

std::string in_numbers(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text) ? text : "";
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  return inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text) ? cat("[", text, "]") : "";
}

std::string listening_host(const std::string& address) {
  if (!is_loopback(address)) return "0.0.0.0";
  return address.starts_with("127.") ? host_of(address) : "127.0.0.1";
}

}  // namespace

bool is_loopback(const std::string& address) {
  const std::string host = host_of(address);
  return host.empty() || host == "localhost" || host.starts_with("127.") || host == "::1";
}

std::string address_towards(const std::string& host) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  if (getaddrinfo(host.c_str(), "9", &hints, &found) != 0) return {};
  std::string out;
  for (const addrinfo* a = found; a && out.empty(); a = a->ai_next) {
    // A datagram socket that is connected has the address of its route, without a packet.
    const int fd = socket(a->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    if (::connect(fd, a->ai_addr, a->ai_addrlen) == 0 && getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0) out = in_numbers(own);
    ::close(fd);
  }
  freeaddrinfo(found);
  return out;
}

Result<std::unique_ptr<Listener>> listen_as(const TransportApi& api, const std::string& task, const std::string& address, int port,
                                            Service& service) {
  WEFT_RETURN_IF_ERROR(settings().status());
  std::string host = settings()->bind;
  if (host.empty()) host = listening_host(address);
  if (!is_loopback(host + ":") && !settings()->tls() && settings()->token.empty())
    log(LogLevel::kWarning, cat("the server of ", task, " listens on ", host == "0.0.0.0" ? "all addresses of this machine" : host,
                                ", without encryption: whoever reaches it can run ops here"));
  return listen_with_links(service, [&](Service& s) { return api.listen(host, port, s); });
}

}  // namespace weft_engine::remote
