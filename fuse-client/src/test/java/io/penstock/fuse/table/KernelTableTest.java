package io.penstock.fuse.table;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.penstock.core.ObjectVersion;
import io.penstock.disk.DamagedLogException;
import io.penstock.disk.MappedLog;
import io.penstock.filesystem.kernel.Inherited;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A successor finds what the kernel holds, whenever the process was killed. */
final class KernelTableTest {
    private static final Terms TERMS = new Terms(45, 1 << 20, 1L << 39, 7);
    private static final long ROOT = 1;

    @TempDir
    private Path folder;

    private Path file() {
        return folder.resolve("0-40.table");
    }

    private KernelTable create(long growth) throws Exception {
        return KernelTable.create(file(), TERMS, growth, () -> {});
    }

    /** As after a kill: the table is not closed, and its file is read as it is. */
    private TableState left() throws Exception {
        return TableState.read(file());
    }

    private static byte[] name(long number) {
        return ("name " + number).getBytes(UTF_8);
    }

    private static Inherited.File open(long handle, long node) {
        ObjectVersion version =
                new ObjectVersion("key " + node, "\"etag " + node + "\"", node, Instant.ofEpochSecond(node, 7));
        return new Inherited.File(handle, node, 0, true, (int) handle, 0, version);
    }

    @Test
    void read_afterAKill_hasNodesAndHandles() throws Exception {
        KernelTable table = create(1 << 20);
        table.lookedUp(2, 2, ROOT, "dir".getBytes(UTF_8), true, 1);
        table.lookedUp(4, 3, 2, "f\u00fcr".getBytes(UTF_8), false, 1);
        table.lookedUp(6, 3, 2, "f\u00fcr".getBytes(UTF_8), false, 1);
        table.forgotten(3, 1);
        table.opened(8, open(1, 3));
        table.opened(10, open(2, 3));
        table.released(1);
        table.openedDirectory(12, 3, 2);
        table.listed(
                14,
                3,
                2,
                List.of(
                        new ListedName(7, 0, false, "a".getBytes(UTF_8)),
                        new ListedName(8, 4, true, "b".getBytes(UTF_8))));

        TableState left = left();
        Inherited inherited = left.inherited();
        assertThat(left.terms()).isEqualTo(TERMS);
        assertThat(inherited.nodes())
                .containsExactly(
                        new Inherited.Node(2, ROOT, "dir", true, true, 1),
                        new Inherited.Node(3, 2, "f\u00fcr", true, false, 1),
                        new Inherited.Node(4, 2, "b", true, true, 1));
        assertThat(inherited.files()).containsExactly(open(2, 3));
        assertThat(inherited.directories()).containsExactly(new Inherited.Directory(3, 2, Map.of(7L, "a", 8L, "b")));
        assertThat(inherited.lastNode()).isEqualTo(4);
        assertThat(inherited.lastHandle()).isEqualTo(3);
        assertThat(left.effects().get(14L)).containsExactly(new Effect.Lookups(4, 1));
        assertThat(left.effects().get(10L)).containsExactly(new Effect.Opened(2));
        table.close();
        assertThat(file()).doesNotExist();
    }

    @Test
    void forgotten_directoryWithNodesInIt_staysWithoutLookups() throws Exception {
        KernelTable table = create(1 << 20);
        table.lookedUp(2, 2, ROOT, name(2), true, 1);
        table.lookedUp(4, 3, 2, name(3), true, 1);
        table.lookedUp(6, 4, 3, name(4), false, 1);
        table.forgotten(2, 1);
        table.forgotten(3, 1);
        assertThat(left().inherited().nodes())
                .extracting(Inherited.Node::number, Inherited.Node::lookups)
                .containsExactly(tuple(2L, 0L), tuple(3L, 0L), tuple(4L, 1L));
        table.forgotten(4, 1);
        assertThat(left().inherited().nodes()).isEmpty();
        assertThat(left().inherited().lastNode()).isEqualTo(4);
        table.close();
    }

    @Test
    void tried_byEachProcess_isCounted() throws Exception {
        KernelTable table = create(1 << 20);
        table.tried(8);
        table.tried(8);
        table.tried(10);
        assertThat(left().tries()).containsExactlyInAnyOrderEntriesOf(Map.of(8L, 2, 10L, 1));
        table.close();
    }

    private static byte[] bytes(String name) {
        return name.getBytes(UTF_8);
    }

    private List<Inherited.Node> nodes() throws Exception {
        return left().inherited().nodes();
    }

    @Test
    void moved_displacesWhatHadTheName() throws Exception {
        KernelTable table = create(1 << 20);
        table.lookedUp(2, 2, ROOT, bytes("dir"), true, 1);
        table.lookedUp(4, 3, 2, bytes("a"), false, 1);
        table.lookedUp(6, 4, ROOT, bytes("b"), false, 1);
        table.moved(2, bytes("a"), ROOT, bytes("b"));
        List<Inherited.Node> moved = List.of(
                new Inherited.Node(2, ROOT, "dir", true, true, 1),
                new Inherited.Node(3, ROOT, "b", true, false, 1),
                new Inherited.Node(4, ROOT, "b", false, false, 1));
        assertThat(nodes()).isEqualTo(moved);
        table.moved(2, bytes("a"), ROOT, bytes("b")); // the request was sent again
        table.moved(ROOT, bytes("b"), ROOT, bytes("b"));
        assertThat(nodes()).isEqualTo(moved);
        table.forgotten(2, 1);
        assertThat(nodes())
                .as("its file has left it")
                .extracting(Inherited.Node::number)
                .containsExactly(3L, 4L);
        table.close();
    }

    @Test
    void moved_directory_takesItsNodesAlong() throws Exception {
        KernelTable table = create(1 << 20);
        table.lookedUp(2, 2, ROOT, bytes("d"), true, 1);
        table.lookedUp(4, 3, 2, bytes("a"), false, 1);
        table.lookedUp(6, 4, ROOT, bytes("e"), true, 1);
        table.moved(ROOT, bytes("d"), ROOT, bytes("e"));
        table.lookedUp(8, 5, ROOT, bytes("d"), true, 1);
        assertThat(nodes())
                .containsExactly(
                        new Inherited.Node(2, ROOT, "e", true, true, 1),
                        new Inherited.Node(3, 2, "a", true, false, 1),
                        new Inherited.Node(4, ROOT, "e", false, true, 1),
                        new Inherited.Node(5, ROOT, "d", true, true, 1));
        table.close();
    }

    @Test
    void removed_nameUsedAgain_isTheNewNodes() throws Exception {
        KernelTable table = create(1 << 20);
        table.lookedUp(2, 2, ROOT, bytes("a"), false, 1);
        table.removed(ROOT, bytes("a"));
        table.removed(ROOT, bytes("a"));
        table.lookedUp(4, 3, ROOT, bytes("a"), false, 1);
        table.lookedUp(6, 2, ROOT, bytes("a"), false, 1); // its reply was on the way
        assertThat(nodes())
                .containsExactly(
                        new Inherited.Node(2, ROOT, "a", false, false, 2),
                        new Inherited.Node(3, ROOT, "a", true, false, 1));
        table.removed(ROOT, bytes("a"));
        assertThat(nodes()).noneMatch(Inherited.Node::hasName);
        table.close();
    }

    @Test
    void nodesOfOnePlace_theLastHasTheName() throws Exception {
        KernelTable table = create(1 << 20);
        table.lookedUp(2, 2, ROOT, bytes("a"), false, 1);
        table.lookedUp(4, 3, ROOT, bytes("a"), false, 1);
        table.lookedUp(6, 2, ROOT, bytes("a"), false, 1);
        table.moved(ROOT, bytes("a"), ROOT, bytes("b"));
        assertThat(nodes())
                .containsExactly(
                        new Inherited.Node(2, ROOT, "a", true, false, 2),
                        new Inherited.Node(3, ROOT, "b", true, false, 1));
        table.close();
    }

    @Test
    void changed_replacesTheOpenFile() throws Exception {
        KernelTable table = create(1 << 20);
        table.opened(2, open(1, 3));
        table.opened(4, open(2, 3));
        table.released(2);
        Inherited.File written = new Inherited.File(1, 3, 0102, true, 0, 77, null);
        table.changed(written);
        table.changed(new Inherited.File(2, 3, 0, true, 0, 77, null)); // closed meanwhile
        assertThat(left().inherited().files()).containsExactly(written);
        assertThat(left().effects().get(2L)).containsExactly(new Effect.Opened(1));
        table.close();
    }

    /** A model of the nodes, whose names are changed at random while the file is written anew many times. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void read_afterRandomChangesOfNames_equalsTheModel(long seed) throws Exception {
        Random random = new Random(seed);
        KernelTable table = create(20_000);
        Map<Long, Inherited.Node> model = new TreeMap<>();
        long lastNode = ROOT;
        for (int step = 0; step < 20_000; step++) {
            List<Long> parents = new ArrayList<>(List.of(ROOT));
            model.values().stream()
                    .filter(node -> node.isDirectory() && node.hasName() && node.lookups() > 0)
                    .forEach(node -> parents.add(node.number()));
            long parent = parents.get(random.nextInt(parents.size()));
            String name = "n" + random.nextInt(6);
            Inherited.Node known = named(model, parent, name);
            switch (random.nextInt(4)) {
                case 0 -> {
                    boolean isDirectory = model.size() < 100 && random.nextBoolean();
                    Inherited.Node node = known != null
                            ? with(known, known.lookups() + 1)
                            : new Inherited.Node(++lastNode, parent, name, true, isDirectory, 1);
                    model.put(node.number(), node);
                    table.lookedUp(2L * step + 2, node.number(), parent, bytes(name), node.isDirectory(), 1);
                }
                case 1 -> {
                    if (known != null && children(model, known.number()) == 0) {
                        model.put(known.number(), nameless(known));
                        table.removed(parent, bytes(name));
                    }
                }
                case 2 -> {
                    long newParent = parents.get(random.nextInt(parents.size()));
                    String newName = "n" + random.nextInt(6);
                    Inherited.Node target = named(model, newParent, newName);
                    if (known != null
                            && !known.equals(target)
                            && !isWithin(model, newParent, known.number())
                            && (target == null || children(model, target.number()) == 0)) {
                        if (target != null) {
                            model.put(target.number(), nameless(target));
                        }
                        model.put(
                                known.number(),
                                new Inherited.Node(
                                        known.number(),
                                        newParent,
                                        newName,
                                        true,
                                        known.isDirectory(),
                                        known.lookups()));
                        table.moved(parent, bytes(name), newParent, bytes(newName));
                    }
                }
                default -> {
                    List<Inherited.Node> all = new ArrayList<>(model.values());
                    Inherited.Node node = all.isEmpty() ? null : all.get(random.nextInt(all.size()));
                    if (node != null && node.lookups() > 0) {
                        model.put(node.number(), with(node, 0));
                        table.forgotten(node.number(), node.lookups());
                        forgetUnused(model);
                    }
                }
            }
            if (step % 1000 == 999) {
                assertThat(nodes()).containsExactlyElementsOf(model.values());
            }
        }
        table.close();
    }

    private static Inherited.@Nullable Node named(Map<Long, Inherited.Node> model, long parent, String name) {
        return model.values().stream()
                .filter(node ->
                        node.hasName() && node.parent() == parent && node.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    private static Inherited.Node with(Inherited.Node node, long lookups) {
        return new Inherited.Node(
                node.number(), node.parent(), node.name(), node.hasName(), node.isDirectory(), lookups);
    }

    private static Inherited.Node nameless(Inherited.Node node) {
        return new Inherited.Node(node.number(), node.parent(), node.name(), false, node.isDirectory(), node.lookups());
    }

    private static long children(Map<Long, Inherited.Node> model, long directory) {
        return model.values().stream()
                .filter(node -> node.parent() == directory)
                .count();
    }

    private static boolean isWithin(Map<Long, Inherited.Node> model, long node, long directory) {
        Inherited.Node known = model.get(node);
        return node == directory || (known != null && isWithin(model, known.parent(), directory));
    }

    private static void forgetUnused(Map<Long, Inherited.Node> model) {
        while (model.values().removeIf(node -> node.lookups() == 0 && children(model, node.number()) == 0)) {}
    }

    @Test
    void resume_afterAKillWithinARecord_dropsThatRecordOnly() throws Exception {
        KernelTable table = create(1 << 20);
        table.lookedUp(2, 2, ROOT, name(2), false, 1);
        long end = left().end();
        try (RandomAccessFile torn = new RandomAccessFile(file().toFile(), "rw")) {
            torn.seek(end + Integer.BYTES); // all but the length, which is stored last
            torn.write(
                    new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24});
        }
        KernelTable successor = KernelTable.resume(file(), left(), () -> {});
        successor.released(1);
        successor.lookedUp(4, 3, ROOT, name(3), false, 1);
        assertThat(left().inherited().nodes())
                .extracting(Inherited.Node::number)
                .containsExactly(2L, 3L);
        successor.close();
        table.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 12, 30, 60})
    void read_damaged_isRefused(int offset) throws Exception {
        KernelTable table = create(1 << 20);
        table.lookedUp(2, 2, ROOT, name(2), false, 1);
        Path copy = folder.resolve("copy");
        Files.copy(file(), copy, StandardCopyOption.REPLACE_EXISTING);
        table.close();
        try (RandomAccessFile damaged = new RandomAccessFile(copy.toFile(), "rw")) {
            damaged.seek(offset);
            int old = damaged.read();
            damaged.seek(offset);
            damaged.write(old ^ 0x41);
        }
        assertThatThrownBy(() -> TableState.read(copy))
                .isInstanceOf(DamagedLogException.class)
                .hasMessageContaining(copy.toString());
    }

    @Test
    void read_killedWhileTheFileGrew_hasAllRecords() throws Exception {
        KernelTable table = create(1 << 20);
        table.lookedUp(2, 2, ROOT, name(2), false, 1);
        try (RandomAccessFile grown = new RandomAccessFile(file().toFile(), "rw")) {
            grown.setLength(MappedLog.CHUNK + 4096);
        }
        KernelTable successor = KernelTable.resume(file(), left(), () -> {});
        successor.lookedUp(4, 3, ROOT, new byte[MappedLog.CHUNK - 100], false, 1); // in the next chunk
        assertThat(left().inherited().nodes()).hasSize(2);
        successor.close();
    }

    @Test
    void takenBack_servedAgainBefore_keepsTheLaterEffects() throws Exception {
        KernelTable table = create(1 << 20);
        table.lookedUp(2, 2, ROOT, name(2), false, 1);
        for (int handle = 1; handle <= 2; handle++) { // of a request that was served twice
            table.lookedUp(4, 2, ROOT, name(2), false, 1);
            table.opened(4, open(handle, 2));
        }
        table.takenBack(4, new Effect.Lookups(2, 1));
        assertThat(left().effects().get(4L))
                .as("a kill in between")
                .containsExactlyInAnyOrder(new Effect.Lookups(2, 1), new Effect.Opened(1), new Effect.Opened(2));
        table.takenBack(4, new Effect.Opened(1));

        assertThat(left().effects().get(4L)).containsExactlyInAnyOrder(new Effect.Lookups(2, 1), new Effect.Opened(2));
        assertThat(left().effects().get(2L)).containsExactly(new Effect.Lookups(2, 1));
        assertThat(left().inherited().nodes()).singleElement().matches(node -> node.lookups() == 2);
        assertThat(left().inherited().files()).containsExactly(open(2, 2));
        table.close();
    }

    @Test
    void close_again_keepsTheTableOfALaterMount() throws Exception {
        KernelTable table = create(1 << 20);
        table.close();
        KernelTable later = create(1 << 20);
        table.close();
        assertThat(file()).exists();
        later.close();
    }

    @Test
    void read_cutOff_isRefused() throws Exception {
        KernelTable table = create(1 << 20);
        table.close();
        Files.write(file(), new byte[100]);
        assertThatThrownBy(this::left).isInstanceOf(DamagedLogException.class);
    }

    /** A random history, read again and again, while the file is written anew many times. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void read_afterRandomChanges_equalsTheModel(long seed) throws Exception {
        Random random = new Random(seed);
        KernelTable table = create(20_000);
        Map<Long, Long> lookups = new TreeMap<>();
        Map<Long, Inherited.File> files = new TreeMap<>();
        long lastNode = ROOT;
        long lastHandle = 0;
        for (int step = 0; step < 20_000; step++) {
            List<Long> nodes = new ArrayList<>(lookups.keySet());
            long node = nodes.isEmpty() ? 0 : nodes.get(random.nextInt(nodes.size()));
            switch (random.nextInt(5)) {
                case 0 -> {
                    lookups.put(++lastNode, 1L);
                    table.lookedUp(2L * step + 2, lastNode, ROOT, name(lastNode), false, 1);
                }
                case 1 -> {
                    if (node != 0) {
                        lookups.merge(node, 1L, Long::sum);
                        table.lookedUp(2L * step + 2, node, ROOT, name(node), false, 1);
                    }
                }
                case 2 -> {
                    if (node != 0 && lookups.size() > 50) {
                        table.forgotten(node, requireNonNull(lookups.remove(node)));
                    }
                }
                case 3 -> {
                    Inherited.File open = open(++lastHandle, Math.max(node, ROOT));
                    files.put(lastHandle, open);
                    table.opened(2L * step + 2, open);
                }
                default -> {
                    if (files.size() > 20) {
                        long handle = new ArrayList<>(files.keySet()).get(random.nextInt(files.size()));
                        files.remove(handle);
                        table.released(handle);
                    }
                }
            }
            if (step % 1000 == 999) {
                Inherited inherited = left().inherited();
                Map<Long, Long> known = new TreeMap<>();
                inherited.nodes().forEach(each -> known.put(each.number(), each.lookups()));
                assertThat(known).isEqualTo(lookups);
                assertThat(inherited.files()).containsExactlyElementsOf(files.values());
                assertThat(inherited.lastNode()).isEqualTo(lastNode);
                assertThat(inherited.lastHandle()).isEqualTo(lastHandle);
            }
        }
        assertThat(Files.size(file())).isEqualTo(MappedLog.CHUNK);
        table.close();
    }

    @Test
    void lookedUp_byManyThreads_countsEach() throws Exception {
        KernelTable table = create(50_000);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            long unique = 1_000_000L * (i + 1);
            threads.add(Thread.ofPlatform().start(() -> {
                for (int j = 0; j < 20_000; j++) {
                    table.lookedUp(unique + 2L * j, 2 + j % 10, ROOT, name(2 + j % 10), false, 2);
                    table.forgotten(2 + j % 10, 1);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(left().inherited().nodes()).hasSize(10).allMatch(node -> node.lookups() == 8_000);
        table.close();
    }

    @Test
    void rewrite_thatFails_endsTheTableOnce() throws Exception {
        int[] losses = new int[1];
        KernelTable table = KernelTable.create(file(), TERMS, 1 << 20, () -> losses[0]++);
        byte[] longName = new byte[MappedLog.CHUNK / 2];
        Files.delete(file());
        Files.createDirectory(folder.resolve("0-40.table.next")); // the file cannot be written anew
        for (int i = 0; i < 10; i++) {
            table.lookedUp(2, 2 + i, ROOT, longName, false, 1);
        }
        for (int i = 0; losses[0] == 0 && i < 10_000; i++) {
            Thread.sleep(1);
        }
        table.lookedUp(2, 100, ROOT, longName, false, 1);
        assertThat(losses[0]).isEqualTo(1);
        table.close();
    }
}
