#!/bin/bash
# Every file of ours is as clang-format 16 would have it.
set -euo pipefail
cd "$(dirname "$0")/.."
find runner configs informer netlink proxy tests \( -name '*.h' -o -name '*.cpp' \) -print0 |
  xargs -0 clang-format-16 --dry-run -Werror
