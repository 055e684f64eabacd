#!/bin/bash
# Puts the report that the README shows into the README, as the program prints it today.
#   cmake/readme_report.sh            writes README.md
#   cmake/readme_report.sh --check    only says whether it would change
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
report=$(mktemp)
fresh=$(mktemp)
trap 'rm -f "$report" "$fresh"' EXIT
COLUMNS=100 ./run report sample_dbs/captures/attention_oom --brief --color never | sed 's/ *$//' >"$report"
# The block after the comment that names the command.
awk -v report="$report" '
  /^<!-- The output of: \.\/run report / { armed = 1 }
  skipping && /^```$/ { skipping = 0 }
  !skipping { print }
  armed && /^```text$/ {
    while ((getline line < report) > 0) print line
    armed = 0
    skipping = 1
  }' README.md >"$fresh"
if [ "${1:-}" = --check ]; then
  diff -u README.md "$fresh" || { echo "the README shows an old report; run cmake/readme_report.sh"; exit 1; }
else
  cp "$fresh" README.md
fi
