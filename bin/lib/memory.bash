# How much memory a process may use: for bin/penstock, which sources this file.
# shellcheck shell=bash

# Sets memory_kib to the machine's memory, or to the smallest limit of this process's cgroup and of those above it.
#   $1 where procfs is mounted; $2 where the cgroups are
find_memory() {
    local proc=${1:-/proc} cgroups=${2:-/sys/fs/cgroup} key value _ line controllers path root file
    while read -r key value _; do
        [[ $key == MemTotal: ]] && break
    done <"$proc/meminfo"
    memory_kib=$value
    [[ -r $proc/self/cgroup ]] || return 0
    # ID:CONTROLLERS:PATH, with no controllers for cgroup v2: cgroups(7).
    while IFS= read -r line; do
        line=${line#*:}
        controllers=${line%%:*} path=${line#*:}
        case ,$controllers, in
            ,,) root=$cgroups file=memory.max ;;
            *,memory,*) root=$cgroups/memory file=memory.limit_in_bytes ;;
            *) continue ;;
        esac
        # In a container the path may be the host's, of which only the root is mounted here.
        while
            if [[ -r $root$path/$file ]] && read -r value <"$root$path/$file" &&
                [[ $value =~ ^[0-9]{1,18}$ ]] && ((value / 1024 < memory_kib)); then
                memory_kib=$((value / 1024))
            fi
            [[ -n $path && $path != / ]]
        do
            path=${path%/*}
        done
    done <"$proc/self/cgroup"
}
