#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds Tenure twice and runs every test:
#   build/asan   all tests, with AddressSanitizer, UBSan and LeakSanitizer
#   build/tsan   the tests that use threads, with ThreadSanitizer
# The last line is "N passed, N failed", counted over both; the exit code is 0 only without failures.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

say "Tenure: install, build with sanitizers, run every test. Logs are kept in $logs"
./installer/deps.sh test
began=$SECONDS

# Servers were just installed: a test that cannot start one fails instead of being skipped.
export TENURE_REQUIRE_SERVERS=1
reports=()

# Runs the tests of build/PRESET; a failing test is counted at the end and stops nothing.
run_tests() {
    local preset=$1
    shift
    local report=$PWD/$logs/tests-$preset.xml
    reports+=("$report")
    rm -f "$report"
    say "Testing build/$preset"
    ctest --preset "$preset" -j2 --output-junit "$report" --test-output-size-passed 1000000 \
        --test-output-size-failed 10000000 "$@" </dev/null 2>&1 \
        | tee "$logs/tests-$preset.log" || true
}

build asan all
run_tests asan
build tsan threads_tests
run_tests tsan -L threads

say "All of it took $((SECONDS - began)) s. Whole output: $logs/tests-asan.log, $logs/tests-tsan.log"
trap - ERR
exec python3 tests/package/count_results.py "${reports[@]}"
