package io.penstock.filesystem;

import io.penstock.core.Errno;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The reference model of writing: the expected state of a bucket, the open files of one mount, and its names. Each
 * operation returns the errno that the call must end with, null for success. A version of an object is its content.
 */
final class ReferenceFiles {
    /** The objects of the bucket. */
    final Map<String, Version> store = new HashMap<>();

    /** Open files, oldest first. */
    private final List<File> files = new ArrayList<>();

    /** The request to the store that fails next; null if none does. */
    private @Nullable Failure next;

    /** A request to the store. */
    enum Request {
        /** Commits a file. */
        PUT,
        /** To another name. */
        COPY,
        DELETE
    }

    /**
     * A request that fails.
     *
     * @param lost whether the store executes it all the same
     * @param errno the caller's error, unless the mount can find out that it was executed
     */
    record Failure(Request request, boolean lost, Errno errno) {}

    /** Some content, compared by value. */
    static final class Version {
        private final byte[] bytes;

        Version(byte[] bytes) {
            this.bytes = bytes;
        }

        byte[] bytes() {
            return bytes;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Version version && Arrays.equals(bytes, version.bytes);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }
    }

    /** The state shared by the handles of one file. */
    static final class File {
        byte[] content;
        /** Null once it is removed. */
        @Nullable
        String path;
        /** The store's last version that this mount has seen: a commit over any other is a conflict. */
        @Nullable
        Version base;
        /** The key of that version. */
        String key;

        /** The content that a crash leaves: nothing if null. It is never older than the last one sent. */
        byte @Nullable [] durable;
        /** The versions sent by failed requests: the store may have them. */
        final Set<Version> doubts = new HashSet<>();

        boolean written;
        boolean dirty;
        /** Nothing of it has been committed since its creation. */
        boolean fresh;

        int handles;
        int writers;
        int unflushed;

        File(String path, @Nullable Version base) {
            this.path = path;
            this.key = path;
            this.base = base;
            this.content = base == null ? new byte[0] : base.bytes;
        }

        boolean isShown() {
            return path != null && written && (writers > 0 || dirty);
        }
    }

    /** An open file. */
    static final class Handle {
        final File file;
        final boolean writes;
        final boolean appends;
        boolean flushed;

        Handle(File file, boolean writes, boolean appends) {
            this.file = file;
            this.writes = writes;
            this.appends = appends;
        }
    }

    // ---- reading

    /** The content that the mount must show: null if there is no such name. */
    byte @Nullable [] content(String path) {
        File shown = shown(path);
        if (shown != null) {
            return shown.content;
        }
        Version version = store.get(path);
        return version == null ? null : version.bytes;
    }

    /** Whether a read of the handle's file may fail, because another node has changed or deleted its object. */
    boolean mayBeStale(File file) {
        boolean isWrittenHere = file.written && file.fresh;
        return !isWrittenHere && file.base != null && !file.base.equals(store.get(file.key));
    }

    private @Nullable File shown(String path) {
        return files.stream()
                .filter(file -> path.equals(file.path) && file.isShown())
                .findFirst()
                .orElse(null);
    }

    // ---- handles

    /** @return the new handle; null if there is no such file */
    @Nullable
    Handle open(String path, boolean write, boolean append, boolean truncate) {
        File file = shown(path);
        if (file == null) {
            Version version = store.get(path);
            if (version == null) {
                return null;
            }
            file = files.stream()
                    .filter(known -> path.equals(known.path) && version.equals(known.base))
                    .findFirst()
                    .orElse(null);
            if (file == null) {
                file = new File(path, version);
                files.add(file);
            }
        }
        return join(file, write, append, truncate);
    }

    private static Handle join(File file, boolean write, boolean append, boolean truncate) {
        file.handles++;
        if (write) {
            file.writers++;
            file.unflushed++;
            if (!file.written) {
                file.written = true;
                file.fresh = truncate;
                file.dirty = truncate;
                file.content = truncate ? new byte[0] : file.content;
            } else if (truncate) {
                resize(file, 0);
            }
        }
        return new Handle(file, write, append);
    }

    Handle create(String path, boolean append) {
        File file = new File(path, null);
        file.written = true;
        file.fresh = true;
        file.dirty = true;
        files.add(file);
        file.handles = 1;
        file.writers = 1;
        file.unflushed = 1;
        return new Handle(file, true, append);
    }

    void write(Handle handle, int position, byte[] bytes) {
        File file = handle.file;
        unflush(handle);
        int at = handle.appends ? file.content.length : position;
        if (at + bytes.length > file.content.length) {
            file.content = Arrays.copyOf(file.content, at + bytes.length);
        } else {
            file.content = file.content.clone();
        }
        System.arraycopy(bytes, 0, file.content, at, bytes.length);
        changed(file);
    }

    /**
     * Copies the source's bytes from this position, up to {@code length}. If that is a whole object, copied into an
     * empty file, the store has the copy then.
     */
    @Nullable
    Errno copy(File source, int from, Handle handle, int position, int length) {
        File file = handle.file;
        unflush(handle);
        int count = Math.min(length, source.content.length - from);
        if (count <= 0) {
            return null;
        } else if (source == file && Math.abs(from - position) < count) {
            return Errno.EINVAL;
        }
        boolean whole = from == 0
                && position == 0
                && count == source.content.length
                && file.content.length == 0
                && !(source.written && source.dirty)
                && !source.key.equals(file.key);
        byte[] bytes = Arrays.copyOfRange(source.content, from, from + count);
        file.content = Arrays.copyOf(file.content, Math.max(file.content.length, position + count));
        System.arraycopy(bytes, 0, file.content, position, count);
        changed(file);
        if (whole) {
            commit(file);
        }
        return null;
    }

    void truncate(Handle handle, int size) {
        unflush(handle);
        resize(handle.file, size);
    }

    void zero(Handle handle, int from, int to, boolean grow) {
        unflush(handle);
        File file = handle.file;
        int end = Math.min(to, file.content.length);
        if (from < end) {
            file.content = file.content.clone();
            Arrays.fill(file.content, from, end, (byte) 0);
            changed(file);
        }
        if (grow) {
            grow(handle, to);
        }
    }

    void grow(Handle handle, int size) {
        unflush(handle);
        if (size > handle.file.content.length) {
            resize(handle.file, size);
        }
    }

    private static void resize(File file, int size) {
        if (file.content.length != size) {
            file.content = Arrays.copyOf(file.content, size);
            changed(file);
        }
    }

    private static void changed(File file) {
        file.dirty = file.path != null;
    }

    private static void unflush(Handle handle) {
        if (handle.flushed) {
            handle.flushed = false;
            handle.file.unflushed++;
        }
    }

    @Nullable
    Errno flush(Handle handle) {
        File file = handle.file;
        if (!handle.writes) {
            return null;
        }
        if (!handle.flushed) {
            handle.flushed = true;
            file.unflushed--;
        }
        return file.unflushed > 0 ? null : commit(file);
    }

    void release(Handle handle) {
        File file = handle.file;
        file.handles--;
        if (handle.writes) {
            file.writers--;
            file.unflushed -= handle.flushed ? 0 : 1;
        }
        leave(file, handle.writes);
    }

    private void leave(File file, boolean wrote) {
        if (file.handles == 0 || (wrote && file.writers == 0)) {
            commit(file); // in the background: no caller gets its result
        }
        if (file.handles == 0) {
            files.remove(file);
        }
    }

    @SuppressWarnings("ReferenceEquality") // content written again is not the content sent, even if equal
    @Nullable
    Errno commit(File file) {
        if (!file.dirty || file.path == null) {
            return null;
        }
        if (file.durable != null) {
            file.durable = file.content;
        }
        Version there = store.get(file.path);
        boolean isSent = file.doubts.stream().anyMatch(sent -> sent == there); // not just equal content
        if (isSent || (!Objects.equals(there, file.base) && file.doubts.contains(there))) {
            if (file.doubts.stream().anyMatch(sent -> sent.equals(there) && sent.bytes == file.content)) {
                committed(file); // without a request
                return null;
            }
            file.base = there;
            file.doubts.clear();
        }
        Version sent = new Version(file.content);
        boolean isFirstSuch = !file.doubts.remove(sent);
        file.doubts.add(sent);
        Failure failure = take(Request.PUT);
        if (failure != null && !failure.lost) {
            if (isFirstSuch && failure.errno == Errno.EACCES) {
                file.doubts.remove(sent); // a refusal means that nothing was stored
            }
            return failure.errno;
        } else if (!Objects.equals(there, file.base)) {
            file.doubts.clear();
            return Errno.ESTALE; // also where the other object has the same content
        } else if (failure != null) {
            store.put(file.path, sent);
            return failure.errno;
        }
        committed(file);
        return null;
    }

    /** The content would survive a crash from now on. */
    void synced(File file) {
        if (file.dirty && file.path != null) {
            file.durable = file.content;
        }
    }

    /** The content is in the store. */
    void committed(File file) {
        Version version = new Version(file.content);
        store.put(Objects.requireNonNull(file.path), version);
        file.base = version;
        file.dirty = false;
        file.fresh = false;
        file.durable = null;
        file.doubts.clear();
    }

    // ---- failures and crashes

    /** The next request of its kind fails, until {@link #heal}. */
    void fail(Failure failure) {
        next = failure;
    }

    void heal() {
        next = null;
    }

    private @Nullable Failure take(Request request) {
        Failure failure = next;
        if (failure == null || failure.request != request) {
            return null;
        }
        next = null;
        return failure;
    }

    /** The process is killed. The next one commits the content that it finds, unless that is a conflict. */
    void crash() {
        for (File file : files) {
            if (file.dirty && file.path != null && file.durable != null) {
                Version there = store.get(file.path);
                if (Objects.equals(there, file.base) || file.doubts.contains(there)) {
                    store.put(file.path, new Version(file.durable));
                }
            }
        }
        files.clear();
    }

    // ---- names

    @Nullable
    Errno truncate(String path, int size) {
        Handle handle = open(path, true, false, size == 0);
        if (handle == null) {
            return Errno.ENOENT;
        }
        resize(handle.file, size);
        Errno errno = commit(handle.file);
        release(handle);
        return errno;
    }

    @Nullable
    Errno unlink(String path) {
        File shown = shown(path);
        Version there = store.get(path);
        if (shown == null && there == null) {
            return Errno.ENOENT;
        }
        Version version = shown == null || !shown.doubts.isEmpty() ? there : shown.base;
        if (version != null) {
            Failure failure = take(Request.DELETE);
            boolean refused = there != null && !there.equals(version); // and so it is requested once more
            if (failure == null || failure.lost) {
                store.remove(path);
            }
            if (failure != null && !(failure.lost && refused)) {
                return failure.errno;
            }
        }
        lose(path);
        return null;
    }

    @Nullable
    Errno rename(String from, String to, boolean mustBeNew) {
        File source = shown(from);
        Version version = store.get(from);
        if (source == null && version == null) {
            return Errno.ENOENT;
        } else if (from.equals(to)) {
            return null;
        } else if (mustBeNew && content(to) != null) {
            return Errno.EEXIST;
        }
        if (source != null && !mustBeNew && isUnknownToTheStore(source) && shown(to) == null) {
            source.base = store.get(to);
            source.key = to;
            lose(to);
            files.stream().filter(file -> from.equals(file.path)).forEach(file -> file.path = to);
            return null;
        }
        if (source != null) {
            Errno errno = commit(source);
            if (errno != null) {
                return errno;
            }
            version = source.base;
        }
        if (!store.containsKey(from)) {
            return Errno.ESTALE; // its properties are requested before the copy
        }
        Failure failure = take(Request.COPY);
        if (failure != null && !failure.lost) {
            return failure.errno;
        } else if (version == null || !version.equals(store.get(from))) {
            return Errno.ESTALE;
        }
        store.put(to, version);
        if (failure != null) {
            return failure.errno;
        }
        lose(to);
        for (File file : files) {
            if (from.equals(file.path)) {
                file.path = to;
                file.key = version.equals(file.base) ? to : file.key;
            }
        }
        failure = take(Request.DELETE);
        if (failure != null && !failure.lost) {
            return failure.errno; // both names exist
        }
        store.remove(from); // if the response is lost, a lookup shows that
        return null;
    }

    /** Whether it just takes a new name: it is open for writing, it was never sent, and it replaces nothing. */
    private static boolean isUnknownToTheStore(File file) {
        return file.fresh && file.base == null && file.doubts.isEmpty() && file.unflushed > 0;
    }

    /** The files of the name lose it. */
    private void lose(String path) {
        files.stream().filter(file -> path.equals(file.path)).forEach(file -> {
            file.path = null;
            file.dirty = false;
            file.durable = null;
            file.doubts.clear();
        });
    }
}
