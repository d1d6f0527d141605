// weft launch: the tasks of a cluster as processes of this machine, each told by TF_CONFIG which one it is.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <utility>

#include "cli/commands.h"
#include "weft/cluster.h"

namespace weft::cli {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void system_error(const std::string& what) { throw Error(Code::kInternal, what + ": " + std::strerror(errno)); }

// Free now; nobody is kept from taking one before its task does.
std::vector<int> free_ports(size_t count) {
  std::vector<int> sockets, ports;
  for (size_t i = 0; i < count; ++i) {
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    if (s < 0 || bind(s, reinterpret_cast<sockaddr*>(&a), size) || getsockname(s, reinterpret_cast<sockaddr*>(&a), &size))
      system_error("no free port");
    sockets.push_back(s);
    ports.push_back(ntohs(a.sin_port));
  }
  for (const int s : sockets) close(s);
  return ports;
}

// A secret of this job alone, in a file that goes away with it.
class TokenFile {
 public:
  TokenFile() {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder && *folder ? folder : "/tmp") + "/weft_token_XXXXXX";
    const int fd = mkstemp(path_.data());  // readable by this user alone
    unsigned char bytes[32];
    std::string text;
    if (fd < 0 || getrandom(bytes, sizeof bytes, 0) != sizeof bytes) system_error("no token for the job");
    for (const unsigned char b : bytes) text += "0123456789abcdef"[b >> 4], text += "0123456789abcdef"[b & 15];
    const bool written = write(fd, text.data(), text.size()) == ssize_t(text.size());
    close(fd);
    if (!written) system_error("cannot write " + path_);
  }
  ~TokenFile() { unlink(path_.c_str()); }
  TokenFile(const TokenFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Task {
  std::string name, prefix;  // "worker 0", "[worker 0] "
  bool serves = false;       // it is ended when the others are done
  pid_t pid = -1;
  bool running = false;
  struct Output {
    int from = -1;  // the pipe
    int to = STDOUT_FILENO;
    std::string line;
  } outputs[2];
  std::ofstream log;
};

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // nobody reads any more
    text.remove_prefix(size_t(n));
  }
}

class Launcher {
 public:
  Launcher(const LaunchArgs& args) : args_(args) {
    sigset_t own;
    sigemptyset(&own);
    for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&own, s);
    sigprocmask(SIG_BLOCK, &own, &before_);
    std::signal(SIGPIPE, SIG_IGN);
    signals_ = signalfd(-1, &own, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals_ < 0) system_error("signals");
  }
  ~Launcher() {
    for (Task& t : tasks_) {
      if (t.running) kill(-t.pid, SIGKILL);
    }
    close(signals_);
  }

  int run() {
    if (args_.secure) {
      token_ = std::make_unique<TokenFile>();
      setenv("WEFT_CLUSTER_TOKEN_FILE", token_->path().c_str(), 1);
    }
    plan();
    for (size_t i = 0; i < tasks_.size(); ++i) start(tasks_[i], configs_[i]);
    while (any_running()) step(-1);
    while (any_open() && step(0)) continue;  // what a process outside of the groups still writes is not waited for
    for (Task& t : tasks_) {
      for (auto& o : t.outputs) flush(t, o);
    }
    return status_;
  }

 private:
  void plan() {
    std::vector<std::pair<std::string, int>> all;  // job and number
    if (args_.chief) all.emplace_back("chief", 0);
    for (int i = 0; i < args_.count; ++i) all.emplace_back(args_.job, i);
    for (int i = 0; i < args_.ps; ++i) all.emplace_back("ps", i);
    const std::vector<int> ports = free_ports(all.size());
    Cluster cluster;
    size_t width = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      cluster.add(all[i].first, all[i].second, "localhost:" + std::to_string(ports[i]));
      width = std::max(width, all[i].first.size() + 1 + std::to_string(all[i].second).size());
    }
    const bool colours = isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR");
    if (!args_.log_dir.empty()) std::filesystem::create_directories(args_.log_dir);
    for (const auto& [job, number] : all) {
      Task& t = tasks_.emplace_back();
      t.name = job + " " + std::to_string(number);
      t.serves = args_.chief ? job != "chief" : job == "ps";
      t.prefix = "[" + t.name + "]" + std::string(width - t.name.size() + 1, ' ');
      constexpr int kColours[] = {36, 33, 35, 32, 34, 31, 96, 93, 95, 92, 94, 91};
      if (colours) t.prefix = "\033[" + std::to_string(kColours[(tasks_.size() - 1) % std::size(kColours)]) + "m" + t.prefix + "\033[0m";
      if (!args_.log_dir.empty()) {
        const std::string path = args_.log_dir + "/" + job + "-" + std::to_string(number) + ".log";
        t.log.open(path, std::ios::binary);
        if (!t.log) throw Error(Code::kPermissionDenied, "cannot write " + path);
      }
      cluster.job = job;
      cluster.task = number;
      configs_.push_back(cluster.to_json());
    }
  }

  void start(Task& t, const std::string& config) {
    int ends[2][2];
    for (auto& e : ends) {
      if (pipe2(e, O_CLOEXEC)) system_error("a pipe");
    }
    const pid_t parent = getpid();
    std::cout.flush();
    t.pid = fork();
    if (t.pid < 0) system_error("cannot start another process");
    if (t.pid == 0) {
      setpgid(0, 0);  // a group of its own: what it starts ends with it
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != parent) _exit(1);
      setenv("TF_CONFIG", config.c_str(), 1);
      setenv("PYTHONUNBUFFERED", "1", 0);  // lines appear when they are printed
      const int nothing = open("/dev/null", O_RDONLY);
      dup2(nothing, STDIN_FILENO);
      dup2(ends[0][1], STDOUT_FILENO);
      dup2(ends[1][1], STDERR_FILENO);
      std::signal(SIGPIPE, SIG_DFL);
      sigprocmask(SIG_SETMASK, &before_, nullptr);
      std::vector<char*> argv;
      for (const std::string& a : args_.program) argv.push_back(const_cast<char*>(a.c_str()));
      argv.push_back(nullptr);
      execvp(argv[0], argv.data());
      const std::string text = "weft launch: cannot start '" + args_.program[0] + "': " + std::strerror(errno) + "\n";
      write_all(STDERR_FILENO, text);
      _exit(127);
    }
    setpgid(t.pid, t.pid);
    t.running = true;
    for (int i = 0; i < 2; ++i) {
      close(ends[i][1]);
      fcntl(ends[i][0], F_SETFL, O_NONBLOCK);
      t.outputs[i].from = ends[i][0];
      t.outputs[i].to = i ? STDERR_FILENO : STDOUT_FILENO;
    }
  }

  // Waits for whatever happens next, or takes what is there already (0); false: nothing.
  bool step(int most) {
    std::vector<pollfd> fds = {{signals_, POLLIN, 0}};
    std::vector<std::pair<Task*, Task::Output*>> places = {{}};
    for (Task& t : tasks_) {
      for (auto& o : t.outputs) {
        if (o.from < 0) continue;
        fds.push_back({o.from, POLLIN, 0});
        places.emplace_back(&t, &o);
      }
    }
    int wait = !ending_ || killed_
                   ? 1000
                   : int(std::max<int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count()) + 1);
    if (most == 0) wait = 0;
    const int ready = poll(fds.data(), fds.size(), wait);
    if (ready < 0 && errno != EINTR) system_error("waiting for tasks");
    for (size_t i = 1; i < fds.size(); ++i) {
      if (fds[i].revents) read(*places[i].first, *places[i].second);
    }
    if (fds[0].revents) take_signals();
    if (ending_ && !killed_ && Clock::now() >= deadline_) {
      tell("weft launch: some tasks did not end within " + std::to_string(args_.grace) + " s and are killed");
      kill_all();
    }
    return ready > 0;
  }

  void read(Task& t, Task::Output& o) {
    char buffer[65536];
    const ssize_t n = ::read(o.from, buffer, sizeof buffer);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      flush(t, o);
      close(std::exchange(o.from, -1));
      return;
    }
    if (t.log.is_open()) t.log.write(buffer, n).flush();
    o.line.append(buffer, size_t(n));
    std::string out;
    size_t from = 0;
    for (size_t end; (end = o.line.find('\n', from)) != o.line.npos; from = end + 1) out += t.prefix + o.line.substr(from, end + 1 - from);
    o.line.erase(0, from);
    constexpr size_t kLongest = 1 << 20;
    if (o.line.size() > kLongest) {
      out += t.prefix + o.line + "\n";
      o.line.clear();
    }
    write_all(o.to, out);
  }
  void flush(Task& t, Task::Output& o) {
    if (o.line.empty()) return;
    write_all(o.to, t.prefix + o.line + "\n");
    o.line.clear();
  }

  void take_signals() {
    signalfd_siginfo info;
    while (::read(signals_, &info, sizeof info) == sizeof info) {
      const int signal = int(info.ssi_signo);
      if (signal == SIGCHLD) {
        reap();
      } else if (ending_) {
        kill_all();  // asked for twice
      } else {
        status_ = 128 + signal;
        end_all(signal);
      }
    }
  }

  void reap() {
    for (Task& t : tasks_) {
      int status = 0;
      siginfo_t ended{};
      if (!t.running || waitid(P_PID, id_t(t.pid), &ended, WEXITED | WNOHANG | WNOWAIT) || ended.si_pid != t.pid) continue;
      kill(-t.pid, SIGKILL);  // what it started and left, while the number of the group is still its own
      waitpid(t.pid, &status, 0);
      t.running = false;
      if (ending_ || status == 0) continue;
      const bool by_signal = WIFSIGNALED(status);
      status_ = by_signal ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      tell("weft launch: " + t.name +
           (by_signal ? std::string(" was killed by signal ") + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")"
                      : " ended with exit status " + std::to_string(status_)) +
           (any_running() ? "; the other tasks are ended" : ""));
      end_all(SIGTERM);
    }
    if (ending_) return;
    // Servers go on for ever: they end when those are done that they serve.
    for (const Task& t : tasks_) {
      if (t.running && !t.serves) return;
    }
    end_all(SIGTERM);
  }

  void end_all(int signal) {
    ending_ = true;
    deadline_ = Clock::now() + std::chrono::seconds(args_.grace);
    for (Task& t : tasks_) {
      if (t.running) kill(-t.pid, signal);
    }
  }
  void kill_all() {
    killed_ = true;
    for (Task& t : tasks_) {
      if (t.running) kill(-t.pid, SIGKILL);
    }
  }
  void tell(const std::string& text) { write_all(STDERR_FILENO, text + "\n"); }
  bool any_running() const {
    return std::any_of(tasks_.begin(), tasks_.end(), [](const Task& t) { return t.running; });
  }
  bool any_open() const {
    return std::any_of(tasks_.begin(), tasks_.end(), [](const Task& t) { return t.outputs[0].from >= 0 || t.outputs[1].from >= 0; });
  }

  const LaunchArgs& args_;
  std::unique_ptr<TokenFile> token_;
  std::vector<Task> tasks_;
  std::vector<std::string> configs_;
  sigset_t before_;
  int signals_ = -1, status_ = 0;
  bool ending_ = false, killed_ = false;
  Clock::time_point deadline_;
};

}  // namespace

int launch(const LaunchArgs& args) {
  if (args.program.empty()) throw Error(Code::kInvalidArgument, "launch: what to run is missing: weft launch -n 2 python train.py");
  if (args.count + args.ps + args.chief == 0) throw Error(Code::kInvalidArgument, "launch: no task at all (-n, --ps, --chief)");
  if (args.job == "ps" || (args.chief && args.job == "chief"))
    throw Error(Code::kInvalidArgument, "launch: --job " + args.job + " is the name of another job here");
  return Launcher(args).run();
}

}  // namespace weft::cli
