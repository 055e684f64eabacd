// Whose line it is. Where pods, hosts or ranks write into one log, something in front of each line
// names the one that it came from.
#ifndef OOMDB_INGEST_LOG_ORIGIN_H_
#define OOMDB_INGEST_LOG_ORIGIN_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace oomdb::ingest {

struct Origin {
  std::string process;  // Tells the writers of a log apart; empty: the line names none.
  std::string name;     // What people call it: the pod, host, worker or rank.

  // One within the other: a rank of a pod.
  void Add(std::string_view part, std::string_view called);
};

// Names in front of lines that could be words of the message as well: only the whole log shows
// what they are.
enum class LineLabels : unsigned char {
  kNone,
  kNumbers,  // `3: `, of ranks (srun --label)
  kHosts,    // `host-3: ` (pdsh, clush, dsh)
  kPods,     // `pod-7-x2k4p container ` (stern)
};

// What nearly all lines of a part of a log begin with.
LineLabels LabelsIn(std::string_view part);

// The bytes of such a name at the start of `text`, which goes to `origin`; 0 when there is none.
size_t ReadLabel(std::string_view text, LineLabels labels, Origin* origin);

// Reads the name in `prefix`, which stands before a message and can be nothing else
// (`[pod/a/b] `, `worker-0 | `, `(Worker pid=7) `, `[rank3]: `, `May 18 21:59:55 node7 train[4]: `).
void ReadName(std::string_view prefix, Origin* origin);

}  // namespace oomdb::ingest

#endif  // OOMDB_INGEST_LOG_ORIGIN_H_
