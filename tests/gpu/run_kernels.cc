// Runs the files of `play compiled --gpu --save` and `play kernels` on a GPU: loads each PTX, runs its launches, compares the results with those that
// the files hold, or times them. One file, CUDA's driver interface alone:
//
//   g++ -O2 -std=c++20 run_kernels.cc -o run_kernels -I/usr/local/cuda/include -lcuda && ./run_kernels FOLDER
#include <cuda.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string text_of(CUresult r) {
  const char* s = nullptr;
  cuGetErrorString(r, &s);
  return s ? s : std::to_string(int(r));
}

#define TRY(x)                                                           \
  do {                                                                   \
    const CUresult r_ = (x);                                             \
    if (r_ != CUDA_SUCCESS) return std::string(#x) + ": " + text_of(r_); \
  } while (0)

struct Arg {
  int kind = 0;
  int64_t value = 0;
};
struct Launch {
  std::string kind, entry;
  int64_t blocks = 0, threads = 0, bytes = 0;
  std::vector<Arg> args;
  std::vector<std::vector<Launch>> regions;
};
struct Buffer {
  int64_t bytes = 0, data = -1;
  std::string type;
  CUdeviceptr p = 0;
};
struct Case {
  std::string name, ptx;
  int64_t arena = 0;
  double bytes = 0, flops = 0;
  std::vector<Buffer> parameters, results, constants;
  std::vector<Launch> launches;
  CUdeviceptr memory = 0, error = 0;
  CUmodule module = nullptr;
  std::map<std::string, CUfunction> functions;
};

std::vector<Launch> read_launches(std::istream& in, const std::string& until) {
  std::vector<Launch> out;
  std::string word;
  while (in >> word && word != until) {
    Launch l;
    l.kind = word;
    size_t regions = 0, args = 0;
    if (word == "kernel") in >> l.entry >> l.blocks >> l.threads;
    else if (word == "copy" || word == "fill") in >> l.bytes;
    else in >> regions;
    in >> args;
    l.args.resize(args);
    for (Arg& a : l.args) in >> a.kind >> a.value;
    for (size_t k = 0; k < regions; ++k) l.regions.push_back(read_launches(in, "end"));
    out.push_back(std::move(l));
  }
  return out;
}

uint64_t value(const Case& c, const Arg& a) {
  switch (a.kind) {
    case 0: return c.parameters[size_t(a.value)].p;
    case 1: return c.results[size_t(a.value)].p;
    case 2: return c.constants[size_t(a.value)].p;
    case 3: return c.memory + uint64_t(a.value);
    case 5: return c.error;
    default: return uint64_t(a.value);
  }
}

std::string run(Case& c, const std::vector<Launch>& launches) {
  for (const Launch& l : launches) {
    if (l.kind == "kernel") {
      if (l.blocks <= 0) continue;
      CUfunction& f = c.functions[l.entry];
      if (!f) TRY(cuModuleGetFunction(&f, c.module, l.entry.c_str()));
      std::vector<uint64_t> values;
      for (const Arg& a : l.args) values.push_back(value(c, a));
      std::vector<void*> args;
      for (uint64_t& v : values) args.push_back(&v);
      TRY(cuLaunchKernel(f, unsigned(l.blocks), 1, 1, unsigned(l.threads), 1, 1, 0, nullptr, args.data(), nullptr));
    } else if (l.kind == "copy") {
      if (l.bytes > 0) TRY(cuMemcpyDtoDAsync(value(c, l.args[0]), value(c, l.args[1]), size_t(l.bytes), nullptr));
    } else if (l.kind == "fill") {
      if (l.bytes > 0) TRY(cuMemsetD8Async(value(c, l.args[0]), 0, size_t(l.bytes), nullptr));
    } else if (l.kind == "while") {
      for (;;) {
        if (const std::string s = run(c, l.regions[0]); !s.empty()) return s;
        uint8_t go = 0;
        TRY(cuMemcpyDtoH(&go, value(c, l.args[0]), 1));
        if (!go) break;
        if (const std::string s = run(c, l.regions[1]); !s.empty()) return s;
      }
    } else {
      int32_t which = 0;
      TRY(cuMemcpyDtoH(&which, value(c, l.args[0]), 4));
      if (const std::string s = run(c, l.regions.at(size_t(which))); !s.empty()) return s;
    }
  }
  return "";
}

double number(const std::string& type, const char* p, size_t k) {
  const auto as = [&](auto tag) {
    std::memcpy(&tag, p + k * sizeof tag, sizeof tag);
    return double(tag);
  };
  if (type == "float") return as(float());
  if (type == "double") return as(double());
  if (type == "half" || type == "float16") {
    uint16_t h;
    std::memcpy(&h, p + 2 * k, 2);
    const int e = h >> 10 & 31, m = h & 1023;
    const double v = e == 31 ? (m ? NAN : INFINITY) : e ? std::ldexp(1024 + m, e - 25) : std::ldexp(m, -24);
    return h >> 15 ? -v : v;
  }
  if (type == "bfloat16") {
    uint16_t h;
    std::memcpy(&h, p + 2 * k, 2);
    const uint32_t bits = uint32_t(h) << 16;
    float f;
    std::memcpy(&f, &bits, 4);
    return f;
  }
  if (type == "int64" || type == "uint64") return as(int64_t());
  if (type == "int32") return as(int32_t());
  if (type == "uint32") return as(uint32_t());
  if (type == "int16") return as(int16_t());
  if (type == "uint16") return as(uint16_t());
  if (type == "int8") return as(int8_t());
  return as(uint8_t());
}

size_t size_of(const std::string& type) {
  if (type == "double" || type == "int64" || type == "uint64") return 8;
  if (type == "float" || type == "int32" || type == "uint32") return 4;
  if (type == "half" || type == "float16" || type == "bfloat16" || type == "int16" || type == "uint16") return 2;
  return 1;
}

std::string prepare(Case& c, const std::string& folder, const std::string& data) {
  std::ifstream in(folder + "/" + c.ptx);
  std::stringstream ptx;
  ptx << in.rdbuf();
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  if (cuModuleLoadDataEx(&c.module, ptx.str().c_str(), 2, options, values) != CUDA_SUCCESS) return std::string("load: ") + log;
  TRY(cuMemAlloc(&c.memory, size_t(c.arena) + 256));
  TRY(cuMemsetD8(c.memory, 0x7f, size_t(c.arena) + 256));
  TRY(cuMemAlloc(&c.error, 4));
  TRY(cuMemsetD8(c.error, 0, 4));
  for (auto* list : {&c.parameters, &c.results, &c.constants}) {
    for (Buffer& b : *list) {
      TRY(cuMemAlloc(&b.p, size_t(b.bytes) + 16));
      if (list != &c.results && b.data >= 0) TRY(cuMemcpyHtoD(b.p, data.data() + b.data, size_t(b.bytes)));
      else TRY(cuMemsetD8(b.p, list == &c.results ? 0x5a : 0, size_t(b.bytes) + 16));
    }
  }
  return "";
}

void release(Case& c) {
  for (auto* list : {&c.parameters, &c.results, &c.constants}) {
    for (Buffer& b : *list) cuMemFree(b.p);
  }
  cuMemFree(c.memory), cuMemFree(c.error);
  if (c.module) cuModuleUnload(c.module);
}

std::string compare(const Case& c, const std::string& data) {
  int32_t error = 0;
  TRY(cuMemcpyDtoH(&error, c.error, 4));
  if (error) return "error word " + std::to_string(error);
  for (size_t r = 0; r < c.results.size(); ++r) {
    const Buffer& b = c.results[r];
    if (b.data < 0) continue;
    std::vector<char> got(size_t(b.bytes) + 16);
    TRY(cuMemcpyDtoH(got.data(), b.p, got.size()));
    for (size_t k = size_t(b.bytes); k < got.size(); ++k) {
      if (got[k] != 0x5a) return "wrote behind result " + std::to_string(r);
    }
    const size_t n = size_t(b.bytes) / size_of(b.type);
    const bool real = b.type == "float" || b.type == "double" || b.type == "half" || b.type == "float16" || b.type == "bfloat16";
    const double tolerance = !real ? 0 : b.type == "double" ? 1e-12 : b.type == "float" ? 2e-5 : 2e-2;
    for (size_t k = 0; k < n; ++k) {
      const double x = number(b.type, got.data(), k), y = number(b.type, data.data() + b.data, k);
      if ((std::isnan(x) && std::isnan(y)) || x == y || std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(y))) continue;
      char line[160];
      std::snprintf(line, sizeof line, "result %zu element %zu of %zu: %g instead of %g", r, k, n, x, y);
      return line;
    }
  }
  return "";
}

std::string time_it(Case& c, double* seconds) {
  CUevent begin, end;
  TRY(cuEventCreate(&begin, 0));
  TRY(cuEventCreate(&end, 0));
  for (int k = 0; k < 3; ++k) {
    if (const std::string s = run(c, c.launches); !s.empty()) return s;
  }
  float best = 1e30f;
  for (int k = 0; k < 10; ++k) {
    TRY(cuEventRecord(begin, nullptr));
    if (const std::string s = run(c, c.launches); !s.empty()) return s;
    TRY(cuEventRecord(end, nullptr));
    TRY(cuEventSynchronize(end));
    float ms = 0;
    TRY(cuEventElapsedTime(&ms, begin, end));
    best = std::min(best, ms);
  }
  *seconds = best * 1e-3;
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "run_kernels FOLDER\n"), 2;
  CUdevice device;
  CUcontext context;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS) return std::printf("skipped: no GPU\n"), 77;
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  const std::string folder = argv[1];
  std::ifstream in(folder + "/cases.txt"), bytes(folder + "/data.bin", std::ios::binary);
  std::stringstream all;
  all << bytes.rdbuf();
  const std::string data = all.str();
  int good = 0, bad = 0;
  std::string word;
  while (in >> word) {
    Case c;
    in >> c.name >> c.ptx >> c.arena >> c.bytes >> c.flops;
    bool loaded = false;
    for (;;) {
      const auto at = in.tellg();
      if (!(in >> word)) break;
      Buffer b;
      if (word == "parameter") in >> b.bytes >> b.data, c.parameters.push_back(b);
      else if (word == "result") in >> b.bytes >> b.type >> b.data, c.results.push_back(b);
      else if (word == "constant") in >> b.bytes >> b.data, c.constants.push_back(b);
      else {
        in.seekg(at);
        loaded = true;
        break;
      }
    }
    if (!loaded) break;
    c.launches = read_launches(in, "done");
    std::string problem = prepare(c, folder, data);
    if (problem.empty() && c.bytes + c.flops > 0) {
      double s = 0;
      problem = time_it(c, &s);
      if (problem.empty() && c.bytes > 0) std::printf("%-18s %9.1f us  %7.1f GB/s\n", c.name.c_str(), s * 1e6, c.bytes / s * 1e-9);
      else if (problem.empty()) std::printf("%-18s %9.1f us  %7.2f TFLOP/s\n", c.name.c_str(), s * 1e6, c.flops / s * 1e-12);
    } else if (problem.empty()) {
      problem = run(c, c.launches);
      if (problem.empty() && cuCtxSynchronize() != CUDA_SUCCESS) problem = "the context is lost";
      if (problem.empty()) problem = compare(c, data);
    }
    (problem.empty() ? good : bad)++;
    if (!problem.empty()) std::printf("WRONG %s (%s): %s\n", c.name.c_str(), c.ptx.c_str(), problem.c_str());
    std::fflush(stdout);
    if (problem == "the context is lost" || problem.find("illegal") != std::string::npos) break;
    release(c);
  }
  std::printf("%d right, %d wrong\n", good, bad);
  return bad ? 1 : 0;
}
