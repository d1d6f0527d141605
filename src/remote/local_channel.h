// Channels and listeners between processes of one machine: a server offers a link (call_link.h) to those that reach it by gRPC, and their calls take that from then on.
#pragma once

#include "remote/transport.h"

namespace weft_engine::remote {

// The same connection, over a link where the other side offers one. It is asked at the first call, and again when a link has broken; until it has answered, and where there is none, and for calls
// with a deadline or that wait for a server, the first way is taken.
std::shared_ptr<Channel> with_link(std::shared_ptr<Channel> channel);

// What `listen` makes, for a service that offers links besides.
Result<std::unique_ptr<Listener>> listen_with_links(Service& service, const std::function<Result<std::unique_ptr<Listener>>(Service&)>& listen);

}  // namespace weft_engine::remote
