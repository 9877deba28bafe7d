package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.assertErrno;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.PageCache;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.kernel.BackingFiles;
import io.penstock.filesystem.kernel.NotifiedKernel;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.kernel.OpenFile.PageCachePolicy;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.Seeded;
import io.penstock.writeback.WritebackConfig.Close;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which opens pass a cache file to the kernel, and the attributes that the inode shows until the last close. */
@Timeout(60)
class PassthroughTest extends OverOneCache {
    /** Smaller objects have no file of their own. */
    private static final String HELLO = page("hello");

    private static final String OLD = page("old");

    @TempDir
    private Path staging;

    private final FakeBackingFiles kernel = new FakeBackingFiles();
    private Mounted m;

    @BeforeEach
    void mount() {
        m = new Mounted(cache);
    }

    @AfterEach
    void nothingIsLeft() {
        m.close();
        assertThat(kernel.count()).as("backing files").isZero();
    }

    @Test
    void open_wholeFile_passesThrough() throws Exception {
        long inode = stored("a", HELLO);

        OpenFile file = m.fs.open(inode, 0, kernel);

        assertThat(file.pageCache()).isEqualTo(PageCachePolicy.PASS_THROUGH);
        assertThat(kernel.content(file)).asString(UTF_8).isEqualTo(HELLO);
        assertThat(m.read(file)).as("asked all the same").isEqualTo(HELLO);
        m.fs.release(file.handle());
    }

    @Test
    void open_again_sharesTheFileUntilTheLastRelease() throws Exception {
        long inode = stored("a", HELLO);
        OpenFile first = m.fs.open(inode, 0, kernel);

        OpenFile second = requireNonNull(m.fs.openNow(inode, 0, kernel));

        assertThat(second.backing()).isEqualTo(first.backing());
        m.fs.release(first.handle());
        assertThat(kernel.count()).isOne();
        m.fs.release(second.handle());
        assertThat(kernel.count()).isZero();
    }

    @Test
    void open_againAfterTheLastRelease_needsNoLookup() throws Exception {
        m.fs.addListener(new NotifiedKernel());
        long inode = stored("a", HELLO);
        m.fs.release(m.fs.open(inode, 0, kernel).handle());

        OpenFile file = m.fs.open(inode, 0, kernel);

        assertThat(file.pageCache()).isEqualTo(PageCachePolicy.PASS_THROUGH);
        m.fs.release(file.handle());
    }

    @Test
    void openNow_fileToBeHandedOver_leavesItToOpen() throws Exception {
        long inode = stored("a", HELLO);

        assertThat(m.fs.openNow(inode, 0, kernel)).isNull();
        assertThat(requireNonNull(m.fs.openNow(m.lookup("a").inode(), 0, null)).pageCache())
                .isNotEqualTo(PageCachePolicy.PASS_THROUGH);
        m.fs.close();
    }

    @Test
    void open_endedByAnError_leavesNothingOpen() throws Exception {
        long inode = stored("a", HELLO);
        BackingFiles outOfMemory = new BackingFiles() {
            @Override
            public int open(Path file) {
                throw new OutOfMemoryError("injected");
            }

            @Override
            public void close(int id) {}
        };

        assertThatThrownBy(() -> m.fs.open(inode, 0, outOfMemory)).isInstanceOf(OutOfMemoryError.class);

        OpenFile file = m.fs.open(inode, 0, kernel);
        assertThat(kernel.content(file)).asString(UTF_8).isEqualTo(HELLO);
        m.fs.release(file.handle());
    }

    @Test
    void open_notWhole_doesNot() throws Exception {
        m.bucket.put("a", HELLO);
        long inode = m.lookup("a").inode();

        OpenFile file = requireNonNull(m.fs.openNow(inode, 0, kernel));

        assertThat(file.pageCache()).isEqualTo(PageCachePolicy.INVALIDATE);
        m.fs.release(file.handle());
    }

    @Test
    void open_becameWholeWhileOpen_staysCachedUntilTheLastRelease() throws Exception {
        m.bucket.put("a", HELLO);
        long inode = m.lookup("a").inode();
        OpenFile first = m.fs.open(inode, 0, kernel);
        long before = cache.statistics().diskBytes();
        m.read(first);
        while (cache.statistics().diskBytes() == before) {
            Thread.sleep(1); // then it is almost stored
        }

        OpenFile second = m.fs.open(inode, 0, kernel);
        assertThat(second.pageCache()).isEqualTo(PageCachePolicy.KEEP);
        m.fs.release(first.handle());
        m.fs.release(second.handle());
        awaitWhole(inode);

        OpenFile third = m.fs.open(inode, 0, kernel);
        assertThat(third.pageCache()).isEqualTo(PageCachePolicy.PASS_THROUGH);
        m.fs.release(third.handle());
    }

    @Test
    void open_fileSmallerThanAPage_isCached() throws Exception {
        m.bucket.put("a", HELLO.substring(1));
        m.cat("a");
        m.bucket.put("b", HELLO);
        m.cat("b");
        awaitWhole(m.lookup("b").inode()); // "a" was stored before it

        OpenFile file = requireNonNull(m.fs.openNow(m.lookup("a").inode(), 0, kernel));

        assertThat(file.pageCache()).isNotEqualTo(PageCachePolicy.PASS_THROUGH);
        m.fs.release(file.handle());
    }

    @Test
    void open_kernelRefuses_isCached() throws Exception {
        long inode = stored("a", HELLO);
        kernel.refuse();

        OpenFile file = m.fs.open(inode, 0, kernel);

        assertThat(file.pageCache()).isNotEqualTo(PageCachePolicy.PASS_THROUGH);
        assertThat(m.read(file)).isEqualTo(HELLO);
        m.fs.release(file.handle());
    }

    @Test
    void open_newVersionWhileTheOldIsPassedThrough_takesAnotherInode() throws Exception {
        long inode = stored("a", OLD);
        OpenFile old = m.fs.open(inode, 0, kernel);
        m.bucket.put("a", "newer");
        m.clock.advance(Mounted.TTL);

        assertErrno(Errno.ESTALE, () -> m.fs.open(inode, 0, kernel)); // the kernel then looks the name up again
        Attributes found = m.lookup("a");
        assertThat(found.inode()).isNotEqualTo(inode);
        assertThat(found.size()).isEqualTo(5);
        OpenFile current = m.fs.open(found.inode(), 0, kernel);
        assertThat(m.read(current)).isEqualTo("newer");

        assertThat(kernel.content(old)).asString(UTF_8).isEqualTo(OLD);
        assertThat(m.fs.getattr(inode).size()).as("as long as the backing file").isEqualTo(OLD.length());
        m.fs.release(current.handle());
        m.fs.release(old.handle());
    }

    @Test
    void lookup_newVersionWhileTheOldIsPassedThrough_isAnotherInode() throws Exception {
        long inode = stored("a", OLD);
        OpenFile old = m.fs.open(inode, 0, kernel);
        m.bucket.put("a", "newer");
        m.clock.advance(Mounted.TTL);

        Attributes found = m.lookup("a");

        assertThat(found.inode()).isNotEqualTo(inode);
        assertThat(m.fs.getattr(found.inode()).size()).isEqualTo(5);
        assertThat(m.fs.getattr(inode).size()).isEqualTo(OLD.length());
        assertThat(m.fs.getxattr(inode, "user.penstock.etag"))
                .isNotEqualTo(m.fs.getxattr(found.inode(), "user.penstock.etag"));
        m.fs.release(old.handle());
    }

    @Test
    void getattr_deletedWhilePassedThrough_showsWhatIsOpen() throws Exception {
        long inode = stored("a", OLD);
        OpenFile old = m.fs.open(inode, 0, kernel);
        m.bucket.delete("a");
        m.clock.advance(Mounted.TTL);

        assertThat(m.fs.getattr(inode).size()).isEqualTo(OLD.length());
        m.fs.release(old.handle());
        assertErrno(Errno.ESTALE, () -> m.fs.getattr(inode));
    }

    /** The copy has another ETag, as copies of large objects do: here it depends on the time. */
    @Test
    void rename_whilePassedThrough_keepsTheInodeAndWhatIsOpen() throws Exception {
        m.close();
        ManualClock storesClock = new ManualClock();
        m = Mounted.writable(
                cache, InMemoryObjectStore.withOneEtag(storesClock), Mounted.config(staging, Close.VISIBLE));
        long inode = stored("a", HELLO);
        OpenFile file = m.fs.open(inode, 0, kernel);
        storesClock.advance(Duration.ofSeconds(1));

        m.rename("a", "b", 0);

        assertThat(m.lookup("b").inode()).isEqualTo(inode);
        m.bucket.delete("b");
        m.clock.advance(Mounted.TTL);
        assertThat(m.fs.getattr(inode).size()).isEqualTo(HELLO.length());
        assertThat(kernel.content(file)).asString(UTF_8).isEqualTo(HELLO);
        m.fs.release(file.handle());
    }

    @Test
    void create_truncatingWhatIsPassedThrough_changesNothing() throws Exception {
        m.close();
        m = Mounted.writable(cache, staging);
        long inode = stored("a", OLD);
        OpenFile old = m.fs.open(inode, 0, kernel);

        int flags = Mounted.O_WRONLY | Mounted.O_TRUNC;
        assertErrno(Errno.ESTALE, () -> m.fs.create(FileSystem.ROOT, "a", 0644, Mounted.CREATOR, flags));

        m.drain();
        assertThat(m.stored("a")).isEqualTo(OLD);
        OpenFile writer = m.open("a", flags);
        m.close(writer);
        m.drain(); // an empty file is committed when it is released
        assertThat(m.stored("a")).isEmpty();
        assertThat(kernel.content(old)).asString(UTF_8).isEqualTo(OLD);
        m.fs.release(old.handle());
    }

    @Test
    void setattr_replacedWhilePassedThrough_showsWhatIsOpen() throws Exception {
        m.close();
        m = Mounted.writable(cache, staging);
        long inode = stored("a", OLD);
        OpenFile old = m.fs.open(inode, 0, kernel);
        m.bucket.put("a", "newer");
        m.clock.advance(Mounted.TTL);

        AttributeChange touch = new AttributeChange(null, null, null, null, null, m.clock.instant(), null);
        assertThat(m.fs.setattr(inode, null, touch).size()).isEqualTo(OLD.length());

        m.fs.release(old.handle());
    }

    @Test
    void openAndRelease_manyThreadsWhileItChanges_neverMix() throws Exception {
        stored("a", page("v0"));
        List<Future<?>> ends = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            for (int i = 0; i < 8; i++) {
                RandomGenerator random = Seeded.random(i);
                boolean writes = i == 0;
                ends.add(threads.submit(() -> useMany(random, writes)));
            }
        }
        for (Future<?> end : ends) {
            end.get();
        }
    }

    private Void useMany(RandomGenerator random, boolean writes) throws Exception {
        for (int i = 0; i < 100; i++) {
            if (writes && random.nextInt(10) == 0) {
                m.bucket.put("a", page("v" + i));
                m.clock.advance(Mounted.TTL);
            }
            Attributes found = m.fs.lookup(FileSystem.ROOT, "a");
            try {
                OpenFile file = m.fs.open(found.inode(), 0, kernel);
                if (file.pageCache() == PageCachePolicy.PASS_THROUGH) {
                    assertThat(kernel.content(file))
                            .hasSize((int) m.fs.getattr(found.inode()).size())
                            .asString(UTF_8)
                            .isEqualTo(m.read(file));
                }
                m.fs.release(file.handle());
            } catch (ErrnoException e) {
                assertThat(e.errno()).isEqualTo(Errno.ESTALE);
            } finally {
                m.fs.forget(found.inode(), 1);
            }
        }
        return null;
    }

    private static String page(String text) {
        return text + ".".repeat(PageCache.PAGE_SIZE - text.length());
    }

    /** Puts an object, and reads it until the cache has it on disk. */
    private long stored(String name, String content) throws Exception {
        m.bucket.put(name, content);
        long inode = m.lookup(name).inode();
        m.cat(name);
        awaitWhole(inode);
        return inode;
    }

    private void awaitWhole(long inode) throws Exception {
        for (OpenFile file = probe(inode); file != null; file = probe(inode)) {
            boolean isWhole = file.pageCache() == PageCachePolicy.PASS_THROUGH; // because of an earlier open
            m.fs.release(file.handle());
            if (isWhole) {
                return;
            }
            Thread.sleep(1);
        }
    }

    private @Nullable OpenFile probe(long inode) throws ErrnoException {
        return m.fs.openNow(inode, 0, kernel);
    }
}
