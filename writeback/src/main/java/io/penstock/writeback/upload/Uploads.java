package io.penstock.writeback.upload;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All uploads of one mount: their threads, bounds and counters. Safe for use by any number of threads. */
public final class Uploads implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Uploads.class);

    /** How long a mount that ends waits for uploads to be aborted; the rest is left to the bucket's lifecycle rule. */
    private static final int ABORT_SECONDS = 5;

    private final ObjectStore store;
    private final long largestObjectBytes;
    private final WritebackLimits limits;
    private final LongSupplier nanoTime;
    private final UploadGate gate;

    /** Once equal, always equal. */
    private volatile PartSizes partSizes;

    private final LongAdder uploadedBytes = new LongAdder();
    private final LongAdder copiedBytes = new LongAdder();

    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("upload-", 0).factory());

    /**
     * @param partSizes to begin with
     * @param yields whether programs wait for something else now
     */
    public Uploads(
            ObjectStore store,
            PartSizes partSizes,
            long largestObjectBytes,
            WritebackLimits limits,
            BooleanSupplier yields,
            LongSupplier nanoTime) {
        this.store = store;
        this.partSizes = partSizes;
        this.largestObjectBytes = largestObjectBytes;
        this.limits = limits;
        this.nanoTime = nanoTime;
        this.gate = new UploadGate(limits, yields);
    }

    /** @param base the version that the content's clean ranges are of; null if there is none */
    public FileUpload begin(
            @Nullable ObjectVersion base, FileContent content, TargetProperties properties, UploadJournal journal) {
        long size = base == null ? 0 : base.size();
        long partBytes = limits.get().partBytes();
        PartLayout layout = switch (partSizes) {
            case GROWING -> PartLayout.of(size, partBytes, largestObjectBytes);
            case EQUAL -> PartLayout.equal(2 * size, partBytes); // it may grow
        };
        return new FileUpload(this, properties, content, journal, layout, null);
    }

    /** Goes on with an upload that an earlier run began, as far as the store still has it. */
    public FileUpload resume(
            JournalledUpload earlier, FileContent content, TargetProperties properties, UploadJournal journal) {
        return new FileUpload(this, properties, content, journal, earlier.layout(), earlier);
    }

    /** The layout of content of this size of which nothing is up yet. */
    public PartLayout planned(long size, long partBytes) {
        return switch (partSizes) {
            case GROWING -> PartLayout.planned(size, partBytes);
            case EQUAL -> PartLayout.equal(size, partBytes);
        };
    }

    /** The store has refused others. */
    void demandEqualParts() {
        if (partSizes != PartSizes.EQUAL) {
            partSizes = PartSizes.EQUAL;
            LOG.info(
                    "{} wants all parts of an upload but the last to have one size: it gets them from now on",
                    store.bucket());
        }
    }

    public ObjectStore store() {
        return store;
    }

    public long nanoTime() {
        return nanoTime.getAsLong();
    }

    UploadGate.FileQueue newQueue() {
        return gate.newQueue();
    }

    /** Runs it on a thread of its own; not at all once this is closed. */
    public void run(Runnable task) {
        try {
            threads.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("The mount ends: an upload does not begin any more", e);
        }
    }

    /**
     * Aborts the uploads in the background that will not be resumed.
     *
     * @param aborted runs once all are
     */
    public void abort(List<MultipartUpload> orphans, Runnable aborted) {
        run(() -> {
            try {
                for (MultipartUpload upload : orphans) {
                    store.abort(upload);
                }
                aborted.run();
            } catch (ObjectStoreException e) {
                LOG.warn(
                        "An upload that is no longer needed is in the bucket until the next mount: {}", e.getMessage());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    public void uploaded(long bytes) {
        uploadedBytes.add(bytes);
    }

    public void copied(long bytes) {
        copiedBytes.add(bytes);
    }

    /** Bytes sent to the store so far, in parts that have arrived. */
    public long uploadedBytes() {
        return uploadedBytes.sum();
    }

    /** Bytes copied within the store so far. */
    public long copiedBytes() {
        return copiedBytes.sum();
    }

    /** Uploads that run now. */
    public int running() {
        return gate.running();
    }

    /** Ends the requests in flight; aborts that have begun have a moment to get through. */
    @Override
    public void close() {
        threads.shutdown();
        try {
            threads.awaitTermination(ABORT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        threads.shutdownNow();
    }
}
