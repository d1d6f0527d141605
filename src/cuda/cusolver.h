// cuSOLVER, dynamically loaded: factorisations of dense matrices. The declarations are weft's own.
#pragma once

#include "core/status.h"
#include "cuda/cublas.h"
#include "cuda/driver.h"

namespace weft_engine::cuda {

enum class SolverVectors : int { kNone = 0, kWanted = 1 };  // cusolverEigMode_t

// Matrices have their columns one after the other. `info` is an int32 on the device: 0, or what went wrong. The same for float (S) and double (D), as each function says.
#define WEFT_CUSOLVER_FUNCTIONS(F, T)                                                                                                                \
  F(cusolverDn##T##potrf_bufferSize, cholesky_size, (void* handle, BlasTriangle triangle, int n, DevicePtr a, int a_leading, int* size))             \
  F(cusolverDn##T##potrf, cholesky,                                                                                                                  \
    (void* handle, BlasTriangle triangle, int n, DevicePtr a, int a_leading, DevicePtr workspace, int size, DevicePtr info))                         \
  F(cusolverDn##T##getrf_bufferSize, lu_size, (void* handle, int m, int n, DevicePtr a, int a_leading, int* size))                                   \
  F(cusolverDn##T##getrf, lu, (void* handle, int m, int n, DevicePtr a, int a_leading, DevicePtr workspace, DevicePtr pivots, DevicePtr info))       \
  F(cusolverDn##T##getrs, lu_solve,                                                                                                                  \
    (void* handle, BlasOperation operation, int n, int columns, DevicePtr a, int a_leading, DevicePtr pivots, DevicePtr b, int b_leading,            \
     DevicePtr info))                                                                                                                                \
  F(cusolverDn##T##geqrf_bufferSize, qr_size, (void* handle, int m, int n, DevicePtr a, int a_leading, int* size))                                   \
  F(cusolverDn##T##geqrf, qr,                                                                                                                        \
    (void* handle, int m, int n, DevicePtr a, int a_leading, DevicePtr tau, DevicePtr workspace, int size, DevicePtr info))                          \
  F(cusolverDn##T##orgqr_bufferSize, make_q_size, (void* handle, int m, int n, int k, DevicePtr a, int a_leading, DevicePtr tau, int* size))         \
  F(cusolverDn##T##orgqr, make_q,                                                                                                                    \
    (void* handle, int m, int n, int k, DevicePtr a, int a_leading, DevicePtr tau, DevicePtr workspace, int size, DevicePtr info))                   \
  F(cusolverDn##T##gesvd_bufferSize, svd_size, (void* handle, int m, int n, int* size))                                                              \
  F(cusolverDn##T##gesvd, svd,                                                                                                                       \
    (void* handle, signed char u_job, signed char v_job, int m, int n, DevicePtr a, int a_leading, DevicePtr s, DevicePtr u, int u_leading,          \
     DevicePtr v, int v_leading, DevicePtr workspace, int size, DevicePtr rest, DevicePtr info))                                                     \
  F(cusolverDn##T##syevd_bufferSize, eigen_size,                                                                                                     \
    (void* handle, SolverVectors vectors, BlasTriangle triangle, int n, DevicePtr a, int a_leading, DevicePtr values, int* size))                    \
  F(cusolverDn##T##syevd, eigen,                                                                                                                     \
    (void* handle, SolverVectors vectors, BlasTriangle triangle, int n, DevicePtr a, int a_leading, DevicePtr values, DevicePtr workspace, int size, \
     DevicePtr info))

struct Cusolver {
  struct Functions {
#define WEFT_CUSOLVER_POINTER(symbol, name, arguments) int(*name) arguments = nullptr;
    WEFT_CUSOLVER_FUNCTIONS(WEFT_CUSOLVER_POINTER, S)
#undef WEFT_CUSOLVER_POINTER
  };
  int (*create)(void** handle) = nullptr;
  int (*set_stream)(void* handle, void* stream) = nullptr;
  Functions of_float, of_double;
};

// Opened once. NotFound says what to install.
core::Result<const Cusolver*> cusolver();

}  // namespace weft_engine::cuda
