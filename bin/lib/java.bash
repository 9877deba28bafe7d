# Finds the Java that builds and runs Penstock. The programs in bin/ source this file.
# shellcheck shell=bash

least_java=25

# Sets version to the major version of the JDK or JRE in a folder, from its release file: running java takes longer.
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

# Whether root must not run the content of a JDK's or JRE's folder, because another user could change it. Sets fault to
# the reason. The rule is that of the cache's folders (ExposedFolder.java).
#   $1 the folder, without symbolic links
is_exposed() {
    local path=$1 outside=0 owner mode listed paths=("$1"/bin "$1"/bin/java "$1"/lib "$1"/lib/* "$1"/lib/server/*)
    { read -r _ outside _ </proc/self/uid_map; } 2>/dev/null || true
    ((EUID == 0 && outside == 0)) || return 1 # The root of a user namespace is an ordinary user.
    while [[ -n $path ]]; do
        paths+=("$path")
        path=${path%/*}
    done
    # Fails for a pattern that matches nothing, and prints nothing if stat is missing.
    listed=$(stat -c '%u %f %n' / "${paths[@]}" 2>/dev/null) || true
    fault="its owner is unknown"
    [[ -n $listed ]] || return 0
    while read -r owner mode path; do
        mode=$((16#$mode))
        if ((owner != 0)); then
            fault="$path belongs to user $owner"
            return
        elif (((mode & 0170000) != 0120000 && mode & 022 && (mode & 0171000) != 0041000)); then # No link; not sticky.
            fault="others may write to $path"
            return
        fi
    done <<<"$listed"
    return 1
}

# Sets java to the first of the usual places that is new enough; ends the program if there is none.
#   $1 a program that must be next to it: javac, for a JDK; without it a JRE will do
find_java() {
    local candidate version fault beside=${1:-java}
    for candidate in "${JAVA_HOME:-}" PATH /usr/lib/jvm/* /usr/java/* /opt/* "${HOME:-}"/.sdkman/candidates/java/* \
        "${HOME:-}"/.jdks/*; do
        # Root uses the examined place itself, and no link that might lead elsewhere a moment later.
        if [[ $candidate == PATH ]]; then
            candidate=$(readlink -f "$(type -P java || true)" || true)
            candidate=${candidate%/bin/java}
        elif ((EUID == 0)) && [[ -n $candidate && -e $candidate/release ]]; then
            candidate=$(readlink -f "$candidate/bin/java" || true)
            candidate=${candidate%/bin/java}
        fi
        if [[ -n $candidate ]] && java_version "$candidate" && ((version >= least_java)) &&
            [[ -x $candidate/bin/$beside ]]; then
            if is_exposed "$candidate"; then
                echo "penstock: root does not run $candidate/bin/java, which another user could change: $fault" >&2
                continue
            fi
            # shellcheck disable=SC2034 # For scripts that source this.
            java=$candidate/bin/java
            return
        fi
    done
    local what=Java
    [[ $beside == java ]] || what="A JDK (with bin/$beside), not only a JRE, of version"
    echo "penstock: $what $least_java or newer is needed, but was not found in JAVA_HOME, PATH, /usr/lib/jvm, /usr/java," \
        "/opt, ~/.sdkman or ~/.jdks. Install it, for instance from https://adoptium.net, or set JAVA_HOME." >&2
    exit 1
}

# Makes Maven run, compile and test on a JDK that is new enough, so it needs no separate compiler for each module.
use_jdk() {
    find_java javac
    export JAVA_HOME=${java%/bin/java}
    # Avoids Java 25's warnings about Maven's own libraries, and a control sequence at the end of its output.
    local options="--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -Djansi.noreset=true"
    export MAVEN_OPTS="$options ${MAVEN_OPTS:-}"
}
