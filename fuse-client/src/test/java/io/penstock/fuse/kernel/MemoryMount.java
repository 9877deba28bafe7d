package io.penstock.fuse.kernel;

import io.penstock.fuse.MountOptions;
import io.penstock.fuse.calls.CallObserver;
import java.nio.file.Path;
import java.time.Duration;

/** Serves a file {@code f} of 8 GiB at the given mount point until it is unmounted: for measurements. */
final class MemoryMount {
    private MemoryMount() {}

    public static void main(String[] arguments) throws Exception {
        MountOptions options = new MountOptions(
                Path.of(arguments[0]), "memory", true, false, false, Duration.ofSeconds(1), 1 << 20, 1, null, false);
        try (DeviceMount mount = KernelBinding.mount(
                connection -> new MemoryOperations(8L << 30, Long.MAX_VALUE),
                options,
                CallObserver.NONE,
                Survival.Start.ALONE)) {
            System.out.println(mount.description());
            mount.awaitUnmounted();
        }
    }
}
