package io.penstock.cli.mount;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.CacheConfig;
import io.penstock.cache.PageCache;
import io.penstock.cli.control.JobStatus;
import io.penstock.cli.control.JobStatus.Problem;
import io.penstock.cli.control.JobStatus.State;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.AllowedUsers;
import io.penstock.filesystem.FileSystem;
import io.penstock.filesystem.FileSystemConfig;
import io.penstock.filesystem.Passthrough;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.DirectoryMarkers;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.PeerSource;
import io.penstock.prefetch.ReadaheadConfig;
import io.penstock.share.ShareGroup;
import io.penstock.share.ShareStatistics.Fallback;
import io.penstock.testing.InMemoryObjectStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** With a group of which the test says what its owners do. */
@Timeout(60)
class GroupWarmJobTest {
    private static final Path MOUNT = Path.of("/mnt/data");
    private static final long MIB = 1 << 20;

    @TempDir
    private Path folder;

    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private PageCache cache;
    private PageFetcher fetcher;
    private Tree tree;
    private KeptAttributes kept;
    private Contents contents;

    @BeforeEach
    void open() throws IOException {
        cache = PageCache.open(new CacheConfig(folder.resolve("cache"), 64 * MIB, 0, 16 * MIB));
        fetcher = new PageFetcher(store, cache, "memory/bucket", new ReadaheadConfig(8 * MIB, 2 * MIB, 8, MIB));
        tree = new Tree(store, "", new MetadataConfig(Duration.ofMinutes(1), Duration.ofMinutes(1)), System::nanoTime);
        kept = new KeptAttributes(
                store, new DirectoryMarkers(store, tree, System::nanoTime), KeptAttributes.Keeping.ALL, null);
        FileSystem files = new FileSystem(
                tree,
                fetcher,
                kept,
                new FileSystemConfig(0, 0, 0644, 0755, AllowedUsers.ALL, Long.MAX_VALUE, Passthrough.OFF, 0, false),
                Instant.EPOCH,
                null);
        SymbolicLinks links = new SymbolicLinks(kept, tree.root(), MOUNT);
        contents = new Contents(tree, cache, fetcher, files, links, "memory/bucket", null, null);
    }

    @AfterEach
    void close() {
        kept.close();
        fetcher.close();
        tree.close();
        cache.close();
    }

    /** This node owns nothing. */
    private record Elsewhere(Supplier<@Nullable Fallback> failure) implements GroupWarmJob.Owners {
        @Override
        public boolean isSelf(ObjectVersion version, long position) {
            return false;
        }

        @Override
        public @Nullable Fallback ask(ObjectVersion version, ByteRange range, PeerSource.Sink sink) {
            Fallback why = failure.get();
            for (long at = 0; why == null && at < range.length(); at += PAGE_SIZE) {
                sink.filled((int) Math.min(PAGE_SIZE, range.length() - at));
            }
            return why;
        }
    }

    /** This node owns all. */
    private static final class Here implements GroupWarmJob.Owners {
        @Override
        public boolean isSelf(ObjectVersion version, long position) {
            return true;
        }

        @Override
        public @Nullable Fallback ask(ObjectVersion version, ByteRange range, PeerSource.Sink sink) {
            throw new AssertionError();
        }
    }

    private JobStatus run(GroupWarmJob.Owners owners) {
        GroupWarmJob job =
                new GroupWarmJob(contents, new FileSelection(MOUNT, List.of("file"), null), owners, 0, Duration.ZERO);
        job.run(1);
        JobStatus end = job.status(1);
        assertThat(end.state()).isEqualTo(State.DONE);
        return end;
    }

    private static Problem problem(String why) {
        return new Problem("file", why);
    }

    @Test
    void work_ownerWithoutRoomOrBandwidthForLong_isWaitedFor() {
        store.putTestData("file", 3 * MIB);
        AtomicInteger asked = new AtomicInteger();
        JobStatus end = run(new Elsewhere(() -> {
            int times = asked.incrementAndGet();
            return times > 3 * GroupWarmJob.TRIES ? null : times % 2 == 0 ? Fallback.BUSY : Fallback.LIMITED;
        }));
        assertThat(end.problems()).isEmpty();
        assertThat(end.outcomes()).isEqualTo(Map.of("brought", 1L));
        assertThat(end.bytes()).isEqualTo(3 * MIB);
    }

    @Test
    void work_ownerThatStaysBusy_isGivenUpOnceNothingComes() {
        store.putTestData("file", 3 * MIB);
        AtomicInteger asked = new AtomicInteger();
        JobStatus end = run(new Elsewhere(() -> {
            asked.incrementAndGet();
            return Fallback.BUSY;
        }));
        assertThat(end.problems()).containsExactly(problem("the node that owns a part of it does not bring it: busy"));
        assertThat(asked).hasValueGreaterThan(GroupWarmJob.IDLE_PAUSES);
    }

    @Test
    void work_pieceThatDoesNotCome_endsTheOthersOfItsFile() {
        store.putTestData("file", 100 * ShareGroup.SLAB);
        AtomicInteger asked = new AtomicInteger();
        JobStatus end = run(new Elsewhere(() -> {
            asked.incrementAndGet();
            return Fallback.UNREACHABLE;
        }));
        assertThat(end.problems())
                .containsExactly(problem("the node that owns a part of it does not bring it: unreachable"));
        assertThat(end.outcomes()).isEqualTo(Map.of("failed", 1L));
        assertThat(asked).hasValueLessThanOrEqualTo(16 * GroupWarmJob.TRIES);
    }

    @Test
    void work_fileThatHasChangedSinceItWasListed_isLookedUpAnew() {
        store.putTestData("file", 3 * MIB);
        JobStatus changed = run(new Elsewhere(() -> {
            store.putTestData("file", 5 * MIB);
            return Fallback.CHANGED;
        }));
        assertThat(changed.problems()).containsExactly(problem(WarmJob.CHANGED));
        assertThat(changed.outcomes()).isEqualTo(Map.of("changed", 1L));
        assertThat(run(new Elsewhere(() -> null)).bytes()).isEqualTo(5 * MIB);
    }

    @Test
    void work_fileOfThisNodeThatHasChanged_isLookedUpAnew() throws Exception {
        store.putTestData("file", 3 * MIB);
        var _ = tree.lookup(tree.root(), "file");
        store.putTestData("file", 5 * MIB);
        assertThat(run(new Here()).problems()).containsExactly(problem(WarmJob.CHANGED));
        assertThat(run(new Here()).bytes()).isEqualTo(5 * MIB);
    }

    @Test
    void work_fileThatHasGone_isToldAsGone() throws Exception {
        store.putTestData("file", 3 * MIB);
        var _ = tree.lookup(tree.root(), "file");
        store.delete("file");
        JobStatus gone = run(new Elsewhere(() -> Fallback.CHANGED));
        assertThat(gone.problems()).containsExactly(problem(WarmJob.GONE));
        assertThat(gone.outcomes()).isEqualTo(Map.of("gone", 1L));
    }
}
