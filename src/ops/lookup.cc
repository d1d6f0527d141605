#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void lookup(Registry& r) {
  r.add("AnonymousHashTable")
      .out("table_handle: resource")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .stateful();

  r.add("AnonymousMutableDenseHashTable")
      .in("empty_key: key_dtype")
      .in("deleted_key: key_dtype")
      .out("table_handle: resource")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .attr("value_shape: shape = []")
      .attr("initial_num_buckets: int = 131072")
      .attr("max_load_factor: float = 0.8")
      .stateful();

  r.add("AnonymousMutableHashTable")
      .out("table_handle: resource")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .stateful();

  r.add("AnonymousMutableHashTableOfTensors")
      .out("table_handle: resource")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .attr("value_shape: shape = []")
      .stateful();

  r.add("HashTable")
      .out("table_handle: Ref(string)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("use_node_name_sharing: bool = false")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .stateful();

  r.add("HashTableV2")
      .out("table_handle: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("use_node_name_sharing: bool = false")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .stateful();

  r.add("InitializeTableFromTextFileV2")
      .in("table_handle: resource")
      .in("filename: string")
      .attr("key_index: int >= -2")
      .attr("value_index: int >= -2")
      .attr("vocab_size: int >= -1 = -1")
      .attr("delimiter: string = '\\t'")
      .attr("offset: int = 0")
      .stateful();

  r.add("InitializeTableV2")
      .in("table_handle: resource")
      .in("keys: Tkey")
      .in("values: Tval")
      .attr("Tkey: type")
      .attr("Tval: type")
      .stateful();

  r.add("LookupTableExportV2")
      .in("table_handle: resource")
      .out("keys: Tkeys")
      .out("values: Tvalues")
      .attr("Tkeys: type")
      .attr("Tvalues: type")
      .stateful();

  r.add("LookupTableFindV2")
      .in("table_handle: resource")
      .in("keys: Tin")
      .in("default_value: Tout")
      .out("values: Tout")
      .attr("Tin: type")
      .attr("Tout: type")
      .stateful();

  r.add("LookupTableImportV2")
      .in("table_handle: resource")
      .in("keys: Tin")
      .in("values: Tout")
      .attr("Tin: type")
      .attr("Tout: type")
      .stateful();

  r.add("LookupTableInsertV2")
      .in("table_handle: resource")
      .in("keys: Tin")
      .in("values: Tout")
      .attr("Tin: type")
      .attr("Tout: type")
      .stateful();

  r.add("LookupTableRemoveV2")
      .in("table_handle: resource")
      .in("keys: Tin")
      .attr("Tin: type")
      .stateful();

  r.add("LookupTableSizeV2")
      .in("table_handle: resource")
      .out("size: int64")
      .stateful();

  r.add("MutableDenseHashTable")
      .in("empty_key: key_dtype")
      .out("table_handle: Ref(string)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("use_node_name_sharing: bool = false")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .attr("value_shape: shape = []")
      .attr("initial_num_buckets: int = 131072")
      .attr("max_load_factor: float = 0.8")
      .stateful();

  r.add("MutableDenseHashTableV2")
      .in("empty_key: key_dtype")
      .in("deleted_key: key_dtype")
      .out("table_handle: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("use_node_name_sharing: bool = false")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .attr("value_shape: shape = []")
      .attr("initial_num_buckets: int = 131072")
      .attr("max_load_factor: float = 0.8")
      .stateful();

  r.add("MutableHashTable")
      .out("table_handle: Ref(string)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("use_node_name_sharing: bool = false")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .stateful();

  r.add("MutableHashTableOfTensors")
      .out("table_handle: Ref(string)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("use_node_name_sharing: bool = false")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .attr("value_shape: shape = []")
      .stateful();

  r.add("MutableHashTableOfTensorsV2")
      .out("table_handle: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("use_node_name_sharing: bool = false")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .attr("value_shape: shape = []")
      .stateful();

  r.add("MutableHashTableV2")
      .out("table_handle: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("use_node_name_sharing: bool = false")
      .attr("key_dtype: type")
      .attr("value_dtype: type")
      .stateful();
}

}  // namespace weft::ops
