package io.penstock.benchmarks;

import io.penstock.fuse.KernelMount;
import io.penstock.fuse.MountException;
import io.penstock.fuse.MountTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Mounts made by other processes, and the ends of those processes. */
final class Mounts {
    private static final long SECONDS = 60;

    private Mounts() {}

    static boolean isMounted(Path path) throws IOException {
        return MountTable.read().at(path).isPresent();
    }

    /** Waits until the process has mounted. Returns false if it has ended, or takes too long. */
    static boolean await(Process process, Path mountPoint) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!isMounted(mountPoint)) {
            if (!process.isAlive() || System.nanoTime() > deadline) {
                return false;
            }
            Thread.sleep(20);
        }
        return true;
    }

    /** Ends a process, by force if it takes too long. */
    static void end(Process process) {
        process.destroy();
        try {
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    /** Ends a process, and detaches the mount if it is left. */
    static void end(Process process, Path mountPoint) throws IOException, MountException {
        end(process);
        if (isMounted(mountPoint)) {
            KernelMount.at(mountPoint).detachOrFail();
        }
    }
}
