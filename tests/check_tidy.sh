#!/bin/bash
# clang-tidy 16 on the files that changed since $MKP_TIDY_BASE (a commit; the one before HEAD when it is not set), committed or not.
#   check_tidy.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
base=${MKP_TIDY_BASE:-HEAD~1}
git rev-parse -q --verify "$base^{commit}" > /dev/null || { echo "no commit $base to compare with"; exit 0; }
mapfile -t changed < <(git diff --name-only --diff-filter=d "$base" -- '*.cpp' | grep -v '^tests/fuzz/')
[ "${#changed[@]}" -gt 0 ] || { echo "no source file changed since $base"; exit 0; }
# Without precompiled headers: clang cannot read those of g++.
cmake -S . -B "$build" -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON > /dev/null
printf '%s\n' "${changed[@]}" | xargs -P 2 -n 1 clang-tidy-16 --quiet -p "$build" \
  --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-sign-conversion  # what g++ knows, and what it leaves out
