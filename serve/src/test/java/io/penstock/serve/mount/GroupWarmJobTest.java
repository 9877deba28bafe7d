package io.penstock.serve.mount;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.prefetch.PeerSource;
import io.penstock.serve.control.JobStatus;
import io.penstock.serve.control.JobStatus.Problem;
import io.penstock.serve.control.JobStatus.State;
import io.penstock.share.ShareGroup;
import io.penstock.share.ShareStatistics.Fallback;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** With a group whose owners the test controls. */
@Timeout(60)
class GroupWarmJobTest extends MountedModulesFixture {
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

    /** This node owns everything. */
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
                new GroupWarmJob(modules, new FileSelection(MOUNT, List.of("file"), null), owners, 0, Duration.ZERO);
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
        assertThat(end.problems()).containsExactly(problem("the node that owns part of it did not fetch it: busy"));
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
                .containsExactly(problem("the node that owns part of it did not fetch it: unreachable"));
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
        assertThat(changed.problems()).containsExactly(problem(FileJob.CHANGED));
        assertThat(changed.outcomes()).isEqualTo(Map.of("changed", 1L));
        assertThat(run(new Elsewhere(() -> null)).bytes()).isEqualTo(5 * MIB);
    }

    @Test
    void work_fileOfThisNodeThatHasChanged_isLookedUpAnew() throws Exception {
        store.putTestData("file", 3 * MIB);
        var _ = tree.lookup(tree.root(), "file");
        store.putTestData("file", 5 * MIB);
        assertThat(run(new Here()).problems()).containsExactly(problem(FileJob.CHANGED));
        assertThat(run(new Here()).bytes()).isEqualTo(5 * MIB);
    }

    @Test
    void work_fileThatHasGone_isToldAsGone() throws Exception {
        store.putTestData("file", 3 * MIB);
        var _ = tree.lookup(tree.root(), "file");
        store.delete("file");
        JobStatus gone = run(new Elsewhere(() -> Fallback.CHANGED));
        assertThat(gone.problems()).containsExactly(problem(FileJob.GONE));
        assertThat(gone.outcomes()).isEqualTo(Map.of("gone", 1L));
    }
}
