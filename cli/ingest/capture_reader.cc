#include "cli/ingest/capture_reader.h"

#include <string_view>
#include <utility>

#include "cli/interrupt.h"
#include "ingest/base/phases.h"

namespace oomdb::cli {
namespace {

const ingest::Importer* ImporterFor(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const ingest::Importer& importer : ingest::Importers()) {
    if (importer.claims(name)) return &importer;
  }
  return nullptr;
}

// The importer whose content `source` is, among those that go by it: first the one that its name
// asks for.
const ingest::Importer* ImporterOf(const ingest::Source& source, bool named,
                                   const ingest::Importer* claimed) {
  if (claimed != nullptr && claimed->holds(source, named)) return claimed;
  for (const ingest::Importer& importer : ingest::Importers()) {
    if (&importer != claimed && importer.holds != nullptr && importer.holds(source, named))
      return &importer;
  }
  return nullptr;
}

}  // namespace

int64_t ReadCapture::bytes() const {
  return dump.has_value() ? dump->bytes : static_cast<int64_t>(source->size());
}

const std::string& ReadCapture::compression() const {
  return dump.has_value() ? dump->compression : source->compression();
}

void ReadCapture::HandOver(const ingest::Importer* with, const ingest::ImportOptions& options,
                           ingest::FactSink& sink) const {
  const ingest::InPhase parsing(ingest::Phase::kParse);
  if (facts != nullptr) {
    facts->Replay(sink);
  } else if (dump.has_value()) {
    ingest::ImportDump(*dump, options, sink);
  } else {
    with->import(*source, options, sink);
  }
}

CaptureReader::CaptureReader(const std::vector<IngestTask>& tasks,
                             const ingest::ImportOptions& options, int threads,
                             std::set<std::string> known, const std::atomic<bool>* stop,
                             ingest::ByteObserver standard_input)
    : tasks_(tasks),
      options_(options),
      known_(std::move(known)),
      stop_(stop),
      standard_input_(std::move(standard_input)) {
  if (threads < 2) return;
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

CaptureReader::~CaptureReader() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  room_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

ReadCapture CaptureReader::Open(const IngestTask& task) const {
  ReadCapture read;
  if (!task.is_file()) return read;
  if (task.dump == nullptr && task.path != "-") read.importer = ImporterFor(task.path);
  const bool by_content = task.dump == nullptr && task.path != "-" &&
                          (read.importer == nullptr || read.importer->holds != nullptr);
  if (by_content && task.in_folder && read.importer == nullptr) return read;
  try {
    if (task.dump != nullptr) {
      read.dump = ingest::OpenDump(*task.dump);
      read.content_hash = read.dump->content_hash;
      return read;
    }
    {
      std::optional<ReadsStandardInput> reads_standard_input;
      if (task.path == "-") reads_standard_input.emplace();
      read.source = ingest::OpenSource(task.path, {}, standard_input_);
    }
    if (by_content) {
      if (const ingest::Importer* holder =
              ImporterOf(*read.source, !task.in_folder, read.importer)) {
        read.importer = holder;
      } else if (task.in_folder || read.importer == nullptr) {
        return {};
      }  // Else the one that its name asks for says what is wrong with it.
    }
    read.content_hash = ingest::ContentHash(*read.source);
  } catch (...) {
    read.error = std::current_exception();
  }
  return read;
}

ReadCapture CaptureReader::ReadAhead(const IngestTask& task) const {
  if (task.path == "-") return {};
  ReadCapture read = Open(task);
  if (!read.opened() || read.error != nullptr || known_.count(read.content_hash) > 0 ||
      read.bytes() > kMaxBytes) {
    return read;
  }
  try {
    auto facts = std::make_unique<ingest::RecordedFacts>(stop_, &quit_);
    read.HandOver(read.importer, options_, *facts);
    read.facts = std::move(facts);
  } catch (...) {
    read.error = std::current_exception();
  }
  return read;
}

bool CaptureReader::HasRoom() const {
  const size_t ahead = next_ - taken_;
  if (ahead == 0) return true;
  return ahead < kMaxFilesPerThread * threads_.size() &&
         bytes_ahead_ + tasks_[next_].bytes <= kMaxBytes;
}

void CaptureReader::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    room_.wait(lock, [&] { return quit_ || next_ == tasks_.size() || HasRoom(); });
    if (quit_ || next_ == tasks_.size()) return;
    const size_t task = next_++;
    bytes_ahead_ += tasks_[task].bytes;
    lock.unlock();
    ReadCapture read = ReadAhead(tasks_[task]);
    lock.lock();
    read_.emplace(task, std::move(read));
    ready_.notify_all();
  }
}

ReadCapture CaptureReader::Take(size_t task) {
  if (threads_.empty()) return Open(tasks_[task]);
  std::unique_lock lock(mutex_);
  for (; taken_ < task; ++taken_) bytes_ahead_ -= tasks_[taken_].bytes;
  room_.notify_all();
  ready_.wait(lock, [&] { return read_.count(task) > 0; });
  ReadCapture read = std::move(read_.extract(task).mapped());
  lock.unlock();
  return tasks_[task].path == "-" ? Open(tasks_[task]) : std::move(read);
}

}  // namespace oomdb::cli
