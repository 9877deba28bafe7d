package io.penstock.fuse.kernel;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.penstock.fuse.DescriptorMessage;
import io.penstock.fuse.MountException;
import io.penstock.fuse.MountOptions;
import io.penstock.fuse.Native;
import io.penstock.fuse.Preflight;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Mounts through fusermount, which is setuid root. It sends the open device over the socket whose number is in its
 * environment (fusermount3(1); util/fusermount.c of libfuse). posix_spawn(3) starts it, because Java's Process closes
 * all descriptors of its child.
 */
final class Fusermount {
    private static final String SOCKET_VARIABLE = "_FUSE_COMMFD";

    private Fusermount() {}

    static Device mount(MountOptions options, Path mountPoint) throws MountException {
        String program = Preflight.fusermount()
                .orElseThrow(() -> new MountException("Mounting without root needs fusermount3, and it is not"
                        + " installed. Debian and Ubuntu: apt-get install fuse3. RHEL and Fedora: dnf install fuse3."))
                .toString();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pair = arena.allocate(JAVA_INT, 2);
            if (Native.C.socketpair(Native.AF_UNIX, Native.SOCK_STREAM, 0, pair.address()) != 0) {
                throw new MountException("Cannot create sockets for fusermount3: error number " + Native.error());
            }
            int ours = pair.getAtIndex(JAVA_INT, 0);
            int theirs = pair.getAtIndex(JAVA_INT, 1);
            Native.C.fcntl(ours, Native.F_SETFD, Native.FD_CLOEXEC);
            try {
                int pid;
                try {
                    pid = spawn(arena, command(program, options, mountPoint), theirs);
                } finally {
                    Native.C.close(theirs); // so that the other end notices when this end closes
                }
                int fd = new DescriptorMessage(arena, new byte[1]).receive(ours);
                int status = await(arena, pid);
                if (fd < 0) {
                    throw new MountException(program + " did not mount " + mountPoint + " (status " + status
                            + "); its reason is in the line above, on standard error.");
                }
                Native.C.fcntl(fd, Native.F_SETFD, Native.FD_CLOEXEC);
                return new Device(fd);
            } finally {
                Native.C.close(ours);
            }
        }
    }

    static List<String> command(String program, MountOptions options, Path mountPoint) {
        List<String> settings = new ArrayList<>(List.of(
                options.readOnly() ? "ro" : "rw",
                "nosuid,nodev,default_permissions",
                "subtype=" + DeviceOpener.SUBTYPE,
                "fsname=" + options.source().replace("\\", "\\\\").replace(",", "\\,")));
        if (options.noExec()) {
            settings.add("noexec");
        }
        if (options.allowOther()) {
            settings.add("allow_other");
        }
        return List.of(program, "-o", String.join(",", settings), "--", mountPoint.toString());
    }

    private static int spawn(Arena arena, List<String> command, int socket) throws MountException {
        Map<String, String> environment = System.getenv();
        Stream<String> variables = Stream.concat(
                environment.entrySet().stream()
                        .filter(variable -> !variable.getKey().equals(SOCKET_VARIABLE))
                        .map(variable -> variable.getKey() + "=" + variable.getValue()),
                Stream.of(SOCKET_VARIABLE + "=" + socket));
        MemorySegment pid = arena.allocate(JAVA_INT);
        int error = Native.C.posix_spawn(
                pid.address(),
                command.getFirst(),
                0,
                0,
                strings(arena, command).address(),
                strings(arena, variables.toList()).address());
        if (error != 0) {
            throw new MountException("Cannot run " + command.getFirst() + ": error number " + error);
        }
        return pid.get(JAVA_INT, 0);
    }

    /** An array of strings, terminated by NULL. */
    private static MemorySegment strings(Arena arena, List<String> strings) {
        MemorySegment array = arena.allocate(ADDRESS, strings.size() + 1L);
        for (int i = 0; i < strings.size(); i++) {
            array.setAtIndex(ADDRESS, i, arena.allocateFrom(strings.get(i)));
        }
        return array;
    }

    private static int await(Arena arena, int pid) {
        MemorySegment status = arena.allocate(JAVA_INT);
        Native.C.waitpid(pid, status.address(), 0);
        return status.get(JAVA_INT, 0) >> 8 & 0xff; // WEXITSTATUS
    }
}
