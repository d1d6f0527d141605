// What stands behind TF_Session and TF_SessionOptions.
#pragma once

#include <memory>
#include <string>

#include "capi/graph_internal.h"
#include "runtime/session.h"

struct TF_SessionOptions {
  std::string target;
  weft_engine::runtime::SessionOptions options;
};

struct TF_Session {
  TF_Graph* graph = nullptr;  // kept alive by attach_session
  std::unique_ptr<weft_engine::runtime::Session> session;
};
