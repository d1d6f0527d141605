// Lookup tables for TensorFlow's C++ headers (lookup_interface.h): those of the engine seen from C++ sources, and those of C++ classes seen from the
// engine's ops.
#include "capi/cc_internal.h"
#include "capi/cc_resources.h"
#include "op/table.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::op::KernelContext;
using weft_engine::op::ResourceManager;
using weft_engine::op::Table;

struct weft_table {
  std::shared_ptr<Table> table;
};

namespace {

weft_run* as_c(KernelContext* c) { return reinterpret_cast<weft_run*>(c); }

// An object of a C++ class derived from LookupInterface, by one reference.
class CcTable final : public Table {
 public:
  CcTable(void* object, const weft_table_functions& f, DType key, DType value, Shape key_shape, Shape value_shape)
      : Table(key, value, std::move(key_shape), std::move(value_shape)), object_(object, f.resource), f_(f) {}
  std::string type_name() const override { return "LookupTable"; }
  std::string debug_string() const override { return object_.describe(); }
  void* referenced() const { return object_.referenced(); }

  int64_t size() const override {
    int64_t n = 0;
    (void)caught([&] { return n = f_.size(object_.get()), Status(); });
    return n;
  }
  Status find(KernelContext* c, const Tensor& keys, const Tensor& default_value, Tensor& out) const override {
    return call([&] { return f_.find(object_.get(), ::as_c(c), capi(keys), capi(default_value), weft_engine::capi::as_c(&out)); });
  }
  Status insert(KernelContext* c, const Tensor& keys, const Tensor& values) override {
    return call([&] { return f_.insert(object_.get(), ::as_c(c), capi(keys), capi(values)); });
  }
  Status remove(KernelContext* c, const Tensor& keys) override {
    return call([&] { return f_.remove(object_.get(), ::as_c(c), capi(keys)); });
  }
  Status import_all(KernelContext* c, const Tensor& keys, const Tensor& values) override {
    return call([&] { return f_.import(object_.get(), ::as_c(c), capi(keys), capi(values)); });
  }
  Status export_all(KernelContext* c, Tensor& keys, Tensor& values) const override {
    if (!c || c->num_outputs() < 2) return unimplemented("the contents of a table that a program brings are exported by LookupTableExportV2 alone");
    WEFT_RETURN_IF_ERROR(call([&] { return f_.export_values(object_.get(), ::as_c(c)); }));
    if (!c->output(0).valid() || !c->output(1).valid()) return internal_error("ExportValues of a table set no output");
    keys = c->output(0);
    values = c->output(1);
    return {};
  }

 private:
  static const TF_Tensor* capi(const Tensor& t) { return weft_engine::capi::as_c(&t); }
  template <class F>
  static Status call(F&& f) {
    return caught([&] { return taken(f()); });
  }
  const CountedObject object_;
  const weft_table_functions f_;
};

Status found(std::shared_ptr<Table> table, void** object, weft_table** out) {
  *object = nullptr;
  *out = nullptr;
  if (const auto* ours = dynamic_cast<const CcTable*>(table.get())) {
    *object = ours->referenced();
  } else {
    *out = new weft_table{std::move(table)};
  }
  return {};
}

}  // namespace

TF_Status* weft_table_lookup(weft_resources* r, const void* handle, void** object, weft_table** table) {
  return returned(caught([&]() -> Status {
    WEFT_ASSIGN(std::shared_ptr<Table> t, manager_of(r).get<Table>(*static_cast<const ResourceHandle*>(handle)));
    return found(std::move(t), object, table);
  }));
}
TF_Status* weft_table_lookup_named(weft_resources* r, weft_text container, weft_text name, void** object, weft_table** table) {
  return returned(caught([&]() -> Status {
    WEFT_ASSIGN(std::shared_ptr<Table> t, manager_of(r).find<Table>(string_of(container), string_of(name)));
    return found(std::move(t), object, table);
  }));
}
void weft_table_delete(weft_table* t) { delete t; }
TF_Status* weft_table_create(weft_resources* r, weft_text container, weft_text name, void* object, const weft_table_functions* f) {
  return returned(caught([&]() -> Status {
    const CountedObject until_made(object, f->resource);  // also on an error: the reference is ours
    WEFT_ASSIGN(DType key, dtype_from(static_cast<TF_DataType>(f->key_dtype)));
    WEFT_ASSIGN(DType value, dtype_from(static_cast<TF_DataType>(f->value_dtype)));
    WEFT_ASSIGN(Shape key_shape, shape_from(f->key_shape.dims, f->key_shape.rank));
    WEFT_ASSIGN(Shape value_shape, shape_from(f->value_shape.dims, f->value_shape.rank));
    auto table = std::make_shared<CcTable>(until_made.referenced(), *f, key, value, std::move(key_shape), std::move(value_shape));
    return manager_of(r).create(string_of(container), Table::kTypeName, string_of(name), std::move(table));
  }));
}
weft_text weft_table_type() { return text_of(Table::kTypeName); }
int weft_table_dtype(weft_table* t, int values) { return int(values ? t->table->value_dtype() : t->table->key_dtype()); }
weft_dims weft_table_shape(weft_table* t, int values) { return dims_of(values ? t->table->value_shape() : t->table->key_shape()); }
int64_t weft_table_size(weft_table* t) { return t->table->size(); }

TF_Status* weft_table_find(weft_table* t, const TF_Tensor* keys, const TF_Tensor* default_value, TF_Tensor* out) {
  return returned(caught([&]() -> Status {
    const Table& table = *t->table;
    WEFT_RETURN_IF_ERROR(table.check_find(keys->tensor, default_value->tensor));
    const Shape shape = table.result_shape(keys->tensor.shape());
    if (out->tensor.dtype() != table.value_dtype() || out->tensor.shape() != shape)
      return invalid_argument("the values of a table are ", table.value_dtype(), " ", shape, ", not ", out->tensor.dtype(), " ", out->tensor.shape());
    return table.find(nullptr, keys->tensor, default_value->tensor, out->tensor);
  }));
}
TF_Status* weft_table_insert(weft_table* t, const TF_Tensor* keys, const TF_Tensor* values) {
  return returned(caught([&]() -> Status {
    WEFT_RETURN_IF_ERROR(t->table->check_insert(keys->tensor, values->tensor));
    return t->table->insert(nullptr, keys->tensor, values->tensor);
  }));
}
TF_Status* weft_table_remove(weft_table* t, const TF_Tensor* keys) {
  return returned(caught([&]() -> Status {
    WEFT_RETURN_IF_ERROR(t->table->check_keys(keys->tensor));
    return t->table->remove(nullptr, keys->tensor);
  }));
}
TF_Status* weft_table_import(weft_table* t, const TF_Tensor* keys, const TF_Tensor* values) {
  return returned(caught([&]() -> Status {
    WEFT_RETURN_IF_ERROR(t->table->check_insert(keys->tensor, values->tensor));
    return t->table->import_all(nullptr, keys->tensor, values->tensor);
  }));
}
TF_Status* weft_table_export(weft_table* t, TF_Tensor** keys, TF_Tensor** values) {
  return returned(caught([&]() -> Status {
    Tensor k, v;
    WEFT_RETURN_IF_ERROR(t->table->export_all(nullptr, k, v));
    *keys = new TF_Tensor{std::move(k)};
    *values = new TF_Tensor{std::move(v)};
    return {};
  }));
}
