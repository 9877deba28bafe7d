# The programs that bin/test and bin/bench need in addition to Java. Both source this file.
# shellcheck shell=bash

packages=()
purposes=()

# Notes a Debian package.
#   $1 package; $2 why it is needed
need_package() {
    packages+=("$1")
    purposes+=("$1: $2")
}

# Notes the package of a program that is missing.
#   $1 program; $2 package; $3 why it is needed
need_program() {
    PATH=$PATH:/usr/sbin:/sbin type -P "$1" >/dev/null || need_package "$2" "$3"
}

# Installs the noted packages if run by root; otherwise says what to install, and ends.
get_packages() {
    ((${#packages[@]})) || return 0
    if ((EUID != 0)) || ! type -P apt-get >/dev/null; then
        printf 'penstock: please install %s\n' "${purposes[@]}" >&2
        echo "penstock: on Debian and Ubuntu: sudo apt-get install ${packages[*]}" >&2
        exit 1
    fi
    printf 'penstock: installing %s\n' "${purposes[@]}" >&2
    if ! DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null 2>&1; then
        # The lists may be missing or old.
        apt-get update -qq >&2 &&
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2 || {
            echo "penstock: installing ${packages[*]} failed; see above" >&2
            exit 1
        }
    fi
    packages=()
    purposes=()
}

has_libfuse2() {
    local library
    for library in /lib/*/libfuse.so.2 /usr/lib/*/libfuse.so.2 /lib64/libfuse.so.2 /usr/lib64/libfuse.so.2 \
        /usr/lib/libfuse.so.2 /usr/local/lib/libfuse.so.2; do
        [[ -e $library ]] && return 0
    done
    return 1
}

# For the jnr binding.
need_libfuse2() {
    has_libfuse2 && return
    # From Ubuntu 24.04 and Debian 13 on the library is libfuse2t64.
    if apt-cache show libfuse2t64 >/dev/null 2>&1; then
        need_package libfuse2t64 "the jnr binding uses it"
    else
        need_package libfuse2 "the jnr binding uses it"
    fi
}
