package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.serve.control.JobStatus;
import io.penstock.serve.control.JobStatus.Problem;
import io.penstock.serve.control.JobStatus.State;
import io.penstock.writeback.AwaitedFile;
import io.penstock.writeback.AwaitedFile.Progress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SyncJobTest {
    private static final String RECOVERY = "penstock recover s3://a --cache /cache";

    /** A file whose progress the test sets. */
    private static final class File implements AwaitedFile {
        private final String key;
        private volatile Progress progress;

        File(String key, Progress progress) {
            this.key = key;
            this.progress = progress;
        }

        @Override
        public String key() {
            return key;
        }

        @Override
        public Progress progress() {
            return progress;
        }
    }

    private static JobStatus run(Job job) {
        job.run(1);
        return job.status(1);
    }

    @Test
    void work_nothingIsLeft_isDoneAtOnce() {
        JobStatus end = run(new SyncJob(0, RECOVERY, List.of(), key -> key, null));
        assertThat(end.state()).isEqualTo(State.DONE);
        assertThat(end.problems()).isEmpty();
        assertThat(end.totalFiles()).isZero();
    }

    @Test
    void work_anUpload_isWaitedForAndNamed() throws Exception {
        File slow = new File("p/slow", new Progress.Waiting(70));
        File quick = new File("p/quick", new Progress.Visible());
        SyncJob job = new SyncJob(0, RECOVERY, List.of(slow, quick), key -> key.substring(2), null);
        Thread thread = Thread.ofVirtual().start(() -> job.run(1));
        while (job.status(1).waitsFor() == null) {
            Thread.onSpinWait();
        }
        assertThat(job.status(1).waitsFor()).isEqualTo("slow");
        assertThat(job.status(1).files()).isOne();
        assertThat(job.status(1).totalFiles()).isEqualTo(2);
        assertThat(job.status(1).totalBytes()).isEqualTo(70);

        slow.progress = new Progress.Visible();
        thread.join();

        JobStatus end = job.status(1);
        assertThat(end.state()).isEqualTo(State.DONE);
        assertThat(end.problems()).isEmpty();
        assertThat(end.outcomes()).isEqualTo(Map.of("visible", 2L));
        assertThat(end.bytes()).isEqualTo(70);
        assertThat(end.waitsFor()).isNull();
    }

    /** More than 292 years: more nanoseconds than a long can hold. */
    @Test
    void work_aTimeoutThatNobodySees_waits() throws Exception {
        File slow = new File("slow", new Progress.Waiting(70));
        SyncJob job = new SyncJob(0, RECOVERY, List.of(slow), key -> key, Duration.ofDays(110_000));
        Thread thread = Thread.ofVirtual().start(() -> job.run(1));
        while (job.status(1).waitsFor() == null && thread.isAlive()) {
            Thread.onSpinWait();
        }

        slow.progress = new Progress.Visible();
        thread.join();

        assertThat(job.status(1).state()).isEqualTo(State.DONE);
    }

    @Test
    void work_whatFails_isNamed() {
        JobStatus end = run(new SyncJob(
                2, RECOVERY, List.of(new File("lost", new Progress.Failed("access denied"))), key -> key, null));
        assertThat(end.problems())
                .containsExactly(
                        new Problem(
                                "earlier writes",
                                "2 files could not be uploaded; penstock recover s3://a --cache"
                                        + " /cache lists them"),
                        new Problem("lost", "access denied"));
    }

    @Test
    void work_theTimeIsOver_namesWhatIsLeft() {
        JobStatus end = run(new SyncJob(
                0, RECOVERY, List.of(new File("f", new Progress.Waiting(1 << 20))), key -> key, Duration.ZERO));
        assertThat(end.state()).isEqualTo(State.DONE);
        assertThat(end.problems())
                .containsExactly(new Problem("f", "not in the bucket yet, 1MiB left; the upload continues"));
    }
}
