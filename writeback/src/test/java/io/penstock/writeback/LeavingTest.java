package io.penstock.writeback;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException.Unavailable;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.writeback.MountContext.CommittedPages;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process is asked to end while the store is away: it leaves data that is only in memory to the next. */
@Timeout(60)
final class LeavingTest {
    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private final FaultyObjectStore away = new FaultyObjectStore(store);
    private final CrashingFiles files = new CrashingFiles();

    LeavingTest() {
        away.always(Call.Put.class::isInstance, Fault.fail(Unavailable::new));
    }

    private static WrittenFile write(TestMount mount, String key) throws Exception {
        WrittenFile file = mount.writeback.create(key, null);
        file.write(0, ByteBuffer.wrap(("content of " + key).getBytes(UTF_8)));
        return file;
    }

    /** A file whose close fails and whose upload is retried in the background, one still uploading, and an open one. */
    private void writeThree(TestMount mount) throws Exception {
        WrittenFile failed = write(mount, "failed");
        assertThatThrownBy(failed::commit).isInstanceOf(Unavailable.class);
        failed.release();
        write(mount, "behind").release();
        write(mount, "open");
    }

    @Test
    void leave_ofWhatLiesOnlyInMemory_isUploadedByTheNextRun() throws Exception {
        try (TestMount first = new TestMount(away, files, TestConfig.withMemory(4)).start()) {
            writeThree(first);
            assertThat(first.writeback.leave()).isEmpty();
            assertThat(first.writeback.leave()).as("again").isEmpty();
        }
        try (TestMount second = new TestMount(store, files, TestConfig.withMemory(4)).start()) {
            second.assertNothingLeaks();
        }
        for (String key : new String[] {"failed", "behind", "open"}) {
            assertThat(store.head(key).version().size()).isEqualTo(("content of " + key).length());
        }
        assertThat(files.names()).isEmpty();
    }

    /** A commit that yielded has not failed. */
    @Test
    void stage_ofAClosedFileWhoseCommitPauses_doesNotGiveItUp() throws Exception {
        long hour = Duration.ofHours(1).toNanos();
        try (TestMount mount = new TestMount(
                        away,
                        files,
                        TestConfig.withMemory(4),
                        (version, content) -> {},
                        Clock.systemUTC(),
                        new CommitTiming(hour, hour, hour, 0))
                .start()) {
            write(mount, "behind").release();
            while (away.injected() == 0) {
                Thread.onSpinWait();
            }
            mount.writeback.stage();
            WrittenFile file = mount.writeback.files().all().iterator().next();
            assertThat(file.retain()).isTrue();
            assertThat(mount.writeback.statistics().failedFiles()).isZero();
            away.heal();
            file.commit();
            file.release();
            mount.assertNothingLeaks();
        }
    }

    /** As when a disk of the cache hangs, or name resolution hangs while the network is down. */
    @Test
    void leave_whileACommitOfAnotherFileHangs_isNotKeptFromStaging() throws Exception {
        CountDownLatch hangs = new CountDownLatch(1);
        CompletableFuture<Boolean> goesOn = new CompletableFuture<>();
        CommittedPages pages = (_, _) -> {
            hangs.countDown();
            goesOn.join(); // no interrupt ends it
        };
        try (TestMount mount = new TestMount(store, files, TestConfig.withMemory(4), pages).start()) {
            WrittenFile open = write(mount, "open");
            write(mount, "hanging").release();
            hangs.await();
            CompletableFuture<List<String>> lost = CompletableFuture.supplyAsync(mount.writeback::leave);
            while (open.progress() != WrittenFile.Progress.STAGED) {
                Thread.onSpinWait();
            }
            goesOn.complete(true);
            assertThat(lost.get()).isEmpty();
        }
    }

    @Test
    void leave_interruptedWhenAllIsStaged_losesNothing() throws Exception {
        try (TestMount mount = new TestMount(away, files, TestConfig.withMemory(4)).start()) {
            WrittenFile file = write(mount, "open");
            assertThat(file.leave()).isTrue();
            Thread.currentThread().interrupt();
            assertThat(file.leave()).isTrue();
            assertThat(Thread.interrupted()).isTrue();
            file.write(0, ByteBuffer.wrap("more".getBytes(UTF_8)));
            Thread.currentThread().interrupt();
            assertThat(file.leave()).isFalse();
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    /** A crash would leave it too: the store decides whether its name was removed. */
    @Test
    void close_whileANameIsAboutToGo_leavesItToTheNextRun() throws Exception {
        try (TestMount first = new TestMount(away, files, TestConfig.withMemory(4)).start()) {
            WrittenFile file = write(first, "a");
            assertThat(file.leave()).isTrue();
            file.withdraw();
        }
        try (TestMount second = new TestMount(store, files, TestConfig.withMemory(4)).start()) {
            second.assertNothingLeaks();
        }
        assertThat(store.head("a").version().size()).isEqualTo("content of a".length());
    }

    @Test
    void leave_ofWhatTheDiskDoesNotTake_namesIt() throws Exception {
        files.set(CrashingFiles.Fault.FULL);
        try (TestMount mount = new TestMount(away, files, TestConfig.withMemory(4)).start()) {
            writeThree(mount);
            assertThat(mount.writeback.leave()).containsExactly("behind", "failed", "open");
        }
    }

    @Test
    void leave_ofARemovedFile_leavesNothing() throws Exception {
        try (TestMount mount = new TestMount(away, files, TestConfig.withMemory(4)).start()) {
            write(mount, "gone").unlink();
            assertThat(mount.writeback.leave()).isEmpty();
        }
        assertThat(files.names()).isEmpty();
    }
}
