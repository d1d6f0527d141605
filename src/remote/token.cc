#include "remote/settings.h"

namespace weft_engine::remote {

bool same_token(std::string_view given, std::string_view token) {
  size_t different = given.size() ^ token.size();
  for (size_t i = 0; i < given.size(); ++i) different |= size_t(given[i] ^ token[i % token.size()]);
  return different == 0;
}

}  // namespace weft_engine::remote
