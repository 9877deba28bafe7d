package io.penstock.writeback;

import io.penstock.core.ObjectVersion;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the bytes of a file are that are not in memory: its staging file and the committed version below. Both are
 * replaced by a commit, and stay open until the last read of them has ended.
 */
final class Ground {
    private final BaseContent base;
    private final StagedFile staged;

    // Guarded by the file's lock.
    private @Nullable ObjectVersion version;
    private int users = 1;
    private boolean retired;

    // Guarded by this.
    private BaseContent.@Nullable Reader reader;
    private final List<BaseContent.Reader> opened = new ArrayList<>();

    Ground(@Nullable ObjectVersion version, BaseContent base, StagedFile staged) {
        this.version = version;
        this.base = base;
        this.staged = staged;
    }

    @Nullable
    ObjectVersion version() {
        return version;
    }

    StagedFile staged() {
        return staged;
    }

    /** The same bytes are found as another version from now on. */
    void moved(ObjectVersion to) {
        version = to;
        synchronized (this) {
            reader = null;
        }
    }

    synchronized BaseContent.Reader reader() {
        BaseContent.Reader current = reader;
        if (current == null) {
            ObjectVersion below = version;
            if (below == null) {
                throw new IllegalStateException("there is no version below");
            }
            current = base.open(below);
            reader = current;
            opened.add(current);
        }
        return current;
    }

    /** The data file is about to be given to the cache, which frees parts of it as it likes. */
    void retire() {
        retired = true;
    }

    boolean isRetired() {
        return retired;
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
        opened.forEach(BaseContent.Reader::close);
        staged.close();
    }
}
