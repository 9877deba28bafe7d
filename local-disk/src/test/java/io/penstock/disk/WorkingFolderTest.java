package io.penstock.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which folders Penstock uses, and that it touches no others. */
final class WorkingFolderTest {
    private static final WorkingFolder.Kind KIND = kind("staging folder");

    @TempDir
    Path directory;

    private static WorkingFolder.Kind kind(String name) {
        return new WorkingFolder.Kind(name, "write.staging", "--write-staging", "Do not remove it.");
    }

    private Path folder() {
        return directory.resolve("folder");
    }

    private Path makeFolder() throws IOException {
        return Files.createDirectory(
                folder(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    }

    /** Opens the folder; afterwards there is a marker. */
    private void openAndClose() throws IOException {
        WorkingFolder.open(folder(), KIND).close();
        assertThat(folder().resolve(WorkingFolder.MARKER)).isRegularFile();
    }

    /** All files and folders, with content, mode, owner and time of the last change. */
    private Map<String, String> everything() throws IOException {
        Map<String, String> all = new TreeMap<>();
        try (Stream<Path> below = Files.walk(directory)) {
            for (Path path : below.toList()) {
                Object mode = Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
                FileTime time = Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS);
                String content =
                        Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS) ? Files.readString(path) : "no file";
                all.put(directory.relativize(path).toString(), mode + " " + time + " " + content);
            }
        }
        return all;
    }

    @Test
    void open_missing_isMadeForItsUserAloneAndMarked() throws Exception {
        try (WorkingFolder _ = WorkingFolder.open(folder(), KIND)) {
            assertThat(Files.getPosixFilePermissions(folder())).isEqualTo(PosixFilePermissions.fromString("rwx------"));
            assertThat(folder().resolve(WorkingFolder.MARKER))
                    .content()
                    .isEqualTo("Penstock staging folder, format 1\n\nDo not remove it.\n");
        }
        openAndClose();
    }

    @Test
    void open_empty_isMarkedAndKeepsItsMode() throws Exception {
        Files.createDirectory(makeFolder().resolve("lost+found"));
        openAndClose();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder())))
                .isEqualTo("rwxr-xr-x");
    }

    @Test
    void open_markedWithFilesNobodyKnows_isOpened() throws Exception {
        openAndClose();
        Files.writeString(folder().resolve("notes"), "x");
        openAndClose();
    }

    @ParameterizedTest
    @ValueSource(strings = {"weights.data", "run.journal", "part.new", "0123456789abcdef.data", "PENSTOCK.txt", ".x"})
    void open_withAForeignFile_isRefusedAndNothingIsTouched(String name) throws Exception {
        Path folder = makeFolder();
        Files.writeString(folder.resolve(name), "theirs");
        Map<String, String> before = everything();

        assertThatThrownBy(() -> WorkingFolder.open(folder, KIND))
                .isInstanceOf(WorkingFolder.ForeignException.class)
                .hasMessageContaining(folder.toString())
                .hasMessageContaining("'" + name + "'")
                .hasMessageContaining("setting write.staging, option --write-staging");

        assertThat(everything()).isEqualTo(before);
    }

    @Test
    void open_withALockThatIsNoLock_isRefusedAndNothingIsTouched() throws Exception {
        Files.writeString(makeFolder().resolve("lock"), "theirs");
        Map<String, String> before = everything();
        assertThatThrownBy(() -> WorkingFolder.open(folder(), KIND)).isInstanceOf(WorkingFolder.ForeignException.class);
        assertThat(everything()).isEqualTo(before);
    }

    @Test
    void open_withTheLockOfAnEarlierOpen_isOpened() throws Exception {
        Files.writeString(makeFolder().resolve("lock"), "4711\n");
        openAndClose();
    }

    @Test
    void open_afterACrashWhileItWasMarked_isTakenOver() throws Exception {
        Files.writeString(makeFolder().resolve(WorkingFolder.MARKER + ".new"), "Pensto");
        openAndClose();
        try (Stream<Path> files = Files.list(folder())) {
            assertThat(files)
                    .containsExactlyInAnyOrder(folder().resolve("lock"), folder().resolve(WorkingFolder.MARKER));
        }
    }

    @Test
    void open_ofAnotherKind_isRefused() throws Exception {
        openAndClose();
        assertThatThrownBy(() -> WorkingFolder.open(folder(), kind("cache folder")))
                .isInstanceOf(WorkingFolder.ForeignException.class)
                .hasMessageContaining("says: Penstock staging folder, format 1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"lock", "0123456789abcdef.data"})
    void open_linkInPlaceOfAFile_isNotFollowed(String name) throws Exception {
        Path theirs = Files.writeString(directory.resolve("theirs"), "");
        Files.createSymbolicLink(makeFolder().resolve(name), theirs);
        Map<String, String> before = everything();
        assertThatThrownBy(() -> WorkingFolder.open(folder(), KIND)).isInstanceOf(WorkingFolder.ForeignException.class);
        assertThat(everything()).isEqualTo(before);
    }

    @Test
    void open_markedAndLockReplacedByALink_writesNothingThroughIt() throws Exception {
        openAndClose();
        Path theirs = Files.writeString(directory.resolve("theirs"), "theirs");
        Files.delete(folder().resolve("lock"));
        Files.createSymbolicLink(folder().resolve("lock"), theirs);
        assertThatThrownBy(() -> WorkingFolder.open(folder(), KIND)).isInstanceOf(IOException.class);
        assertThat(theirs).content().isEqualTo("theirs");
    }

    @Test
    void open_openAlready_isRefusedUntilItIsClosed() throws Exception {
        try (WorkingFolder _ = WorkingFolder.open(folder(), KIND)) {
            assertThatThrownBy(() -> WorkingFolder.open(folder(), KIND)).isInstanceOf(FolderLock.TakenException.class);
        }
        openAndClose();
    }

    @Test
    void open_byRootInAnothersFolder_isRefused() throws Exception {
        assumeThat((int) Files.getAttribute(Path.of("/proc/self"), "unix:uid")).isZero();
        Files.setAttribute(makeFolder(), "unix:uid", 4711);
        assertThatThrownBy(() -> WorkingFolder.open(folder(), KIND))
                .isInstanceOf(WorkingFolder.ForeignException.class)
                .hasMessageContaining("belongs to user 4711");
        assertThat(folder()).isEmptyDirectory();
    }

    /** Others could replace a file there by a link to any file. */
    @ParameterizedTest
    @ValueSource(strings = {"rwxrwxr-x", "rwxr-x-wx", "rwxrwxrwx"})
    void open_writableByOthers_isClosedToThem(String mode) throws Exception {
        Files.setPosixFilePermissions(makeFolder(), PosixFilePermissions.fromString(mode));
        WorkingFolder.open(folder(), KIND).close();
        assertThat(Files.getPosixFilePermissions(folder()))
                .doesNotContain(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE)
                .contains(PosixFilePermission.OWNER_WRITE, PosixFilePermission.OTHERS_EXECUTE);
    }

    @Test
    void open_sharedByTheStickyBit_isRefused() throws Exception {
        Files.setAttribute(makeFolder(), "unix:mode", 01777);
        assertThatThrownBy(() -> WorkingFolder.open(folder(), KIND))
                .isInstanceOf(WorkingFolder.ForeignException.class)
                .hasMessage("the staging folder " + folder() + " can be written to by other users, who could"
                        + " replace Penstock's files there: choose a folder in it, or choose another staging folder"
                        + " (setting"
                        + " write.staging, option --write-staging)");
        assertThat(folder()).isEmptyDirectory();
    }

    /** If put there before the folder was closed, the next mount would upload or serve it. */
    @ParameterizedTest
    @ValueSource(strings = {WorkingFolder.MARKER, "0123456789abcdef.data", "objects"})
    void open_withSomethingOfAnotherUser_isRefusedEachTime(String name) throws Exception {
        assumeThat((int) Files.getAttribute(Path.of("/proc/self"), "unix:uid")).isZero();
        openAndClose();
        Path planted = folder().resolve(name);
        if (Files.notExists(planted)) {
            Files.createDirectory(planted);
        }
        Files.setAttribute(planted, "unix:uid", 4711);
        Files.setPosixFilePermissions(folder(), PosixFilePermissions.fromString("rwxrwxrwx"));
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> WorkingFolder.open(folder(), KIND))
                    .isInstanceOf(WorkingFolder.ForeignException.class)
                    .hasMessage("the staging folder " + folder() + " holds '" + name
                            + "' of another user, who could replace Penstock's files there: remove other users'"
                            + " files, or choose"
                            + " another staging folder (setting write.staging, option --write-staging)");
        }
        Files.setAttribute(planted, "unix:uid", 0);
        openAndClose();
    }
}
