package io.penstock.writeback;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.penstock.core.ObjectVersion;
import io.penstock.interleaving.Delay;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.writeback.WrittenFile.Progress;
import io.penstock.writeback.staging.Recovery;
import io.penstock.writeback.staging.Staging;
import io.penstock.writeback.upload.Uploads;
import io.penstock.writeback.upload.WritebackLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JZ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** The state of a written file ({@link FileState}), whose commits have their own threads. */
final class FileStateInterleavings {
    private static final AtomicLong NAMES = new AtomicLong();

    /** Nanoseconds that a commit takes, about. */
    private static final int COMMIT = 100_000;

    private FileStateInterleavings() {}

    /** One for all states, without a staging disk. */
    private static final class Mount {
        static final InMemoryObjectStore STORE = new InMemoryObjectStore();
        static final Writeback WRITEBACK;

        static {
            WritebackLimits.Values values = new WritebackLimits.Values(4, 4, 4, 8 << 20, 8 << 20, 8 << 20);
            WritebackConfig config = new WritebackConfig(
                    Path.of("unused"),
                    WritebackConfig.Close.VISIBLE,
                    WritebackConfig.Fsync.VISIBLE,
                    Uploads.PartSizes.GROWING,
                    5L << 40,
                    values);
            WritebackLimits limits = new WritebackLimits(values);
            Uploads uploads = new Uploads(
                    STORE, config.partSizes(), config.largestObjectBytes(), limits, () -> false, System::nanoTime);
            Staging staging = new Staging(null, "namespace", () -> 8 << 20, System::nanoTime);
            try {
                WRITEBACK = Writeback.of(
                        STORE,
                        config,
                        limits,
                        version -> {
                            throw new IllegalStateException("nothing is read: " + version);
                        },
                        staging,
                        uploads,
                        (_, _) -> {},
                        Clock.systemUTC(),
                        CommitTiming.DEFAULT,
                        Recovery.of(staging),
                        null);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static String newKey() {
        return "file" + NAMES.incrementAndGet();
    }

    private static WrittenFile newFile() {
        return Mount.WRITEBACK.create(newKey(), null);
    }

    private static void commit(WrittenFile file) {
        try {
            file.commit();
        } catch (ObjectStoreException | IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The size of the file's object; -1 if there is none. */
    private static long storedBytes(WrittenFile file) {
        try {
            StoredObject object = Mount.STORE.find(file.key());
            return object == null ? -1 : object.version().size();
        } catch (ObjectStoreException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Removes the file, and its object if there is one. */
    private static void remove(WrittenFile file) {
        try {
            file.withdraw();
            file.unlink();
            file.release();
            Mount.STORE.delete(file.key());
        } catch (ObjectStoreException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A file gets another handle, or it ends with its last one. */
    @JCStressTest
    @Outcome(
            id = {"true, false", "false, true"},
            expect = ACCEPTABLE,
            desc = "one of the two")
    @State
    public static class LastHandle {
        private final WrittenFile file =
                Mount.WRITEBACK.open(new ObjectVersion(newKey(), "\"etag\"", 0, Instant.EPOCH));

        @Actor
        public void releases() {
            file.release();
            file.resume(); // as the background will
        }

        @Actor
        public void retains(ZZ_Result r) {
            r.r1 = file.retain();
        }

        @Arbiter
        public void end(ZZ_Result r) {
            r.r2 = file.isEnded();
            if (r.r1) {
                file.release();
            }
        }
    }

    /** A change is in the commit that runs meanwhile, or the file is dirty after it. */
    @JCStressTest
    @Outcome(
            id = {"0, true", "1, false"},
            expect = ACCEPTABLE,
            desc = "in the next commit, or in this one")
    @State
    public static class ChangeAndCommit {
        private final WrittenFile file = newFile();

        @Actor
        public void commits() {
            commit(file);
        }

        @Actor
        public void changes() {
            Delay.upTo(COMMIT);
            file.truncate(1);
        }

        @Arbiter
        public void end(JZ_Result r) {
            r.r1 = storedBytes(file);
            r.r2 = file.isDirty();
            remove(file);
        }
    }

    /** Once a file is withdrawn, no commit makes it visible. */
    @JCStressTest
    @Outcome(
            id = {"true, true", "false, false"},
            expect = ACCEPTABLE,
            desc = "visible before that, or not at all")
    @State
    public static class WithdrawAndCommit {
        private final WrittenFile file = newFile();

        private boolean isVisible() {
            return storedBytes(file) >= 0;
        }

        @Actor
        public void commits() {
            commit(file);
        }

        @Actor
        public void withdraws(ZZ_Result r) {
            Delay.upTo(COMMIT);
            try {
                file.withdraw();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            r.r1 = isVisible();
        }

        @Arbiter
        public void end(ZZ_Result r) {
            while (file.progress() == Progress.SENT) {
                Thread.onSpinWait();
            }
            r.r2 = isVisible();
            remove(file);
        }
    }
}
