# What the tests and the demo need beside Java: functions for bin/penstock and bin/test, which source this file.
# shellcheck shell=bash

# Installs Debian packages, as root, or says what to install, and ends.
#   $1 what they are needed for; the rest: packages
need_packages() {
    local purpose=$1
    shift
    if ((EUID == 0)) && type -P apt-get >/dev/null; then
        echo "penstock: installing $* ($purpose)" >&2
        if ! DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1; then
            # The lists may be missing or old.
            apt-get update -qq >&2 &&
                DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2 || {
                echo "penstock: installing $* failed; see above" >&2
                exit 1
            }
        fi
    else
        echo "penstock: $purpose: please install $*; on Debian and Ubuntu: sudo apt-get install $*" >&2
        exit 1
    fi
}

has_libfuse2() {
    local library
    for library in /lib/*/libfuse.so.2 /usr/lib/*/libfuse.so.2 /lib64/libfuse.so.2 /usr/lib64/libfuse.so.2 \
        /usr/lib/libfuse.so.2 /usr/local/lib/libfuse.so.2; do
        [[ -e $library ]] && return 0
    done
    return 1
}

# libfuse 2 and fusermount, and the device that no package brings.
need_fuse() {
    local missing=()
    if ! has_libfuse2; then
        # From Ubuntu 24.04 and Debian 13 on the library is libfuse2t64.
        if apt-cache show libfuse2t64 >/dev/null 2>&1; then missing+=(libfuse2t64); else missing+=(libfuse2); fi
    fi
    type -P fusermount >/dev/null || missing+=(fuse3)
    if ((${#missing[@]})); then
        need_packages "mounting needs FUSE" "${missing[@]}"
    fi
}
