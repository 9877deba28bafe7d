# Finds the Java that runs Penstock: for bin/penstock and bin/bench, which source this file.
# shellcheck shell=bash

least_java=25

# Sets version to the major version of the JDK or JRE in a folder, from its release file: asking java itself would take
# a JVM's start.
java_version() {
    local line
    [[ -x $1/bin/java && -r $1/release ]] || return 1
    while IFS= read -r line; do
        if [[ $line =~ ^JAVA_VERSION=\"([0-9]+) ]]; then
            version=${BASH_REMATCH[1]}
            return 0
        fi
    done <"$1/release"
    return 1
}

# Sets java to the first of the usual places that is new enough; ends the program if there is none.
find_java() {
    local candidate version on_path
    on_path=$(readlink -f "$(type -P java || true)" || true)
    for candidate in "${JAVA_HOME:-}" "${on_path%/bin/java}" /usr/lib/jvm/* /usr/java/* /opt/* \
        "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/*; do
        if [[ -n $candidate ]] && java_version "$candidate" && ((version >= least_java)); then
            # shellcheck disable=SC2034 # For whoever sources this.
            java=$candidate/bin/java
            return
        fi
    done
    echo "penstock: Java $least_java or newer is needed and was not found in JAVA_HOME, PATH, /usr/lib/jvm, /usr/java," \
        "/opt, ~/.sdkman or ~/.jdks. Install it, for instance from https://adoptium.net, or set JAVA_HOME." >&2
    exit 1
}
