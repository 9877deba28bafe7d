package io.penstock.filesystem.names;

import io.penstock.core.ErrnoException;
import io.penstock.core.KernelRequest;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.OperationId;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WritebackConfig;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How a writable mount changes the bucket. The caller owns store and write-back, and closes them after the file system:
 * first the write-back, then the store.
 *
 * @param writeback just opened: the file system starts it
 * @param exclusive when O_EXCL is enforced
 * @param links what link(2) does
 * @param clock for the times of files
 * @param nanoClock monotonic nanoseconds, such as {@link System#nanoTime}: detects removals in quick succession
 * @param mostRenamed the maximum number of objects in a directory that is renamed; 0 allows no renames of directories
 * @param isContinued whether the file system will inherit what a former process of the mount gave to the kernel
 */
public record Writing(
        ObjectStore store,
        Writeback writeback,
        Exclusive exclusive,
        Links links,
        InstantSource clock,
        LongSupplier nanoClock,
        int mostRenamed,
        boolean isContinued) {
    /** A usual {@link #mostRenamed}: copied within minutes. */
    public static final int MOST_RENAMED = 100_000;

    public Writing {
        if (mostRenamed < 0) {
            throw new IllegalArgumentException("rename.most-objects must be 0 or more, not " + mostRenamed);
        }
    }

    /** The number of objects that fit into half of a heap of this size during a rename: a KiB each. */
    static long mostRenamedIn(long heapBytes) {
        return heapBytes / 2 / 1024;
    }

    /** Whether programs continue with cached answers while the store cannot be reached. */
    public boolean worksOffline() {
        return writeback.config().close() == WritebackConfig.Close.STAGED;
    }

    /**
     * The object of this key, if a former process has made it for the kernel's request that this thread serves. Equal
     * content would prove nothing: another client may have written the same.
     */
    public @Nullable ObjectVersion madeBefore(String key) throws ErrnoException {
        OperationId operation = KernelRequest.mayBeDone() ? OperationId.ofRequest(key) : null;
        return operation == null ? null : Errnos.<@Nullable ObjectVersion>call(() -> store.find(key, operation));
    }

    /** Makes the call: all its requests to the store share one deadline. */
    void withinOneDeadline(MovingDirectories.Change call) throws ErrnoException {
        Errnos.run(() -> store.retries().forWriting().<@Nullable Void, ErrnoException>call(() -> {
            call.run();
            return null;
        }));
    }
}
