// A dataset of the rows that a query finds in a database.
#include <algorithm>
#include <array>

#include "op/registry.h"
#include "ops/data/dataset.h"
#include "ops/data/sqlite.h"

namespace weft_engine::ops::data {

namespace {

constexpr std::array kTypes = {DType::kString, DType::kInt8,   DType::kInt16, DType::kInt32, DType::kInt64,
                               DType::kUint8,  DType::kUint16, DType::kBool,  DType::kDouble};

Tensor value(const SqlQuery& q, int column, DType type) {
  switch (type) {
    case DType::kInt8: return Tensor::scalar(int8_t(q.number(column)));
    case DType::kInt16: return Tensor::scalar(int16_t(q.number(column)));
    case DType::kInt32: return Tensor::scalar(int32_t(q.number(column)));
    case DType::kInt64: return Tensor::scalar(q.number(column));
    case DType::kUint8: return Tensor::scalar(uint8_t(q.number(column)));
    case DType::kUint16: return Tensor::scalar(uint16_t(q.number(column)));
    case DType::kBool: return Tensor::scalar(q.number(column) != 0);
    case DType::kDouble: return Tensor::scalar(q.real(column));
    default: return Tensor::scalar(tstring(q.text(column)));
  }
}

class SqlDataset final : public Dataset {
 public:
  SqlDataset(std::string database, std::string query, const std::vector<DType>& types, const std::vector<PartialShape>& shapes)
      : Dataset("Sql", types, shapes), database_(std::move(database)), query_(std::move(query)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  class Walk final : public IteratorOf<SqlDataset> {
   public:
    using IteratorOf::IteratorOf;

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      end = done_;
      if (end) return {};
      if (!query_) {
        WEFT_ASSIGN(query_, SqlQuery::open(d().database_, d().query_));
      }
      const int columns = query_->num_columns();
      if (size_t(columns) != d().types().size())
        return invalid_argument("The number of columns in query (", columns, ") must match the number of elements in output_types (",
                                d().types().size(), ").");
      WEFT_ASSIGN(bool found, query_->step());
      end = done_ = !found;
      for (int i = 0; found && i < columns; ++i) out.push_back(value(*query_, i, d().types()[size_t(i)]));
      return {};
    }

   private:
    std::unique_ptr<SqlQuery> query_;
    bool done_ = false;
  };
  const std::string database_, query_;
};

Status run_sql(KernelContext& c) {
  for (DType type : attr_types(c)) {
    if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end())
      return invalid_argument(
          "Each element of `output_types_` must be one of: DT_STRING, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_BOOL, "
          "DT_DOUBLE ");
  }
  for (const PartialShape& shape : attr_shapes(c)) {
    if (!shape.compatible_with(PartialShape::scalar())) return invalid_argument("Each element of `output_shapes_` must be a scalar.");
  }
  WEFT_ASSIGN(tstring driver, scalar_input<tstring>(c, "driver_name"));
  if (driver.view() != "sqlite")
    return invalid_argument("The database type, ", driver.view(), ", is not supported by SqlDataset. The set of supported databases is: {'sqlite'}.");
  WEFT_ASSIGN(tstring database, scalar_input<tstring>(c, "data_source_name"));
  WEFT_ASSIGN(tstring query, scalar_input<tstring>(c, "query"));
  return emit(c, std::make_shared<SqlDataset>(database.str(), query.str(), attr_types(c), attr_shapes(c)));
}

void add_sql(Registry& r, std::string_view name, std::string_view doc) {
  r.add(name)
      .in("driver_name: string")
      .in("data_source_name: string")
      .in("query: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc(doc)
      .shape([](ShapeContext& c) { return dataset_of(c, {"driver_name", "data_source_name", "query"}); })
      .cpu(run_sql);
}

}  // namespace

void sql(Registry& r) {
  add_sql(r, "SqlDataset", "A dataset of the rows that a query finds in a database.");
  add_sql(r, "ExperimentalSqlDataset", "The former name of SqlDataset.");
}

}  // namespace weft_engine::ops::data
