// Lookup tables. The table itself is in lookup_table.h; ops of version 1 have handles of their own kind (ref_handle.h)
// and the same kernels.
#include <mutex>

#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/state/lookup_table.h"
#include "ops/state/lookup_text_file.h"
#include "ops/state/ref_handle.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using Kind = LookupTable::Kind;

// The inputs behind the handle, and the outputs, must be as the table has them.
// "Signature mismatch, have: resource, int64-> expected: resource, string->"
Status check_types(const KernelContext& c, const std::vector<DType>& inputs, const std::vector<DType>& outputs) {
  const auto &in = c.node().input_types(), &out = c.node().output_types();
  std::vector<DType> expected{in[0]};
  expected.insert(expected.end(), inputs.begin(), inputs.end());
  if (in == expected && out == outputs) return {};
  return invalid_argument("Signature mismatch, have: ", join(in, ", "), "->", join(out, ", "), " expected: ", join(expected, ", "), "->",
                          join(outputs, ", "));
}

Result<std::shared_ptr<LookupTable>> make_dense(const KernelContext& c) {
  const NodeInfo& node = c.node();
  if (c.num_inputs() < 2) return invalid_argument("Unknown input name: deleted_key");  // version 1 cannot say it
  const Tensor &empty = c.input(0), &deleted = c.input(1);
  const float load = node.attr<float>("max_load_factor");
  if (!(load > 0 && load < 1)) return invalid_argument("max_load_factor must be between 0 and 1, got: ", load);
  const auto value_shape = node.attr<PartialShape>("value_shape").concrete();
  if (!value_shape || value_shape->rank() > 1)
    return invalid_argument("Empty value must be a scalar or a vector, got shape ", node.attr<PartialShape>("value_shape"));
  if (empty.rank() > 1) return invalid_argument("Empty key must be a scalar or a vector, got shape ", empty.shape());
  if (empty.shape() != deleted.shape())
    return invalid_argument("Empty and deleted keys must have same shape, got shapes: ", empty.shape(), " and ", deleted.shape());
  auto table =
      std::make_shared<LookupTable>(Kind::kDense, node.attr<DType>("key_dtype"), node.attr<DType>("value_dtype"), empty.shape(), *value_shape);
  WEFT_RETURN_IF_ERROR(table->reserve_keys(empty, deleted));
  const int64_t buckets = node.attr<int64_t>("initial_num_buckets");
  if (buckets < 4 || (buckets & (buckets - 1)) != 0) return invalid_argument("Number of buckets must be at least 4 and a power of 2, got: ", buckets);
  return table;
}

template <Kind kKind>
Result<std::shared_ptr<LookupTable>> make_table(const KernelContext& c) {
  if constexpr (kKind == Kind::kDense) {
    return make_dense(c);
  } else {
    Shape value_shape;
    if constexpr (kKind == Kind::kMutableOfTensors) {
      const PartialShape& given = c.attr<PartialShape>("value_shape");
      const auto known = given.concrete();
      if (!known || known->rank() != 1) return invalid_argument("Default value must be a vector, got shape ", given);
      value_shape = *known;
    }
    return std::make_shared<LookupTable>(kKind, c.attr<DType>("key_dtype"), c.attr<DType>("value_dtype"), Shape(), value_shape);
  }
}

template <Kind kKind>
Status run_anonymous_table(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<LookupTable> table, make_table<kKind>(c));
  c.set_output(0,
               make_handle(c.device().name(), c.resources().default_container(), "anonymous_table", LookupTable::kTypeName, std::move(table), true));
  return {};
}

// A table without a shared name belongs to its kernel: the handle carries it.
template <Kind kKind>
class NamedTable final : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> create(const NodeInfo&) { return std::unique_ptr<Kernel>(std::make_unique<NamedTable>()); }

  Status run(KernelContext& c) override {
    std::string name = c.attr<std::string>("shared_name");
    if (name.empty() && c.attr<bool>("use_node_name_sharing")) name = c.node().name();
    std::string container = c.attr<std::string>("container");
    if (container.empty()) container = c.resources().default_container();
    std::lock_guard lock(mutex_);
    const bool ref = gives_ref_handle(c);
    if (name.empty() && ref) name = ref_.private_name(c);
    if (name.empty()) {
      if (!handle_.valid()) {
        WEFT_ASSIGN(std::shared_ptr<LookupTable> table, make_table<kKind>(c));
        handle_ = make_handle(c.device().name(), container, c.node().name(), LookupTable::kTypeName, std::move(table), true);
      }
      c.set_output(0, handle_);
      return {};
    }
    WEFT_ASSIGN(std::shared_ptr<Table> table, c.resources().find_or_create<Table>(
                                                  container, name,
                                                  [&]() -> Result<std::shared_ptr<Table>> {
                                                    WEFT_ASSIGN(std::shared_ptr<LookupTable> made, make_table<kKind>(c));
                                                    return std::shared_ptr<Table>(std::move(made));
                                                  }));
    const DType key = c.attr<DType>("key_dtype"), value = c.attr<DType>("value_dtype");
    if (table->key_dtype() != key || table->value_dtype() != value)
      return invalid_argument("Conflicting key/value dtypes ", key, "->", value, " with ", table->key_dtype(), "-", table->value_dtype(),
                              " for table ", name);
    if (ref) {
      ref_.output(c, container, name);
      return {};
    }
    if (!handle_.valid()) handle_ = make_handle(c.device().name(), container, name, LookupTable::kTypeName);
    c.set_output(0, handle_);
    return {};
  }

 private:
  std::mutex mutex_;
  Tensor handle_;
  RefHandle ref_;
};

Result<std::shared_ptr<LookupTable>> initializable_table(const KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Table> any, handle_input<Table>(c));
  auto table = std::dynamic_pointer_cast<LookupTable>(std::move(any));
  if (!table || table->kind() != Kind::kHash) {
    WEFT_ASSIGN(ResourceName n, handle_name(c, 0));
    return invalid_argument("Table ", n.container, " ", n.name, " is not initializable");
  }
  return table;
}

Status run_initialize(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<LookupTable> table, initializable_table(c));
  WEFT_RETURN_IF_ERROR(check_types(c, {table->key_dtype(), table->value_dtype()}, {}));
  const Tensor &keys = c.input(1), &values = c.input(2);
  if (keys.rank() != 1) return invalid_argument("Keys must be a vector, but received shape", keys.shape());
  if (values.rank() != 1) return invalid_argument("Values must be a vector, but received shape", values.shape());
  if (keys.dim(0) != values.dim(0)) return invalid_argument("Keys and values must have the same size ", keys.dim(0), " vs ", values.dim(0));
  return table->initialize(keys, values);
}

Status run_initialize_from_text_file(KernelContext& c) {
  const std::string& delimiter = c.attr<std::string>("delimiter");
  if (delimiter.size() != 1) return invalid_argument("delimiter should be only 1 char");
  WEFT_ASSIGN(std::shared_ptr<LookupTable> table, initializable_table(c));
  WEFT_RETURN_IF_ERROR(check_types(c, {DType::kString}, {}));
  if (c.input(1).rank() != 0) return invalid_argument("filename should be a single string, but got ", c.input(1).shape());
  const std::string path = c.input(1).data<tstring>()[0].str();
  if (path.empty()) return invalid_argument("filename cannot be empty.");
  TextFileColumns columns;
  columns.key_index = c.attr<int64_t>("key_index");
  columns.value_index = c.attr<int64_t>("value_index");
  columns.vocab_size = c.attr<int64_t>("vocab_size");
  columns.delimiter = delimiter[0];
  columns.offset = c.attr<int64_t>("offset");
  Tensor keys, values;
  WEFT_RETURN_IF_ERROR(read_text_file(path, columns, table->key_dtype(), table->value_dtype(), keys, values));
  if (keys.num_elements() == 0) return out_of_range("eof");
  return table->initialize(keys, values);
}

Status run_find(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Table> table, handle_input<Table>(c));
  WEFT_RETURN_IF_ERROR(check_types(c, {table->key_dtype(), table->value_dtype()}, {table->value_dtype()}));
  const Tensor &keys = c.input(1), &default_value = c.input(2);
  WEFT_RETURN_IF_ERROR(table->check_find(keys, default_value));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, table->result_shape(keys.shape())));
  return table->find(&c, keys, default_value, *out);
}

template <bool kImport>
Status run_insert(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Table> table, handle_input<Table>(c));
  WEFT_RETURN_IF_ERROR(check_types(c, {table->key_dtype(), table->value_dtype()}, {}));
  WEFT_RETURN_IF_ERROR(table->check_insert(c.input(1), c.input(2)));
  return kImport ? table->import_all(&c, c.input(1), c.input(2)) : table->insert(&c, c.input(1), c.input(2));
}

Status run_remove(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Table> table, handle_input<Table>(c));
  WEFT_RETURN_IF_ERROR(check_types(c, {table->key_dtype()}, {}));
  WEFT_RETURN_IF_ERROR(table->check_keys(c.input(1)));
  return table->remove(&c, c.input(1));
}

Status run_size(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Table> table, handle_input<Table>(c));
  c.set_output(0, Tensor::scalar(table->size()));
  return {};
}

Status run_export(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Table> table, handle_input<Table>(c));
  WEFT_RETURN_IF_ERROR(check_types(c, {}, {table->key_dtype(), table->value_dtype()}));
  return table->export_all(&c, c.output(0), c.output(1));
}

// A resource is a scalar; container and name of version 1 are two strings.
Status check_handle(ShapeContext& c) {
  if (!is_ref_type(c.node().input_types()[0])) return c.with_rank(0, 0).status();
  WEFT_ASSIGN(PartialShape handle, c.with_rank(0, 1));
  return handle.merge_with({2}).status();
}

Status handle_rule(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handle(c));
  return shapes::unknown(c);
}

Status initialize_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handle(c));
  WEFT_ASSIGN(PartialShape keys, c.with_rank(1, 1));
  return keys.merge_with(c.input(2)).status();
}

Status text_file_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handle(c));
  return c.with_rank(1, 0).status();
}

Status size_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handle(c));
  return shapes::scalar(c);
}

// Container and name.
Status ref_handle(ShapeContext& c) {
  c.output(0, {2});
  return {};
}

// The pairs of types that TensorFlow has kernels for, and no others.
void hash_pairs(OpBuilder b, Result<std::unique_ptr<Kernel>> (*make)(const NodeInfo&)) {
  b.cpu_make(make, types<int32_t>("key_dtype"), types<float, double, int32_t, tstring>("value_dtype"));
  b.cpu_make(make, types<int64_t>("key_dtype"), types<float, double, int32_t, tstring, int64_t>("value_dtype"));
  b.cpu_make(make, types<tstring>("key_dtype"), types<float, double, int32_t, tstring, int64_t, bool>("value_dtype"));
}

void mutable_pairs(OpBuilder b, Result<std::unique_ptr<Kernel>> (*make)(const NodeInfo&)) {
  b.cpu_make(make, types<int32_t>("key_dtype"), types<float, double, int32_t>("value_dtype"));
  b.cpu_make(make, types<int64_t>("key_dtype"), types<float, double, int32_t, tstring, int64_t>("value_dtype"));
  b.cpu_make(make, types<tstring>("key_dtype"), types<float, double, int32_t, int64_t, bool>("value_dtype"));
}

void dense_pairs(OpBuilder b, Result<std::unique_ptr<Kernel>> (*make)(const NodeInfo&)) {
  b.cpu_make(make, types<int32_t>("key_dtype"), types<float, double, int32_t>("value_dtype"));
  b.cpu_make(make, types<int64_t>("key_dtype"), types<float, double, int32_t, int64_t, bool, Variant>("value_dtype"));
  b.cpu_make(make, types<tstring>("key_dtype"), types<float, double, int32_t, int64_t, bool, ResourceHandle>("value_dtype"));
}

template <Kind kKind>
Result<std::unique_ptr<Kernel>> anonymous(const NodeInfo&) {
  return std::unique_ptr<Kernel>(std::make_unique<FunctionKernel>(run_anonymous_table<kKind>));
}

}  // namespace

void lookup(Registry& r) {
  hash_pairs(r.add("AnonymousHashTable")
                 .doc("Makes a table that is filled once and lives as long as its handle.")
                 .out("table_handle: resource")
                 .attr("key_dtype: type")
                 .attr("value_dtype: type")
                 .stateful()
                 .effect_free()
                 .shape(shapes::scalar),
             anonymous<Kind::kHash>);

  dense_pairs(r.add("AnonymousMutableDenseHashTable")
                  .doc("Makes a changeable table with two reserved keys that lives as long as its handle.")
                  .in("empty_key: key_dtype")
                  .in("deleted_key: key_dtype")
                  .out("table_handle: resource")
                  .attr("key_dtype: type")
                  .attr("value_dtype: type")
                  .attr("value_shape: shape = []")
                  .attr("initial_num_buckets: int = 131072")
                  .attr("max_load_factor: float = 0.8")
                  .stateful()
                  .effect_free()
                  .shape(shapes::scalar),
              anonymous<Kind::kDense>);

  mutable_pairs(r.add("AnonymousMutableHashTable")
                    .doc("Makes a changeable table of scalars that lives as long as its handle.")
                    .out("table_handle: resource")
                    .attr("key_dtype: type")
                    .attr("value_dtype: type")
                    .stateful()
                    .effect_free()
                    .shape(shapes::scalar)
                    .cpu_make(anonymous<Kind::kMutable>, types<int64_t>("key_dtype"), types<Variant>("value_dtype")),
                anonymous<Kind::kMutable>);

  mutable_pairs(r.add("AnonymousMutableHashTableOfTensors")
                    .doc("Makes a changeable table of vectors that lives as long as its handle.")
                    .out("table_handle: resource")
                    .attr("key_dtype: type")
                    .attr("value_dtype: type")
                    .attr("value_shape: shape = []")
                    .stateful()
                    .effect_free()
                    .shape(shapes::scalar),
                anonymous<Kind::kMutableOfTensors>);

  hash_pairs(r.add("HashTable")
                 .doc("Makes or finds a table that is filled once, behind a version 1 handle.")
                 .out("table_handle: Ref(string)")
                 .attr("container: string = ''")
                 .attr("shared_name: string = ''")
                 .attr("use_node_name_sharing: bool = false")
                 .attr("key_dtype: type")
                 .attr("value_dtype: type")
                 .stateful()
                 .effect_free()
                 .traits({.role = Role::kHashTable})
                 .shape(ref_handle)
                 .no_grad(),
             NamedTable<Kind::kHash>::create);

  hash_pairs(r.add("HashTableV2")
                 .doc("Makes or finds a table that is filled once.")
                 .out("table_handle: resource")
                 .attr("container: string = ''")
                 .attr("shared_name: string = ''")
                 .attr("use_node_name_sharing: bool = false")
                 .attr("key_dtype: type")
                 .attr("value_dtype: type")
                 .stateful()
                 .effect_free()
                 .traits({.role = Role::kHashTable, .made = Made::kAlways})
                 .shape(shapes::scalar)
                 .no_grad(),
             NamedTable<Kind::kHash>::create);

  r.add("InitializeTableFromTextFile")
      .doc("Fills a table from the lines of a text file, by a version 1 handle.")
      .in("table_handle: Ref(string)")
      .in("filename: string")
      .attr("key_index: int >= -2")
      .attr("value_index: int >= -2")
      .attr("vocab_size: int >= -1 = -1")
      .attr("delimiter: string = '\\t'")
      .attr("offset: int = 0")
      .traits({.role = Role::kFillTable})
      .shape(text_file_shape)
      .no_grad()
      .cpu(run_initialize_from_text_file);

  r.add("InitializeTableFromTextFileV2")
      .doc("Fills a table from the lines of a text file.")
      .in("table_handle: resource")
      .in("filename: string")
      .attr("key_index: int >= -2")
      .attr("value_index: int >= -2")
      .attr("vocab_size: int >= -1 = -1")
      .attr("delimiter: string = '\\t'")
      .attr("offset: int = 0")
      .stateful()
      .traits({.role = Role::kFillTable})
      .shape(text_file_shape)
      .no_grad()
      .cpu(run_initialize_from_text_file);

  r.add("InitializeTable")
      .doc("Fills a table with the given keys and values, by a version 1 handle.")
      .in("table_handle: Ref(string)")
      .in("keys: Tkey")
      .in("values: Tval")
      .attr("Tkey: type")
      .attr("Tval: type")
      .traits({.role = Role::kFillTable})
      .shape(initialize_shape)
      .no_grad()
      .cpu(run_initialize);

  r.add("InitializeTableV2")
      .doc("Fills a table with the given keys and values.")
      .in("table_handle: resource")
      .in("keys: Tkey")
      .in("values: Tval")
      .attr("Tkey: type")
      .attr("Tval: type")
      .stateful()
      .traits({.role = Role::kFillTable})
      .shape(initialize_shape)
      .no_grad()
      .cpu(run_initialize);

  r.add("LookupTableExport")
      .doc("Gives all keys and values of a table, by a version 1 handle.")
      .in("table_handle: Ref(string)")
      .out("keys: Tkeys")
      .out("values: Tvalues")
      .attr("Tkeys: type")
      .attr("Tvalues: type")
      .shape(handle_rule)
      .cpu(run_export);

  r.add("LookupTableExportV2")
      .doc("Gives all keys and values of a table.")
      .in("table_handle: resource")
      .out("keys: Tkeys")
      .out("values: Tvalues")
      .attr("Tkeys: type")
      .attr("Tvalues: type")
      .stateful()
      .effect_free()
      .shape(handle_rule)
      .cpu(run_export);

  r.add("LookupTableFind")
      .doc("Looks up keys, with a default for those that are missing, by a version 1 handle.")
      .in("table_handle: Ref(string)")
      .in("keys: Tin")
      .in("default_value: Tout")
      .out("values: Tout")
      .attr("Tin: type")
      .attr("Tout: type")
      .shape(handle_rule)
      .no_grad()
      .cpu(run_find);

  r.add("LookupTableFindV2")
      .doc("Looks up keys, with a default for those that are missing.")
      .in("table_handle: resource")
      .in("keys: Tin")
      .in("default_value: Tout")
      .out("values: Tout")
      .attr("Tin: type")
      .attr("Tout: type")
      .stateful()
      .effect_free()
      .traits({.only_reads = true})
      .shape(handle_rule)
      .no_grad()
      .cpu(run_find);

  r.add("LookupTableImport")
      .doc("Replaces all that a table holds, by a version 1 handle.")
      .in("table_handle: Ref(string)")
      .in("keys: Tin")
      .in("values: Tout")
      .attr("Tin: type")
      .attr("Tout: type")
      .traits({.role = Role::kFillTable})
      .shape(handle_rule)
      .cpu(run_insert<true>);

  r.add("LookupTableImportV2")
      .doc("Replaces all that a table holds.")
      .in("table_handle: resource")
      .in("keys: Tin")
      .in("values: Tout")
      .attr("Tin: type")
      .attr("Tout: type")
      .stateful()
      .traits({.role = Role::kFillTable, .made = Made::kAlways})
      .shape(handle_rule)
      .cpu(run_insert<true>);

  r.add("LookupTableInsert")
      .doc("Sets the values of keys in a table, by a version 1 handle.")
      .in("table_handle: Ref(string)")
      .in("keys: Tin")
      .in("values: Tout")
      .attr("Tin: type")
      .attr("Tout: type")
      .shape(handle_rule)
      .no_grad()
      .cpu(run_insert<false>);

  r.add("LookupTableInsertV2")
      .doc("Sets the values of keys in a table.")
      .in("table_handle: resource")
      .in("keys: Tin")
      .in("values: Tout")
      .attr("Tin: type")
      .attr("Tout: type")
      .stateful()
      .shape(handle_rule)
      .no_grad()
      .cpu(run_insert<false>);

  r.add("LookupTableRemoveV2")
      .doc("Takes keys out of a table; missing ones are passed over.")
      .in("table_handle: resource")
      .in("keys: Tin")
      .attr("Tin: type")
      .stateful()
      .shape(handle_rule)
      .cpu(run_remove);

  r.add("LookupTableSize")
      .doc("Gives the number of keys in a table, by a version 1 handle.")
      .in("table_handle: Ref(string)")
      .out("size: int64")
      .shape(size_shape)
      .no_grad()
      .cpu(run_size);

  r.add("LookupTableSizeV2")
      .doc("Gives the number of keys in a table.")
      .in("table_handle: resource")
      .out("size: int64")
      .stateful()
      .effect_free()
      .traits({.only_reads = true})
      .shape(size_shape)
      .no_grad()
      .cpu(run_size);

  dense_pairs(r.add("MutableDenseHashTable")
                  .doc("Makes or finds a changeable table with a reserved key, behind a version 1 handle.")
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
                  .stateful()
                  .effect_free()
                  .shape(ref_handle)
                  .no_grad(),
              NamedTable<Kind::kDense>::create);

  dense_pairs(r.add("MutableDenseHashTableV2")
                  .doc("Makes or finds a changeable table with two reserved keys.")
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
                  .stateful()
                  .effect_free()
                  .shape(shapes::scalar)
                  .no_grad(),
              NamedTable<Kind::kDense>::create);

  mutable_pairs(r.add("MutableHashTable")
                    .doc("Makes or finds a changeable table of scalars, behind a version 1 handle.")
                    .out("table_handle: Ref(string)")
                    .attr("container: string = ''")
                    .attr("shared_name: string = ''")
                    .attr("use_node_name_sharing: bool = false")
                    .attr("key_dtype: type")
                    .attr("value_dtype: type")
                    .stateful()
                    .effect_free()
                    .shape(ref_handle)
                    .no_grad()
                    .cpu_make(NamedTable<Kind::kMutable>::create, types<int64_t>("key_dtype"), types<Variant>("value_dtype")),
                NamedTable<Kind::kMutable>::create);

  mutable_pairs(r.add("MutableHashTableOfTensors")
                    .doc("Makes or finds a changeable table of vectors, behind a version 1 handle.")
                    .out("table_handle: Ref(string)")
                    .attr("container: string = ''")
                    .attr("shared_name: string = ''")
                    .attr("use_node_name_sharing: bool = false")
                    .attr("key_dtype: type")
                    .attr("value_dtype: type")
                    .attr("value_shape: shape = []")
                    .stateful()
                    .effect_free()
                    .shape(ref_handle)
                    .no_grad(),
                NamedTable<Kind::kMutableOfTensors>::create);

  mutable_pairs(r.add("MutableHashTableOfTensorsV2")
                    .doc("Makes or finds a changeable table of vectors.")
                    .out("table_handle: resource")
                    .attr("container: string = ''")
                    .attr("shared_name: string = ''")
                    .attr("use_node_name_sharing: bool = false")
                    .attr("key_dtype: type")
                    .attr("value_dtype: type")
                    .attr("value_shape: shape = []")
                    .stateful()
                    .effect_free()
                    .shape(shapes::scalar)
                    .no_grad(),
                NamedTable<Kind::kMutableOfTensors>::create);

  mutable_pairs(r.add("MutableHashTableV2")
                    .doc("Makes or finds a changeable table of scalars.")
                    .out("table_handle: resource")
                    .attr("container: string = ''")
                    .attr("shared_name: string = ''")
                    .attr("use_node_name_sharing: bool = false")
                    .attr("key_dtype: type")
                    .attr("value_dtype: type")
                    .stateful()
                    .effect_free()
                    .shape(shapes::scalar)
                    .no_grad()
                    .cpu_make(NamedTable<Kind::kMutable>::create, types<int64_t>("key_dtype"), types<Variant>("value_dtype")),
                NamedTable<Kind::kMutable>::create);
}

}  // namespace weft_engine::ops
