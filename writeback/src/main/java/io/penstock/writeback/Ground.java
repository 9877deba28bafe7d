package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import org.jspecify.annotations.Nullable;

/**
 * Where the bytes of a file are that are not in memory: its staging file and the committed version below. Both are
 * replaced by a commit, and stay open until the last read of them has ended.
 */
final class Ground {
    private final @Nullable ObjectVersion version;
    private final BaseContent base;

    private BaseContent.@Nullable Reader reader; // guarded by this

    private int users = 1; // guarded by the file's lock

    Ground(@Nullable ObjectVersion version, BaseContent base) {
        this.version = version;
        this.base = base;
    }

    @Nullable
    ObjectVersion version() {
        return version;
    }

    long baseSize() {
        return version == null ? 0 : version.size();
    }

    synchronized BaseContent.Reader reader() {
        if (version == null) {
            throw new IllegalStateException("there is no version below");
        }
        if (reader == null) {
            reader = base.open(version);
        }
        return reader;
    }

    Ground use() {
        users++;
        return this;
    }

    /** Whoever drops the last use closes what is open. */
    void release() {
        users--;
        if (users == 0) {
            close();
        }
    }

    private synchronized void close() {
        if (reader != null) {
            reader.close();
        }
    }
}
