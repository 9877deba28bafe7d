package io.penstock.cli.doctor;

/**
 * The machine, and the rights of this process on it.
 *
 * @param root whether this process is root's
 * @param device /dev/fuse
 * @param mayMount whether this process has CAP_SYS_ADMIN
 * @param hasFusermount whether fusermount3 or fusermount is installed
 * @param userAllowOther whether /etc/fuse.conf has user_allow_other
 * @param kernel the kernel's version
 * @param limits of this process
 * @param memoryBytes the machine's, or the smallest limit of the process's cgroups
 * @param heapBytes the largest heap of a mount's JVM
 * @param aotCache the file that lets mounts start faster
 */
record MachineFacts(
        boolean root,
        Device device,
        boolean mayMount,
        boolean hasFusermount,
        boolean userAllowOther,
        Kernel kernel,
        Limits limits,
        long memoryBytes,
        long heapBytes,
        AotCache aotCache) {

    /** The outcome of opening /dev/fuse. */
    enum Device {
        OPENS,
        MISSING,
        DENIED,
        /** It exists, but the kernel has no module for it. */
        FAILS
    }

    /** A version of Linux. */
    record Kernel(int major, int minor) {
        boolean isBefore(int otherMajor, int otherMinor) {
            return major < otherMajor || (major == otherMajor && minor < otherMinor);
        }

        @Override
        public String toString() {
            return "Linux " + major + "." + minor;
        }
    }

    /**
     * Limits of a process; {@link Long#MAX_VALUE} for none.
     *
     * @param openFiles the hard limit: the JVM raises the soft one to it
     * @param lockedBytes RLIMIT_MEMLOCK
     * @param fileBytes RLIMIT_FSIZE, the soft limit
     */
    record Limits(long openFiles, long lockedBytes, long fileBytes) {}

    /** Java's ahead-of-time cache, which the launcher makes. */
    enum AotCache {
        USED,
        /** The next mount makes it. */
        NOT_YET,
        /** There is none, and this user cannot make it. */
        NOT_WRITABLE,
        /** The attempt to make it failed. */
        FAILED,
        /** This process was not started by bin/penstock. */
        NO_LAUNCHER
    }
}
