package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.O_EXCL;
import static io.penstock.filesystem.Mounted.O_WRONLY;
import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.objectstore.Call;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.writeback.WritebackConfig.Close;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two nodes create the same names, like programs that lock by mkdir, O_EXCL, ln or rename: one succeeds. */
@Timeout(120)
class RacingNodesTest extends OverOneCache {
    private static final int ROUNDS = 300;

    /** renameat2(2)'s flag. */
    private static final int RENAME_NOREPLACE = 1;

    private final InMemoryObjectStore bucket = new InMemoryObjectStore();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @TempDir
    Path first;

    @TempDir
    Path second;

    private List<Mounted> nodes;

    @BeforeEach
    void mount() {
        nodes = List.of(
                Mounted.exclusive(cache, bucket, Mounted.config(first, Close.VISIBLE)),
                Mounted.exclusive(cache, bucket, Mounted.config(second, Close.VISIBLE)));
    }

    @AfterEach
    void unmount() {
        threads.close();
        nodes.forEach(Mounted::close);
    }

    /** The call that each node makes, with a name of the round. */
    private interface Attempt {
        void by(Mounted node, String name) throws ErrnoException;
    }

    @Test
    void mkdir_byBothAtOnce_isDoneByOne() {
        Seeded.checkOthers("RacingNodesTest.mkdir", ROUNDS, random -> {
            String name = "dir" + random.nextLong();
            race(random, name, Mounted::mkdir);
            for (Mounted node : nodes) {
                assertErrno(Errno.EEXIST, () -> node.mkdir(name));
            }
        });
    }

    @Test
    void createExclusively_byBothAtOnce_isDoneByOneWhoseContentStays() {
        Seeded.checkOthers("RacingNodesTest.create", ROUNDS, random -> {
            String name = "lock" + random.nextLong();
            boolean written = random.nextBoolean();
            int winner = race(random, name, (node, lock) -> {
                OpenFile file = node.create(lock, O_WRONLY | O_EXCL);
                if (written) {
                    node.write(file, 0, "node " + nodes.indexOf(node));
                }
                node.close(file);
            });
            nodes.get(winner).drain();
            assertThat(nodes.get(winner).stored(name)).isEqualTo(written ? "node " + winner : "");
        });
    }

    /** The commit decides, without a request at the open: both files are empty, or have the same content. */
    @ParameterizedTest
    @ValueSource(strings = {"", "the same"})
    void createExclusively_committedByTheClose_isDoneByOne(String content) {
        nodes.forEach(Mounted::close);
        nodes = List.of(
                Mounted.writable(cache, bucket, Mounted.config(first, Close.VISIBLE)),
                Mounted.writable(cache, bucket, Mounted.config(second, Close.VISIBLE)));
        Seeded.checkOthers("RacingNodesTest.commit", ROUNDS, random -> {
            int _ = race(random, "lock" + random.nextLong(), (node, lock) -> {
                OpenFile file = node.create(lock, O_WRONLY | O_EXCL);
                if (!content.isEmpty()) {
                    node.write(file, 0, content);
                }
                node.close(file);
            });
        });
    }

    /** The commits of Lance, and locks by ln. */
    @Test
    void link_byBothAtOnce_isDoneByOneWhoseContentStays() {
        raceForAName("RacingNodesTest.link", (node, own, name) -> {
            Attributes linked = node.fs.link(node.lookup(own).inode(), FileSystem.ROOT, name);
            node.fs.forget(linked.inode(), 1);
        });
    }

    @Test
    void renameNoReplace_byBothAtOnce_oneSucceedsAndStays() {
        raceForAName("RacingNodesTest.rename", (node, own, name) -> node.rename(own, name, RENAME_NOREPLACE));
    }

    /** Results committed by a rename: equal files from nodes that have done the same work. */
    @Test
    void renameOfDirectories_byBothAtOnce_losesNoFile() {
        Seeded.checkOthers("RacingNodesTest.directories", ROUNDS / 3, random -> {
            String name = "result" + random.nextLong();
            for (Mounted node : nodes) {
                makeResult(node, name);
            }
            List<Boolean> moved =
                    outcomes(random, name, Set.of(Errno.ENOTEMPTY), (node, to) -> node.rename(own(node, to), to, 0));
            assertThat(moved).isNotEqualTo(List.of(true, true));
            for (int i = 0; i < nodes.size(); i++) {
                checkResult(moved.get(i) ? name : own(nodes.get(i), name));
            }
        });
    }

    /** Its marker's copy comes late: by then the other has done everything. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void renameOfADirectory_ontoOneJustRenamed_isEnotempty(boolean checks) throws Exception {
        if (!checks) {
            bucket.ignoreConditionsOnCopies();
        }
        Mounted late = nodes.getFirst();
        nodes.forEach(node -> assertThatCode(() -> makeResult(node, "e")).doesNotThrowAnyException());
        try (Gate copying = late.delays.hold(
                call -> call instanceof Call.Put put && put.key().equals("e/"))) {
            Future<?> rename = threads.submit(() -> {
                assertErrno(Errno.ENOTEMPTY, () -> late.rename(own(late, "e"), "e", 0));
                return true;
            });
            copying.awaitHeld(1);
            nodes.getLast().rename(own(nodes.getLast(), "e"), "e", 0);
            copying.open();
            rename.get();
        }
        checkResult("e");
        checkResult(own(late, "e"));
    }

    private void makeResult(Mounted node, String name) throws ErrnoException {
        String own = own(node, name);
        node.mkdir(own);
        node.save(own + "/_SUCCESS", "");
        for (int shard = 0; shard < 4; shard++) {
            node.save(own + "/shard-" + shard, "the same");
        }
    }

    private void checkResult(String directory) throws Exception {
        assertThat(nodes.getFirst().stored(directory + "/_SUCCESS")).isEmpty();
        for (int shard = 0; shard < 4; shard++) {
            assertThat(nodes.getFirst().stored(directory + "/shard-" + shard)).isEqualTo("the same");
        }
    }

    /** How a node gives its own file the name. */
    private interface Naming {
        void by(Mounted node, String own, String name) throws ErrnoException;
    }

    private void raceForAName(String what, Naming naming) {
        Seeded.checkOthers(what, ROUNDS, random -> {
            String name = "name" + random.nextLong();
            boolean equal = random.nextInt(3) == 0; // then only the number of winners is visible
            for (Mounted node : nodes) {
                node.save(own(node, name), equal ? "the same" : "of node " + nodes.indexOf(node));
            }
            int winner = race(random, name, (node, raced) -> naming.by(node, own(node, raced), raced));
            int loser = 1 - winner;
            if (equal) {
                return;
            }
            assertThat(nodes.get(winner).stored(name)).isEqualTo("of node " + winner);
            assertThat(nodes.get(loser).cat(own(nodes.get(loser), name))).isEqualTo("of node " + loser);
        });
    }

    private String own(Mounted node, String name) {
        return name + "-of-" + nodes.indexOf(node);
    }

    /** @return which of them succeeded: the other had EEXIST, or ESTALE if its close lost */
    private int race(RandomGenerator random, String name, Attempt attempt) throws Exception {
        List<Boolean> succeeded = outcomes(random, name, Set.of(Errno.EEXIST, Errno.ESTALE), attempt);
        assertThat(succeeded).containsExactlyInAnyOrder(true, false);
        return succeeded.indexOf(true);
    }

    /** @return whether each of them succeeded; otherwise it had one of these errors */
    private List<Boolean> outcomes(RandomGenerator random, String name, Set<Errno> lost, Attempt attempt)
            throws Exception {
        CyclicBarrier start = new CyclicBarrier(nodes.size());
        List<Future<Boolean>> outcomes = new ArrayList<>();
        for (Mounted node : nodes) {
            int delay = random.nextInt(200);
            Callable<Boolean> task = () -> {
                assertErrno(Errno.ENOENT, () -> node.lookup(name)); // like the kernel at first: now it is cached
                start.await();
                for (int i = 0; i < delay; i++) {
                    Thread.onSpinWait();
                }
                return succeeds(node, name, lost, attempt);
            };
            outcomes.add(threads.submit(task));
        }
        List<Boolean> succeeded = new ArrayList<>();
        for (Future<Boolean> outcome : outcomes) {
            succeeded.add(outcome.get());
        }
        return succeeded;
    }

    private static boolean succeeds(Mounted node, String name, Set<Errno> lost, Attempt attempt) throws ErrnoException {
        try {
            attempt.by(node, name);
            return true;
        } catch (ErrnoException e) {
            assertThat(e.errno()).isIn(lost);
            return false;
        }
    }
}
