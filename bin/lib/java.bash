# Finds the Java that builds and runs Penstock: for the programs in bin/, which source this file.
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
#   $1 a program that must be beside it: javac, for a JDK; without it a JRE will do
find_java() {
    local candidate version on_path beside=${1:-java}
    on_path=$(readlink -f "$(type -P java || true)" || true)
    for candidate in "${JAVA_HOME:-}" "${on_path%/bin/java}" /usr/lib/jvm/* /usr/java/* /opt/* \
        "${HOME:-}"/.sdkman/candidates/java/* "${HOME:-}"/.jdks/*; do
        if [[ -n $candidate ]] && java_version "$candidate" && ((version >= least_java)) &&
            [[ -x $candidate/bin/$beside ]]; then
            # shellcheck disable=SC2034 # For whoever sources this.
            java=$candidate/bin/java
            return
        fi
    done
    local what=Java
    [[ $beside == java ]] || what="A JDK (with bin/$beside), not only a JRE, of version"
    echo "penstock: $what $least_java or newer is needed and was not found in JAVA_HOME, PATH, /usr/lib/jvm, /usr/java," \
        "/opt, ~/.sdkman or ~/.jdks. Install it, for instance from https://adoptium.net, or set JAVA_HOME." >&2
    exit 1
}

# Has Maven run, compile and test on a JDK that is new enough: it needs no compiler of its own for each module then.
use_jdk() {
    find_java javac
    export JAVA_HOME=${java%/bin/java}
    # What Maven's own libraries do that Java 25 would warn of.
    export MAVEN_OPTS="--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow ${MAVEN_OPTS:-}"
}
