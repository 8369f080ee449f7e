#!/usr/bin/env bash
# scripts/check-docs must complain of each thing that a page gets wrong, and of nothing else.
#   check_docs_test.sh SOURCE BINARY
set -euo pipefail
source=$1
binary=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src/base"
touch "$tree/src/base/error.h"
printf 'demo: build\n\t@true\n' > "$tree/Makefile"

cat > "$tree/right.md" <<'EOF'
`src/base/error.h`, `src/base/*.h`, `make demo`, [this](right.md), `trireme tokenizer train|encode`, `NAME.md`

    trireme train mine.toml --set optimizer.lr=3e-4 --resume never
    trireme tokenizer encode tokenizer.json a.txt | trireme tokenizer decode tokenizer.json
    trireme compile mine.toml --print timeline
EOF
"$source/scripts/check-docs" --root "$tree" "$binary" right.md

failures=0
expect() {  # a page of one line, a part of the complaint
  printf '%s\n' "$1" > "$tree/wrong.md"
  local said
  if said=$("$source/scripts/check-docs" --root "$tree" "$binary" wrong.md); then
    echo "not seen: $1"
    failures=1
  elif [[ $said != *"wrong.md:1: $2"* ]]; then
    echo "for $1 it said: $said"
    failures=1
  fi
}
expect 'see `src/base/gone.h`' 'no such path: src/base/gone.h'
expect 'see `src/base/*.cu`' 'no such path: src/base/*.cu'
expect 'see [that](gone.md)' 'no such page: gone.md'
expect '    make coffee' 'no target: make coffee'
expect '    trireme fly mine.toml' 'no such command: trireme fly'
expect '    trireme data fly' 'no such command: trireme data fly'
expect '    trireme train mine.toml --warp 9' 'trireme train has no --warp'
expect '    ls | trireme tokenizer encode - --warp' 'trireme tokenizer encode has no --warp'
expect '    trireme train mine.toml --set optimizer.lrr=1' 'no config key optimizer.lrr'
expect '    trireme compile mine.toml --print soup' 'trireme compile has no --print soup'
exit $failures
