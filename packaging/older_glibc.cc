// For the program that carries its own libstdc++ (OOMDB_STATIC): Debian 12's asks the C library for
// arc4random, which came with glibc 2.36. This one takes its place, so that the program runs from 2.34
// on (Ubuntu 22.04, RHEL 9).
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" uint32_t arc4random() {
  uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) abort();
  return number;
}
