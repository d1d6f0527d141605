// Which address of this machine a task listens on, and by which one others reach it.
#pragma once

#include <string>

#include "remote/transport.h"

namespace weft_engine::remote {

// Whether "host:port" is on this machine's loopback interface.
bool is_loopback(const std::string& address);

// The address of the interface by which packets for `host` leave this machine, in numbers (IPv6: in brackets); empty where there is no way to it.
// Nothing is sent.
std::string address_towards(const std::string& host);

// Listens for a task whose own address is "host:port": on loopback where the host is, else on all addresses of the machine, with a line in the log.
// WEFT_CLUSTER_BIND names another one.
Result<std::unique_ptr<Listener>> listen_as(const TransportApi& api, const std::string& task, const std::string& address, int port, Service& service);

}  // namespace weft_engine::remote
