#!/bin/bash
# What the compiler does not check: which folder may include which, file sizes, and the mistakes that g++ 12 lets pass.
# Prints every finding, and fails when there is one.
set -u
cd "$(dirname "$0")/.."
findings=$(mktemp)
trap 'rm -f "$findings"' EXIT

# folder: the folders of ours that its files may include
allowed() {
  case $1 in
    runner) echo "runner" ;;
    configs) echo "configs runner" ;;
    informer) echo "informer runner" ;;
    netlink) echo "netlink runner" ;;
    proxy) echo "proxy configs informer netlink runner" ;;
  esac
}

for folder in runner configs informer netlink proxy; do
  grep -HnoE '^#include "[a-z_]+/' "$folder"/*.h "$folder"/*.cpp 2>/dev/null | while IFS=: read -r file line text; do
    target=${text#*\"}
    target=${target%/}
    case " $(allowed "$folder") " in
      *" $target "*) ;;
      *) echo "$file:$line: $folder/ may not include $target/" >> "$findings" ;;
    esac
  done
done

only_in() {  # pattern, what it is, the files that may have it
  grep -HnE "$1" {runner,configs,informer,netlink,proxy}/*.{h,cpp} 2>/dev/null | grep -vE "^($3):" |
    sed "s#\$#   <- $2 only in $3#" >> "$findings"
}
only_in 'co_spawn' 'co_spawn' 'proxy/daemon\.(h|cpp)|runner/http_server\.cpp'  # whose connections come and go
only_in '#include <prometheus/' 'prometheus-cpp' 'runner/metrics\.cpp'
only_in '#include <simdjson' 'simdjson' 'informer/json_[a-z]+\.(h|cpp)'
only_in '#include <protozero/' 'protozero' 'informer/protobuf_[a-z]+\.(h|cpp)'
only_in '#include <CLI/' 'CLI11' 'configs/flag[a-z_]*\.(h|cpp)'
only_in '#include <libnftnl/' 'libnftnl' 'netlink/[a-z_]+\.(h|cpp)'
only_in '#include <(netlink|libnl)' 'libnl' 'netlink/[a-z_]+\.(h|cpp)'
only_in 'catch \(\.\.\.\)' 'catch (...)' 'proxy/main\.cpp'
only_in 'sleep_for|usleep\(' 'sleeping' 'nowhere'

# g++ 12.2 destroys an aggregate temporary, or a lambda that captures by value, twice in a statement with co_await, and
# evaluates the wrong side of a conditional expression or of && and || there.
grep -HnE '(\? |&& |\|\| ?!?|[a-z)] : )\(?co_await' {runner,configs,informer,netlink,proxy}/*.cpp |
  grep -vE ':[0-9]+: *(case|default)\b' | sed 's|$|   <- name it, then await it|' >> "$findings"
grep -HnE 'co_await [^;]*(\[(=|[a-z_]+( =|,|\]))|[A-Z][A-Za-z:]+\{)' {runner,configs,informer,netlink,proxy}/*.cpp |
  sed 's|$|   <- name it, then await it|' >> "$findings"

for file in $(git ls-files -- '*.h' '*.cpp' 2>/dev/null || find . -name '*.h' -o -name '*.cpp'); do
  [ -f "$file" ] || continue
  lines=$(wc -l < "$file")
  [ "$lines" -le 400 ] || echo "$file: $lines lines, over 400: split it by noun" >> "$findings"
  case $file in
    *util* | *helper* | *manager* | *_impl.* | *_base.* | *context*) echo "$file: a name that says nothing" >> "$findings" ;;
  esac
done
grep -HnE 'GTEST_SKIP|DISABLED_|TODO|FIXME' -r tests runner configs informer netlink proxy --include=*.h --include=*.cpp \
  >> "$findings"

sort "$findings"
[ ! -s "$findings" ]
