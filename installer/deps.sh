#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs by name, from Debian's own archive, what Tenure needs. Debian 12 and 13.
#   ./installer/deps.sh [run|test]   run: to build and start it; test (the default): also to test it
# Nothing is downloaded when nothing is missing. TENURE_SKIP_DEPS=1 leaves packages to you.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

purpose=${1:-test}
if [[ $purpose != run && $purpose != test ]]; then
    echo "usage: ./installer/deps.sh [run|test]" >&2
    exit 2
fi
if [[ ${TENURE_SKIP_DEPS:-0} == 1 ]]; then
    say "Packages: left alone (TENURE_SKIP_DEPS=1)"
    exit 0
fi

packages=(
    build-essential cmake ninja-build ccache pkg-config git ca-certificates
    qt6-base-dev qt6-charts-dev qt6-svg-dev libgl-dev qt6-wayland
    qtkeychain-qt6-dev libexpected-dev libcli11-dev nlohmann-json3-dev
    libcurl4-openssl-dev libsqlite3-dev libhiredis-dev libyaml-cpp-dev libpqxx-dev libpq-dev fonts-dejavu-core
)
if [[ $purpose == test ]]; then
    packages+=(postgresql pgbouncer redis-server etcd-server redis-sentinel redis-tools openssl python3 python3-redis python3-prometheus-client faketime
        xvfb xauth dbus-daemon desktop-file-utils appstream file systemd doxygen mold)
fi

system=$(. /etc/os-release 2>/dev/null && echo "${ID:-unknown} ${VERSION_ID:-}" || echo unknown)
case $system in
    "debian 12") packages+=(libqt6opengl6-dev libqt6svg6) ;;
    "debian 13") packages+=(qt6-svg-plugins) ;;
    *)
        cat >&2 <<END
This system is "$system"; the installer knows the package names of Debian 12 and 13 only.
Install what stands in installer/deps.sh under the names of your system,
then run the same command again with TENURE_SKIP_DEPS=1 before it.
END
        exit 1
        ;;
esac

missing=()
for package in "${packages[@]}"; do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $state == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
    say "Packages: all ${#packages[@]} are there"
    exit 0
fi

as_root=()
if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
        echo "Packages are missing: ${missing[*]}" >&2
        echo "Neither root nor sudo is at hand. As root, run: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
as_root+=(env DEBIAN_FRONTEND=noninteractive)

say "Packages: ${#missing[@]} of ${#packages[@]} are missing: ${missing[*]}"
advice="Look whether this machine reaches its Debian mirror (/etc/apt/sources.list*) and has room on its disk, then run the same command again."
step "Reading the package lists" apt-update.log "${as_root[@]}" apt-get update -q
step "Installing packages" apt-install.log \
    "${as_root[@]}" apt-get install -y -q -o Dpkg::Use-Pty=0 --no-install-recommends "${missing[@]}"
