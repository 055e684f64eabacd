// The baseline of the ingest: libprotobuf's mere parse of a capture, on an arena, with our own
// .proto. It keeps nothing and answers nothing.
#include <google/protobuf/arena.h>

#include <cstdio>
#include <string>

#include "ingest/source/source.h"
#include "proto/xplane.pb.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: parse_xspace FILE\n");
    return 2;
  }
  const auto source = oomdb::ingest::OpenSource(argv[1]);
  std::string bytes(source->size(), '\0');
  source->ReadAt(0, std::span(bytes.data(), bytes.size()));
  google::protobuf::Arena arena;
  auto* space = google::protobuf::Arena::CreateMessage<oomdb::proto::XSpace>(&arena);
  if (!space->ParseFromString(bytes)) {
    std::fprintf(stderr, "%s: libprotobuf can't parse it\n", argv[1]);
    return 1;
  }
  std::printf("%d planes\n", space->planes_size());
  return 0;
}
