#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs the library to a fresh prefix, builds the example against it as a stranger would, and lets
# two of them compete. library_test.sh SOURCE_DIR BUILD_DIR CXX
set -Eeuo pipefail
trap 'echo "failed at line $LINENO: $BASH_COMMAND" >&2' ERR

source_dir=$1
build_dir=$2
compiler=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build_dir" --prefix "$scratch/prefix" --component library >"$scratch/install.log"
echo "--- no Qt in what is installed"
[[ -f $scratch/prefix/include/tenure/core/runtime/elector.h ]]
! grep -rnE '#include *<Q|Qt6' "$scratch/prefix/include" "$scratch/prefix"/lib*/

echo "--- each header stands alone"
find "$scratch/prefix/include/tenure" -name '*.h' | while read -r header; do
    echo "#include \"$header\"" | "$compiler" -std=c++20 -fsyntax-only -I"$scratch/prefix/include/tenure" -x c++ -
done

echo "--- the example builds against it"
cp -r "$source_dir/installer/example" "$scratch/example"
(($(wc -l <"$scratch/example/example_service.cpp") < 60))
cmake -S "$scratch/example" -B "$scratch/build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_PREFIX_PATH="$scratch/prefix" \
    -DCMAKE_CXX_COMPILER="$compiler" >"$scratch/configure.log" || { cat "$scratch/configure.log"; false; }
cmake --build "$scratch/build" >"$scratch/build.log" 2>&1 || { cat "$scratch/build.log"; false; }

echo "--- and elects"
url=sqlite://$scratch/leases.db
wait_for() { # FILE TEXT
    for _ in $(seq 300); do
        if grep -q "$2" "$1"; then return 0; fi
        sleep 0.1
    done
    echo "never said: $2" && cat "$1" && false
}
"$scratch/build/example_service" "$url" billing >"$scratch/one" &
one=$!
wait_for "$scratch/one" "leading, token"
"$scratch/build/example_service" "$url" billing >"$scratch/two" &
two=$!
kill -TERM $one
wait $one
wait_for "$scratch/two" "leading, token"
kill -TERM $two
wait $two
grep -q "stop the work now" "$scratch/one"
token() { sed -n 's/leading, token //p' "$1" | tail -1; }
(($(token "$scratch/two") > $(token "$scratch/one")))
