// Servers: ServerDefs as text and as bytes, and those that TensorFlow refuses.
#include "check.h"

static TF_Server* server_of(const char* text) {
  TF_Buffer* def = NULL;
  OK(def = TFE_GetServerDef(text, s));
  TF_SetStatus(s, TF_OK, "");
  TF_Server* server = TF_NewServer(def->data, def->length, s);
  TF_DeleteBuffer(def);
  return server;
}

void test_servers(void) {
  static const char text[] =
      "cluster { job { name: 'worker' tasks { key: 1 value: 'b:2' } tasks { key: 0 value: 'a:1' } } }\n"
      "job_name: \"worker\" task_index: 1 protocol: 'grpc'  # comment\n";
  static const char want[] =
      "\n\034\n\032\n\006worker\022\007\010\000\022\003a:1\022\007\010\001\022\003b:2\022\006worker\030\001*\004grpc";
  TF_Buffer* def = NULL;
  OK(def = TFE_GetServerDef(text, s));
  if (CHECK(def != NULL)) CHECK(def->length == sizeof want - 1 && memcmp(def->data, want, def->length) == 0);
  TF_DeleteBuffer(def);
  OK(def = TFE_GetServerDef("", s));
  if (CHECK(def != NULL)) CHECK(def->length == 0);
  TF_DeleteBuffer(def);
  EXPECT(TF_INTERNAL, "Invalid text proto for ServerDef: job_name: 1", def = TFE_GetServerDef("job_name: 1", s));
  CHECK(def == NULL);

  TF_Server* server = NULL;
  INVALID(server = TF_NewServer("\377", 1, s));
  static const struct {
    TF_Code code;
    const char *message, *def;
  } wrong[] = {
      {TF_NOT_FOUND, "No server factory registered for the given ServerDef: ", ""},
      {TF_NOT_FOUND, "protocol: \"foo\"\n\nThe available server factories are: [ GRPC_SERVER ]", "protocol: 'foo'"},
      {TF_INTERNAL, "Job \"\" was not defined in cluster", "protocol: 'grpc'"},
      {TF_INTERNAL, "Job \"w\" was not defined in cluster", "protocol: 'grpc' job_name: 'w' cluster { job { name: 'v' } }"},
      {TF_INTERNAL, "Task 0 was not defined in job \"w\"", "protocol: 'grpc' job_name: 'w' cluster { job { name: 'w' } }"},
      {TF_INTERNAL, "Task -1 was not defined in job \"w\"",
       "protocol: 'grpc' job_name: 'w' task_index: -1 cluster { job { name: 'w' tasks { key: 0 value: 'localhost:0' } } }"},
      {TF_INVALID_ARGUMENT, "Could not parse port for local server from \"localhost:bad\".",
       "protocol: 'grpc' job_name: 'w' cluster { job { name: 'w' tasks { key: 0 value: 'localhost:bad' } } }"},
      {TF_INVALID_ARGUMENT, "Could not parse port for local server from \"localhost\".",
       "protocol: 'grpc' job_name: 'w' cluster { job { name: 'w' tasks { key: 0 value: 'localhost' } } }"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    EXPECT(wrong[i].code, wrong[i].message, server = server_of(wrong[i].def));
    CHECK(server == NULL);
  }
  NULLS {  // TensorFlow starts one here; there is no network yet
    EXPECT(TF_UNIMPLEMENTED, "remote execution",
           server = server_of("protocol: 'grpc' job_name: 'w' cluster { job { name: 'w' tasks { key: 0 value: 'localhost:0' } } }"));
    CHECK(server == NULL);
    EXPECT(TF_UNIMPLEMENTED, "", TF_ServerStart(NULL, s));
    EXPECT(TF_UNIMPLEMENTED, "", TF_ServerStop(NULL, s));
    EXPECT(TF_UNIMPLEMENTED, "", TF_ServerJoin(NULL, s));
    CHECK(strcmp(TF_ServerTarget(NULL), "") == 0);
    TF_DeleteServer(NULL);
    INVALID(TF_NewServer(NULL, 1, s));
    INVALID(def = TFE_GetServerDef(NULL, s));
    CHECK(def == NULL);
  }
}
