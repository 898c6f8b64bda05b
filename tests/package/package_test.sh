#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs this build to a fresh prefix and starts what was installed; packs a .tar.gz and a .deb
# and looks inside. package_test.sh SOURCE_DIR BUILD_DIR
set -Eeuo pipefail
trap 'echo "failed at line $LINENO: $BASH_COMMAND" >&2' ERR

source_dir=$1
build_dir=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export QT_QPA_PLATFORM=offscreen XDG_CONFIG_HOME=$scratch/config XDG_DATA_HOME=$scratch/data
export LC_ALL=C.UTF-8

expect_version() {
    local said
    said=$(timeout 60 "$1" --version)
    echo "$1 --version: $said"
    [[ $said == *"$version"* ]]
}

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build_dir/CMakeCache.txt")
[[ -n $version ]]

echo "--- scripts are readable by bash"
for script in "$source_dir"/installer/*.sh "$source_dir"/.ci/run "$source_dir"/tests/package/*.sh; do
    bash -n "$script"
done
for script in installer/run.sh installer/test.sh installer/deps.sh .ci/run; do
    [[ -x $source_dir/$script ]]
done

echo "--- install to a prefix"
cmake --install "$build_dir" --prefix "$scratch/prefix" >"$scratch/install.log"
expect_version "$scratch/prefix/bin/tenurectl"
expect_version "$scratch/prefix/bin/tenure"

shopt -s nullglob
for entry in "$scratch"/prefix/share/applications/*.desktop; do
    desktop-file-validate "$entry"
done
for entry in "$scratch"/prefix/share/metainfo/*.xml; do
    # Newer versions miss a homepage, which Tenure has not; older ones do not know that word.
    appstreamcli validate --no-net "$entry" \
        || appstreamcli validate --no-net --override=url-homepage-missing=info "$entry"
done

echo "--- pack"
(cd "$build_dir" && cpack -G "TGZ;DEB" -B "$scratch/packages" >"$scratch/cpack.log") \
    || { cat "$scratch/cpack.log"; false; }
deb=("$scratch"/packages/*.deb)
tgz=("$scratch"/packages/*.tar.gz)
[[ ${#deb[@]} == 1 && ${#tgz[@]} == 1 ]]
contents=$(dpkg-deb --contents "${deb[0]}") # whole first: grep -q would close the pipe on dpkg-deb
grep -q '\./usr/bin/tenurectl$' <<<"$contents"
grep -q '\./usr/bin/tenure$' <<<"$contents"
grep -q libqt6core6 <<<"$(dpkg-deb --field "${deb[0]}" Depends)"
[[ $(dpkg-deb --field "${deb[0]}" Version) == "$version"* ]]
mkdir "$scratch/unpacked"
tar -xzf "${tgz[0]}" -C "$scratch/unpacked" --strip-components=1
expect_version "$scratch/unpacked/bin/tenurectl"
