package io.penstock.writeback;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import io.penstock.disk.WorkingFolder;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException.Unavailable;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.writeback.WatchedFiles.Operation;
import io.penstock.writeback.bytes.Reclaim;
import io.penstock.writeback.journal.Journal;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.staging.Recovery;
import io.penstock.writeback.staging.StagedFile;
import io.penstock.writeback.staging.Staging;
import io.penstock.writeback.staging.StagingFolder;
import io.penstock.writeback.staging.UnreadableFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Fsynced content is shown unchanged, or kept and reported: it is never removed or replaced by older content. */
@Timeout(120)
final class UnreadableTest {
    private static final String NEWEST = "second, and longer";

    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private final FaultyObjectStore away = new FaultyObjectStore(store);
    private final CrashingFiles files = new CrashingFiles();

    @TempDir
    Path directory;

    UnreadableTest() {
        away.always(Call.Put.class::isInstance, Fault.fail(Unavailable::new));
    }

    /** Two fsyncs of one file, then the process ends. */
    private void writeTwice(DataFolder in) throws Exception {
        try (TestMount mount = new TestMount(away, in, TestConfig.withMemory(4)).start()) {
            WrittenFile file = mount.writeback.create("a", null);
            write(file, "first");
            file.fsync();
            write(file, NEWEST);
            file.fsync();
        }
    }

    private static void write(WrittenFile file, String text) throws Exception {
        file.write(0, ByteBuffer.wrap(text.getBytes(UTF_8)));
    }

    private static Recovery recover(DataFolder in) throws IOException {
        return Recovery.of(new Staging(in, TestMount.NAMESPACE, () -> 1L << 30, System::nanoTime));
    }

    private static String name(DataFolder in, String end) throws IOException {
        return in.names().stream().filter(name -> name.endsWith(end)).findAny().orElseThrow();
    }

    private static byte[] content(DataFolder in, String name) throws IOException {
        try (DataFile file = in.open(name)) {
            ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(file.length()));
            file.read(0, bytes);
            return bytes.array();
        }
    }

    private static CrashingFiles copy(DataFolder from) throws IOException {
        CrashingFiles copy = new CrashingFiles();
        for (String name : from.names()) {
            try (DataFile file = copy.create(name)) {
                file.write(0, ByteBuffer.wrap(content(from, name)));
            }
        }
        return copy;
    }

    /** The files and their content. Files set aside appear under their original names. */
    private static Map<String, String> everything(DataFolder in) throws IOException {
        Map<String, String> all = new TreeMap<>();
        for (String name : in.names()) {
            all.put(name.replace(StagedFile.UNREADABLE, ""), new String(content(in, name), UTF_8));
        }
        return all;
    }

    /** The files that a recovery cannot read, where it finds no others. */
    private static List<UnreadableFile> recoverNothing(DataFolder in) throws IOException {
        Recovery recovery = recover(in);
        assertThat(recovery.found()).isEmpty();
        return recovery.unreadable();
    }

    /** A recovery finds the file and can read it. */
    private void assertFound() throws IOException {
        Recovery recovery = recover(files);
        assertThat(recovery.unreadable()).isEmpty();
        assertThat(recovery.found()).hasSize(1);
        close(recovery);
    }

    private static void close(Recovery recovery) {
        recovery.found().forEach(found -> found.staged().close(found.staged().data()));
    }

    @Test
    void recover_anyBitOfTheJournalFlipped_showsTheNewestOrKeepsAll() throws Exception {
        writeTwice(files);
        String journal = name(files, StagedFile.JOURNAL);
        byte[] bytes = content(files, journal);
        int shown = 0;
        for (int bit = 0; bit < 8 * bytes.length; bit++) {
            CrashingFiles damaged = copy(files);
            byte flipped = (byte) (bytes[bit / 8] ^ 1 << bit % 8);
            try (DataFile file = damaged.open(journal)) {
                file.write(bit / 8, ByteBuffer.wrap(new byte[] {flipped}));
            }
            Map<String, String> before = everything(damaged);

            Recovery recovery = recover(damaged);

            assertThat(everything(damaged)).as("bit %s", bit).isEqualTo(before);
            assertThat(recovery.found().size() + recovery.unreadable().size())
                    .as("bit %s", bit)
                    .isEqualTo(1);
            for (Recovery.Found found : recovery.found()) {
                assertThat(found.written().size()).as("bit %s", bit).isEqualTo(NEWEST.length());
                shown++;
            }
            close(recovery);
            assertThat(damaged.opened()).isZero();
        }
        assertThat(shown).as("bits that say nothing new").isBetween(1, 20 * 8);
    }

    @Test
    void recover_dataFileMissing_keepsTheJournalUntilItIsBack() throws Exception {
        writeTwice(files);
        String data = name(files, StagedFile.DATA);
        files.rename(data, "elsewhere");
        for (int start = 0; start < 3; start++) {
            assertThat(recoverNothing(files)).singleElement().satisfies(file -> {
                assertThat(file.key()).isEqualTo("a");
                assertThat(file.reason()).isEqualTo("its data file is missing");
            });
        }
        files.rename("elsewhere", data + StagedFile.UNREADABLE);
        assertFound();
    }

    @Test
    void recover_dataFileTooShort_keepsBothUntilItIsWhole() throws Exception {
        writeTwice(files);
        String data = name(files, StagedFile.DATA);
        byte[] whole = content(files, data);
        try (DataFile file = files.open(data)) {
            file.setLength(whole.length - 1L);
        }
        for (int start = 0; start < 3; start++) {
            assertThat(recoverNothing(files)).singleElement().satisfies(file -> {
                assertThat(file.reason()).isEqualTo("its data file is too short");
                assertThat(file.data()).endsWith(data + ".unreadable");
            });
            assertThat(content(files, data + StagedFile.UNREADABLE)).hasSize(whole.length - 1);
        }
        try (DataFile file = files.open(data + StagedFile.UNREADABLE)) {
            file.write(0, ByteBuffer.wrap(whole));
        }
        assertFound();
    }

    @Test
    void recover_dataFileThatCannotBeOpened_keepsBothUntilItCan() throws Exception {
        writeTwice(files);
        WatchedFiles sick = new WatchedFiles(files, (operation, name) -> {
            if (operation == Operation.OPEN && name.contains(StagedFile.DATA)) {
                throw new IOException("Too many open files");
            }
        });
        for (int start = 0; start < 3; start++) {
            assertThat(recoverNothing(sick)).singleElement().satisfies(file -> {
                assertThat(file.key()).isEqualTo("a");
                assertThat(file.reason()).isEqualTo("its data file cannot be opened: Too many open files");
                assertThat(file.data()).endsWith(".data.unreadable");
            });
            assertThat(files.opened()).isZero();
        }
        assertFound();
    }

    @Test
    void recover_dataFileThatCannotBeOpenedAgain_leavesNoFileOpen() throws Exception {
        writeTwice(files);
        AtomicInteger opens = new AtomicInteger();
        WatchedFiles sick = new WatchedFiles(files, (operation, name) -> {
            if (operation == Operation.OPEN && name.endsWith(StagedFile.DATA) && opens.incrementAndGet() == 2) {
                throw new IOException("Too many open files");
            }
        });
        assertThat(recoverNothing(sick)).isEmpty();
        assertThat(opens).hasValue(2);
        assertThat(files.opened()).isZero();
        assertFound();
    }

    @Test
    void recover_journalOfALaterVersion_isKeptUntilItIsKnown() throws Exception {
        writeTwice(files);
        String journal = name(files, StagedFile.JOURNAL);
        byte[] ours = content(files, journal);
        try (DataFile file = files.open(journal)) {
            file.write(7, ByteBuffer.wrap(new byte[] {(byte) (ours[7] + 1)}));
        }
        try (TestMount older = new TestMount(store, files, TestConfig.withMemory(4))) {
            assertThat(older.writeback.unreadable()).singleElement().satisfies(file -> {
                assertThat(file.key()).isNull();
                assertThat(file.journal()).endsWith(journal + ".unreadable");
                assertThat(file.data()).endsWith(".data.unreadable");
            });
            assertThat(older.writeback.statistics().failedFiles()).isEqualTo(1);
        }
        try (DataFile file = files.open(journal + StagedFile.UNREADABLE)) {
            file.write(7, ByteBuffer.wrap(new byte[] {ours[7]}));
        }
        try (TestMount mount = new TestMount(store, files, TestConfig.withMemory(4)).start()) {
            assertThat(mount.writeback.unreadable()).isEmpty();
            mount.assertNothingLeaks();
        }
        assertThat(store.head("a").version().size()).isEqualTo(NEWEST.length());
        assertThat(files.names()).isEmpty();
    }

    @Test
    void recover_recordOfALaterVersion_keepsAll() throws Exception {
        Journal journal = Journal.create(files, "0123456789abcdef.journal");
        journal.append(new JournalRecord.Opened(TestMount.NAMESPACE, "a", null, null, false));
        ByteBuffer unknown = ByteBuffer.wrap(new byte[] {0, 0, 0, 1, 77});
        try (DataFile file = files.open("0123456789abcdef.journal")) {
            java.util.zip.CRC32C checksum = new java.util.zip.CRC32C();
            checksum.update(unknown.duplicate());
            ByteBuffer frame = ByteBuffer.allocate(13).putInt(5).putInt((int) checksum.getValue());
            file.write(file.length(), frame.put(unknown).flip());
        }
        journal.close();
        assertThat(recover(files).unreadable()).singleElement().satisfies(file -> {
            assertThat(file.key()).isEqualTo("a");
            assertThat(file.reason()).contains("unknown record type: 77");
        });
    }

    @Test
    void fsync_afterASyncOfTheJournalFailed_trustsThatJournalNoMore() throws Exception {
        AtomicBoolean fails = new AtomicBoolean();
        WatchedFiles watched = new WatchedFiles(files, (operation, name) -> {
            if (operation == Operation.FORCE && name.endsWith(StagedFile.JOURNAL) && fails.getAndSet(false)) {
                throw new IOException("Input/output error");
            }
        });
        try (TestMount mount = new TestMount(away, watched, TestConfig.withMemory(4)).start()) {
            WrittenFile file = mount.writeback.create("a", null);
            write(file, "first");
            file.fsync();
            fails.set(true);
            write(file, "second");
            assertThatThrownBy(file::fsync).isInstanceOf(Unavailable.class);
            assertThat(file.bytes().staging().evict(0, true))
                    .as("memory of bytes that may be nowhere else")
                    .isEqualTo(Reclaim.Eviction.STUCK);
            write(file, "third");
            assertThatThrownBy(file::fsync).as("a promise by that journal").isInstanceOf(Unavailable.class);
        }
    }

    @Test
    void fsync_afterASyncOfTheDataFailed_makesNoneOfItVisible() throws Exception {
        WatchedFiles watched = new WatchedFiles(files, (operation, name) -> {
            if (operation == Operation.FORCE && name.endsWith(StagedFile.DATA)) {
                throw new IOException("Input/output error");
            }
        });
        try (TestMount mount = new TestMount(store, watched, TestConfig.withMemory(4)).start()) {
            WrittenFile file = mount.writeback.create("a", null);
            write(file, "text");
            assertThat(file.bytes().staging().evict(0, true)).isEqualTo(Reclaim.Eviction.FREED);
            assertThatThrownBy(file::fsync).isInstanceOf(IOException.class).hasMessageContaining("staging disk");
            assertThat(store.find("a")).isNull();
            file.write(0, ByteBuffer.wrap("anew".getBytes(UTF_8)));
            file.fsync();
            file.unlink();
            file.release();
            mount.assertNothingLeaks();
        }
    }

    @Test
    void fsync_afterTheFilesCouldNotBeMade_stagesAgain() throws Exception {
        AtomicBoolean full = new AtomicBoolean(true);
        WatchedFiles watched = new WatchedFiles(files, (operation, name) -> {
            if (operation == Operation.WRITE && name.endsWith(StagedFile.JOURNAL) && full.get()) {
                throw new IOException("No space left on device");
            }
        });
        try (TestMount mount = new TestMount(away, watched, TestConfig.withMemory(4)).start()) {
            WrittenFile file = mount.writeback.create("a", null);
            write(file, "first");
            assertThatThrownBy(file::fsync).isInstanceOf(Unavailable.class);
            full.set(false);
            file.fsync();
            assertThat(mount.staging.isUsable()).isTrue();
            assertThat(file.isDirty()).isTrue();
        }
    }

    @Test
    void open_aFolderOfTheUsers_isRefusedAndNothingIsTouched() throws Exception {
        for (String name : List.of("weights.data", "run.journal", "part.new")) {
            Files.writeString(directory.resolve(name), name);
        }
        assertThatThrownBy(() -> StagingFolder.open(directory))
                .hasMessageContaining("'part.new'")
                .hasMessageContaining("write.staging");
        for (String name : List.of("weights.data", "run.journal", "part.new")) {
            assertThat(directory.resolve(name)).content().isEqualTo(name);
        }
        assertThat(directory.resolve("lock")).doesNotExist();
    }

    @Test
    void open_aFolderThatCanBeWrittenToAndNotLocked_isRefused() throws Exception {
        StagingFolder.open(directory).close();
        Files.delete(directory.resolve("lock"));
        Files.createDirectory(directory.resolve("lock"));
        assertThatThrownBy(() -> StagingFolder.open(directory)).isInstanceOf(FileSystemException.class);
    }

    @Test
    void open_aFolderWithoutMarker_isRefused() throws Exception {
        Path data = Files.writeString(directory.resolve("0123456789abcdef.data"), "");
        assertThatThrownBy(() -> StagingFolder.open(directory))
                .isInstanceOf(WorkingFolder.ForeignException.class)
                .hasMessageContaining("'0123456789abcdef.data'");
        assertThat(data).exists();
    }

    @Test
    void names_ofLinksAndForeignFiles_areNone() throws Exception {
        try (DataFolder local = StagingFolder.open(directory.resolve("staging"))) {
            Path theirs = Files.writeString(directory.resolve("theirs"), "theirs");
            Files.createSymbolicLink(directory.resolve("staging/0123456789abcdef.data"), theirs);
            Files.writeString(directory.resolve("staging/weights.data"), "");
            Files.writeString(directory.resolve("staging/part.new"), "");
            assertThat(local.names()).isEmpty();
            recover(local);
        }
        assertThat(directory.resolve("staging/weights.data")).exists();
        assertThat(directory.resolve("staging/part.new")).exists();
    }
}
