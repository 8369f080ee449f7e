// Config, weights, checkpoint. save_checkpoint takes all tensors at once, so they stand in a nameless file
// that is mapped: the kernel writes out what it has no room for.
#include "exchange/import_run.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "config/run_spec.h"
#include "exchange/hf_folder.h"
#include "exchange/hf_tokenizer.h"
#include "exchange/llmc_file.h"
#include "exchange/staged_path.h"
#include "exchange/stand_in_config.h"
#include "exchange/text_file.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/place.h"
#include "io/store/directory_store.h"
#include "io/store/posix_file.h"

namespace trireme {
namespace {
namespace fs = std::filesystem;

// Memory that is backed by a file without a name.
class ScratchMapping {
 public:
  ScratchMapping(const std::string& folder, int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
    const std::string path = folder + "/.scratch";
    const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.get() < 0) fail_env("{}", with_errno("cannot write " + path));
    ::unlink(path.c_str());
    // Room is taken at once: a full disk is an error here and would be a signal later.
    if (const int error = ::posix_fallocate(file.get(), 0, bytes); error != 0) {
      errno = error;
      fail_env("{}", with_errno(fmt::format("cannot take {} bytes of {}", bytes, folder)));
    }
    void* at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED) fail_env("{}", with_errno("cannot map " + path));
    data_ = static_cast<std::byte*>(at);
  }
  ScratchMapping(const ScratchMapping&) = delete;
  ScratchMapping& operator=(const ScratchMapping&) = delete;
  ~ScratchMapping() { ::munmap(data_, bytes_); }

  std::span<std::byte> bytes() const { return {data_, bytes_}; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

RunSpec spec_of(const ImportOptions& options, const std::string& run) {
  const fs::path named = without_last_slash(run);
  if (const std::string name = named.filename().string(); name.empty() || name == "." || name == "..")
    fail_user("--out \"{}\" has no name for the run; write it like --out runs/gpt2", run);
  std::vector<std::string> overrides = {
      "run.name=" + named.filename().string(),
      "run.dir=" + (named.has_parent_path() ? named.parent_path().string() : std::string("."))};
  const auto with = [&](const std::string& model_toml) {
    return options.config ? load_config(*options.config, overrides) : stand_in_config(model_toml, overrides);
  };
  switch (options.source) {
    case WeightSource::hf:
      for (const std::string& more : hf_overrides(options.from, read_hf_tensors(options.from)))
        overrides.push_back(more);
      return with("");
    case WeightSource::llmc:
      return with(llmc_model_toml(read_llmc_header(options.from)));
    default:
      if (!options.config)
        fail_user("{} does not say what its model is: give --config, a config with its [model]",
                  options.from);
      return with("");
  }
}

int64_t total_elements(const std::vector<ParamSpec>& params) {
  int64_t n = 0;
  for (const ParamSpec& param : params) n += count(param.shape);
  return n;
}

void save(const MappedWeights& weights, const RunSpec& spec, const std::string& folder) {
  const int64_t bytes = total_elements(weights.params()) * 4;
  const ScratchMapping scratch(folder, bytes);
  std::span<std::byte> rest = scratch.bytes();
  std::vector<TensorPiece> pieces;
  for (const ParamSpec& param : weights.params()) {
    const auto elements = static_cast<size_t>(count(param.shape));
    const std::span<std::byte> own = rest.first(elements * 4);
    weights.read(param.name, 0, {reinterpret_cast<float*>(own.data()), elements});
    pieces.push_back({"params/" + param.name, DType::f32, param.shape, own});
    rest = rest.subspan(own.size());
  }
  const auto store = open_directory_store(folder + "/checkpoints");
  CheckpointMeta meta;
  meta.config_toml = to_toml(spec);
  save_checkpoint(*store, meta, pieces, {});
}

}  // namespace

ImportReport import_run(const ImportOptions& options, const std::string& run) {
  const RunSpec spec = spec_of(options, run);
  const MappedWeights weights = open_foreign(options.source, options.from, spec.model, options.on_note);
  StagedPath staged(run, Staged::folder);
  make_folders(staged.path());
  save(weights, spec, staged.path());
  write_text_file(staged.path() + "/config.toml", to_toml(spec));
  ImportReport report{.checkpoint = run + "/checkpoints/" + checkpoint_name(0),
                      .tensors = static_cast<int64_t>(weights.params().size()),
                      .elements = total_elements(weights.params())};
  if (options.source == WeightSource::hf)
    report.no_tokenizer = copy_hf_tokenizer(options.from, staged.path() + "/tokenizer.json", spec.model);
  sync_folder(staged.path());
  staged.publish();
  return report;
}

}  // namespace trireme
