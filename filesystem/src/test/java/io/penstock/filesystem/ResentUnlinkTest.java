package io.penstock.filesystem;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ErrnoException;
import io.penstock.core.KernelRequest;
import io.penstock.filesystem.kernel.NotifiedKernel;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.writeback.survivors.Outliving;
import io.penstock.writeback.survivors.SurvivorMemory;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process is killed after it has executed an UNLINK, and before its reply; another client writes meanwhile. */
class ResentUnlinkTest extends OverOneCache {
    @TempDir
    private Path formerStaging;

    @TempDir
    private Path staging;

    private SurvivorMemory memory;
    private Mounted m;
    private InMemoryObjectStore bucket;

    @BeforeEach
    void mount() throws Exception {
        memory = SurvivorMemory.create();
        m = Mounted.surviving(cache, formerStaging, null, Outliving.begin(memory, () -> {}));
        bucket = m.bucket;
    }

    @AfterEach
    void close() {
        m.close();
        memory.close();
    }

    private void unlink(boolean isResent) throws ErrnoException {
        unlink(8, isResent);
    }

    private void unlink(long request, boolean isResent) throws ErrnoException {
        new KernelRequest(1, request, isResent).<Boolean, ErrnoException>serve(() -> {
            m.unlink("a");
            return true;
        });
    }

    private void kill() throws Exception {
        m.close(); // nothing is written, so this leaves no more than a kill
        m = Mounted.surviving(cache, staging, bucket, Outliving.resume(memory, () -> {}));
        m.fs.addListener(new NotifiedKernel());
    }

    @Test
    void unlink_executedAndAnotherContentSince_leavesThat() throws Exception {
        bucket.put("a", "content");
        unlink(false);
        bucket.put("a", "another");
        kill();
        unlink(true);
        assertThat(m.stored("a")).isEqualTo("another");
    }

    @Test
    void unlink_executedAndEqualContentSince_leavesThat() throws Exception {
        bucket.put("a", "content");
        unlink(false);
        m.clock.advance(Duration.ofSeconds(1));
        bucket.put("a", "content");
        kill();
        unlink(true);
        assertThat(m.stored("a")).isEqualTo("content");
    }

    /** The process was killed before it sent the deletion that it had recorded. */
    @Test
    void unlink_begunButNotExecuted_removesThatVersion() throws Exception {
        bucket.put("a", "content");
        unlink(false);
        bucket.put("a", "content"); // in the same second: the same version
        kill();
        unlink(true);
        assertThat(m.stored("a")).isNull();
    }

    @Test
    void unlink_ofAnotherRequest_removesTheNewerVersion() throws Exception {
        bucket.put("a", "content");
        unlink(false);
        bucket.put("a", "another");
        kill();
        unlink(10, true);
        assertThat(m.stored("a")).isNull();
    }
}
