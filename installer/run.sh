#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds Tenure and opens the console on the embedded demo world.
# Arguments are passed on to the console. Without a display the terminal twin shows the same demo.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

say "Tenure: install, build (release), open the demo. Logs are kept in $logs"
./installer/deps.sh run
build release tenure tenurectl -- -DTENURE_BUILD_TESTS=OFF

console=build/release/app/console/tenure
terminal=build/release/app/ctl/tenurectl

if [[ -z ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
    say "No display here (DISPLAY and WAYLAND_DISPLAY are empty): showing the demo in this terminal."
    say "$terminal list demo: --watch        (Ctrl+C ends it)"
    exec "$terminal" list demo: --watch "$@"
fi

current_step="Opening the console"
current_log=""
advice="If the window system refused (DISPLAY=${DISPLAY:-} WAYLAND_DISPLAY=${WAYLAND_DISPLAY:-}), start this as the user who owns the display, or look at the demo in the terminal: $terminal list demo: --watch"
say "$console --demo"
"$console" --demo "$@"
