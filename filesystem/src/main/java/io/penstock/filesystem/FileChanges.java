package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.OpenHandle.OpenObject;
import io.penstock.filesystem.files.OpenCounts.Opener;
import io.penstock.filesystem.files.SharedContent;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.names.MovingDirectories;
import io.penstock.filesystem.names.NamedInodes;
import io.penstock.filesystem.names.NodeResolver;
import io.penstock.filesystem.names.Writing;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Node;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WritebackConfig;
import io.penstock.writeback.WrittenFile;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Opens files for writing, and has them committed. Thread-safe. */
final class FileChanges {
    private final Writeback writeback;
    private final WritebackConfig config;
    private final InstantSource clock;
    private final NodeResolver resolver;
    private final SharedFiles files;
    private final NamedInodes named;
    private final OpenFiles open;
    private final MovingDirectories moving;
    private final OpenFileWrites writes;
    private final RecentLinks links;

    FileChanges(
            Writing writing,
            NodeResolver resolver,
            SharedFiles files,
            NamedInodes named,
            OpenFiles open,
            MovingDirectories moving,
            OpenFileWrites writes,
            RecentLinks links) {
        this.writeback = writing.writeback();
        this.config = writeback.config();
        this.clock = writing.clock();
        this.resolver = resolver;
        this.files = files;
        this.named = named;
        this.open = open;
        this.moving = moving;
        this.writes = writes;
        this.links = links;
    }

    OpenFile open(long inode, int flags) throws ErrnoException {
        links.end(inode);
        SharedFile file;
        try (Cut cut = new Cut((flags & OpenFlags.O_TRUNC) != 0 ? 0 : Long.MAX_VALUE)) {
            file = open(inode, flags, cut);
        }
        return open.add(file, flags);
    }

    /** The existing file, joined to write. */
    private SharedFile open(long inode, int flags, Cut cut) throws ErrnoException {
        return moving.in(() -> resolver.parents(inode), () -> openHere(inode, flags, cut));
    }

    private SharedFile openHere(long inode, int flags, Cut cut) throws ErrnoException {
        SharedFile file = open.join(inode, true);
        boolean truncate = (flags & OpenFlags.O_TRUNC) != 0;
        boolean begun = false;
        try {
            files.unheard().report(file.key(), file.stored());
            cut.begin(file);
            begun = Errnos.call(() -> file.beginWriting(writeback, truncate, clock.instant()));
        } finally {
            if (!begun) {
                file.leave(true);
            }
        }
        if (!begun) {
            throw named.stale(file.inode());
        }
        return file;
    }

    /** A change of size. If it makes a file smaller, reads wait until the kernel has the reply, and so the size. */
    private static final class Cut implements AutoCloseable {
        /** By then the kernel has used the reply unless it is very busy; there is no signal for this. */
        private static final Duration TAKEN = Duration.ofMillis(10);

        private final long size;
        private @Nullable SharedContent content;

        Cut(long size) {
            this.size = size;
        }

        void begin(SharedFile file) {
            if (size < file.size()) {
                content = file.content();
                content.cutBegins();
            }
        }

        @Override
        public void close() {
            SharedContent cut = content;
            if (cut != null) {
                Thread.startVirtualThread(() -> {
                    LockSupport.parkNanos(TAKEN.toNanos());
                    cut.cutEnds();
                });
            }
        }
    }

    /** @param handle of the request; null if it behaves like open, truncate and close: truncate(2) */
    void truncate(long inode, @Nullable OpenObject handle, long size) throws ErrnoException {
        try (Cut cut = new Cut(size)) {
            if (handle == null) {
                truncate(inode, cut);
            } else {
                cut.begin(handle.file());
                writes.truncate(handle, size);
            }
        }
    }

    private void truncate(long inode, Cut cut) throws ErrnoException {
        writes.checkSize(cut.size);
        int flags = OpenFlags.O_WRONLY | (cut.size == 0 ? OpenFlags.O_TRUNC : 0);
        OpenObject opened = new OpenObject(open(inode, flags, cut), flags, false);
        try {
            writes.truncate(opened, cut.size);
            WrittenFile content = opened.file().written();
            if (content != null && opened.file().links() > 0) {
                commit(content);
            }
        } catch (ErrnoException e) {
            files.kernel().isLost(opened.inode()); // it still has the old size
            throw e;
        } finally {
            opened.file().leave(opened.opener());
        }
    }

    /**
     * Changes the kept attributes of a file that has been written, and has them committed. To be called while its
     * directory does not move.
     */
    void keep(long inode, ObjectAttributes attributes) throws ErrnoException {
        SharedFile file = openHere(inode, OpenFlags.O_WRONLY, new Cut(Long.MAX_VALUE));
        Opener opener = new Opener(true);
        try {
            file.keep(attributes, clock.instant());
            WrittenFile content = file.flush(opener);
            if (content != null) {
                commit(content);
            }
        } finally {
            file.leave(opener);
        }
    }

    /**
     * Changes something other than the content of a file being written. During the change the file counts as open for
     * writing, so no commit ends it. Closes of other handles ignore this, and commit.
     *
     * @return false if the file ended first: its inode must be resolved again
     */
    boolean change(SharedFile file, MovingDirectories.Change change) throws ErrnoException {
        if (files.join(file.inode(), file, true) == null) {
            Errnos.run(() -> files.awaitEnds(file.inode()));
            return false;
        }
        Opener opener = new Opener(true);
        WrittenFile _ = file.flush(opener);
        try { // a commit may have ended its written state already
            boolean _ = Errnos.call(() -> file.beginWriting(writeback, false, clock.instant()));
            change.run();
        } finally {
            file.leave(opener);
        }
        return true;
    }

    /**
     * close(2) of one of possibly several descriptors: the last for writing commits. Programs duplicate descriptors
     * (NumPy's {@code tofile}) or pass them to children, which close them before they begin. Only a close that would
     * commit checks for others, after it is counted: of two concurrent closes, the later finds no other. A shell's last
     * close is part of dup2(2), which drops its error: if a handle was duplicated, the next open reports it too.
     */
    void flush(OpenObject handle, BooleanSupplier isStillOpen) throws ErrnoException {
        SharedFile file = handle.file();
        boolean isDuplicated = handle.closesAgain();
        WrittenFile content = file.flush(handle.opener());
        if (content != null && !(content.isDirty() && isStillOpen.getAsBoolean())) {
            try {
                commit(content);
            } catch (ErrnoException e) {
                if (isDuplicated && e.errno() != Errno.EINTR) {
                    files.unheard().add(file.key(), file.stored(), e.errno(), String.valueOf(e.getMessage()));
                }
                throw e;
            }
        }
    }

    private void commit(WrittenFile content) throws ErrnoException {
        Errnos.run(() -> {
            switch (config.close()) {
                case VISIBLE -> content.commit();
                case STAGED -> content.closeStaged();
            }
        });
    }

    void fsync(OpenObject handle) throws ErrnoException {
        WrittenFile content = handle.file().written();
        if (content != null && handle.file().links() > 0) {
            Errnos.run(content::fsync);
        }
    }

    /** utimensat(2): handles of a version show its time, too. */
    void touch(Node node, Instant modified) {
        Instant now = clock.instant();
        switch (node) {
            case SharedFile file -> file.touch(modified, now);
            case FileEntry(var object) -> files.times().set(object.version(), modified, now);
            default -> {} // a directory's time is the mount's
        }
    }
}
