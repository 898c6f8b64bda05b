#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The reference pages are made without a warning, and tell of what a service needs first.
# reference_test.sh BUILD_DIR
set -Eeuo pipefail
trap 'echo "failed at line $LINENO: $BASH_COMMAND" >&2' ERR

if ! command -v doxygen >/dev/null; then
    echo "doxygen is not installed"
    exit $((${TENURE_REQUIRE_SERVERS:-0} ? 1 : 77))
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# As the target does it, but elsewhere: other tests may be building here.
sed "s#^OUTPUT_DIRECTORY .*#OUTPUT_DIRECTORY = $scratch#" "$1/Doxyfile.reference" >"$scratch/Doxyfile"
(cd "$1" && doxygen "$scratch/Doxyfile") 2>&1 | tee "$scratch/said"
! grep -i warning "$scratch/said"
for page in index classtenure_1_1Elector classtenure_1_1WorkQueue classtenure_1_1LeadershipGuard; do
    [[ -s $scratch/html/$page.html ]]
done
grep -q 'classtenure_1_1WorkQueue.html' "$scratch/html/index.html"
