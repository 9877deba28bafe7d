package io.penstock.cache;

import static io.penstock.cache.PageCache.PAGE_SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.disk.CacheFolder;
import io.penstock.cache.disk.CacheFolder.Audience;
import io.penstock.disk.WorkingFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which folders become cache folders, and that folders of others remain untouched. */
@Timeout(60)
final class CacheFolderTest {
    private static final TestObject OBJECT = new TestObject("object", 3L * PAGE_SIZE);

    @TempDir
    Path directory;

    private Path folder;

    @BeforeEach
    void makeFolder() throws IOException {
        folder = Files.createDirectory(
                directory.resolve("folder"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    }

    private PageCache open() throws IOException {
        return open(new Audience.Anyone());
    }

    private PageCache open(Audience audience) throws IOException {
        return PageCache.open(new CacheConfig(folder, 64L * PAGE_SIZE, 0, 8L * PAGE_SIZE, audience));
    }

    /** All files and folders, with mode and content. */
    private Map<String, String> everything() throws IOException {
        Map<String, String> all = new TreeMap<>();
        try (Stream<Path> below = Files.walk(directory)) {
            for (Path path : below.toList()) {
                Object mode = Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
                String content = Files.isRegularFile(path) ? Files.readString(path) : "no file";
                all.put(directory.relativize(path).toString(), mode + " " + content);
            }
        }
        return all;
    }

    private void assertRefusedAndUntouched() throws IOException {
        Map<String, String> before = everything();
        assertThatThrownBy(this::open)
                .isInstanceOf(WorkingFolder.ForeignException.class)
                .hasMessageContaining(folder.toString())
                .hasMessageContaining("setting cache.dir, option --cache");
        assertThat(everything()).isEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "index.log",
                "index.log.new",
                "lock",
                "probe",
                "passthrough123.probe",
                "objects",
                "staging",
                "objects/model.bin",
                "objects/ab/model.bin",
                "objects/ab/0123456789abcdef.bin",
                "notes.txt"
            })
    void open_withAForeignFile_isRefusedAndNothingIsTouched(String name) throws Exception {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "theirs, and longer than a number");
        assertRefusedAndUntouched();
    }

    @ParameterizedTest
    @ValueSource(strings = {"objects", "objects/ab", "objects/ab/ab23456789abcdef", "index.log", "probe"})
    void open_linkInPlaceOfAnOwnFile_isRefusedAndTouchesNothing(String name) throws Exception {
        Path theirs = Files.createDirectory(directory.resolve("theirs"));
        Files.writeString(theirs.resolve("0123456789abcdef"), "theirs");
        Path link = folder.resolve(name);
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, theirs);
        assertRefusedAndUntouched();
    }

    @Test
    void open_withoutTheMarker_isRefusedAndUntouched() throws Exception {
        open().close();
        Files.delete(folder.resolve(WorkingFolder.MARKER));
        assertRefusedAndUntouched();
    }

    @Test
    void open_markedFolder_removesOnlyOwnFilesAndFollowsNoLink() throws Exception {
        open().close();
        Path theirs = Files.createDirectory(directory.resolve("theirs"));
        Path throughLink = Files.writeString(theirs.resolve("cd23456789abcdef"), "theirs");
        Path objects = folder.resolve("objects");
        Files.createSymbolicLink(objects.resolve("cd"), theirs);
        Path model = Files.createDirectories(objects.resolve("ab")).resolve("model.bin");
        Files.writeString(model, "theirs");
        Path unknown = Files.writeString(objects.resolve("ab/ab23456789abcdef"), "of no object");
        try (PageCache cache = open()) {
            cache.awaitWritten();
        }
        assertThat(throughLink).exists();
        assertThat(model).exists();
        assertThat(unknown).doesNotExist();
    }

    @Test
    void open_forOneIdentity_hasOnlyWhatItCachedItself() throws Exception {
        Audience ann = new Audience.Only("AKIAANN");
        Audience bob = new Audience.Only("AKIABOB");
        store(new Audience.Anyone());
        assertThat(pagesFor(ann)).as("cached for anyone").isZero();
        store(ann);
        assertThat(pagesFor(ann)).isEqualTo(3);
        open(new Audience.Nobody()).close();
        assertThat(pagesFor(ann)).as("nobody has opened it since").isEqualTo(3);
        Files.createFile(CacheFolder.names(folder));
        Files.createFile(CacheFolder.attributes(folder));
        Files.createFile(folder.resolve("names.tmp"));
        Files.createFile(folder.resolve("attributes.tmp"));
        assertThat(pagesFor(bob)).as("cached by another").isZero();
        try (Stream<Path> files = Files.walk(folder.resolve("objects"))) {
            assertThat(files.filter(Files::isRegularFile)).isEmpty();
        }
        assertThat(CacheFolder.names(folder)).doesNotExist();
        assertThat(CacheFolder.attributes(folder)).doesNotExist();
        assertThat(folder).isDirectoryNotContaining("glob:**.tmp");
        store(bob);
        assertThat(pagesFor(new Audience.Anyone())).isEqualTo(3);
        assertThat(pagesFor(bob)).as("may be another's since").isZero();
        assertThat(folder.resolve("identity")).content().doesNotContain("BOB");
    }

    private void store(Audience audience) throws Exception {
        try (PageCache cache = open(audience)) {
            OBJECT.store(cache);
        }
    }

    private int pagesFor(Audience audience) throws Exception {
        try (PageCache cache = open(audience)) {
            cache.awaitWritten();
            return OBJECT.readablePages(cache).size();
        }
    }

    @Test
    void open_withObjectsReplacedByALink_isRefused() throws Exception {
        open().close();
        Path theirs = Files.createDirectory(directory.resolve("theirs"));
        Files.delete(folder.resolve("objects"));
        Files.createSymbolicLink(folder.resolve("objects"), theirs);
        assertThatThrownBy(this::open).isInstanceOf(IOException.class).hasMessageContaining("objects");
        assertThat(theirs).isEmptyDirectory();
    }
}
