package io.penstock.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ObjectVersion;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Numbers and counts of inodes. */
@Timeout(60)
class InodeTableTest {
    private static final Directory ROOT = new Directory("");
    private static final Directory A = new Directory("a/");
    private static final Node FILE = Listings.file(new ObjectVersion("a", "\"1\"", 0, Instant.EPOCH));

    private final InodeTable table = new InodeTable(ROOT);

    @Test
    void root_isAlwaysThere() {
        Inode root = table.get(InodeTable.ROOT);
        assertThat(root).isNotNull();

        table.release(root, 5);

        assertThat(table.get(InodeTable.ROOT)).isEqualTo(root);
        assertThat(table.find(ROOT)).isEqualTo(root);
        assertThat(table.size()).isZero();
    }

    @Test
    void acquire_samePlaceTwice_isOneInode() {
        Inode first = table.acquire(ROOT, "a", FILE);
        Inode second = table.acquire(ROOT, "a", FILE);

        assertThat(second).isSameAs(first);
        assertThat(table.get(first.number())).isSameAs(first);
        assertThat(table.find(ROOT, "a")).isSameAs(first);
        table.release(first, 1);
        assertThat(table.size()).isOne();
        table.release(first, 1);
        assertThat(table.size()).isZero();
        assertThat(table.get(first.number())).isNull();
        assertThat(table.find(ROOT, "a")).isNull();
    }

    @Test
    void release_moreThanAcquired_takesItOutOnce() {
        Inode inode = table.acquire(ROOT, "a", FILE);

        table.release(inode, 10);
        table.release(inode, 10);

        assertThat(table.size()).isZero();
        table.acquire(ROOT, "a", FILE);
        assertThat(table.size()).isOne();
    }

    @Test
    void acquire_forgottenPlace_hasItsNumberBack() {
        Inode inode = table.acquire(ROOT, "a", FILE);
        table.release(inode, 1);

        assertThat(table.acquire(ROOT, "b", FILE).number()).isNotEqualTo(inode.number());
        assertThat(table.acquire(ROOT, "a", FILE)).isEqualTo(inode);
    }

    @Test
    void acquire_fileBecameDirectory_isAnotherInodeWithItsOwnCount() {
        Inode file = table.acquire(ROOT, "a", FILE);
        Inode directory = table.acquire(ROOT, "a", A);

        assertThat(directory.number()).isNotEqualTo(file.number());
        assertThat(table.get(file.number())).isEqualTo(file);
        assertThat(table.find(A)).isEqualTo(directory);
        table.acquire(file);
        table.release(file, 2);
        assertThat(table.get(file.number())).isNull();
        assertThat(table.find(ROOT, "a")).isEqualTo(directory);
        table.release(directory, 1);
        assertThat(table.size()).isZero();
    }

    @Test
    void acquireAndRelease_byManyThreads_leaveNothing() throws Exception {
        List<Future<Long>> numbers = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            for (int i = 0; i < 4; i++) {
                numbers.add(threads.submit(() -> {
                    long number = 0;
                    for (int round = 0; round < 20_000; round++) {
                        Inode inode = table.acquire(ROOT, "a", FILE);
                        number = inode.number();
                        assertThat(table.get(number)).isSameAs(inode);
                        table.release(inode, 1);
                    }
                    return number;
                }));
            }
        }
        for (Future<Long> number : numbers) {
            assertThat(number.get()).isEqualTo(numbers.getFirst().get());
        }
        assertThat(table.size()).isZero();
    }

    @Test
    void coldest_afterVeryManyWereForgotten_findsThoseInUse() {
        for (int i = 0; i < 10_000; i++) {
            table.release(table.acquire(ROOT, "forgotten" + i, FILE), 1);
        }
        List<Inode> inUse = List.of(table.acquire(ROOT, "a", FILE), table.acquire(ROOT, "b", FILE));

        for (int round = 0; round < 2; round++) {
            assertThat(table.coldest(2, _ -> true)).isEmpty();
            assertThat(table.coldest(2, _ -> true)).isEqualTo(inUse);
        }
    }

    @Test
    void move_inUse_keepsItsNumberAndReferences() {
        Inode a = table.acquire(ROOT, "a", FILE);
        table.acquire(a);

        table.move(a, A, "b");

        assertThat(table.find(ROOT, "a")).isNull();
        assertThat(table.find(A, "b")).isSameAs(a);
        assertThat(table.acquire(A, "b", FILE)).isSameAs(a);
        assertThat(table.acquire(ROOT, "a", FILE)).isNotSameAs(a);
        table.release(a, 3);
        assertThat(table.get(a.number())).isNull();
    }

    @Test
    void move_ontoAnother_leavesThatWithoutAPlace() {
        Inode a = table.acquire(ROOT, "a", FILE);
        Inode b = table.acquire(ROOT, "b", FILE);

        table.move(a, ROOT, "b");

        assertThat(table.find(ROOT, "b")).isSameAs(a);
        assertThat(b.place()).isNull();
        assertThat(table.get(b.number())).isSameAs(b);
        table.release(b, 1);
        assertThat(table.size()).isOne();
    }

    @Test
    void move_directoryWhileSomethingIsLookedUpBelow_takesThatAlong() {
        Directory old = new Directory("a/old/");
        Directory sub = new Directory("a/old/sub/");
        table.acquire(A, "old", old);
        table.acquire(old, "sub", sub);
        Inode first = table.acquire(sub, "first", FILE);
        List<Inode> late = new ArrayList<>();

        table.move(old, new Directory("a/new/"), _ -> {
            if (late.isEmpty()) {
                late.add(table.acquire(sub, "late", FILE));
            }
            return true;
        });

        assertThat(table.find(new Directory("a/new/sub/"), "first")).isSameAs(first);

        assertThat(late).hasSize(1);
        assertThat(table.find(new Directory("a/new/sub/"), "late")).isSameAs(late.getFirst());
        assertThat(table.find(sub, "late")).isNull();
    }

    /** The moved inode may be open, so the inode of the late lookup must go. */
    @Test
    void move_directoryWithLookupsByOldNames_leavesMovedNamesAlone() {
        Directory old = new Directory("a/old/");
        Directory moved = new Directory("a/new/");
        table.acquire(A, "old", old);
        Inode first = table.acquire(old, "first", FILE);
        List<Inode> late = new ArrayList<>();
        List<Inode> again = new ArrayList<>();

        table.move(old, moved, _ -> {
            if (table.find(moved, "first") == null) { // before "first" has moved, one of these is not found
                late.add(table.acquire(old, "late" + late.size(), FILE));
            } else if (again.isEmpty()) {
                again.add(table.acquire(old, "first", FILE));
            }
            return true;
        });

        assertThat(again).hasSize(1);
        assertThat(table.find(moved, "first")).isSameAs(first);
        assertThat(again.getFirst().place()).isNull();
    }

    @Test
    void move_directory_takesAlongWhatIsBelowIt() {
        Directory old = new Directory("old/");
        Directory sub = new Directory("old/sub/");
        Inode top = table.acquire(ROOT, "old", old);
        Inode below = table.acquire(old, "sub", sub);
        Inode file = table.acquire(sub, "file", FILE);
        Inode other = table.acquire(sub, "other", FILE);
        Inode similar = table.acquire(ROOT, "old2", FILE);

        table.move(old, new Directory("a/new/"), "old/sub/file"::equals);

        assertThat(top.directory()).isEqualTo(new Directory("a/new/"));
        assertThat(table.find(new Directory("a/new/"))).isSameAs(top);
        assertThat(table.find(new Directory("a/new/sub/"))).isSameAs(below);
        assertThat(table.find(new Directory("a/new/sub/"), "file")).isSameAs(file);
        assertThat(table.find(sub, "other")).isSameAs(other);
        assertThat(table.find(ROOT, "old2")).isSameAs(similar);
        assertThat(table.find(old)).isNull();
    }

    @Test
    void detach_inUse_givesTheNameToAnotherInode() {
        Inode removed = table.acquire(ROOT, "a", FILE);

        table.detach(removed);

        Inode made = table.acquire(ROOT, "a", FILE);
        assertThat(made.number()).isNotEqualTo(removed.number());
        table.release(removed, 1);
        table.release(made, 1);
        assertThat(table.size()).isZero();
        assertThat(table.acquire(ROOT, "a", FILE)).isSameAs(made);
    }

    @Test
    void detach_forgotten_doesNotComeBack() {
        Inode removed = table.acquire(ROOT, "a", FILE);
        table.release(removed, 1);

        table.detach(removed);

        assertThat(table.acquire(ROOT, "a", FILE)).isNotSameAs(removed);
    }
}
