package io.penstock.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.disk.DataFolder;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.StoredObject;
import io.penstock.writeback.MountContext.CommittedPages;
import io.penstock.writeback.staging.Recovery;
import io.penstock.writeback.staging.Staging;
import io.penstock.writeback.survivors.Outliving;
import io.penstock.writeback.survivors.Survivors;
import io.penstock.writeback.upload.Uploads;
import io.penstock.writeback.upload.WritebackLimits;
import java.io.IOException;
import java.time.Clock;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A write-back with a store and a staging folder of tests. Checks for leaks. */
final class TestMount implements AutoCloseable {
    static final String NAMESPACE = "localhost/bucket";

    final StoredBase base;
    final WritebackLimits limits;
    final Staging staging;
    final Uploads uploads;
    final MountContext context;
    final Writeback writeback;

    /** The listener's notifications. */
    final List<String> told = new CopyOnWriteArrayList<>();

    TestMount(ObjectStore store, @Nullable DataFolder files, WritebackConfig config) throws IOException {
        this(store, files, config, (version, content) -> {});
    }

    TestMount(ObjectStore store, @Nullable DataFolder files, WritebackConfig config, CommittedPages pages)
            throws IOException {
        this(store, files, config, pages, Clock.systemUTC(), CommitTiming.DEFAULT);
    }

    TestMount(
            ObjectStore store,
            @Nullable DataFolder files,
            WritebackConfig config,
            CommittedPages pages,
            InstantSource clock,
            CommitTiming timing)
            throws IOException {
        this(store, files, config, pages, clock, timing, null);
    }

    TestMount(
            ObjectStore store,
            @Nullable DataFolder files,
            WritebackConfig config,
            CommittedPages pages,
            InstantSource clock,
            CommitTiming timing,
            @Nullable Outliving outliving)
            throws IOException {
        base = new StoredBase(store);
        limits = new WritebackLimits(config.limits());
        uploads = new Uploads(
                store, config.partSizes(), config.largestObjectBytes(), limits, () -> false, System::nanoTime);
        staging = new Staging(files, NAMESPACE, () -> limits.get().stagingBytes(), System::nanoTime);
        Survivors survivors = outliving == null ? null : outliving.left();
        Recovery left = outliving == null || survivors == null
                ? Recovery.of(staging)
                : Recovery.of(staging, survivors, outliving.memory());
        writeback = Writeback.of(store, config, limits, base, staging, uploads, pages, clock, timing, left, outliving);
        context = writeback.context();
    }

    TestMount start() {
        writeback.start(listener());
        return this;
    }

    Writeback.Listener listener() {
        return new Writeback.Listener() {
            @Override
            public void committed(WrittenFile file, StoredObject object) {
                told.add("committed " + file.key() + " " + object.version().size());
            }

            @Override
            public void abandoned(WrittenFile file) {
                told.add("given up " + file.key());
            }
        };
    }

    /** Call once all files are released. */
    void assertNothingLeaks() throws InterruptedException {
        writeback.drain();
        assertThat(writeback.files().all()).as("files").isEmpty();
        // Parts of a removed file that were being sent end on their own, and no caller waits for them.
        for (int i = 0;
                i < 1000
                        && (context.resources().memory().usedBytes() > 0
                                || base.readers().get() > 0);
                i++) {
            Thread.sleep(10);
        }
        assertThat(context.resources().memory().usedBytes()).as("memory").isZero();
        assertThat(base.readers()).as("readers").hasValue(0);
        assertThat(staging.usedBytes()).as("staged").isZero();
    }

    @Override
    public void close() {
        writeback.close();
    }
}
