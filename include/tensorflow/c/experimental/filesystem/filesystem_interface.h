// SPDX-License-Identifier: Apache-2.0
//
// File systems as plugins (TF_RegisterFilesystemPlugin in c_api.h): tables of functions that a
// shared library fills for each URI scheme it serves. The tables are only ever extended at their
// end; sizes and version numbers tell both sides what the other knows.
#ifndef TENSORFLOW_C_EXPERIMENTAL_FILESYSTEM_FILESYSTEM_INTERFACE_H_
#define TENSORFLOW_C_EXPERIMENTAL_FILESYSTEM_FILESYSTEM_INTERFACE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_file_statistics.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Objects; each holds the plugin's own pointer ----

typedef struct TF_RandomAccessFile {
  void* plugin_file;
} TF_RandomAccessFile;

typedef struct TF_WritableFile {
  void* plugin_file;
} TF_WritableFile;

typedef struct TF_ReadOnlyMemoryRegion {
  void* plugin_memory_region;
} TF_ReadOnlyMemoryRegion;

typedef struct TF_Filesystem {
  void* plugin_filesystem;
} TF_Filesystem;

typedef struct TF_TransactionToken {
  void* token;
  TF_Filesystem* owner;
} TF_TransactionToken;

// ---- Options of a file system ----

typedef enum TF_Filesystem_Option_Type {
  TF_Filesystem_Option_Type_Int = 0,
  TF_Filesystem_Option_Type_Real,
  TF_Filesystem_Option_Type_Buffer,
  TF_Filesystem_Num_Option_Types,
} TF_Filesystem_Option_Type;

typedef union TF_Filesystem_Option_Value_Union {
  int64_t int_val;
  double real_val;
  struct {
    char* buf;
    int buf_length;
  } buffer_val;
} TF_Filesystem_Option_Value_Union;

typedef struct TF_Filesystem_Option_Value {
  int type_tag;  // TF_Filesystem_Option_Type
  int num_values;
  TF_Filesystem_Option_Value_Union* values;
} TF_Filesystem_Option_Value;

typedef struct TF_Filesystem_Option {
  char* name;         // ends with a 0 byte
  char* description;  // ends with a 0 byte
  int per_file;       // not 0: may differ from file to file
  TF_Filesystem_Option_Value* value;
} TF_Filesystem_Option;

// ---- Tables of functions ----

typedef struct TF_RandomAccessFileOps {
  void (*cleanup)(TF_RandomAccessFile* file);

  // Bytes read, or -1; fewer than n with TF_OUT_OF_RANGE at the end of the file.
  int64_t (*read)(const TF_RandomAccessFile* file, uint64_t offset, size_t n, char* buffer, TF_Status* status);
} TF_RandomAccessFileOps;

typedef struct TF_WritableFileOps {
  void (*cleanup)(TF_WritableFile* file);
  void (*append)(const TF_WritableFile* file, const char* buffer, size_t n, TF_Status* status);
  int64_t (*tell)(const TF_WritableFile* file, TF_Status* status);
  void (*flush)(const TF_WritableFile* file, TF_Status* status);
  void (*sync)(const TF_WritableFile* file, TF_Status* status);
  void (*close)(const TF_WritableFile* file, TF_Status* status);
} TF_WritableFileOps;

typedef struct TF_ReadOnlyMemoryRegionOps {
  void (*cleanup)(TF_ReadOnlyMemoryRegion* region);
  const void* (*data)(const TF_ReadOnlyMemoryRegion* region);
  uint64_t (*length)(const TF_ReadOnlyMemoryRegion* region);
} TF_ReadOnlyMemoryRegionOps;

// Entries may be null where the library can do without or has a slower way of its own. Strings
// that are returned were made with plugin_memory_allocate.
typedef struct TF_FilesystemOps {
  void (*init)(TF_Filesystem* filesystem, TF_Status* status);
  void (*cleanup)(TF_Filesystem* filesystem);

  void (*new_random_access_file)(const TF_Filesystem* filesystem, const char* path, TF_RandomAccessFile* file, TF_Status* status);
  void (*new_writable_file)(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file, TF_Status* status);
  void (*new_appendable_file)(const TF_Filesystem* filesystem, const char* path, TF_WritableFile* file, TF_Status* status);
  void (*new_read_only_memory_region_from_file)(const TF_Filesystem* filesystem, const char* path, TF_ReadOnlyMemoryRegion* region,
                                                TF_Status* status);

  void (*create_dir)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);
  void (*recursively_create_dir)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);
  void (*delete_file)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);
  void (*delete_dir)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);
  void (*delete_recursively)(const TF_Filesystem* filesystem, const char* path, uint64_t* undeleted_files, uint64_t* undeleted_dirs,
                             TF_Status* status);
  void (*rename_file)(const TF_Filesystem* filesystem, const char* src, const char* dst, TF_Status* status);
  void (*copy_file)(const TF_Filesystem* filesystem, const char* src, const char* dst, TF_Status* status);

  // TF_OK or TF_NOT_FOUND.
  void (*path_exists)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);
  // Whether all exist; statuses may be null, else one for each path.
  bool (*paths_exist)(const TF_Filesystem* filesystem, char** paths, int num_files, TF_Status** statuses);
  void (*stat)(const TF_Filesystem* filesystem, const char* path, TF_FileStatistics* stats, TF_Status* status);
  bool (*is_directory)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);
  int64_t (*get_file_size)(const TF_Filesystem* filesystem, const char* path, TF_Status* status);
  char* (*translate_name)(const TF_Filesystem* filesystem, const char* uri);

  // Number of entries, or -1.
  int (*get_children)(const TF_Filesystem* filesystem, const char* path, char*** entries, TF_Status* status);
  int (*get_matching_paths)(const TF_Filesystem* filesystem, const char* glob, char*** entries, TF_Status* status);

  void (*flush_caches)(const TF_Filesystem* filesystem);

  int (*start_transaction)(const TF_Filesystem* filesystem, TF_TransactionToken** token, TF_Status* status);
  int (*end_transaction)(const TF_Filesystem* filesystem, TF_TransactionToken* token, TF_Status* status);
  int (*add_to_transaction)(const TF_Filesystem* filesystem, const char* path, TF_TransactionToken* token, TF_Status* status);
  int (*get_transaction_for_path)(const TF_Filesystem* filesystem, const char* path, TF_TransactionToken** token, TF_Status* status);
  int (*get_or_start_transaction_for_path)(const TF_Filesystem* filesystem, const char* path, TF_TransactionToken** token, TF_Status* status);
  char* (*decode_transaction_token)(const TF_Filesystem* filesystem, const TF_TransactionToken* token);

  void (*get_filesystem_configuration)(const TF_Filesystem* filesystem, TF_Filesystem_Option** options, int* num_options, TF_Status* status);
  void (*set_filesystem_configuration)(const TF_Filesystem* filesystem, const TF_Filesystem_Option* options, int num_options, TF_Status* status);
  void (*get_filesystem_configuration_option)(const TF_Filesystem* filesystem, const char* key, TF_Filesystem_Option** option, TF_Status* status);
  void (*set_filesystem_configuration_option)(const TF_Filesystem* filesystem, const TF_Filesystem_Option* option, TF_Status* status);
  void (*get_filesystem_configuration_keys)(const TF_Filesystem* filesystem, char** keys, int* num_keys, TF_Status* status);
} TF_FilesystemOps;

// ---- Versions: ABI counts breaking changes, API additions ----

#define TF_RANDOM_ACCESS_FILE_OPS_API 0
#define TF_RANDOM_ACCESS_FILE_OPS_ABI 0
#define TF_RANDOM_ACCESS_FILE_OPS_SIZE sizeof(TF_RandomAccessFileOps)
#define TF_WRITABLE_FILE_OPS_API 0
#define TF_WRITABLE_FILE_OPS_ABI 0
#define TF_WRITABLE_FILE_OPS_SIZE sizeof(TF_WritableFileOps)
#define TF_READ_ONLY_MEMORY_REGION_OPS_API 0
#define TF_READ_ONLY_MEMORY_REGION_OPS_ABI 0
#define TF_READ_ONLY_MEMORY_REGION_OPS_SIZE sizeof(TF_ReadOnlyMemoryRegionOps)
#define TF_FILESYSTEM_OPS_API 0
#define TF_FILESYSTEM_OPS_ABI 0
#define TF_FILESYSTEM_OPS_SIZE sizeof(TF_FilesystemOps)

// ---- The plugin as a whole ----

// One scheme with its tables.
typedef struct TF_FilesystemPluginOps {
  char* scheme;  // "" is the local file system
  int filesystem_ops_abi;
  int filesystem_ops_api;
  size_t filesystem_ops_size;
  TF_FilesystemOps* filesystem_ops;
  int random_access_file_ops_abi;
  int random_access_file_ops_api;
  size_t random_access_file_ops_size;
  TF_RandomAccessFileOps* random_access_file_ops;
  int writable_file_ops_abi;
  int writable_file_ops_api;
  size_t writable_file_ops_size;
  TF_WritableFileOps* writable_file_ops;
  int read_only_memory_region_ops_abi;
  int read_only_memory_region_ops_api;
  size_t read_only_memory_region_ops_size;
  TF_ReadOnlyMemoryRegionOps* read_only_memory_region_ops;
} TF_FilesystemPluginOps;

typedef struct TF_FilesystemPluginInfo {
  size_t num_schemes;
  TF_FilesystemPluginOps* ops;
  void* (*plugin_memory_allocate)(size_t size);
  void (*plugin_memory_free)(void* ptr);
} TF_FilesystemPluginInfo;

// Writes the versions and sizes the plugin was compiled with.
static inline void TF_SetFilesystemVersionMetadata(TF_FilesystemPluginOps* ops) {
  ops->filesystem_ops_abi = TF_FILESYSTEM_OPS_ABI;
  ops->filesystem_ops_api = TF_FILESYSTEM_OPS_API;
  ops->filesystem_ops_size = TF_FILESYSTEM_OPS_SIZE;
  ops->random_access_file_ops_abi = TF_RANDOM_ACCESS_FILE_OPS_ABI;
  ops->random_access_file_ops_api = TF_RANDOM_ACCESS_FILE_OPS_API;
  ops->random_access_file_ops_size = TF_RANDOM_ACCESS_FILE_OPS_SIZE;
  ops->writable_file_ops_abi = TF_WRITABLE_FILE_OPS_ABI;
  ops->writable_file_ops_api = TF_WRITABLE_FILE_OPS_API;
  ops->writable_file_ops_size = TF_WRITABLE_FILE_OPS_SIZE;
  ops->read_only_memory_region_ops_abi = TF_READ_ONLY_MEMORY_REGION_OPS_ABI;
  ops->read_only_memory_region_ops_api = TF_READ_ONLY_MEMORY_REGION_OPS_API;
  ops->read_only_memory_region_ops_size = TF_READ_ONLY_MEMORY_REGION_OPS_SIZE;
}

// Defined by a plugin, not by the library: fills *plugin_info.
TF_CAPI_EXPORT extern void TF_InitPlugin(TF_FilesystemPluginInfo* plugin_info);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_C_EXPERIMENTAL_FILESYSTEM_FILESYSTEM_INTERFACE_H_
