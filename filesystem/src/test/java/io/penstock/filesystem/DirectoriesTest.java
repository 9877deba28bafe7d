package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.kernel.OpenFile.PageCachePolicy;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Fault;
import io.penstock.testing.Gate;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** opendir, readdir, readdirplus and releasedir. */
@Timeout(60)
class DirectoriesTest extends OverOneCache {
    private Mounted m;

    @BeforeEach
    void mount() {
        m = new Mounted(cache);
    }

    @AfterEach
    void unmount() {
        m.close();
    }

    @Test
    void readdir_2500Entries_costsThreeListsAndStatOfAllNone() throws Exception {
        List<String> names = putMany("d/", 2_500);
        long directory = m.lookup("d").inode();
        m.drainCalls();

        assertThat(m.ls(directory, 100)).isEqualTo(names);
        assertThat(m.drainCalls()).hasSize(3).hasOnlyElementsOfType(Call.List.class);

        for (String name : names) {
            m.lookup("d/" + name);
        }
        assertThat(m.ls(directory, 1_000)).isEqualTo(names);
        assertThat(m.drainCalls()).isEmpty();
    }

    @Test
    void readdir_ofMoreThanIsKept_showsEachOnceAndStatIsFree() throws Exception {
        List<String> names = putMany("d/", 2 * Mounted.MOST_LISTED);
        long directory = m.lookup("d").inode();
        m.drainCalls();
        long handle = m.fs.opendir(directory).handle();

        List<String> seen = new ArrayList<>();
        long[] offset = {2};
        int before;
        do {
            before = seen.size();
            int room = before + 2_000;
            m.fs.readdir(handle, offset[0], (name, attributes, next) -> {
                if (seen.size() == room) {
                    return false;
                }
                offset[0] = next;
                return seen.add(name);
            });
            for (String name : seen.subList(before, seen.size())) {
                m.lookup("d/" + name);
            }
        } while (seen.size() > before);

        assertThat(seen).isEqualTo(names);
        assertThat(m.drainCalls()).hasSize(20).hasOnlyElementsOfType(Call.List.class);
        m.fs.releasedir(handle);
    }

    @Test
    void readdir_ofMoreThanIsKept_fromAnOffsetLongPassed_showsTheSame() throws Exception {
        List<String> names = putMany("d/", 2 * Mounted.MOST_LISTED);
        long directory = m.lookup("d").inode();
        long handle = m.fs.opendir(directory).handle();
        assertThat(m.ls(handle, 2, 1_000)).isEqualTo(names);

        assertThat(m.ls(handle, 2 + 1_234, 1_000)).isEqualTo(names.subList(1_234, names.size()));
        m.fs.releasedir(handle);
    }

    @Test
    void readdir_ofMoreThanIsKept_slowerThanAnother_showsEachOnce() throws Exception {
        List<String> names = putMany("d/", 2 * Mounted.MOST_LISTED);
        long directory = m.lookup("d").inode();
        long slow = m.fs.opendir(directory).handle();
        long[] offset = {2};
        List<String> seen = new ArrayList<>();
        m.fs.readdir(slow, offset[0], (name, attributes, next) -> {
            offset[0] = next;
            return seen.add(name);
        });

        assertThat(m.ls(directory, 1_000)).isEqualTo(names);

        seen.addAll(m.ls(slow, offset[0], 1_000));
        assertThat(seen).isEqualTo(names);
        m.fs.releasedir(slow);
    }

    @Test
    void opendir_againOfMoreThanIsKept_dropsTheKernelsCopy() throws Exception {
        putMany("d/", 2 * Mounted.MOST_LISTED);
        long directory = m.lookup("d").inode();
        m.ls(directory, 1_000);

        OpenFile again = m.fs.opendir(directory);

        assertThat(again.pageCache()).isEqualTo(PageCachePolicy.INVALIDATE);
        m.fs.releasedir(again.handle());
    }

    @Test
    void readdir_emptyBucket_showsDots() throws Exception {
        assertThat(m.ls(FileSystem.ROOT, 10)).isEmpty();
    }

    @Test
    void readdir_oneEntryAtATime_showsEachOnce() throws Exception {
        List<String> names = putMany("", 30);

        assertThat(m.ls(FileSystem.ROOT, 1)).isEqualTo(names);
    }

    @Test
    void readdir_dots_haveTheInodesOfDirectoryAndParent() throws Exception {
        m.bucket.put("d/e/f", "");
        long parent = m.lookup("d").inode();
        long directory = m.lookup("d/e").inode();
        long handle = m.fs.opendir(directory).handle();

        List<Long> inodes = new ArrayList<>();
        m.fs.readdir(handle, 0, (name, attributes, next) -> next <= 2 && inodes.add(attributes.inode()));
        m.fs.readdir(handle, 2, (name, attributes, next) -> inodes.add(attributes.inode()));

        assertThat(inodes).containsExactly(directory, parent, FileSystem.UNKNOWN_INODE);
        m.fs.releasedir(handle);
    }

    @Test
    void readdir_entryLookedUpBefore_hasItsInode() throws Exception {
        m.bucket.put("a", "");
        long inode = m.lookup("a").inode();
        long handle = m.fs.opendir(FileSystem.ROOT).handle();

        List<Long> inodes = new ArrayList<>();
        m.fs.readdir(handle, 2, (name, attributes, next) -> inodes.add(attributes.inode()));

        assertThat(inodes).containsExactly(inode);
        m.fs.releasedir(handle);
    }

    @Test
    void readdirplus_looksUpWhatTheSinkTakesAndNothingElse() throws Exception {
        putMany("", 5);
        long handle = m.fs.opendir(FileSystem.ROOT).handle();

        List<Long> inodes = new ArrayList<>();
        m.fs.readdirplus(handle, 2, (name, attributes, next) -> inodes.size() < 3 && inodes.add(attributes.inode()));

        assertThat(m.fs.inodesInUse()).isEqualTo(3);
        for (long inode : inodes) {
            assertThat(m.fs.getattr(inode).inode()).isEqualTo(inode);
            m.fs.forget(inode, 1);
        }
        m.fs.releasedir(handle);
    }

    @Test
    void readdir_nextPageNotThere_answersWithWhatIs() throws Exception {
        putMany("", 2_500);
        try (Gate gate =
                m.delays.hold(call -> call instanceof Call.List(var request) && request.continuationToken() != null)) {
            long handle = m.fs.opendir(FileSystem.ROOT).handle();
            List<String> names = new ArrayList<>();
            long[] offset = {2};

            m.fs.readdir(handle, offset[0], (name, attributes, next) -> {
                offset[0] = next;
                return names.add(name);
            });

            assertThat(names).hasSizeBetween(1, 1_000);
            gate.open();
            assertThat(names.size() + m.ls(handle, offset[0], 100).size()).isEqualTo(2_500);
            m.fs.releasedir(handle);
        }
    }

    @Test
    void readdir_directoryRefreshedMeanwhile_keepsItsOffsets() throws Exception {
        List<String> names = putMany("", 20);
        long handle = m.fs.opendir(FileSystem.ROOT).handle();
        List<String> seen = new ArrayList<>();
        m.fs.readdir(handle, 0, (name, attributes, next) -> false);
        m.fs.readdir(handle, 2, (name, attributes, next) -> next <= 12 && seen.add(name));
        m.bucket.put("00000-new", "");
        m.bucket.delete(names.get(3));
        m.clock.advance(Mounted.TTL);
        assertThat(m.ls(FileSystem.ROOT, 100)).contains("00000-new").doesNotContain(names.get(3));

        seen.addAll(m.ls(handle, 12, 100));

        assertThat(seen).isEqualTo(names);
        m.fs.releasedir(handle);
    }

    @Test
    void opendir_whileTheListingIsTheSame_keepsTheKernelsCopy() throws Exception {
        m.bucket.put("a", "1");
        assertThat(openReadAndClose()).isEqualTo(PageCachePolicy.INVALIDATE);
        assertThat(openReadAndClose()).isEqualTo(PageCachePolicy.KEEP);
        m.bucket.put("b", "1");
        m.clock.advance(Mounted.TTL);

        assertThat(openReadAndClose()).as("listed anew").isEqualTo(PageCachePolicy.INVALIDATE);
        assertThat(openReadAndClose()).isEqualTo(PageCachePolicy.KEEP);
    }

    @Test
    void opendir_afterTheListingWasCorrected_dropsTheKernelsCopy() throws Exception {
        m.bucket.put("a", "1");
        m.bucket.put("b", "1");
        openReadAndClose();
        OpenFile a = m.open("a");
        m.bucket.delete("a");
        assertErrno(Errno.ESTALE, () -> m.read(a));
        assertErrno(Errno.ENOENT, () -> m.lookup("a"));
        m.fs.release(a.handle());

        assertThat(openReadAndClose()).isEqualTo(PageCachePolicy.INVALIDATE);
    }

    @Test
    void opendir_afterAnAnswerHasAddedAName_dropsTheKernelsCopy() throws Exception {
        m.bucket.put("a", "1");
        openReadAndClose();
        m.clock.advance(Mounted.NEGATIVE_TTL);
        m.bucket.put("b", "1");
        m.lookup("b");

        assertThat(openReadAndClose()).as("b is in the listing now").isEqualTo(PageCachePolicy.INVALIDATE);
        assertThat(openReadAndClose()).isEqualTo(PageCachePolicy.KEEP);
    }

    @Test
    void opendir_nameAddedToTheFirstPage_keepsTheKernelsCopy() throws Exception {
        putMany("d/", 2_500);
        long inode = m.lookup("d").inode();
        OpenFile partly = m.fs.opendir(inode);
        m.ls(partly.handle(), 0, 10);
        m.lookup("d/02499"); // which the listing has not reached
        m.fs.releasedir(partly.handle());

        OpenFile again = m.fs.opendir(inode);
        assertThat(again.pageCache()).as("nobody has read the end").isEqualTo(PageCachePolicy.KEEP);
        m.fs.releasedir(again.handle());
    }

    @Test
    void opendir_otherListingWhileOneIsOpen_keepsTheKernelsCopy() throws Exception {
        m.bucket.put("a", "1");
        Runnable close = openAndRead();
        m.clock.advance(Mounted.TTL);

        assertThat(openReadAndClose()).isEqualTo(PageCachePolicy.BYPASS);
        close.run();
        assertThat(openReadAndClose()).isEqualTo(PageCachePolicy.INVALIDATE);
    }

    @Test
    void opendir_otherHandleRewoundSince_dropsTheKernelsCopy() throws Exception {
        m.bucket.put("a", "1");
        OpenFile first = m.fs.opendir(FileSystem.ROOT);
        m.ls(first.handle(), 0, 10);
        m.clock.advance(Mounted.TTL);
        m.ls(first.handle(), 0, 10);
        m.fs.releasedir(first.handle());

        assertThat(openReadAndClose()).isEqualTo(PageCachePolicy.INVALIDATE);
    }

    private PageCachePolicy openReadAndClose() throws Exception {
        OpenFile open = m.fs.opendir(FileSystem.ROOT);
        m.ls(open.handle(), 0, 10);
        m.fs.releasedir(open.handle());
        return open.pageCache();
    }

    /** @return closes it */
    private Runnable openAndRead() throws Exception {
        OpenFile open = m.fs.opendir(FileSystem.ROOT);
        m.ls(open.handle(), 0, 10);
        return () -> m.fs.releasedir(open.handle());
    }

    @Test
    void readdir_rewoundAfterTtl_showsWhatIsNew() throws Exception {
        putMany("", 3);
        long handle = m.fs.opendir(FileSystem.ROOT).handle();
        assertThat(m.ls(handle, 0, 100)).hasSize(5);
        m.bucket.put("new", "");
        m.clock.advance(Mounted.TTL);

        assertThat(m.ls(handle, 0, 100)).hasSize(6).contains("new");
        m.fs.releasedir(handle);
    }

    @Test
    void readdir_abandoned_asksForNothingMore() throws Exception {
        putMany("", 20_000);
        long handle = m.fs.opendir(FileSystem.ROOT).handle();
        m.fs.readdir(handle, 0, (name, attributes, next) -> next < 10);
        m.fs.releasedir(handle);

        assertThat(m.store.lists()).hasSizeLessThanOrEqualTo(3);
    }

    @Test
    void readdir_storeFails_isEioAndTheNextOneGoesOn() throws Exception {
        List<String> names = putMany("", 3);
        m.faults.next(call -> true, Fault.fail(ObjectStoreException.Unavailable::new));
        long handle = m.fs.opendir(FileSystem.ROOT).handle();

        assertErrno(Errno.EIO, () -> m.ls(handle, 2, 100));
        assertThat(m.ls(handle, 2, 100)).isEqualTo(names);
        m.fs.releasedir(handle);
    }

    @Test
    void readdir_badHandleOrOffset_isRefused() throws Exception {
        m.bucket.put("a", "");
        OpenFile file = m.open("a");
        long handle = m.fs.opendir(FileSystem.ROOT).handle();

        assertErrno(Errno.EBADF, () -> m.ls(4711, 0, 1));
        assertErrno(Errno.EBADF, () -> m.ls(file.handle(), 0, 1));
        assertErrno(Errno.EINVAL, () -> m.ls(handle, -1, 1));
        m.fs.release(file.handle());
        m.fs.releasedir(handle);
        m.fs.releasedir(handle);
        assertErrno(Errno.EBADF, () -> m.ls(handle, 0, 1));
    }

    @Test
    void opendir_directoryGone_isEstale() throws Exception {
        m.bucket.put("d/a", "");
        long inode = m.lookup("d").inode();
        m.bucket.delete("d/a");
        m.clock.advance(Mounted.TTL);

        assertErrno(Errno.ESTALE, () -> m.fs.opendir(inode));
    }

    private List<String> putMany(String prefix, int count) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            names.add("%05d".formatted(i));
            m.bucket.put(prefix + names.getLast(), "");
        }
        return names;
    }
}
