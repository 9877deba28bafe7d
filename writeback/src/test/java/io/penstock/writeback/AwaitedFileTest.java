package io.penstock.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException.AccessDenied;
import io.penstock.objectstore.ObjectStoreException.Unavailable;
import io.penstock.testing.Fault;
import io.penstock.writeback.AwaitedFile.Progress;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How far changes are that programs have closed or fsynced, for a caller that waits until they are in the bucket. */
@Timeout(60)
final class AwaitedFileTest {
    private final FileScenario s = new FileScenario();

    @AfterEach
    void close() {
        s.close();
    }

    private AwaitedFile only() {
        List<AwaitedFile> awaited = s.mount().writeback.awaited();
        assertThat(awaited).hasSize(1);
        return awaited.getFirst();
    }

    /** The progress once the file is neither uploaded nor retried. */
    private static Progress end(AwaitedFile file) {
        Progress progress = file.progress();
        while (progress instanceof Progress.Waiting) {
            Thread.onSpinWait();
            progress = file.progress();
        }
        return progress;
    }

    @Test
    void awaited_openAndNotFsynced_isNothing() throws Exception {
        s.create("f").append("a");
        assertThat(s.mount().writeback.awaited()).isEmpty();
        s.releases();
    }

    @Test
    void awaited_closedWhileTheStoreIsAway_waitsUntilItHasIt() throws Exception {
        s.create("f").faults.always(Call.Put.class::isInstance, Fault.fail(Unavailable::new));
        s.append("abc").then(WrittenFile::closeStaged, WrittenFile::release);
        AwaitedFile file = only();
        assertThat(file.key()).isEqualTo("f");
        assertThat(file.progress()).isEqualTo(new Progress.Waiting(3));
        s.faults.heal();
        assertThat(end(file)).isEqualTo(new Progress.Visible());
        s.expect("f", "abc");
        assertThat(s.mount().writeback.awaited()).isEmpty();
    }

    @Test
    void awaited_fsyncedAndOpen_isCommittedWithoutAClose() throws Exception {
        s.create("f").append("abc").then(WrittenFile::fsync);
        assertThat(end(only())).isEqualTo(new Progress.Visible());
        s.expect("f", "abc").releases();
    }

    @Test
    void progress_whatIsWrittenLater_isNotWaitedFor() throws Exception {
        s.create("f").append("abc").then(WrittenFile::fsync);
        AwaitedFile file = only();
        assertThat(end(file)).isEqualTo(new Progress.Visible());
        s.append("d").then(WrittenFile::fsync);
        assertThat(file.progress()).isEqualTo(new Progress.Visible());
        s.releases();
    }

    @Test
    void progress_refused_hasFailedAndSaysWhy() throws Exception {
        s.create("f").faults.always(Call.Put.class::isInstance, Fault.fail(AccessDenied::new));
        s.append("abc").then(WrittenFile::fsync);
        AwaitedFile file = only();
        s.then(WrittenFile::release);
        assertThat(end(file)).isInstanceOf(Progress.Failed.class);
        while (!s.mount().writeback.awaited().isEmpty()) {
            Thread.sleep(1); // the file ends a moment later; otherwise the time limit fails the test
        }
    }

    @Test
    void progress_removed_isOver() throws Exception {
        s.create("f").faults.always(Call.Put.class::isInstance, Fault.fail(Unavailable::new));
        s.append("abc").then(WrittenFile::fsync);
        AwaitedFile file = only();
        s.then(WrittenFile::withdraw, WrittenFile::unlink);
        assertThat(end(file)).isEqualTo(new Progress.Visible());
        s.then(WrittenFile::release);
    }
}
