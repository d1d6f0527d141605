// Datasets that keep the elements of another in memory or in files, and the resources that hold them.
#include <mutex>

#include "op/registry.h"
#include "ops/data/dataset.h"
#include "ops/data/iterator_resource.h"
#include "wire/file.h"
#include "wire/tensor_bundle.h"

namespace weft_engine::ops::data {

namespace {

// What the first complete walk found; empty until then.
class MemoryCache final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow4data18MemoryCacheManagerE";
  using Elements = std::shared_ptr<const std::vector<Element>>;
  std::string type_name() const override { return "MemoryCache"; }
  Elements elements() {
    std::lock_guard lock(mutex_);
    return elements_;
  }
  void complete(std::vector<Element> elements) {
    std::lock_guard lock(mutex_);
    if (!elements_) elements_ = std::make_shared<const std::vector<Element>>(std::move(elements));
  }

 private:
  std::mutex mutex_;
  Elements elements_;
};

class CacheDataset final : public UnaryDataset {
 public:
  CacheDataset(const DatasetPtr& input, std::shared_ptr<MemoryCache> cache) : UnaryDataset("MemoryCache", input), cache_(std::move(cache)) {}
  Status random_indexing() const override { return input().random_indexing(); }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override {
    if (auto elements = cache_->elements()) return IteratorPtr(std::make_unique<Reader>(*this, std::move(elements)));
    return iterate<Writer>(*this, c);
  }
  // The first question fills the cache.
  Status at(IteratorContext& c, int64_t index, Element& out) const override {
    if (!cache_->elements()) {
      WEFT_ASSIGN(IteratorPtr all, make_iterator(c));
      for (bool end = false; !end;) {
        Element passed;
        WEFT_RETURN_IF_ERROR(all->next(c, passed, end));
      }
    }
    const MemoryCache::Elements elements = cache_->elements();
    if (index >= int64_t(elements->size())) return out_of_range("Index out of range [0, ", elements->size(), "):", index);
    out = (*elements)[size_t(index)];
    return {};
  }

 private:
  class Reader final : public IteratorOf<CacheDataset> {
   public:
    Reader(const CacheDataset& d, MemoryCache::Elements elements) : IteratorOf(d), elements_(std::move(elements)) {}

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      end = at_ >= elements_->size();
      if (!end) out = (*elements_)[at_++];
      return {};
    }

   private:
    const MemoryCache::Elements elements_;
    size_t at_ = 0;
  };
  class Writer final : public UnaryIterator<CacheDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      if (!input_) {
        end = true;
        return {};
      }
      WEFT_RETURN_IF_ERROR(pull(c, out, end));
      if (end) d().cache_->complete(std::move(seen_));
      else seen_.push_back(out);
      return {};
    }

   private:
    std::vector<Element> seen_;
  };
  const std::shared_ptr<MemoryCache> cache_;
};

// Elements in a tensor bundle, as TensorFlow writes it: component j of element i under "      i_j".
class FileCacheDataset final : public UnaryDataset {
 public:
  FileCacheDataset(const DatasetPtr& input, std::string path) : UnaryDataset("FileCache", input), path_(std::move(path)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override {
    if (!wire::file_exists(wire::bundle_index_name(path_))) return iterate<Writer>(*this, c);
    WEFT_ASSIGN(std::unique_ptr<wire::BundleReader> bundle, wire::BundleReader::open(path_));
    return IteratorPtr(std::make_unique<Reader>(*this, std::move(bundle)));
  }

 private:
  static constexpr int64_t kMaxElements = 10000000;
  class Reader final : public IteratorOf<FileCacheDataset> {
   public:
    Reader(const FileCacheDataset& d, std::unique_ptr<wire::BundleReader> bundle) : IteratorOf(d), bundle_(std::move(bundle)) {}

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      end = at_ >= bundle_->size();
      if (end) return {};
      const size_t width = d().types().size();
      if (bundle_->size() - at_ < width) return data_loss("The cache ", d().path_, " ends within an element.");
      for (size_t k = 0; k < width; ++k) {
        WEFT_ASSIGN(Tensor t, bundle_->lookup(bundle_->key(at_++)));
        out.push_back(std::move(t));
      }
      return {};
    }

   private:
    const std::unique_ptr<wire::BundleReader> bundle_;
    size_t at_ = 0;
  };
  class Writer final : public UnaryIterator<FileCacheDataset> {
   public:
    Writer(const FileCacheDataset& d, IteratorPtr input) : UnaryIterator(d, std::move(input)), bundle_(d.path_) {}

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      end = !input_;
      if (end) return {};
      WEFT_RETURN_IF_ERROR(pull(c, out, end));
      if (end) return bundle_.finish();
      if (elements_ >= kMaxElements)
        return invalid_argument("Upstream iterator is producing more than ", kMaxElements, " items, which is more than the cache limit.");
      const size_t digits = std::to_string(out.size() - 1).size();
      for (size_t k = 0; k < out.size(); ++k) WEFT_RETURN_IF_ERROR(bundle_.add(padded(size_t(elements_), 7) + "_" + padded(k, digits), out[k]));
      ++elements_;
      return {};
    }

   private:
    static std::string padded(size_t n, size_t width) {
      std::string text = std::to_string(n);
      return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
    }
    wire::BundleWriter bundle_;
    int64_t elements_ = 0;
  };
  const std::string path_;
};

template <bool kWithCache>
Status run_cache(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(tstring filename, scalar_input<tstring>(c, "filename"));
  if (!filename.empty()) {
    WEFT_ASSIGN(std::string path, wire::path_of(filename.view()));
    return emit(c, std::make_shared<FileCacheDataset>(input, std::move(path)));
  }
  std::shared_ptr<MemoryCache> cache;
  if constexpr (kWithCache) {
    const Tensor& handle = c.input(2);
    const ResourceHandle::Info* info =
        handle.dtype() == DType::kResource && handle.num_elements() == 1 ? handle.data<ResourceHandle>()[0].info() : nullptr;
    // A graph of another process names its own.
    const bool elsewhere =
        info && !info->resource && info->type_name.find("MemoryCache") != std::string::npos && info->type_name != MemoryCache::kTypeName;
    auto found = elsewhere ? not_found("the cache is another process's") : c.resource<MemoryCache>(2);
    if (found.ok()) cache = *found;
    else if (found.status().code() != Code::kNotFound) return found.status();
  }
  if (!cache) cache = std::make_shared<MemoryCache>();
  return emit(c, std::make_shared<CacheDataset>(input, std::move(cache)));
}

Status run_anonymous_cache(KernelContext& c) {
  c.set_output(0, make_handle(c.device().name(), c.resources().default_container(), "AnonymousMemoryCache", MemoryCache::kTypeName,
                              std::make_shared<MemoryCache>(), true));
  c.set_output(1, deleter_tensor());
  return {};
}

// A handle that leads nowhere: who gets it makes a cache of its own.
Status run_dummy_cache(KernelContext& c) {
  c.set_output(0, make_handle(c.device().name(), c.resources().default_container(), "dummy_resource", MemoryCache::kTypeName));
  return {};
}

// The cache is freed with the last handle and the last dataset.
Status run_delete_cache(KernelContext& c) { return c.resource<MemoryCache>(0).status(); }

}  // namespace

void caches(Registry& r) {
  r.add("CacheDataset")
      .in("input_dataset: variant")
      .in("filename: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A former version of CacheDatasetV2.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"filename"}); })
      .cpu(run_cache<false>);

  r.add("CacheDatasetV2")
      .in("input_dataset: variant")
      .in("filename: string")
      .in("cache: resource")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset that keeps the elements of another in memory or in files.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"filename", "cache"}); })
      .cpu(run_cache<true>);

  r.add("AnonymousMemoryCache")
      .out("handle: resource")
      .out("deleter: variant")
      .stateful()
      .doc("A cache of elements that lives as long as its handle.")
      .shape(shapes::scalar)
      .cpu(run_anonymous_cache);

  r.add("DeleteMemoryCache")
      .in("handle: resource")
      .in("deleter: variant")
      .stateful()
      .doc("Ends a cache of elements.")
      .shape(shapes::no_outputs)
      .cpu(run_delete_cache);

  r.add("DummyMemoryCache")
      .out("handle: resource")
      .stateful()
      .doc("A handle to a cache that holds nothing.")
      .shape(shapes::scalar)
      .cpu(run_dummy_cache);
}

}  // namespace weft_engine::ops::data
