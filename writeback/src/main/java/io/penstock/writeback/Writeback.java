package io.penstock.writeback;

import io.penstock.cache.PageCache;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStore;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The files of one mount that are written or were and are not yet committed. Safe for use by any number of threads. */
public final class Writeback implements AutoCloseable {
    /** Bytes of a logical block, the unit that is staged and of which parts are made. */
    public static final int BLOCK_SIZE = 4 << 20;

    private final Shared shared;
    private final Uploads uploads;

    Writeback(Shared shared, Uploads uploads) {
        this.shared = shared;
        this.uploads = uploads;
    }

    /** Told how commits end: called by the thread that committed, before whoever waits for it goes on. Must not wait. */
    public interface Listener {
        /** The object is this version now. */
        void committed(WrittenFile file, ObjectVersion version);

        /**
         * Nobody has the file open any more and it cannot be committed: its content waits for {@code penstock recover},
         * and its name stands for what the store has.
         */
        void givenUp(WrittenFile file);
    }

    /**
     * Opens the staging folder and takes over what earlier runs left in it.
     *
     * @param prefix what is mounted, for what the store has to be asked with a key of its own
     * @throws IOException with a message fit for the user if the folder cannot be read or made. One that cannot be
     *     written is no error: writing goes on in memory, and says so once
     */
    public static Writeback open(
            ObjectStore store,
            String prefix,
            PageCache cache,
            String namespace,
            BaseContent base,
            WritebackConfig config)
            throws IOException {
        WritebackLimits limits = new WritebackLimits(config.limits());
        Uploads uploads = new Uploads(store, prefix, config.largestObjectBytes(), limits);
        return new Writeback(new Shared(config, limits, base, uploads, Clock.systemUTC()), uploads);
    }

    /**
     * What earlier runs had closed or fsynced and not committed: the current content of those files. Their uploads go on
     * by themselves once {@link #start} is called.
     */
    public List<WrittenFile> recovered() {
        return List.of();
    }

    /** Goes on with what {@link #recovered} lists; nothing is committed before. To be called once. */
    public void start(Listener listener) {
        shared.listen(listener);
    }

    /**
     * A new, empty file, whether there is an object of this key or not.
     *
     * @param replaced the object that it replaces (O_TRUNC): its commit is a conflict if that has changed; null if there
     *     is none: a conflict if there is one by then
     */
    public WrittenFile create(String key, @Nullable ObjectVersion replaced) {
        return shared.add(WrittenFile.create(shared, key, replaced));
    }

    /** A file with the content of this version, to be changed. */
    public WrittenFile open(ObjectVersion base) {
        return shared.add(WrittenFile.open(shared, base));
    }

    public WritebackConfig config() {
        return shared.config();
    }

    public WritebackLimits limits() {
        return shared.limits();
    }

    public WritebackStatistics statistics() {
        return new WritebackStatistics(
                shared.memory().usedBytes(), 0, 0, 0, uploads.uploadedBytes(), uploads.copiedBytes(), 0);
    }

    /** Waits until nothing is left to upload but what has failed for good. */
    public void drain() throws InterruptedException {
        shared.drain();
    }

    /** Ends what is in flight. What is staged and closed or fsynced is found again by the next {@link #open}. */
    @Override
    public void close() {
        shared.close();
        uploads.close();
    }
}
