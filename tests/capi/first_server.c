// A program whose first call makes a server.
#include <stdio.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

// A ServerDef: job 'w' with task 0 at localhost:0, job_name 'w', protocol 'grpc'.
static const char kDef[] = "\x0a\x16\x0a\x14\x0a\x01w\x12\x0f\x08\x00\x12\x0blocalhost:0\x12\x01w\x2a\x04grpc";

int main(void) {
  TF_Status* s = TF_NewStatus();
  TF_Server* server = TF_NewServer(kDef, sizeof kDef - 1, s);
  if (TF_GetCode(s) != TF_OK || !server || strncmp(TF_ServerTarget(server), "grpc://localhost:", 17) != 0) {
    printf("%d %s\n", TF_GetCode(s), TF_Message(s));
    return 1;
  }
  TF_DeleteServer(server);
  TF_DeleteStatus(s);
  return 0;
}
