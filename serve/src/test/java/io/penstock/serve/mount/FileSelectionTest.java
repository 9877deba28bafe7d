package io.penstock.serve.mount;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Directory;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.DirectoryMarkers;
import io.penstock.metadata.attributes.FileKind;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.objectstore.Call;
import io.penstock.settings.process.RefusedException;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FileSelectionTest {
    private static final Path MOUNT = Path.of("/mnt/data");

    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private final DelayingObjectStore delays = new DelayingObjectStore(store);
    private final List<String> missing = new ArrayList<>();
    private final List<String> reasons = new ArrayList<>();
    private Tree tree;
    private KeptAttributes kept;

    @BeforeEach
    void open() {
        for (String key : List.of("a/1.jpg", "a/2.png", "a/b/3.jpg", "a/b/c/4.jpg", "d/5.jpg", "x[1].jpg")) {
            store.put("shown/" + key, key);
        }
        store.put("hidden/1.jpg", "of another mount");
        tree = new Tree(
                delays, "shown/", new MetadataConfig(Duration.ofMinutes(1), Duration.ofMinutes(1)), System::nanoTime);
        kept = new KeptAttributes(
                delays, new DirectoryMarkers(delays, tree, System::nanoTime), KeptAttributes.Keeping.ALL, null);
    }

    @AfterEach
    void close() {
        kept.close();
        tree.close();
    }

    private List<String> files(String... paths) throws Exception {
        return files(new FileSelection(MOUNT, List.of(paths), null));
    }

    private List<String> files(FileSelection selection) throws Exception {
        List<String> found = new ArrayList<>();
        selection.visit(
                tree, new SymbolicLinks(kept, tree.root(), selection.mountPoint()), new FileSelection.Visitor() {
                    @Override
                    public void file(ObjectVersion version) {
                        found.add(version.key().substring("shown/".length()));
                    }

                    @Override
                    public void written(String key) {
                        found.add("written " + key);
                    }

                    @Override
                    public void problem(String path, String why) {
                        missing.add(path);
                        reasons.add(why);
                    }
                });
        return found;
    }

    @Test
    void visit_filesAndFolders_visitsAllBelowPathByPath() throws Exception {
        assertThat(files("d/5.jpg", "/mnt/data/a/b/"))
                .startsWith("d/5.jpg")
                .containsExactlyInAnyOrder("d/5.jpg", "a/b/3.jpg", "a/b/c/4.jpg");
        assertThat(files(".")).hasSize(6);
        assertThat(files("/mnt/data")).hasSize(6);
        assertThat(missing).isEmpty();
    }

    @Test
    void visit_patterns_visitsWhatMatches() throws Exception {
        assertThat(files("a/*.jpg")).containsExactly("a/1.jpg");
        assertThat(files("?/*.{jpg,png}")).containsExactly("a/1.jpg", "a/2.png", "d/5.jpg");
        assertThat(files("a/**/*.jpg")).containsExactlyInAnyOrder("a/1.jpg", "a/b/3.jpg", "a/b/c/4.jpg");
        assertThat(files("[ab]")).hasSize(4);
        assertThat(files("x[1].jpg")).containsExactly("x[1].jpg"); // an exact name wins
        assertThat(missing).isEmpty();
    }

    @Test
    void visit_aNameThatLooksLikeAPattern_visitsThatNameAlone() throws Exception {
        store.put("shown/d/*", "stars");
        assertThat(files("d/*")).containsExactly("d/*");
        assertThat(files("d/?*")).containsExactlyInAnyOrder("d/*", "d/5.jpg");
    }

    @Test
    void visit_whatIsNotThere_tellsSo() throws Exception {
        assertThat(files("a/9.jpg", "a/*.gif", "d/5.jpg/6", "**/*.gif")).isEmpty();
        assertThat(missing).containsExactly("a/9.jpg", "a/*.gif", "d/5.jpg/6", "**/*.gif");
    }

    private void link(String path, String target) {
        ObjectAttributes attributes =
                ObjectAttributes.ofNew(FileKind.SYMLINK, null, null, null).withTarget(target);
        kept.set(store.put("shown/" + path, ""), attributes);
    }

    @ParameterizedTest
    @CsvSource({
        "l, d/5.jpg",
        "a/l, ../d/5.jpg",
        "a/b/l, /mnt/data/d/5.jpg",
        "a/l, ../../data/./d//5.jpg",
        "x[2].jpg, a/../d/5.jpg"
    })
    void visit_symbolicLink_visitsWhatItLeadsTo(String path, String target) throws Exception {
        link(path, target);
        link("toLink", path);
        assertThat(files(path, "toLink")).containsExactly("d/5.jpg", "d/5.jpg");
        assertThat(missing).isEmpty();
    }

    @Test
    void visit_symbolicLinkToAFolder_visitsWhatIsInIt() throws Exception {
        link("l", "a/b");
        link("all", ".");
        assertThat(files("l")).containsExactlyInAnyOrder("a/b/3.jpg", "a/b/c/4.jpg");
        assertThat(files("l/c/4.jpg", "l/*.jpg")).containsExactly("a/b/c/4.jpg", "a/b/3.jpg");
        assertThat(files("all")).hasSize(8);
        assertThat(files("all/all/all/d")).containsExactly("d/5.jpg");
        assertThat(missing).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"d/[5].jpg", "**", "**/5.jpg", "here/d/[5].jpg", "?/5.jpg"})
    void visit_symbolicLinkToAPattern_takesItForAName(String target) throws Exception {
        link("here", ".");
        link("l", target);
        assertThat(files("l", "l/*.jpg")).isEmpty();
        assertThat(missing).containsExactly("l", "l");
    }

    @Test
    void visit_patternBehindSymbolicLinks_isOne() throws Exception {
        link("here", ".");
        link("l", "here/d");
        assertThat(files("l/[5].jpg", "here/l/*.jpg", "l/**")).containsExactly("d/5.jpg", "d/5.jpg", "d/5.jpg");
    }

    /** As with du(1) and cp -r. */
    @Test
    void visit_symbolicLinkInAFolder_isNotFollowed() throws Exception {
        link("d/out", "/etc");
        link("d/l", "../a");
        assertThat(files("d")).containsExactlyInAnyOrder("d/5.jpg", "d/l", "d/out");
        assertThat(missing).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "/etc/passwd, /etc/passwd",
        "/mnt/data2, /mnt/data2",
        "../../x, /mnt/x",
        "/mnt, /mnt",
        "../../../../../mnt, /mnt"
    })
    void visit_symbolicLinkOutOfTheMount_saysWhichLinkAndWhereItLeads(String target, String leadsTo) throws Exception {
        link("a/l", target);
        link("toLink", "a/l");
        link("here", "a");
        assertThat(files("a/l", "toLink", "a/l/below", "here/l", "d/5.jpg")).containsExactly("d/5.jpg");
        assertThat(missing).containsExactly("a/l", "toLink", "a/l", "here/l");
        assertThat(reasons).hasSize(4).containsOnly("symbolic link to " + leadsTo + ", which is outside the mount");
    }

    /** As in path_resolution(7): from the folder that a link leads to. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "d/toB/../1.jpg",
                "d/toB/c/.././../1.jpg",
                "d/toB/../../../data/a/1.jpg",
                "/mnt/data/d/toB/../1.jpg",
                "toToB/../1.jpg"
            })
    void visit_linkThroughTheParentOfALink_visitsItsTarget(String target) throws Exception {
        link("d/toB", "../a/b");
        link("toToB", "d/toB");
        link("l", target);
        assertThat(files("l", "[l]")).containsExactly("a/1.jpg", "a/1.jpg");
        assertThat(missing).isEmpty();
    }

    @Test
    void visit_linkThroughTheParentOfNoFolder_saysWhereItLeads() throws Exception {
        link("d/toB", "../a/b");
        link("nothing", "none/../a/1.jpg");
        link("file", "a/1.jpg/../2.png");
        link("out", "d/toB/../../../x");
        assertThat(files("nothing", "file", "out")).isEmpty();
        assertThat(missing).containsExactly("nothing", "file", "out");
        String why = "symbolic link to /mnt/%s";
        assertThat(reasons)
                .containsExactly(
                        why.formatted("data/none/../a/1.jpg, which does not exist"),
                        why.formatted("data/a/1.jpg/../2.png, which does not exist"),
                        why.formatted("x, which is outside the mount"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "parent/mnt/d/5.jpg",
                "mount/d/5.jpg",
                "folder/5.jpg",
                "folder/../d/5.jpg",
                "parent/../real/mnt/d/5.jpg"
            })
    void visit_linkByAnotherPathToTheMount_visitsItsTarget(String target, @TempDir Path temporary) throws Exception {
        Path outside = temporary.toRealPath();
        Path mount = Files.createDirectories(outside.resolve("real/mnt"));
        Files.createSymbolicLink(outside.resolve("parent"), outside.resolve("real"));
        Files.createSymbolicLink(outside.resolve("mount"), Path.of("parent/mnt"));
        Files.createSymbolicLink(outside.resolve("folder"), mount.resolve("d"));
        link("absolute", outside.resolve(target).toString());
        link("a/relative", "../../../" + target);
        assertThat(files(new FileSelection(mount, List.of("absolute", "a/relative"), null)))
                .containsExactly("d/5.jpg", "d/5.jpg");
        assertThat(missing).isEmpty();
    }

    @Test
    void visit_linkToALoopOutsideOfTheMount_saysThatItLeadsOut(@TempDir Path temporary) throws Exception {
        Path outside = temporary.toRealPath();
        Path loop = Files.createSymbolicLink(outside.resolve("loop"), Path.of("loop"));
        link("l", loop.toString());
        assertThat(files(new FileSelection(outside.resolve("mnt"), List.of("l"), null)))
                .isEmpty();
        assertThat(reasons).containsExactly("symbolic link to " + loop + ", which is outside the mount");
    }

    @Test
    void visit_symbolicLinkToNothing_saysWhereItLeads() throws Exception {
        link("a/l", "9.jpg");
        link("toLink", "a/l");
        link("through", "d/5.jpg/x");
        link("loop", "loop");
        assertThat(files("a/l", "toLink", "toLink/below", "through", "a/l*", "loop"))
                .isEmpty();
        assertThat(missing).containsExactly("a/l", "toLink", "toLink", "through", "a/l", "loop");
        String why = "symbolic link to /mnt/data/%s, which does not exist";
        assertThat(reasons)
                .containsExactly(
                        why.formatted("a/9.jpg"),
                        why.formatted("a/9.jpg"),
                        why.formatted("a/9.jpg"),
                        why.formatted("d/5.jpg/x"),
                        why.formatted("a/9.jpg"),
                        "more than 40 symbolic links");
    }

    @Test
    void visit_pathOnBehindASymbolicLinkToAFile_isMissing() throws Exception {
        link("l", "d/5.jpg");
        link("toFolder", "d");
        assertThat(files("l/below", "toFolder/9.jpg")).isEmpty();
        assertThat(missing).containsExactly("l/below", "toFolder/9.jpg");
        assertThat(reasons).containsOnly("no such file or folder");
    }

    /** Such links are found by a pattern, not named by the user: a shell would not report them either. */
    @Test
    void visit_linksToNoFileOfThePattern_arePassedOver() throws Exception {
        link("file", "a/1.jpg");
        link("nothing", "a/9.jpg");
        link("loop", "loop");
        link("out", "/etc");
        assertThat(files("*/5.jpg")).containsExactly("d/5.jpg");
        assertThat(missing).isEmpty();
        assertThat(files("[lno]*")).isEmpty();
        assertThat(missing).containsExactly("loop", "nothing", "out");
    }

    @Test
    void visit_symbolicLinksThatAPatternNames_areTold() throws Exception {
        link("a/last", "/etc");
        link("d/last", "9.jpg");
        assertThat(files("?/last/*.jpg", "**/las?")).isEmpty();
        assertThat(missing).containsExactlyInAnyOrder("a/last", "d/last", "a/last", "d/last");
    }

    @Test
    void visit_filesToWhichLinksOfAPatternLead_areVisitedOnce() throws Exception {
        link("l1", "d/5.jpg");
        link("l2", "l1");
        link("l3", "d/../d/5.jpg");
        link("a/l.jpg", "1.jpg");
        link("k", "d");
        link("m", "d");
        assertThat(files("l?")).containsExactly("d/5.jpg");
        assertThat(files("a/*.jpg", "**/5.jpg")).containsExactly("a/1.jpg", "d/5.jpg");
        assertThat(files("?/5.jpg")).containsExactly("d/5.jpg");
        assertThat(files("[km]/5.jpg", "{k,m}")).containsExactly("d/5.jpg", "d/5.jpg");
        assertThat(files("*")).doesNotHaveDuplicates().hasSize(6 + 1); // a/l.jpg is in a folder
        assertThat(missing).isEmpty();
    }

    @Test
    void visit_linksToAFolderAndIntoIt_visitItsFilesOnce() throws Exception {
        link("links/k1", "../a/1.jpg");
        link("links/k2", "../a/b");
        link("links/k3", "../a");
        link("links/k4", "../a/2.png");
        link("links/all", "..");
        assertThat(files("links/k[12]")).containsExactlyInAnyOrder("a/1.jpg", "a/b/3.jpg", "a/b/c/4.jpg");
        assertThat(files("links/k?")).hasSize(4).doesNotHaveDuplicates();
        assertThat(files("links/[ak]*")).hasSize(6 + 5).doesNotHaveDuplicates();
        assertThat(missing).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"*", "a/*", "**"})
    void visit_linkToAFolderAboveItsPatternsMatches_visitsFilesOnce(String pattern) throws Exception {
        link("here", ".");
        link("a/up", "..");
        assertThat(files(pattern)).doesNotHaveDuplicates().contains("a/1.jpg", "a/b/3.jpg", "d/5.jpg", "x[1].jpg");
        assertThat(missing).isEmpty();
    }

    @Test
    void visit_linksToOneFileInLinkedFolders_visitItOnce() throws Exception {
        link("d/l", "5.jpg");
        link("e/l", "../d/5.jpg");
        link("k", "d");
        link("m", "e");
        assertThat(files("[km]/l")).containsExactly("d/5.jpg");
        assertThat(missing).isEmpty();
    }

    /** Links are empty too, so the store is asked whether this is one. */
    @Test
    void visit_emptyFile_isAFile() throws Exception {
        store.put("shown/empty", "");
        assertThat(files("empty")).containsExactly("empty");
        assertThat(files("empty/below")).isEmpty();
        assertThat(missing).containsExactly("empty/below");
    }

    @Test
    void visit_emptyFilesOfAPattern_asksForManyAtOnce() throws Exception {
        for (int i = 0; i < 300; i++) {
            store.put("shown/empty/" + i, "");
        }
        FutureTask<List<String>> visited = new FutureTask<>(() -> files("empty/*"));
        try (Gate gate = delays.hold(Call.Describe.class::isInstance)) {
            Thread.startVirtualThread(visited);
            gate.awaitHeld(64);
        }
        assertThat(visited.get()).hasSize(300).isEqualTo(files("empty")).doesNotHaveDuplicates();
    }

    @Test
    void visit_aList_visitsItsLines(@TempDir Path folder) throws Exception {
        Path list = Files.writeString(folder.resolve("list"), "d/5.jpg\n\na/2.png\n");
        assertThat(files(new FileSelection(MOUNT, List.of("a/1.jpg"), list)))
                .containsExactly("a/1.jpg", "d/5.jpg", "a/2.png");
    }

    /** A job does this once for all sizes, and once to fetch. */
    @Test
    void visit_aListThatHasGoneSince_saysSo(@TempDir Path folder) throws Exception {
        Path list = Files.writeString(folder.resolve("list"), "d/5.jpg\n");
        FileSelection selection = new FileSelection(MOUNT, List.of(), list);
        assertThat(files(selection)).containsExactly("d/5.jpg");
        Files.delete(list);

        assertThatThrownBy(() -> files(selection))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("cannot read the list " + list + " at line 1: no such file");
    }

    @Test
    void visit_aListInterrupted_isInterrupted(@TempDir Path folder) throws Exception {
        Path list = Files.writeString(folder.resolve("list"), "d/5.jpg\n");
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> files(new FileSelection(MOUNT, List.of(), list)))
                .isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void visit_aListWithWrongLines_reportsThemAndVisitsTheOthers(@TempDir Path folder) throws Exception {
        Path list = Files.write(
                folder.resolve("list"), "a/1.jpg\n../x\n[\n/other\na/\u00e4\nd/5.jpg\n".getBytes(ISO_8859_1));

        assertThat(files(new FileSelection(MOUNT, List.of(), list))).containsExactly("a/1.jpg", "d/5.jpg");

        assertThat(missing).containsExactly("../x", "[", "/other", "a/\uFFFD");
        assertThat(reasons)
                .satisfiesExactly(
                        why -> assertThat(why).startsWith(".. is not supported"),
                        why -> assertThat(why).startsWith("invalid pattern: "),
                        why -> assertThat(why).isEqualTo("not below /mnt/data"),
                        why -> assertThat(why).isEqualTo("no such file or folder; the path is not valid UTF-8"));
    }

    @Test
    void check_pathsOutside_refuses() {
        assertThatThrownBy(new FileSelection(MOUNT, List.of("/mnt/data2/a"), null)::check)
                .isInstanceOf(RefusedException.class)
                .hasMessage("/mnt/data2/a: not below /mnt/data");
        assertThatThrownBy(new FileSelection(MOUNT, List.of("a/../b"), null)::check)
                .isInstanceOf(RefusedException.class);
    }

    @Test
    void check_anEmptyPath_isRefusedAndNotTheWholeMount() {
        assertThatThrownBy(new FileSelection(MOUNT, List.of("a", ""), null)::check)
                .isInstanceOf(RefusedException.class)
                .hasMessage("'': empty path; use . for the whole mount");
    }

    @Test
    void keys_filesFoldersAndPatterns_areThoseOfTheSameFiles(@TempDir Path folder) throws Exception {
        Directory root = tree.root();
        Path list = Files.writeString(folder.resolve("list"), "?/1.jpg\n");
        Predicate<String> keys = new FileSelection(MOUNT, List.of("a/b", "d/*.jpg"), list).keys(root);
        assertThat(keys).accepts("shown/a/b/c/4.jpg", "shown/d/5.jpg", "shown/a/1.jpg", "shown/d/5.jpg/below");
        assertThat(keys).rejects("shown/a/2.png", "shown/a/bc", "hidden/a/b/c");
        assertThat(new FileSelection(MOUNT, List.of("."), null).keys(root)).accepts("shown/x");
        assertThatThrownBy(() -> new FileSelection(MOUNT, List.of("a", "["), null).keys(root))
                .isInstanceOf(RefusedException.class)
                .hasMessageStartingWith("[: invalid pattern: ");
    }
}
