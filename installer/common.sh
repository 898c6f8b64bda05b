# SPDX-License-Identifier: GPL-3.0-or-later
# Shared by the installer's scripts (sourced, not run): steps with a name, a log and a clear end.
# A failing step prints the end of its log and a sentence that tells what to do.

set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

logs=build/logs
current_step="start"
current_log=""
advice="Mend what the lines above name, then run the same command again; it goes on where it stopped."

say() {
    printf '==> %s\n' "$*"
}

# Prints what failed, where its log is, and what to do next; the trap of every script.
explain_failure() {
    local code=$?
    trap - ERR
    if [[ -n $current_log && -s $current_log ]]; then
        printf '\n--- the end of %s ---\n' "$current_log" >&2
        tail -n 25 "$current_log" >&2
    fi
    printf '\nThe step "%s" failed (exit code %d).\n' "$current_step" "$code" >&2
    if [[ -n $current_log ]]; then
        printf 'Its whole log is %s.\n' "$current_log" >&2
    fi
    printf '%s\n' "$advice" >&2
    exit 1
}
trap explain_failure ERR

# Lets a line of ninja's progress through each five percent and each twentieth package that apt
# sets up; the chatter of apt and cmake stays in the log, anything else (a warning) always shows.
# (Bash reads line by line; Debian's mawk would hold everything back until the end.)
thin_progress() {
    local line share last=-1 packages=0
    while IFS= read -r line; do
        case $line in
            '' | '-- '* | Get:* | 'Selecting '* | 'Preparing '* | 'Unpacking '* | '(Reading'* | debconf:* | '  '*)
                continue ;;
            'Setting up '*)
                ((packages++ % 20 == 19)) || continue ;;
        esac
        if [[ $line =~ ^\[([0-9]+)/([0-9]+) ]]; then
            share=$((BASH_REMATCH[1] * 20 / BASH_REMATCH[2]))
            ((share != last)) || continue
            last=$share
        fi
        printf '    %s\n' "$line"
    done
}

# step NAME LOG COMMAND...: runs COMMAND, keeps all it says in build/logs/LOG, shows its progress.
step() {
    current_step=$1
    current_log=$logs/$2
    shift 2
    local began=$SECONDS
    mkdir -p "$logs"
    say "$current_step"
    "$@" 2>&1 </dev/null | tee "$current_log" | thin_progress
    say "$current_step: done in $((SECONDS - began)) s"
}

# build PRESET TARGET... -- CMAKE_ARG...: configures build/PRESET and builds the targets.
build() {
    local preset=$1
    shift
    local targets=()
    while (($#)) && [[ $1 != -- ]]; do
        targets+=("$1")
        shift
    done
    shift || true
    step "Configuring build/$preset" "configure-$preset.log" cmake --preset "$preset" "$@"
    step "Building build/$preset (the first time takes minutes)" "build-$preset.log" \
        cmake --build --preset "$preset" --target "${targets[@]}"
}

# A compiler cache that also keeps what precompiled headers touch, in any clone of this project.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
export NINJA_STATUS='[%f/%t, %e s] '
export LC_ALL=C.UTF-8
