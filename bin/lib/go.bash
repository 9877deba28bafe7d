# Programs that are built from Go modules. The programs in bin/ source this file.
# shellcheck shell=bash

tools=${HOME:?}/.cache/penstock/bin
mkdir -p "$tools"

# Builds a program of a Go module into $tools, if its sum is the expected one.
#   $1 module; $2 version; $3 sum; $4 package; $5 name of the program
build_go_program() {
    local module=$1 version=$2 sum=$3 package=$4 name=$5 folder got
    folder=$(mktemp -d "$tools/build-XXXXXX")
    got=$(cd / && go mod download -json "$module@$version" | sed -n 's/^\t"Sum": "\(.*\)",\?$/\1/p') || true
    if [[ $got != "$sum" ]]; then
        echo "${0##*/}: $module@$version has the sum '$got', not $sum: not built" >&2
    elif (cd / && GOBIN=$folder go install "$package@$version"); then
        mv "$folder"/* "$tools/$name"
    fi
    rm -rf "$folder"
    [[ -x $tools/$name ]]
}

# Whether a Go program in $tools has this version.
is_built_from() {
    [[ -x $1 ]] && type -P go >/dev/null && go version -m "$1" 2>/dev/null | grep -qF "$2"
}

# Builds a program in this version, unless that is there. The arguments are those of build_go_program.
get_go_program() {
    if type -P go >/dev/null && ! is_built_from "$tools/$5" "$2"; then
        echo "${0##*/}: building $5 $2 into $tools, once; this may take a few minutes"
        build_go_program "$@" || true
    fi
    [[ -x $tools/$5 ]]
}
