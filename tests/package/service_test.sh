#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The unit template is one that systemd understands, and it is seen when it is not.
# service_test.sh SOURCE_DIR TENURECTL
set -Eeuo pipefail
trap 'echo "failed at line $LINENO: $BASH_COMMAND" >&2' ERR

template="$1/installer/example/tenure-run@.service"
tenurectl=$2
if ! command -v systemd-analyze >/dev/null; then
    echo "systemd-analyze is not installed"
    exit $((${TENURE_REQUIRE_SERVERS:-0} ? 1 : 77))
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
verify() { systemd-analyze verify "$scratch/tenure-run@billing.service" 2>&1 || true; }

sed "s#/usr/bin/tenurectl#$tenurectl#" "$template" >"$scratch/tenure-run@billing.service"
said=$(verify)
[[ -z $said ]] || { echo "$said"; false; }
sed -i 's/^Type=notify/Type=notfy/' "$scratch/tenure-run@billing.service"
[[ $(verify) == *notfy* ]]

# What ExecStart says is something that tenurectl understands: with a store that is not there it is
# refused for that, and for nothing else.
command=$(sed -n 's/^ExecStart=//p' "$template" | sed "s#/usr/bin/tenurectl#'$tenurectl'#; s/%H/host/; s/%i/billing/")
said=$(COMMAND=/bin/true TENURE_URL=foo://x bash -c "$command" 2>&1) && false
[[ $said == *"foo"* ]] || { echo "$said"; false; }
