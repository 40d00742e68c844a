#!/usr/bin/env bash
# Run this project on ARM (64 bits, Linux), under QEMU, to compare its books with those of this machine.
#
#   scripts/arm.sh setup          install QEMU, Python for ARM and the wheels of the project: a minute
#   scripts/arm.sh ARGUMENT...    run Python with these arguments: scripts/arm.sh -m solver solve connect-four:4,4
#
# All of it lies in $ARM_HOME, ~/.cache/solverbook-arm if that is not set. It needs Debian's packages, and takes the
# version of Python that this Debian has. Compiling takes some forty times as long as without QEMU. `make arm` sets it
# up and solves ten small games.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
home=${ARM_HOME:-$HOME/.cache/solverbook-arm}
version=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')

setup() {
    mkdir -p "$home"/{debs,root,wheels,site}
    command -v qemu-aarch64-static >/dev/null && command -v unzip >/dev/null || { apt-get update -qq; apt-get install -y -qq qemu-user-static unzip >/dev/null; }
    dpkg --add-architecture arm64 && apt-get update -qq
    # what Python needs, and what that needs in turn, unpacked and not installed
    local wanted=("python$version-minimal:arm64" "libpython$version-stdlib:arm64" libstdc++6:arm64) names
    names=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
        "${wanted[@]}" | grep -oE '^[a-z0-9.+-]+:arm64$' | sort -u)
    (cd "$home/debs" && apt-get download -qq $names 2>/dev/null)
    for package in "$home"/debs/*.deb; do dpkg -x "$package" "$home/root"; done

    local tags=() tag
    for tag in manylinux_2_28 manylinux_2_27 manylinux_2_17 manylinux2014; do tags+=(--platform "${tag}_aarch64"); done
    pip download -qq "${tags[@]}" --python-version "$version" --implementation cp --abi "cp${version/./}" --abi abi3 \
        --abi none --only-binary :all: -d "$home/wheels" "click>=8.2" "lmdb>=3.0" "msgpack>=1.0.5" "msgspec>=0.19" \
        "tqdm>=4.60" "numpy>=2.0" "numba>=0.68"
    for archive in "$home"/wheels/*.whl; do unzip -q -o "$archive" -d "$home/site"; done
    run -c "import numpy, numba, lmdb, platform, sys; print('Python', sys.version.split()[0], 'on', platform.machine(), '- NumPy', numpy.__version__, '- Numba', numba.__version__, '- LMDB', lmdb.version())"
}

run() {
    export PYTHONPATH=$root:$home/site NUMBA_CACHE_DIR=$home/cache
    qemu-aarch64-static -L "$home/root" "$home/root/usr/bin/python$version" "$@"
}

case "${1:---help}" in
    setup) setup ;;
    --help) sed -n '2,9s/^#\( \|$\)//p' "$0" ;;
    *) [ -e "$home/root/usr/bin/python$version" ] || { echo "there is no Python for ARM yet: $0 setup" >&2; exit 1; }; run "$@" ;;
esac
