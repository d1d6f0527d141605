// For programs of a fuzz build by g++ that are no fuzzers: what its instrumentation calls, and nobody listens.
#define HOOK(name, ...) \
  void __sanitizer_cov_trace_##name(__VA_ARGS__) {}
HOOK(pc, void)
HOOK(cmp1, unsigned char a, unsigned char b)
HOOK(cmp2, unsigned short a, unsigned short b)
HOOK(cmp4, unsigned a, unsigned b)
HOOK(cmp8, unsigned long long a, unsigned long long b)
HOOK(const_cmp1, unsigned char a, unsigned char b)
HOOK(const_cmp2, unsigned short a, unsigned short b)
HOOK(const_cmp4, unsigned a, unsigned b)
HOOK(const_cmp8, unsigned long long a, unsigned long long b)
HOOK(cmpf, float a, float b)
HOOK(cmpd, double a, double b)
HOOK(switch, unsigned long long a, void* cases)
