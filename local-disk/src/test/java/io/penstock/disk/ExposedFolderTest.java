package io.penstock.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In which parent folders other users could replace Penstock's. Others can search the temporary folder. */
final class ExposedFolderTest {
    @TempDir
    Path directory;

    private Path scratch;
    private int user;

    @BeforeEach
    void makeScratch() throws IOException {
        directory = directory.toRealPath();
        Files.setAttribute(directory, "unix:mode", 0711);
        scratch = Files.createDirectory(directory.resolve("scratch"));
        user = (int) Files.getAttribute(scratch, "unix:uid");
        setMode(0755);
    }

    private void setMode(int mode) throws IOException {
        Files.setAttribute(scratch, "unix:mode", mode);
    }

    /** Only those that the test has created. */
    private List<ExposedFolder> above(Path folder) throws IOException {
        return ExposedFolder.above(List.of(folder), user).stream()
                .filter(exposed -> exposed.path().startsWith(directory))
                .toList();
    }

    @Test
    void above_ownFolders_isNone() throws Exception {
        assertThat(above(scratch.resolve("penstock"))).isEmpty();
        assertThat(above(Files.createDirectory(scratch.resolve("penstock")))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0777, 0775, 0757, 02775})
    void above_writableByOthers_isExposed(int mode) throws Exception {
        setMode(mode);
        ExposedFolder exposed = new ExposedFolder(
                scratch,
                scratch + " belongs to user " + user + " and has mode " + Integer.toOctalString(mode)
                        + ": other users can replace Penstock's folder",
                "chmod +t " + scratch);
        assertThat(above(scratch.resolve("penstock"))).containsExactly(exposed);
        assertThat(above(scratch.resolve("a/b/penstock"))).containsExactly(exposed);
        assertThat(above(Files.createDirectory(scratch.resolve("penstock")))).containsExactly(exposed);
    }

    @ParameterizedTest
    @ValueSource(ints = {01777, 01775, 0555, 0755})
    void above_sticky_isNone(int mode) throws Exception {
        setMode(mode);
        assertThat(above(scratch.resolve("penstock"))).isEmpty();
    }

    @Test
    void above_belowAFolderThatOthersCannotSearch_isNone() throws Exception {
        setMode(0777);
        Files.setAttribute(directory, "unix:mode", 0700);
        assertThat(above(scratch.resolve("penstock"))).isEmpty();
    }

    /** {@link WorkingFolder} examines the folder itself. */
    @Test
    void above_theFolderItself_isNotExamined() throws Exception {
        setMode(0777);
        assertThat(above(scratch)).isEmpty();
    }

    @Test
    void above_ofAnotherUser_isExposedAlsoIfSticky() throws Exception {
        user++; // root's folders are trusted
        assumeThat((int) Files.getAttribute(scratch, "unix:uid")).isNotZero();
        setMode(01777);
        assertThat(above(scratch.resolve("penstock")))
                .extracting(ExposedFolder::mend)
                .contains("chown root " + scratch);
    }

    @Test
    void above_ofAnotherUserForRoot_isExposedUntilItIsRoots() throws Exception {
        assumeThat(user).isZero();
        Files.setAttribute(scratch, "unix:uid", 4711);
        assertThat(above(scratch.resolve("penstock")))
                .extracting(ExposedFolder::mend)
                .containsExactly("chown root " + scratch);
        setMode(0777);
        assertThat(above(scratch.resolve("penstock")))
                .extracting(ExposedFolder::mend)
                .containsExactly("chown root " + scratch + "; chmod +t " + scratch);
        user = 4711;
        setMode(0700);
        assertThat(above(scratch.resolve("penstock"))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"penstock", "a/penstock"})
    void above_linkThatLeadsThere_isExposed(String below) throws Exception {
        setMode(0777);
        Path link = Files.createSymbolicLink(directory.resolve("link"), Files.createDirectory(scratch.resolve("data")));
        assertThat(above(link.resolve(below))).extracting(ExposedFolder::path).containsExactly(scratch);
        assertThat(above(link)).extracting(ExposedFolder::path).containsExactly(scratch);
    }

    @Test
    void above_linkThatOthersMayReplace_isExposed() throws Exception {
        setMode(0777);
        Path link = Files.createSymbolicLink(scratch.resolve("link"), Files.createDirectory(directory.resolve("data")));
        assertThat(above(link.resolve("penstock")))
                .extracting(ExposedFolder::path)
                .containsExactly(scratch);
    }

    @Test
    void above_linkInTheMiddleThatOthersMayReplace_isExposed() throws Exception {
        setMode(0777);
        Path data = Files.createDirectory(directory.resolve("data"));
        Files.createSymbolicLink(scratch.resolve("fast"), data);
        Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("data/.././scratch/fast"));
        assertThat(above(link.resolve("penstock")))
                .extracting(ExposedFolder::path)
                .containsExactly(scratch);
    }

    @Test
    void above_linkOutOfAPrivateFolder_isExposedWhereItLeads() throws Exception {
        setMode(0777);
        Path home = Files.createDirectory(directory.resolve("home"));
        Files.setAttribute(home, "unix:mode", 0700);
        Path link = Files.createSymbolicLink(home.resolve("link"), scratch);
        assertThat(above(link.resolve("penstock")))
                .extracting(ExposedFolder::path)
                .containsExactly(scratch);
    }

    @ParameterizedTest
    @ValueSource(ints = {01777, 0755})
    void above_linkOfAnotherUser_isExposedInAFolderThatOthersMayWriteTo(int mode) throws Exception {
        assumeThat(user).isZero();
        setMode(mode);
        Path link = Files.createSymbolicLink(scratch.resolve("link"), Files.createDirectory(directory.resolve("data")));
        Files.setAttribute(link, "unix:uid", 4711, LinkOption.NOFOLLOW_LINKS);
        List<String> mend = mode == 0755 ? List.of() : List.of("chown -h root " + link);
        assertThat(above(link.resolve("penstock")))
                .extracting(ExposedFolder::mend)
                .containsExactlyElementsOf(mend);
    }

    @Test
    void above_linkThatLeadsToItself_isNone() throws Exception {
        Path link = Files.createSymbolicLink(scratch.resolve("link"), Path.of("link"));
        assertThat(above(link.resolve("penstock"))).isEmpty();
    }

    @Test
    void above_twoFolders_namesEachFolderOnce() throws Exception {
        setMode(0777);
        assertThat(ExposedFolder.above(List.of(scratch.resolve("cache"), scratch.resolve("staging")), user))
                .extracting(ExposedFolder::path)
                .containsOnlyOnce(scratch);
    }
}
