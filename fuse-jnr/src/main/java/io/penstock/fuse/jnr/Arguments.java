package io.penstock.fuse.jnr;

import io.penstock.fuse.MountOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The options for libfuse, each with its reason. */
final class Arguments {
    /**
     * How long the kernel caches names and attributes. libfuse 2 has one time for all replies, which is added to their
     * age. It is short, so that it adds little to the configured time.
     */
    private static final Duration BELIEVED = Duration.ofSeconds(1);

    private Arguments() {}

    static List<String> of(MountOptions options, Path mountPoint) {
        Duration longest = options.attributeTimeout().compareTo(BELIEVED) < 0 ? options.attributeTimeout() : BELIEVED;
        String timeout = Double.toString(longest.toMillis() / 1000.0); // in seconds; a fraction is allowed
        List<String> settings = new ArrayList<>(List.of(
                "fsname=" + escape(options.source()),
                "subtype=penstock",
                options.readOnly() ? "ro" : "rw",
                // The kernel checks modes: no upcall for access(2), and allow_other opens nothing by accident.
                "default_permissions",
                // st_ino is the file system's number, not libfuse's node number, so that readdir and stat agree.
                "use_ino",
                "entry_timeout=" + timeout,
                "attr_timeout=" + timeout,
                "negative_timeout=" + timeout,
                // An unlinked open file disappears immediately, instead of becoming .fuse_hidden.
                "hard_remove",
                "big_writes",
                // An open that truncates the file arrives as one call.
                "atomic_o_trunc",
                "async_read",
                "max_background=" + MountOptions.MAX_BACKGROUND,
                "congestion_threshold=" + MountOptions.CONGESTION_THRESHOLD));
        // Not "intr": libfuse would send signals to the JVM's threads.
        if (options.noExec()) {
            settings.add("noexec");
        }
        if (options.allowOther()) {
            settings.add("allow_other");
        }
        List<String> arguments = new ArrayList<>(List.of("penstock", mountPoint.toString(), "-f"));
        settings.forEach(setting -> {
            arguments.add("-o");
            arguments.add(setting);
        });
        return arguments;
    }

    /** The options as an argv. */
    static MemorySegment inNativeMemory(List<String> arguments, Arena arena) {
        MemorySegment argv = arena.allocate(ValueLayout.ADDRESS, arguments.size() + 1L);
        for (int i = 0; i < arguments.size(); i++) {
            argv.setAtIndex(ValueLayout.ADDRESS, i, arena.allocateFrom(arguments.get(i)));
        }
        return argv;
    }

    /** Commas separate options: fuse_opt.c takes a backslash before one. */
    private static String escape(String value) {
        return value.replace("\\", "\\\\").replace(",", "\\,");
    }
}
