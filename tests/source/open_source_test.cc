#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "base/error.h"
#include "ingest/source/source.h"
#include "tests/source/temp_folder.h"

namespace oomdb::ingest {
namespace {

using ::testing::HasSubstr;

std::string ReadAll(const Source& source) {
  std::string bytes(source.size(), '\0');
  source.ReadAt(0, bytes);
  return bytes;
}

std::string Gzip(const std::string& plain) {
  z_stream stream{};
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, plain.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(const std::string& plain) {
  std::string out(ZSTD_compressBound(plain.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), 3));
  return out;
}

std::string Xz(const std::string& plain, uint32_t preset = 1) {
  std::string out(lzma_stream_buffer_bound(plain.size()), '\0');
  size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(preset, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const uint8_t*>(plain.data()), plain.size(),
                                    reinterpret_cast<uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

// Text that compresses, but not to nothing, and longer than any buffer in the reader.
std::string Plain(size_t bytes = 3 << 20) {
  std::mt19937 random(7);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>('a' + random() % 16);
  return text;
}

std::string ErrorOf(const std::string& path, const SourceLimits& limits = {}) {
  try {
    OpenSource(path, limits);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(OpenSourceTest, PlainFileIsReadInPlace) {
  const TempFolder folder;
  const std::string path = folder.Write("x.pb", "0123456789");
  const auto source = OpenSource(path);
  EXPECT_EQ(source->size(), 10u);
  EXPECT_EQ(source->path(), path);
  EXPECT_EQ(source->compression(), "");
  EXPECT_FALSE(source->ended_early());
  std::string middle(3, '\0');
  source->ReadAt(4, middle);
  EXPECT_EQ(middle, "456");
}

TEST(OpenSourceTest, EmptyFileIsEmpty) {
  const TempFolder folder;
  EXPECT_EQ(OpenSource(folder.Write("x.pb", ""))->size(), 0u);
}

TEST(OpenSourceTest, CompressionIsToldByContent) {
  const TempFolder folder;
  const std::string plain = Plain();
  const auto gzip = OpenSource(folder.Write("named.zst", Gzip(plain)));
  EXPECT_EQ(gzip->compression(), "gzip");
  EXPECT_EQ(ReadAll(*gzip), plain);
  const auto zstd = OpenSource(folder.Write("named.xplane.pb", Zstd(plain)));
  EXPECT_EQ(zstd->compression(), "zstd");
  EXPECT_EQ(ReadAll(*zstd), plain);
  const auto xz = OpenSource(folder.Write("named.gz", Xz(plain, 9)));
  EXPECT_EQ(xz->compression(), "xz");
  EXPECT_EQ(ReadAll(*xz), plain);
  EXPECT_FALSE(xz->ended_early());
  EXPECT_EQ(OpenSource(folder.Write("named.gz", "plain"))->compression(), "");
}

TEST(OpenSourceTest, MembersAndFramesFollowOneAnother) {
  const TempFolder folder;
  const std::string a = Plain(300000);
  const std::string b = "the second";
  EXPECT_EQ(ReadAll(*OpenSource(folder.Write("m.gz", Gzip(a) + Gzip("") + Gzip(b)))), a + b);
  EXPECT_EQ(ReadAll(*OpenSource(folder.Write("m.zst", Zstd(a) + Zstd("") + Zstd(b)))), a + b);
  EXPECT_EQ(ReadAll(*OpenSource(folder.Write("m.xz", Xz(a) + Xz("") + Xz(b)))), a + b);
  EXPECT_EQ(ReadAll(*OpenSource(folder.Write("p.xz", Xz(b) + std::string(8, '\0')))), b);
  const std::string skippable("\x53\x2a\x4d\x18\x03\0\0\0abc", 11);
  EXPECT_EQ(ReadAll(*OpenSource(folder.Write("s.zst", skippable + Zstd(b)))), b);
  const auto padded = OpenSource(folder.Write("p.gz", Gzip(b) + std::string(512, '\0')));
  EXPECT_EQ(ReadAll(*padded), b);
  EXPECT_FALSE(padded->ended_early());
}

TEST(OpenSourceTest, StreamThatEndsEarlyIsKeptUpToThere) {
  const TempFolder folder;
  const std::string plain = Plain();
  for (const std::string& whole : {Gzip(plain), Zstd(plain), Xz(plain)}) {
    const auto source = OpenSource(folder.Write("cut", whole.substr(0, whole.size() / 2)));
    EXPECT_TRUE(source->ended_early());
    const std::string kept = ReadAll(*source);
    EXPECT_GT(kept.size(), plain.size() / 4);
    EXPECT_LT(kept.size(), plain.size());
    EXPECT_EQ(kept, plain.substr(0, kept.size()));
    EXPECT_FALSE(OpenSource(folder.Write("whole", whole))->ended_early());
    // All of the content is there, its checksum is not.
    EXPECT_TRUE(OpenSource(folder.Write("cut", whole.substr(0, whole.size() - 1)))->ended_early());
  }
}

TEST(OpenSourceTest, BrokenStreamIsAnError) {
  const TempFolder folder;
  std::string gzip = Gzip(Plain());
  gzip[gzip.size() - 6] ^= 1;  // In its checksum.
  EXPECT_THAT(ErrorOf(folder.Write("broken.gz", gzip)), HasSubstr("broken gzip stream"));
  EXPECT_THAT(ErrorOf(folder.Write("junk.gz", Gzip("x") + "junk")), HasSubstr("broken gzip"));
  std::string zstd = Zstd(Plain());
  zstd[9] ^= 0x7f;
  EXPECT_THAT(ErrorOf(folder.Write("broken.zst", zstd)), HasSubstr("broken zstd stream"));
  std::string xz = Xz(Plain());
  xz[xz.size() / 2] ^= 0x7f;
  EXPECT_THAT(ErrorOf(folder.Write("broken.xz", xz)), HasSubstr("broken xz stream"));
  EXPECT_THAT(ErrorOf(folder.Write("junk.xz", Xz("x") + "junk, and more of it")),
              HasSubstr("broken xz stream"));
}

TEST(OpenSourceTest, LimitsHold) {
  const TempFolder folder;
  const std::string plain = Plain(100000);
  EXPECT_THAT(ErrorOf(folder.Write("x.gz", Gzip(plain)), {.max_uncompressed_bytes = 99999}),
              HasSubstr("more than 99999 bytes"));
  EXPECT_EQ(ErrorOf(folder.Write("x.gz", Gzip(plain)), {.max_uncompressed_bytes = 100000}),
            "no error");
  const std::string zeros(80 << 20, '\0');
  EXPECT_THAT(ErrorOf(folder.Write("bomb.zst", Zstd(zeros))), HasSubstr("times its size"));
  EXPECT_THAT(ErrorOf(folder.Write("bomb.xz", Xz(zeros))), HasSubstr("times its size"));
  EXPECT_THAT(ErrorOf(folder.Write("x.xz", Xz(plain)), {.max_uncompressed_bytes = 99999}),
              HasSubstr("more than 99999 bytes"));
  EXPECT_EQ(ErrorOf(folder.Write("bomb.gz", Gzip(zeros)), {.max_ratio = 2000}), "no error");
}

TEST(OpenSourceTest, MissingAndFoldersAreErrors) {
  const TempFolder folder;
  EXPECT_THAT(ErrorOf(folder.Path("nothing")), HasSubstr("nothing: no such file"));
  EXPECT_THAT(ErrorOf(folder.Path("")), HasSubstr("is a folder"));
}

TEST(OpenSourceTest, PipeIsSpooled) {
  const TempFolder folder;
  const std::string plain = Plain();
  for (const std::string& content : {plain, Zstd(plain)}) {
    const std::string path = folder.Path("pipe");
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(path, std::ios::binary) << content; });
    const auto source = OpenSource(path);
    writer.join();
    EXPECT_EQ(ReadAll(*source), plain);
    std::filesystem::remove(path);
  }
}

TEST(OpenSourceTest, StandardInputIsReadFromWhereItStands) {
  const TempFolder folder;
  const std::string path = folder.Write("in", "0123456789");
  const int saved = ::dup(STDIN_FILENO);
  const int file = ::open(path.c_str(), O_RDONLY);
  ASSERT_EQ(::lseek(file, 2, SEEK_SET), 2);
  ASSERT_EQ(::dup2(file, STDIN_FILENO), STDIN_FILENO);
  const auto source = OpenSource("-");
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(file);
  EXPECT_EQ(source->path(), "-");
  EXPECT_EQ(ReadAll(*source), "23456789");
}

TEST(OpenSourceTest, SpoolGoesToTmpdirAndLeavesNothing) {
  const TempFolder folder;
  const std::string path = folder.Write("x.gz", Gzip("content"));
  std::filesystem::create_directory(folder.Path("spool"));
  const char* before = std::getenv("TMPDIR");
  const std::string saved = before != nullptr ? before : "";
  ::setenv("TMPDIR", folder.Path("spool").c_str(), 1);
  const auto source = OpenSource(path);
  EXPECT_TRUE(std::filesystem::is_empty(folder.Path("spool")));
  ::setenv("TMPDIR", folder.Path("no-such-folder").c_str(), 1);
  EXPECT_THAT(ErrorOf(path), HasSubstr("set TMPDIR"));
  before != nullptr ? ::setenv("TMPDIR", saved.c_str(), 1) : ::unsetenv("TMPDIR");
  EXPECT_EQ(ReadAll(*source), "content");
}

TEST(OpenSourceTest, FileThatShrinksIsAnError) {
  const TempFolder folder;
  const std::string path = folder.Write("x.pb", "0123456789");
  const auto source = OpenSource(path);
  std::filesystem::resize_file(path, 5);
  EXPECT_THROW(ReadAll(*source), Error);
}

TEST(MemorySourceTest, RefusesReadsPastItsEnd) {
  const auto source = MemorySource("0123");
  std::string out(2, '\0');
  source->ReadAt(2, out);
  EXPECT_EQ(out, "23");
  EXPECT_THROW(source->ReadAt(3, out), Error);
  EXPECT_THROW(source->ReadAt(~uint64_t{0}, out), Error);
}

}  // namespace
}  // namespace oomdb::ingest
