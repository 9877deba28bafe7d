package io.penstock.writeback.bytes;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ObjectVersion;
import io.penstock.writeback.staging.StagedData;
import io.penstock.writeback.staging.StagedFile;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Where the bytes of a file are that are not in memory: its data file in staging and the committed version below. Both
 * are replaced by a commit, the data file also when all of the content is replaced; they stay open until the last read of
 * them has ended.
 */
public final class BaseLayer {
    private final BaseContent base;
    private final StagedFile staged;
    private final StagedData data;

    /** Changed with the file's lock held; reads of the base version find it without. */
    private volatile @Nullable ObjectVersion version;

    /** Become more with the file's lock held only, and as long as there are some; fewer without. */
    private final AtomicInteger users = new AtomicInteger(1);

    /** Guarded by the file's lock. */
    private boolean retired;

    @GuardedBy("this")
    private final Map<ObjectVersion, BaseContent.Reader> readers = new HashMap<>();

    public BaseLayer(@Nullable ObjectVersion version, BaseContent base, StagedFile staged) {
        this.version = version;
        this.base = base;
        this.staged = staged;
        this.data = staged.data();
    }

    /** The same version below another data file. */
    public BaseLayer startOver() {
        staged.startOver();
        return new BaseLayer(version, base, staged);
    }

    @Nullable
    public ObjectVersion version() {
        return version;
    }

    public StagedFile staged() {
        return staged;
    }

    public StagedData data() {
        return data;
    }

    /** The same bytes are found as another version from now on. */
    public void moved(@Nullable ObjectVersion to) {
        version = to;
    }

    /** A reader of the version, which there is; open as long as this is in use. */
    public synchronized BaseContent.Reader reader() {
        return readers.computeIfAbsent(requireNonNull(version), base::open);
    }

    /** The data file is about to be given to the cache, which frees parts of it as it likes. */
    public void retire() {
        retired = true;
    }

    boolean isRetired() {
        return retired;
    }

    /** With the file's lock held. {@link #release} follows. */
    public BaseLayer use() {
        users.incrementAndGet();
        return this;
    }

    /**
     * The release of the last use closes the open files. Not with the file's lock held: closing a file that was removed
     * frees its blocks, for which readers of its size must not wait.
     */
    public void release() {
        if (users.decrementAndGet() == 0) {
            close();
        }
    }

    private synchronized void close() {
        readers.values().forEach(BaseContent.Reader::close);
        staged.close(data);
    }
}
