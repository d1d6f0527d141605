// What clients that mean well send to the services of a cluster, with the ids that a server gave them: fuzz.cc changes it.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/status.h"

namespace weft_fuzz {

using Seed = std::pair<std::string, std::string>;  // method, message
using Ask = std::function<weft_engine::core::Result<std::string>(const std::string& method, const std::string& message)>;

struct Service {
  const char* name;
  const char* server;  // "weft": the command; else what this program serves itself
  bool second_address = false;
  // Seeds for a while: makes what they name on the server first. `number` differs from call to call.
  std::vector<Seed> (*seeds)(const Ask& ask, uint64_t number);
};
const std::vector<Service>& services();

// A message of no known type that is well formed for the most part.
std::string any_message(std::mt19937_64& r, int depth = 0);

// Serves "coordination" or "data" until it is killed, and says where: "at ADDRESS,SECOND,".
int serve(const std::string& what);

}  // namespace weft_fuzz
