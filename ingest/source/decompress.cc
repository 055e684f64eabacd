#include "ingest/source/decompress.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.h"

namespace oomdb::ingest {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;
// Below this the ratio is not looked at: it can't hurt, and short streams of zeros are legal.
constexpr uint64_t kRatioFreeBytes = uint64_t{64} << 20;

// Counts both sides of a stream and refuses what grows out of all proportion.
class LimitedSpool {
 public:
  LimitedSpool(const SourceLimits& limits, const std::string& path, Spool& spool)
      : limits_(limits), path_(path), spool_(spool) {}

  void CountInput(size_t bytes) { input_bytes_ += bytes; }

  void Append(std::span<const char> bytes) {
    const uint64_t size = spool_.size() + bytes.size();
    if (size > limits_.max_uncompressed_bytes) {
      throw Error(path_ + ": more than " + std::to_string(limits_.max_uncompressed_bytes) +
                  " bytes when decompressed; decompress it yourself if that is right");
    }
    if (size > kRatioFreeBytes && size / std::max<uint64_t>(input_bytes_, 1) > limits_.max_ratio) {
      throw Error(
          path_ + ": decompresses to more than " + std::to_string(limits_.max_ratio) +
          " times its size, which no capture does; decompress it yourself if that is right");
    }
    spool_.Append(bytes);
  }

 private:
  const SourceLimits& limits_;
  const std::string& path_;
  Spool& spool_;
  uint64_t input_bytes_ = 0;
};

void CopyPlain(const ReadFunction& read, const SourceLimits& limits, const std::string& path,
               Spool& spool) {
  std::vector<char> buffer(kBufferBytes);
  while (const size_t got = read(buffer)) {
    if (spool.size() + got > limits.max_piped_bytes) {
      throw Error((path == "-" ? std::string("standard input") : path) + ": more than " +
                  std::to_string(limits.max_piped_bytes) +
                  " bytes; save it to a file and name that");
    }
    spool.Append(std::span(buffer).first(got));
  }
}

bool Gunzip(const ReadFunction& read, const std::string& path, LimitedSpool& out) {
  z_stream stream{};
  constexpr int kGzipOnly = 15 + 16;  // The largest window; a gzip header is required.
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) throw Error(path + ": zlib could not start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);

  std::vector<char> input(kBufferBytes);
  std::vector<char> output(kBufferBytes);
  bool in_member = true;  // False: between two members, where the file may end.
  while (const size_t got = read(input)) {
    out.CountInput(got);
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(got);
    // The output buffer may fill up while zlib still holds more: go on until it leaves room.
    bool more_output = true;
    while (stream.avail_in > 0 || more_output) {
      if (!in_member) {
        while (stream.avail_in > 0 && *stream.next_in == 0) {
          ++stream.next_in;
          --stream.avail_in;
        }
        if (stream.avail_in == 0) break;
        inflateReset(&stream);
        in_member = true;
      }
      stream.next_out = reinterpret_cast<Bytef*>(output.data());
      stream.avail_out = static_cast<uInt>(output.size());
      const int status = inflate(&stream, Z_NO_FLUSH);
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        throw Error(path + ": broken gzip stream (" +
                    (stream.msg != nullptr ? stream.msg : "unknown reason") +
                    "); fetch the file again");
      }
      out.Append(std::span(output).first(output.size() - stream.avail_out));
      more_output = stream.avail_out == 0;
      if (status == Z_STREAM_END) {
        in_member = false;
        more_output = false;
      }
    }
  }
  return !in_member;
}

bool Unzstd(const ReadFunction& read, const std::string& path, LimitedSpool& out) {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                        ZSTD_freeDStream);
  if (stream == nullptr) throw Error(path + ": zstd could not start");
  std::vector<char> input_buffer(kBufferBytes);
  std::vector<char> output_buffer(kBufferBytes);
  size_t wanted = 1;  // 0: a frame is whole and flushed, and the file may end.
  while (const size_t got = read(input_buffer)) {
    out.CountInput(got);
    ZSTD_inBuffer input{input_buffer.data(), got, 0};
    bool more_output = false;
    while (input.pos < input.size || more_output) {
      ZSTD_outBuffer output{output_buffer.data(), output_buffer.size(), 0};
      wanted = ZSTD_decompressStream(stream.get(), &output, &input);
      if (ZSTD_isError(wanted) != 0) {
        const bool window = ZSTD_getErrorCode(wanted) == ZSTD_error_frameParameter_windowTooLarge;
        throw Error(path + ": broken zstd stream (" + ZSTD_getErrorName(wanted) + "); " +
                    (window ? "made with --long: decompress it yourself (zstd -d --long=31)"
                            : "fetch the file again"));
      }
      out.Append(std::span(output_buffer).first(output.pos));
      more_output = wanted != 0 && output.pos == output.size;
    }
  }
  return wanted == 0;
}

std::string_view XzReason(lzma_ret status) {
  switch (status) {
    case LZMA_MEMLIMIT_ERROR:
      return "it needs too much memory; decompress it yourself";
    case LZMA_MEM_ERROR:
      return "not enough memory for it";
    case LZMA_OPTIONS_ERROR:
      return "a filter that liblzma does not know; decompress it yourself";
    default:
      return "damaged; fetch the file again";
  }
}

bool Unxz(const ReadFunction& read, const std::string& path, LimitedSpool& out) {
  lzma_stream stream = LZMA_STREAM_INIT;
  const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> closer(&stream, lzma_end);
  // The largest preset, xz -9, needs 65 MiB; a header can ask for 4 GiB.
  constexpr uint64_t kMaxMemory = uint64_t{256} << 20;
  if (lzma_stream_decoder(&stream, kMaxMemory, LZMA_CONCATENATED) != LZMA_OK)
    throw Error(path + ": liblzma could not start");
  std::vector<char> input(kBufferBytes);
  std::vector<char> output(kBufferBytes);
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK) {
    const size_t got = read(input);
    out.CountInput(got);
    stream.next_in = reinterpret_cast<const uint8_t*>(input.data());
    stream.avail_in = got;
    const lzma_action action = got == 0 ? LZMA_FINISH : LZMA_RUN;
    do {
      stream.next_out = reinterpret_cast<uint8_t*>(output.data());
      stream.avail_out = output.size();
      status = lzma_code(&stream, action);
      out.Append(std::span(output).first(output.size() - stream.avail_out));
    } while (status == LZMA_OK && (stream.avail_in > 0 || stream.avail_out == 0 || got == 0));
    // Nothing to read and nothing to write: it wants more, which comes or is missing.
    if (status == LZMA_BUF_ERROR && got > 0) status = LZMA_OK;
  }
  if (status == LZMA_BUF_ERROR) return false;
  if (status != LZMA_STREAM_END)
    throw Error(path + ": broken xz stream (" + std::string(XzReason(status)) + ")");
  return true;
}

}  // namespace

std::string_view ToString(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "";
    case Compression::kGzip:
      return "gzip";
    case Compression::kZstd:
      return "zstd";
    case Compression::kXz:
      return "xz";
  }
  return "";
}

Compression SniffCompression(std::span<const char> first_bytes) {
  const std::string_view all(first_bytes.data(), std::min(first_bytes.size(), kSniffBytes));
  if (all == std::string_view("\xfd"
                              "7zXZ\0",
                              6))
    return Compression::kXz;
  constexpr size_t kMagicBytes = 4;  // Of zstd; the longest but for xz's.
  const std::string_view head = all.substr(0, kMagicBytes);
  if (head.starts_with("\x1f\x8b\x08")) return Compression::kGzip;
  if (head == "\x28\xb5\x2f\xfd") return Compression::kZstd;
  // A skippable frame (0x184D2A50 to 5F, little endian): pzstd begins with one.
  if (head.size() == kMagicBytes && (head[0] & 0xf0) == 0x50 && head.substr(1) == "\x2a\x4d\x18") {
    return Compression::kZstd;
  }
  return Compression::kNone;
}

bool DecompressAll(Compression compression, const ReadFunction& read, const SourceLimits& limits,
                   const std::string& path, Spool& spool) {
  LimitedSpool out(limits, path, spool);
  switch (compression) {
    case Compression::kNone:
      CopyPlain(read, limits, path, spool);
      return true;
    case Compression::kGzip:
      return Gunzip(read, path, out);
    case Compression::kZstd:
      return Unzstd(read, path, out);
    case Compression::kXz:
      return Unxz(read, path, out);
  }
  return true;
}

}  // namespace oomdb::ingest
