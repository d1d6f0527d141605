// The first form of snapshots (SnapshotDataset), with the files that TensorFlow writes for it (file format 1):
//
//   PATH/HASH/snapshot.metadata, PATH/HASH/RUN/00000000.snapshot        HASH and RUN are custom-NAME and custom where there is a name
//
// A file is records of a length (eight bytes) and as many bytes: a SnapshotRecord for each element, or for SNAPPY a
// SnapshotTensorMetadata (shapes and sizes) and behind it the packed bytes of all components.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "op/registry.h"
#include "ops/data/fingerprint.h"
#include "ops/data/snapshot_files.h"
#include "ops/random/random_common.h"
#include "ops/list/variant_codec.h"
#include "wire/file.h"
#include "wire/proto.h"
#include "wire/snappy.h"
#include "wire/tensor_proto.h"

namespace weft_engine::ops::data {

namespace {

const wire::VariantCodec& codec() {
  static const auto& kCodec = *new wire::VariantCodec(variant_codec());
  return kCodec;
}

std::string hexadecimal(uint64_t n) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(n));
  return text;
}

void append_framed(std::string& out, std::string_view bytes) {
  const uint64_t n = bytes.size();
  out.append(reinterpret_cast<const char*>(&n), sizeof n);
  out += bytes;
}

Result<std::string> encode(const Element& element, bool packed) {
  std::string out, bytes;
  wire::ProtoWriter message;
  for (const Tensor& t : element) {
    if (packed && is_simple(t.dtype())) {
      wire::ProtoWriter m;
      m.bytes(2, wire::encode_shape(t.shape()));
      m.varint(3, t.byte_size());
      message.message(1, m);
      if (t.byte_size()) bytes.append(t.data<char>(), t.byte_size());
      continue;
    }
    WEFT_ASSIGN(std::string tensor, wire::encode_tensor_content(t, &codec()));
    if (packed) {
      wire::ProtoWriter m;
      m.bytes(2, wire::encode_shape(t.shape()));
      m.varint(3, tensor.size());
      message.message(1, m);
      bytes += tensor;
    } else {
      message.bytes(1, tensor);
    }
  }
  append_framed(out, message.str());
  if (packed) append_framed(out, wire::snappy_compress(bytes));
  return out;
}

struct Parts {
  std::string folder, hash, run, compression, mode;  // run: empty for one of its own
  int64_t expiry_seconds = 0, file_bytes = 0;
};

// A run on its way.
class FirstWriter {
 public:
  FirstWriter(const Parts& parts, std::vector<DType> types)
      : parts_(parts), run_(parts.run.empty() ? hexadecimal(entropy()) : parts.run), folder_(parts.folder, run_) {
    metadata_.graph_hash = parts.hash;
    metadata_.run_id = run_;
    metadata_.version = 1;
    metadata_.types = std::move(types);
  }
  Status write(const Element& element) {
    if (!file_ || written_ >= parts_.file_bytes) WEFT_RETURN_IF_ERROR(next_file());
    WEFT_ASSIGN(std::string bytes, encode(element, parts_.compression == "SNAPPY"));
    written_ += int64_t(bytes.size());
    return file_->write_bytes(bytes);
  }
  Status finish() {
    if (!file_) WEFT_RETURN_IF_ERROR(next_file());
    WEFT_RETURN_IF_ERROR(file_->finish());
    file_.reset();
    WEFT_RETURN_IF_ERROR(folder_.publish());
    metadata_.finalized = true;
    return metadata_.write(parts_.folder);
  }

 private:
  Status next_file() {
    if (file_) WEFT_RETURN_IF_ERROR(file_->finish());
    WEFT_ASSIGN(const std::string folder, folder_.path());
    char name[32];
    std::snprintf(name, sizeof name, "%08d.snapshot", files_++);
    WEFT_ASSIGN(file_, wire::RecordWriter::create(cat(folder, "/", name), parts_.compression == "GZIP" ? "GZIP" : ""));
    written_ = 0;
    return {};
  }
  const Parts& parts_;
  const std::string run_;
  RunFolder folder_;
  SnapshotMetadata metadata_;
  std::unique_ptr<wire::RecordWriter> file_;
  int files_ = 0;
  int64_t written_ = 0;
};

// Elements of the files of a run, one after the other.
class FirstReader {
 public:
  static Result<std::unique_ptr<FirstReader>> open(const Parts& parts, const std::string& run, const std::vector<DType>& types) {
    auto r = std::make_unique<FirstReader>();
    r->packed_ = parts.compression == "SNAPPY";
    r->compression_ = parts.compression == "GZIP" ? "GZIP" : "";
    r->types_ = types;
    const std::string folder = cat(parts.folder, "/", run);
    WEFT_ASSIGN(r->files_, files_in(folder, ".snapshot"));
    if (r->files_.empty() && !wire::file_exists(folder)) return wire::io_error(folder, ENOENT);
    return r;
  }
  Status next(Element& out, bool& end) {
    for (; at_ < files_.size(); ++at_, stream_.reset()) {
      if (!stream_) {
        WEFT_ASSIGN(stream_, wire::ByteStream::open(files_[at_], compression_));
      }
      std::string head;
      WEFT_ASSIGN(bool found, record(head, true));
      if (found) return packed_ ? read_packed(head, out) : read_plain(head, out);
    }
    end = true;
    return {};
  }

 private:
  Status damaged() const { return data_loss(files_[at_], " is damaged"); }
  // False, where that is allowed: the file has ended.
  Result<bool> record(std::string& out, bool may_end) {
    std::string length;
    WEFT_RETURN_IF_ERROR(stream_->read(8, length));
    if (length.empty() && may_end && stream_->complete()) return false;
    if (length.size() < 8) return damaged();
    uint64_t n;
    std::memcpy(&n, length.data(), sizeof n);
    WEFT_RETURN_IF_ERROR(stream_->read(n, out));
    if (out.size() < n) return damaged();
    return true;
  }
  Status read_plain(std::string_view bytes, Element& out) {
    wire::ProtoReader r(bytes);
    while (r.next()) {
      if (r.field() != 1) continue;
      auto t = wire::decode_tensor(r.bytes(), &codec());
      if (!t.ok()) return damaged();
      out.push_back(std::move(t).value());
    }
    return r.ok() ? Status() : damaged();
  }
  Status read_packed(std::string_view head, Element& out) {
    std::string block;
    WEFT_RETURN_IF_ERROR(record(block, false).status());
    const std::optional<std::string> bytes = wire::snappy_uncompress(block);
    if (!bytes) return damaged();
    std::string_view rest = *bytes;
    wire::ProtoReader r(head);
    while (r.next()) {
      if (r.field() != 1) continue;
      wire::ProtoReader m = r.message();
      std::string_view shape;
      uint64_t size = 0;
      while (m.next()) {
        if (m.field() == 2) shape = m.bytes();
        if (m.field() == 3) size = m.varint();
      }
      if (!m.ok() || size > rest.size() || out.size() >= types_.size()) return damaged();
      auto t = component(types_[out.size()], shape, rest.substr(0, size));
      if (!t.ok()) return damaged();
      out.push_back(std::move(t).value());
      rest.remove_prefix(size);
    }
    return r.ok() && rest.empty() ? Status() : damaged();
  }
  static Result<Tensor> component(DType type, std::string_view shape, std::string_view bytes) {
    if (!is_simple(type)) return wire::decode_tensor(bytes, &codec());
    WEFT_ASSIGN(PartialShape partial, wire::decode_shape(shape));
    if (!partial.fully_known()) return data_loss("a shape that is not known");
    WEFT_ASSIGN(Shape known, Shape::make(partial.dims()));
    if (multiply_without_overflow(known.num_elements(), int64_t(dtype_size(type))) != int64_t(bytes.size())) return data_loss("sizes differ");
    WEFT_ASSIGN(Tensor t, Tensor::allocate(type, known));
    if (!bytes.empty()) std::memcpy(t.raw(), bytes.data(), bytes.size());
    return t;
  }

  bool packed_ = false;
  std::string compression_;
  std::vector<DType> types_;
  std::vector<std::string> files_;
  size_t at_ = 0;
  std::unique_ptr<wire::ByteStream> stream_;
};

class FirstSnapshotDataset final : public UnaryDataset {
 public:
  FirstSnapshotDataset(const DatasetPtr& input, Parts parts) : UnaryDataset("Snapshot", input), parts_(std::move(parts)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  class Walk final : public IteratorOf<FirstSnapshotDataset> {
   public:
    using IteratorOf::IteratorOf;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      if (!started_) WEFT_RETURN_IF_ERROR(start(c));
      if (reader_) {
        WEFT_RETURN_IF_ERROR(reader_->next(out, end));
        return end ? Status() : verify_element(d().types(), d().shapes(), out);
      }
      end = !input_;
      if (end) return {};
      WEFT_RETURN_IF_ERROR(input_->next(c, out, end));
      if (end) input_.reset();
      if (!writer_) return {};
      return end ? writer_->finish() : writer_->write(out);
    }

   private:
    Status start(IteratorContext& c) {
      const Parts& p = d().parts_;
      WEFT_ASSIGN(std::optional<SnapshotMetadata> found, SnapshotMetadata::read(p.folder));
      if (p.mode == "read" && !found) return not_found("Metadata file does not exist.");
      if (p.mode == "read" || (p.mode == "auto" && found && found->finalized)) {
        if (found->version != 1) return unimplemented("Snapshot reader version: ", found->version, " is not supported.");
        WEFT_ASSIGN(reader_, FirstReader::open(p, found->run_id, d().types()));
      } else {
        WEFT_ASSIGN(input_, make_input(c, d().input()));
        if (p.mode == "write" || (p.mode == "auto" && !(found && pending(*found)))) writer_ = std::make_unique<FirstWriter>(p, d().types());
      }
      started_ = true;
      return {};
    }
    // Somebody else may still be writing.
    bool pending(const SnapshotMetadata& found) const {
      using namespace std::chrono;
      const int64_t now = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
      return (__int128(now) - found.created_us) / 1000000 <= d().parts_.expiry_seconds;
    }
    bool started_ = false;
    IteratorPtr input_;
    std::unique_ptr<FirstReader> reader_;
    std::unique_ptr<FirstWriter> writer_;
  };
  const Parts parts_;
};

Status run_first_snapshot(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(tstring path, scalar_input<tstring>(c, "path"));
  Parts p;
  p.compression = c.attr<std::string>("compression");
  if (!p.compression.empty() && p.compression != "GZIP" && p.compression != "SNAPPY")
    return invalid_argument("compression must be either '', 'GZIP' or 'SNAPPY'.");
  p.mode = c.attr<std::string>("mode");
  if (p.mode != "auto" && p.mode != "read" && p.mode != "write" && p.mode != "passthrough")
    return invalid_argument("mode must be either 'auto', 'read', 'write', or 'passthrough'.");
  for (std::string_view attr : {"reader_path_prefix", "writer_path_prefix"}) {
    if (!c.attr<std::string>(attr).empty()) return unimplemented("SnapshotDataset with ", attr);
  }
  if (c.attr<bool>("shuffle_on_read")) return unimplemented("SnapshotDataset with shuffle_on_read");
  p.expiry_seconds = c.attr<int64_t>("pending_snapshot_expiry_seconds");
  p.file_bytes = c.attr<int64_t>("shard_size_bytes");
  WEFT_ASSIGN(std::string folder, wire::path_of(path.view()));
  WEFT_ASSIGN(uint64_t hash, fingerprint_of(*input, c.env().functions));
  p.hash = hexadecimal(hash);
  const std::string& name = c.attr<std::string>("snapshot_name");
  p.folder = cat(folder, "/", name.empty() ? p.hash : "custom-" + name);
  if (!name.empty()) p.run = "custom";
  return emit(c, std::make_shared<FirstSnapshotDataset>(input, std::move(p)));
}

}  // namespace

void first_snapshots(Registry& r) {
  r.add("SnapshotDataset")
      .in("input_dataset: variant")
      .in("path: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("compression: string = ''")
      .attr("reader_path_prefix: string = ''")
      .attr("writer_path_prefix: string = ''")
      .attr("shard_size_bytes: int = 10737418240")
      .attr("pending_snapshot_expiry_seconds: int = 86400")
      .attr("num_reader_threads: int = 1")
      .attr("reader_buffer_size: int = 1")
      .attr("num_writer_threads: int = 1")
      .attr("writer_buffer_size: int = 1")
      .attr("shuffle_on_read: bool = false")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("mode: string = 'auto'")
      .attr("snapshot_name: string = ''")
      .doc("A former version of SnapshotDatasetV2.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"path"}); })
      .cpu(run_first_snapshot);
}

}  // namespace weft_engine::ops::data
