# What ./run and ./test share: the packages, the configuration, the build. Sourced by bash.
#
# Talk goes to stderr, so that stdout stays the data of the command that is run. The build folder is
# ./build, or $OOMDB_BUILD_DIR.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=${OOMDB_BUILD_DIR:-$root/build}
export OOMDB_BUILD_DIR=$build # For scripts that call one another.

say() { printf 'oomdb: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# What Debian 12 calls what is needed.
packages=(g++ cmake ninja-build pkg-config protobuf-compiler libprotobuf-dev libsqlite3-dev
  libsqlitecpp-dev libcli11-dev libfmt-dev nlohmann-json3-dev libzstd-dev liblzma-dev zlib1g-dev
  libxxhash-dev libre2-dev)
test_packages=(libgtest-dev libgmock-dev clang-format-14 python3)
headers=(google/protobuf/message.h sqlite3.h SQLiteCpp/SQLiteCpp.h CLI/CLI.hpp fmt/format.h nlohmann/json.hpp zstd.h
  lzma.h zlib.h xxhash.h re2/re2.h)
test_headers=(gtest/gtest.h gmock/gmock.h)
wheel_packages=(python3-venv)
deb_packages=(dpkg-dev file)
bench_packages=(libbenchmark-dev) # bench/parts alone.
bench_headers=(benchmark/benchmark.h)

is_debian_12() {
  [ -r /etc/os-release ] || return 1
  (. /etc/os-release && [ "${ID:-}" = debian ] && [ "${VERSION_ID:-}" = 12 ])
}

# Prints the packages among its arguments that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      printf '%s\n' "$package"
  done
}

# Prints what can't be found on a system that is not Debian 12: tools by name, libraries by their
# headers, which are the arguments.
missing_parts() {
  local tool header
  for tool in c++ cmake ninja pkg-config protoc; do
    command -v "$tool" >/dev/null || printf '%s\n' "$tool"
  done
  command -v c++ >/dev/null || return 0
  for header in "$@"; do
    printf '#include <%s>\n' "$header" | c++ -std=c++20 -fsyntax-only -x c++ - 2>/dev/null ||
      printf '<%s>\n' "$header"
  done
}

# ensure_packages [tests|bench|wheel|deb]: installs what is missing, to build, or also to test or to measure parts. On Debian 12 only, and
# asking nothing; elsewhere it names what is missing and ends.
ensure_packages() {
  local wanted=("${packages[@]}") includes=("${headers[@]}") missing
  if [ "${1:-}" = tests ]; then
    wanted+=("${test_packages[@]}")
    includes+=("${test_headers[@]}")
  elif [ "${1:-}" = wheel ]; then
    wanted+=("${wheel_packages[@]}")
  elif [ "${1:-}" = deb ]; then
    wanted+=("${deb_packages[@]}")
  elif [ "${1:-}" = bench ]; then
    wanted+=("${bench_packages[@]}")
    includes+=("${bench_headers[@]}")
  fi
  if ! is_debian_12; then
    missing=$(missing_parts "${includes[@]}" | paste -sd ' ')
    [ -z "$missing" ] && return
    die "not found: $missing. Install them (on Debian-likes: apt-get install ${wanted[*]}), then run this again."
  fi
  missing=$(missing_packages "${wanted[@]}" | paste -sd ' ')
  [ -z "$missing" ] && return
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null && sudo -n true 2>/dev/null ||
      die "missing packages, and no right to install them. Run as root: apt-get update && apt-get install -y $missing"
    sudo=(sudo -n)
  fi
  say "installing $missing"
  local log; log=$(mktemp)
  # shellcheck disable=SC2086  # A list of names.
  if ! { "${sudo[@]}" apt-get -q -o DPkg::Lock::Timeout=300 update &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
      -o DPkg::Lock::Timeout=300 install $missing; } </dev/null >"$log" 2>&1; then
    tail -n 20 "$log" >&2; rm -f "$log"
    die "installing failed (above). Run as root: apt-get update && apt-get install -y $missing"
  fi
  rm -f "$log"
}

# run_quietly LOG COMMAND…: its output goes to LOG, of which the end is shown when it fails.
run_quietly() {
  local log=$1; shift
  "$@" </dev/null >"$log" 2>&1 && return
  tail -n 60 "$log" >&2
  say "failed: $* (all of it in $log)"
  return 1
}

# configure_and_build FOLDER TARGET [-DNAME=ON…]: configures where that was not done with these options,
# then builds what changed. Two at once wait for one another.
configure_and_build() {
  local folder=$1 target=$2; shift 2
  mkdir -p "$folder" || die "$folder: can't be made; set OOMDB_BUILD_DIR to a folder that can"
  (
    flock 9
    cache=$folder/CMakeCache.txt
    # A checkout that was moved or copied carries a cache that names its old place: start afresh.
    if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
      find "$folder" -mindepth 1 -maxdepth 1 ! -name .lock -exec rm -rf {} +
    fi
    configured=no
    if [ -f "$folder/build.ninja" ]; then
      configured=yes
      for option in "$@"; do
        option=${option#-D}
        grep -qx "${option%%=*}:[A-Z]*=${option#*=}" "$cache" || configured=no
      done
    fi
    if [ "$configured" = no ]; then
      [ -f "$cache" ] || {
        say "building in $folder: this takes a few minutes, once"
        set -- -DOOMDB_TESTS=OFF "$@"
        command -v ccache >/dev/null && set -- -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "$@"
      }
      run_quietly "$folder/configure.log" cmake -S "$root" -B "$folder" -G Ninja \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo "$@" || {
        rm -f "$folder/build.ninja" # So that the next call configures again.
        exit 1
      }
    fi
    run_quietly "$folder/build.log" ninja -C "$folder" ${OOMDB_JOBS:+-j "$OOMDB_JOBS"} "$target"
  ) 9>"$folder/.lock"
}
