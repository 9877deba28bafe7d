package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.O_APPEND;
import static io.penstock.filesystem.Mounted.O_WRONLY;
import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.filesystem.kernel.NotifiedKernel;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.writeback.WritebackConfig.Close;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A store whose ETags stay the same when the content changes, as with some gateways to file systems. */
@Timeout(60)
class OpaqueEtagsTest extends OverOneCache {
    private final ManualClock storesClock = new ManualClock();
    private final NotifiedKernel kernel = new NotifiedKernel();

    @TempDir
    Path staging;

    private Mounted m;

    @BeforeEach
    void mount() {
        m = Mounted.writable(
                cache, InMemoryObjectStore.withOneEtag(storesClock), Mounted.config(staging, Close.VISIBLE));
        m.fs.addListener(kernel);
        m.bucket.put("a", "old");
    }

    @AfterEach
    void unmount() {
        m.close();
    }

    /** Another node replaces it with the same number of bytes. */
    private void replace(String text) {
        storesClock.advance(Duration.ofSeconds(1));
        m.bucket.put("a", text);
    }

    private void replaceAndWait(String text) {
        replace(text);
        m.clock.advance(Mounted.TTL);
    }

    @Test
    void read_replacedBySoManyBytes_isTheNew() throws Exception {
        assertThat(m.cat("a")).isEqualTo("old");
        replaceAndWait("new");

        assertThat(m.cat("a")).isEqualTo("new");
    }

    @Test
    void read_replacedSinceItWasOpened_isEstale() throws Exception {
        OpenFile open = m.open("a");
        replace("new");

        assertErrno(Errno.ESTALE, () -> m.read(open));

        m.fs.release(open.handle());
    }

    @Test
    void list_replacedWhileTheKernelHasIt_isNews() throws Exception {
        long inode = m.lookup("a").inode();
        m.cat("a");
        replaceAndWait("new");

        m.ls(FileSystem.ROOT, 10);

        assertThat(kernel.drain()).contains("inode " + inode + " and its pages");
    }

    @Test
    void lookup_replacedSinceItWasTouched_hasTheStoresTime() throws Exception {
        Instant ours = Instant.parse("2020-01-01T00:00:00Z");
        m.fs.setattr(m.lookup("a").inode(), null, new AttributeChange(null, null, null, null, null, ours, null));
        assertThat(m.lookup("a").modified()).isEqualTo(ours);

        replaceAndWait("new");

        assertThat(m.lookup("a").modified()).isEqualTo(storesClock.instant());
    }

    @Test
    void append_replacedSinceItWasRead_keepsTheNew() throws Exception {
        m.cat("a");
        replace("new");

        OpenFile file = m.open("a", O_WRONLY | O_APPEND);
        m.write(file, 0, "er");
        m.close(file);

        assertThat(m.stored("a")).isEqualTo("newer");
    }

    @Test
    void read_writtenHere_asksForNothing() throws Exception {
        m.save("b", "mine");
        m.drain();
        m.drainCalls();

        assertThat(m.cat("b")).isEqualTo("mine");

        assertThat(m.drainCalls()).isEmpty();
    }
}
