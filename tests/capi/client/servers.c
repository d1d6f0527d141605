// Servers: ServerDefs as text and as bytes, those that TensorFlow refuses, a server's life, and sessions on it.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "graph.h"

static TF_Server* server_of(const char* text) {
  TF_Buffer* def = NULL;
  OK(def = TFE_GetServerDef(text, s));
  TF_SetStatus(s, TF_OK, "");
  TF_Server* server = TF_NewServer(def->data, def->length, s);
  TF_DeleteBuffer(def);
  return server;
}

static TF_Session* session_on(TF_Graph* g, const char* target, TF_Code code, const char* text) {
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_SetTarget(options, target);
  TF_Session* session = NULL;
  EXPECT(code, text, session = TF_NewSession(g, options, s));
  TF_DeleteSessionOptions(options);
  return session;
}

static void end_session(TF_Session* session) {
  OK(TF_CloseSession(session, s));
  OK(TF_DeleteSession(session, s));
}

#define ONE_TASK "protocol: 'grpc' job_name: 'w' cluster { job { name: 'w' tasks { key: 0 value: 'localhost:0' } } }"

static void server_lives(void) {
  TF_Server* a = server_of(ONE_TASK);
  if (!CHECK(a != NULL)) return;
  CHECK(strncmp(TF_ServerTarget(a), "grpc://localhost:", 17) == 0);
  OK(TF_ServerStart(a, s));
  OK(TF_ServerStart(a, s));  // a second time changes nothing
  char taken[200];
  snprintf(taken, sizeof taken, "protocol: 'grpc' job_name: 'w' cluster { job { name: 'w' tasks { key: 0 value: 'localhost:%s' } } }",
           TF_ServerTarget(a) + 17);
  TF_Server* b = NULL;
  EXPECT(TF_UNKNOWN, "Could not start gRPC server", b = server_of(taken));
  CHECK(b == NULL);
  b = server_of(ONE_TASK);
  OK(TF_ServerStop(b, s));
  EXPECT(TF_FAILED_PRECONDITION, "Server has stopped.", TF_ServerStart(b, s));
  OK(TF_ServerStop(b, s));
  OK(TF_ServerJoin(b, s));
  TF_DeleteServer(b);
  b = server_of(ONE_TASK);
  OK(TF_ServerJoin(b, s));
  EXPECT(TF_FAILED_PRECONDITION, "Server has stopped.", TF_ServerStart(b, s));
  TF_DeleteServer(b);
  NULLS {  // TensorFlow's cannot stop once it runs
    OK(TF_ServerStop(a, s));
    OK(TF_ServerJoin(a, s));
    TF_DeleteServer(a);
  }
}

// v = 7 by one session is there for the next, on another graph.
static void server_keeps_state(void) {
  TF_Server* server = server_of(ONE_TASK);
  if (!CHECK(server != NULL)) return;
  OK(TF_ServerStart(server, s));
  const int32_t seven[] = {7};
  for (int round = 0; round < 2; ++round) {
    TF_Graph* g = TF_NewGraph();
    TF_OperationDescription* d = TF_NewOperation(g, "VarHandleOp", "v");
    TF_SetAttrType(d, "dtype", TF_INT32);
    TF_SetAttrShape(d, "shape", NULL, 0);
    TF_SetAttrString(d, "shared_name", "v", 1);
    TF_Operation* handle = NULL;
    OK(handle = TF_FinishOperation(d, s));
    d = TF_NewOperation(g, "ReadVariableOp", "read");
    TF_AddInput(d, out(handle, 0));
    TF_SetAttrType(d, "dtype", TF_INT32);
    TF_Operation* read = NULL;
    OK(read = TF_FinishOperation(d, s));
    TF_Operation* value = const_i(g, "seven", 0, 1, seven);
    d = TF_NewOperation(g, "AssignVariableOp", "assign");
    TF_AddInput(d, out(handle, 0));
    TF_AddInput(d, out(value, 0));
    const TF_Operation* assign = NULL;
    OK(assign = TF_FinishOperation(d, s));
    TF_Session* session = session_on(g, TF_ServerTarget(server), TF_OK, "");
    if (session) {
      if (round == 0) OK(TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, &assign, 1, NULL, s));
      TF_Output fetch = out(read, 0);
      TF_Tensor* result = NULL;
      OK(TF_SessionRun(session, NULL, NULL, NULL, 0, &fetch, &result, 1, NULL, 0, NULL, s));
      CHECK(result && *(int32_t*)TF_TensorData(result) == 7);
      TF_DeleteTensor(result);
      TF_DeviceList* devices = NULL;
      OK(devices = TF_SessionListDevices(session, s));
      if (CHECK(devices && TF_DeviceListCount(devices) >= 1))
        CHECK(strcmp(TF_DeviceListName(devices, 0, s), "/job:w/replica:0/task:0/device:CPU:0") == 0);
      TF_DeleteDeviceList(devices);
      end_session(session);
    }
    TF_DeleteGraph(g);
  }
  NULLS {
    OK(TF_ServerStop(server, s));
    TF_Graph* g = TF_NewGraph();
    session_on(g, TF_ServerTarget(server), TF_UNAVAILABLE, "has stopped");
    TF_DeleteGraph(g);
    TF_DeleteServer(server);
  }
}

// A master that nobody hears of is waited for: for ever, or as long as the config says.
static void no_server(void) {
  TF_Graph* g = TF_NewGraph();
  const int32_t one[] = {1};
  TF_Output fetch = out(const_i(g, "one", 0, 1, one), 0);
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_SetTarget(options, "grpc://localhost:1");
  OK(TF_SetConfig(options, "\x58\xc8\x01", 3, s));  // operation_timeout_in_ms: 200
  TF_Session* session = NULL;
  OK(session = TF_NewSession(g, options, s));
  TF_Tensor* result = NULL;
  EXPECT(TF_DEADLINE_EXCEEDED, "", TF_SessionRun(session, NULL, NULL, NULL, 0, &fetch, &result, 1, NULL, 0, NULL, s));
  CHECK(result == NULL);
  end_session(session);
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(g);
}

// Two tasks in one process: each node runs where its device says.
static void cluster_in_process(void) {
  static const char text[] =
      "protocol: 'grpc' job_name: '%s' cluster { job { name: 'ps' tasks { key: 0 value: 'localhost:0' } } job { name: 'worker' tasks { key: 0 value: "
      "'localhost:0' } } }";
  char def[400];
  snprintf(def, sizeof def, text, "worker");
  TF_Server* worker = server_of(def);
  if (!CHECK(worker != NULL)) return;
  OK(TF_ServerStart(worker, s));
  TF_Graph* g = TF_NewGraph();
  const int32_t three[] = {3};
  TF_Operation* a = const_i(g, "a", 0, 1, three);
  TF_Session* early = session_on(g, TF_ServerTarget(worker), TF_OK, "");
  if (early) {
    TF_Output fetch = out(a, 0);
    TF_Tensor* result = NULL;
    EXPECT(TF_UNAVAILABLE, "/job:ps/replica:0/task:0 (localhost:0)", TF_SessionRun(early, NULL, NULL, NULL, 0, &fetch, &result, 1, NULL, 0, NULL, s));
    end_session(early);
  }
  snprintf(def, sizeof def, text, "ps");
  TF_Server* ps = server_of(def);
  OK(TF_ServerStart(ps, s));
  TF_Operation* last = a;
  for (int i = 0; i < 4; ++i) {
    char name[8];
    snprintf(name, sizeof name, "n%d", i);
    TF_OperationDescription* d = TF_NewOperation(g, "AddV2", name);
    TF_AddInput(d, out(last, 0));
    TF_AddInput(d, out(a, 0));
    TF_SetDevice(d, i % 2 ? "/job:ps/task:0" : "/job:worker/task:0/device:CPU:0");
    OK(last = TF_FinishOperation(d, s));
  }
  TF_Session* session = session_on(g, TF_ServerTarget(worker), TF_OK, "");
  if (session) {
    TF_Output fetch = out(last, 0);
    TF_Tensor* result = NULL;
    OK(TF_SessionRun(session, NULL, NULL, NULL, 0, &fetch, &result, 1, NULL, 0, NULL, s));
    CHECK(result && *(int32_t*)TF_TensorData(result) == 15);
    TF_DeleteTensor(result);
    TF_DeviceList* devices = NULL;
    OK(devices = TF_SessionListDevices(session, s));
    CHECK(devices && TF_DeviceListCount(devices) == 2);
    TF_DeleteDeviceList(devices);
    end_session(session);
  }
  TF_DeleteGraph(g);
  TF_DeleteServer(ps);
  TF_DeleteServer(worker);
}

static int free_port(void) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  CHECK(bind(listener, (struct sockaddr*)&address, size) == 0);
  CHECK(getsockname(listener, (struct sockaddr*)&address, &size) == 0);
  close(listener);
  return ntohs(address.sin_port);
}

// A cluster of one task, as its coordination service sees it. The states are those that TensorFlow's
// Context.get_task_states gives in Python.
static void task_states(void) {
  static const char text[] =
      "protocol: 'grpc' job_name: 'worker' cluster { job { name: 'worker' tasks { key: 0 value: 'localhost:%d' } } }"
      "default_session_config { experimental { coordination_config { service_type: 'standalone' service_leader: '/job:worker/replica:0/task:0'"
      "  coordinated_job_list { name: 'worker' num_tasks: 1 } } } }";
  char with_port[sizeof text + 8];
  snprintf(with_port, sizeof with_port, text, free_port());
  TF_Buffer* def = NULL;
  OK(def = TFE_GetServerDef(with_port, s));
  TFE_Context* c = new_context(NULL, 0, false);
  OK(TFE_EnableCollectiveOps(c, def->data, def->length, s));
  TF_DeleteBuffer(def);
  static const char worker_0[] = "\n\n\n\006worker\020\000", worker_1[] = "\n\n\n\006worker\020\001";
  const TF_Buffer one = {worker_0, sizeof worker_0 - 1, NULL}, other = {worker_1, sizeof worker_1 - 1, NULL}, none = {NULL, 0, NULL};
  TF_Status* state = TF_NewStatus();
  TF_SetStatus(state, TF_ABORTED, "to be replaced");
  OK(TFE_GetTaskStates(c, &one, &state, s));
  CHECK(TF_GetCode(state) == TF_OK);
  OK(TFE_GetTaskStates(c, &none, NULL, s));
  EXPECT(TF_INVALID_ARGUMENT, "Unexpected task (/job:worker/replica:0/task:1) that is not in the cluster", TFE_GetTaskStates(c, &other, &state, s));
  TF_Status* missing = NULL;
  INVALID(TFE_GetTaskStates(c, &one, NULL, s));
  INVALID(TFE_GetTaskStates(c, &one, &missing, s));
  const TF_Buffer junk = {"\n\377", 2, NULL}, without_data = {NULL, 4, NULL};
  INVALID(TFE_GetTaskStates(c, &junk, &state, s));
  INVALID(TFE_GetTaskStates(c, &without_data, &state, s));
  OK(TFE_ReportErrorToCluster(c, TF_INVALID_ARGUMENT, "the task does not feel well", s));
  OK(TFE_GetTaskStates(c, &one, &state, s));
  CHECK(TF_GetCode(state) == TF_INVALID_ARGUMENT);
  CHECK(strcmp(TF_Message(state), "the task does not feel well") == 0);
  TF_DeleteStatus(state);
  TFE_DeleteContext(c);
}

void test_servers(void) {
  static const char text[] =
      "cluster { job { name: 'worker' tasks { key: 1 value: 'b:2' } tasks { key: 0 value: 'a:1' } } }\n"
      "job_name: \"worker\" task_index: 1 protocol: 'grpc'  # comment\n";
  static const char want[] = "\n\034\n\032\n\006worker\022\007\010\000\022\003a:1\022\007\010\001\022\003b:2\022\006worker\030\001*\004grpc";
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
  server_lives();
  server_keeps_state();
  no_server();
  NULLS cluster_in_process();  // with port 0 twice TensorFlow's tasks do not find each other
  NULLS task_states();         // TensorFlow's takes objects of C++ classes
  NULLS {
    INVALID(TF_ServerStart(NULL, s));
    INVALID(TF_ServerStop(NULL, s));
    INVALID(TF_ServerJoin(NULL, s));
    CHECK(strcmp(TF_ServerTarget(NULL), "") == 0);
    TF_DeleteServer(NULL);
    INVALID(TF_NewServer(NULL, 1, s));
    INVALID(def = TFE_GetServerDef(NULL, s));
    CHECK(def == NULL);
  }
}
