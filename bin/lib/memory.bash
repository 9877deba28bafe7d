# How much memory and how many processors a process may use. bin/penstock sources this file.
# shellcheck shell=bash

# Sets memory_kib to the machine's memory, and processors to the number that this process may run on; or to the smallest
# limits of this process's cgroup and its parents.
#   $1 where procfs is mounted; $2 where the cgroups are
find_limits() {
    local proc=${1:-/proc} cgroups=${2:-/sys/fs/cgroup} key value period _ line controllers path root file
    processors=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
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
        # In a container, the path may be the host's, and only its root is mounted here.
        while
            if [[ -r $root$path/$file ]] && read -r value <"$root$path/$file" &&
                [[ $value =~ ^[0-9]{1,18}$ ]] && ((value / 1024 < memory_kib)); then
                memory_kib=$((value / 1024))
            fi
            # In cgroup v2: the CPU time in each period, and the period, in microseconds.
            if [[ -r $root$path/cpu.max ]] && read -r value period <"$root$path/cpu.max" &&
                [[ $value =~ ^[0-9]{1,15}$ && $period =~ ^[1-9][0-9]{0,15}$ ]] &&
                (((value + period - 1) / period < processors)); then
                # shellcheck disable=SC2034 # For scripts that source this.
                processors=$(((value + period - 1) / period))
            fi
            [[ -n $path && $path != / ]]
        do
            path=${path%/*}
        done
    done <"$proc/self/cgroup"
}
