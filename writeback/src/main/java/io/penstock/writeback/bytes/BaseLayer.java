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
 * The place of a file's bytes that are not in memory: its data file in staging and the committed version below. A
 * commit replaces both; a replacement of all content replaces only the data file. They stay open until their last
 * reader has finished.
 */
public final class BaseLayer {
    private final BaseContent base;
    private final StagedFile staged;
    private final StagedData data;

    /** Changed while holding the file's lock; reads of the base version do not hold it. */
    private volatile @Nullable ObjectVersion version;

    /** Incremented only while holding the file's lock and while greater than 0; decremented without the lock. */
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

    /** The same bytes now belong to this version. */
    public void moved(@Nullable ObjectVersion to) {
        version = to;
    }

    /** A reader of the version, which must exist. Open while this is in use. */
    public synchronized BaseContent.Reader reader() {
        return readers.computeIfAbsent(requireNonNull(version), base::open);
    }

    /** The data file is about to be given to the cache, which may free any part of it. */
    public void retire() {
        retired = true;
    }

    boolean isRetired() {
        return retired;
    }

    /** Caller holds the file's lock and calls {@link #release} later. */
    public BaseLayer use() {
        users.incrementAndGet();
        return this;
    }

    /**
     * The last release closes the open files. Call without the file's lock: closing a removed file frees its blocks on
     * disk, and readers of the file's size must not wait for that.
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
