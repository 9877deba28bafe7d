package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.metadata.Inode;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The open handles, by numbers that are never reused. Thread-safe. */
final class HandleTable {
    private final AtomicLong last = new AtomicLong();
    private final ConcurrentMap<Long, OpenHandle> open = new ConcurrentHashMap<>();

    long add(OpenHandle handle) {
        long number = last.incrementAndGet();
        open.put(number, handle);
        return number;
    }

    /** A handle that an earlier process of this mount gave to the kernel. */
    void inherit(long number, OpenHandle handle) {
        open.put(number, handle);
    }

    /** New handles get numbers above this one. */
    void startAfter(long number) {
        last.accumulateAndGet(number, Math::max);
    }

    OpenHandle get(long number) throws ErrnoException {
        OpenHandle handle = open.get(number);
        if (handle == null) {
            throw new ErrnoException(Errno.EBADF, "handle " + number + " is not open");
        }
        return handle;
    }

    OpenHandle.OpenObject object(long number) throws ErrnoException {
        OpenHandle handle = open.get(number);
        if (handle instanceof OpenHandle.OpenObject object) {
            return object;
        } else if (handle instanceof OpenHandle.LostFile(Inode inode)) {
            throw new ErrnoException(
                    Errno.EIO, "the content of " + inode + " was lost when the mount's process ended: write it again");
        }
        throw new ErrnoException(Errno.EBADF, "handle " + number + " is not an open file");
    }

    OpenHandle.OpenDirectory directory(long number) throws ErrnoException {
        if (open.get(number) instanceof OpenHandle.OpenDirectory directory) {
            return directory;
        }
        throw new ErrnoException(Errno.EBADF, "handle " + number + " is not an open directory");
    }

    /** Null if there was no such handle. */
    @Nullable
    OpenHandle remove(long number) {
        return open.remove(number);
    }

    void forEachObject(BiConsumer<Long, OpenHandle.OpenObject> action) {
        open.forEach((number, handle) -> {
            if (handle instanceof OpenHandle.OpenObject object) {
                action.accept(number, object);
            }
        });
    }

    Set<Long> numbers() {
        return Set.copyOf(open.keySet());
    }

    int size() {
        return open.size();
    }
}
