// Two workers, each with half of the data: they compute gradients, this process puts them together. The workers are processes that run this same
// program; on other machines `weft server` does what worker() does here.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "weft/weft.h"

constexpr int kWorkers = 2;

// Serves until it is killed; its address goes to stdout.
int worker(int task) {
  weft::Cluster cluster;
  cluster.add("worker", task, "localhost:0");  // any free port
  weft::Server server(cluster, {.job = "worker", .task = task});
  std::printf("%s\n", server.target().c_str());
  std::fflush(stdout);
  server.join();
  return 0;
}

struct Process {
  pid_t pid = -1;
  std::string address;

  explicit Process(int task) {
    int ends[2];
    if (pipe(ends)) std::abort();
    pid = fork();
    if (pid == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      const std::string number = std::to_string(task);
      execl("/proc/self/exe", "cluster", "worker", number.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    for (char c; read(ends[0], &c, 1) == 1 && c != '\n';) address += c;
    close(ends[0]);
    address.erase(0, std::string("grpc://").size());
  }
  ~Process() {
    kill(pid, SIGTERM);
    waitpid(pid, nullptr, 0);
  }
  Process(const Process&) = delete;
};

std::string device(int task) { return "/job:worker/task:" + std::to_string(task); }

int main(int argc, char** argv) {
  if (argc == 3) return worker(std::atoi(argv[2]));
  const Process first(0), second(1);
  weft::connect({{"worker", {first.address, second.address}}});
  for (const auto& d : weft::devices()) std::printf("%s\n", d.name.c_str());

  // y = 3 x + 2, each half where it is used.
  weft::Tensor x[kWorkers], y[kWorkers];
  for (int k = 0; k < kWorkers; ++k) {
    const weft::DeviceScope there(device(k));
    x[k] = weft::range(float(k), float(k) + 4.f, 0.5f) * 0.25f;
    y[k] = x[k] * 3.f + 2.f;
  }
  const auto gradients = weft::function([](weft::Tensor x, weft::Tensor y, weft::Tensor w, weft::Tensor b) {
    weft::GradientTape tape;
    tape.watch(w);
    tape.watch(b);
    const weft::Tensor loss = weft::reduce_mean(weft::square(x * w + b - y));
    auto [dw, db] = tape.gradient(loss, std::pair(w, b));
    return std::vector<weft::Tensor>{loss, dw.dense(), db.dense()};
  });

  weft::Variable w(weft::Tensor(0.f)), b(weft::Tensor(0.f));
  for (int step = 0; step < 300; ++step) {
    std::vector<weft::Tensor> parts[kWorkers];
    for (int k = 0; k < kWorkers; ++k) {  // both are on their way before the first is waited for
      const weft::DeviceScope there(device(k));
      parts[k] = gradients(x[k], y[k], w, b);
    }
    w.assign_sub((parts[0][1] + parts[1][1]) * 0.15f);
    b.assign_sub((parts[0][2] + parts[1][2]) * 0.15f);
    if (step % 100 == 0) std::printf("step %d, loss %.4f\n", step, ((parts[0][0] + parts[1][0]) * 0.5f).item<float>());
  }
  std::printf("w = %.2f, b = %.2f\n", w.value().item<float>(), b.value().item<float>());

  try {  // errors of a worker are errors here
    const weft::DeviceScope there(device(1));
    weft::matmul(weft::zeros({2, 3}), weft::zeros({2, 3})).item<float>();
  } catch (const weft::Error& e) {
    std::printf("error %d: %s\n", int(e.code()), e.what());
  }
}
