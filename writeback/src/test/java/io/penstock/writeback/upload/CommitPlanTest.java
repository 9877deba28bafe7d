package io.penstock.writeback.upload;

import static io.penstock.objectstore.UploadedPart.MAX_SIZE;
import static io.penstock.objectstore.UploadedPart.MIN_SIZE;
import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.testing.Seeded;
import io.penstock.writeback.content.Run;
import io.penstock.writeback.upload.CommitPlan.PlannedPart;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

final class CommitPlanTest {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final ObjectVersion BASE = new ObjectVersion("base", "\"1\"", 5L << 40, Instant.EPOCH);

    @Test
    void of_nothingChanged_copiesAll() {
        assertThat(plan(true, kept(0, GIB)))
                .containsExactly("copy 0+256", "copy 256+256", "copy 512+256", "copy 768+256");
    }

    @Test
    void of_oneBlockChanged_sendsFiveMebibytes() {
        assertThat(plan(true, kept(0, 100 * MIB), sent(100 * MIB, 4 * MIB), kept(104 * MIB, 96 * MIB)))
                .containsExactly("copy 0+100", "send 100+5", "copy 105+95");
    }

    @Test
    void of_lastBlockBeforeATail_takesFromTheCopyBefore() {
        assertThat(plan(false, kept(0, 100 * MIB), sent(100 * MIB, 4 * MIB))).containsExactly("copy 0+99", "send 99+5");
    }

    @Test
    void of_lastBlockOfTheObject_isSentAlone() {
        assertThat(plan(true, kept(0, 100 * MIB), sent(100 * MIB, MIB))).containsExactly("copy 0+100", "send 100+1");
    }

    @Test
    void of_firstBlockChanged_takesFromTheCopyBehind() {
        assertThat(plan(true, sent(0, 4 * MIB), kept(4 * MIB, 96 * MIB))).containsExactly("send 0+5", "copy 5+95");
    }

    @Test
    void of_copyTooShortBetween_isSentWithItsNeighbours() {
        assertThat(plan(true, sent(0, 8 * MIB), kept(8 * MIB, 4 * MIB), sent(12 * MIB, 4 * MIB)))
                .containsExactly("send 0+8", "send 8+8");
    }

    @Test
    void of_shortCopyAtTheObjectsEnd_isCopied() {
        assertThat(plan(true, sent(0, 8 * MIB), kept(8 * MIB, MIB))).containsExactly("send 0+8", "copy 8+1");
    }

    @Test
    void of_shortSendBeforeAVeryShortEnd_isOnePart() {
        assertThat(plan(true, kept(0, 8 * MIB), sent(8 * MIB, 4 * MIB), kept(12 * MIB, MIB)))
                .containsExactly("copy 0+8", "send 8+5");
    }

    @Test
    void of_truncated_copiesWhatIsLeft() {
        assertThat(plan(true, kept(0, 6 * GIB / 2 + 3))).hasSize(13).endsWith("copy 3072+0");
    }

    @Test
    void of_tooManyForTheirNumbers_areMadeLarger() {
        List<Run> runs = new ArrayList<>();
        for (long i = 0; i < 1000; i++) {
            runs.add(sent(i * 64 * MIB, 4 * MIB));
            runs.add(kept(i * 64 * MIB + 4 * MIB, 60 * MIB));
        }
        assertThat(CommitPlan.of(runs, true, 8 * MIB, 2000)).hasSize(2000);
        assertThat(CommitPlan.of(runs, true, 8 * MIB, 100)).hasSizeBetween(20, 100);
    }

    @Test
    void of_anyRuns_makesPartsThatS3TakesOfTheSameBytes() {
        Seeded.check(2000, CommitPlanTest::checkRandomRuns);
    }

    private static void checkRandomRuns(RandomGenerator random) {
        boolean end = random.nextBoolean();
        List<Run> runs = randomRuns(random, end);
        long size = runs.getLast().range().end();
        int most = (int) Math.ceilDiv(size, MAX_SIZE) + 1 + random.nextInt(random.nextInt(2, 500));
        List<PlannedPart> plan = CommitPlan.of(runs, end, (8 * MIB) << random.nextInt(4), most);

        assertThat(plan.size()).isLessThanOrEqualTo(most);
        long position = 0;
        int runIndex = 0;
        for (PlannedPart part : plan) {
            Run run = part.run();
            boolean last = part.number() == plan.size();
            assertThat(run.range().offset()).isEqualTo(position);
            assertThat(run.length()).isBetween(last && end ? 1 : MIN_SIZE, MAX_SIZE);
            position = run.range().end();
            while (runs.get(runIndex).range().end() <= run.range().offset()) {
                runIndex++;
            }
            if (!run.isSent()) {
                for (int i = runIndex; i < runs.size() && runs.get(i).range().offset() < position; i++) {
                    Run from = runs.get(i);
                    assertThat(from.source()).isEqualTo(run.source());
                }
            }
        }
        assertThat(position).isEqualTo(size);
        assertThat(plan.getFirst().number()).isEqualTo(1);
    }

    /** Of whole blocks, except at the object's end, and of at least 8 MiB elsewhere. */
    private static List<Run> randomRuns(RandomGenerator random, boolean end) {
        List<Run> runs = new ArrayList<>();
        long position = 0;
        for (int i = random.nextInt(2, 40); i > 0; i--) {
            long blocks = random.nextBoolean() ? random.nextInt(1, 4) : random.nextInt(1, 1 << random.nextInt(1, 12));
            long length = blocks * BLOCK_SIZE - (end && i == 1 ? random.nextInt(BLOCK_SIZE) : 0);
            ByteRange range = new ByteRange(position, length);
            runs.add(random.nextInt(3) == 0 ? new Run(range, BASE) : Run.sent(range));
            position += length;
        }
        return runs;
    }

    private static Run kept(long offset, long length) {
        return new Run(new ByteRange(offset, length), BASE);
    }

    private static Run sent(long offset, long length) {
        return Run.sent(new ByteRange(offset, length));
    }

    private static List<String> plan(boolean isObjectsEnd, Run... runs) {
        return CommitPlan.of(List.of(runs), isObjectsEnd, 8 * MIB, 10_000).stream()
                .map(part -> (part.run().isSent() ? "send " : "copy ")
                        + part.run().range().offset() / MIB + "+"
                        + part.run().length() / MIB)
                .toList();
    }
}
