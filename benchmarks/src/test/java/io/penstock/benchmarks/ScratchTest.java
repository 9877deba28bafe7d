package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScratchTest {
    @TempDir
    private Path parent;

    @Test
    void close_withFilesInIt_leavesNothing() throws Exception {
        Scratch scratch = new Scratch(parent);
        RandomBytes.write(scratch.root().resolve("a/b/file"), "name", 100);
        scratch.close();
        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void emptyFolder_thatHadFiles_hasNone() throws Exception {
        try (Scratch scratch = new Scratch(parent)) {
            Files.createFile(scratch.folder("cache").resolve("file"));
            assertThat(scratch.emptyFolder("cache")).isEmptyDirectory();
        }
    }

    @Test
    void resources_whenOneFailsToEnd_endTheOthersLastFirst() {
        List<String> ended = new ArrayList<>();
        Resources resources = new Resources();
        resources.add(() -> ended.add("first"));
        AutoCloseable early = resources.add(() -> ended.add("early"));
        resources.add(() -> {
            throw new IllegalStateException("stuck");
        });
        resources.add(() -> ended.add("last"));
        resources.close(early);
        resources.close();
        resources.close();
        assertThat(ended).containsExactly("early", "last", "first");
    }

    @Test
    void resources_thatComeAfterTheEnd_areEndedAtOnce() {
        List<String> ended = new ArrayList<>();
        Resources resources = new Resources();
        resources.close();
        assertThatThrownBy(() -> resources.add(() -> ended.add("late"))).isInstanceOf(IllegalStateException.class);
        assertThat(ended).containsExactly("late");
    }

    @Test
    void randomBytes_ofOneNameAndPlace_areTheSame() {
        assertThat(RandomBytes.of("a", 8, 64)).isEqualTo(RandomBytes.of("a", 8, 64));
        assertThat(RandomBytes.of("a", 8, 64)).isNotEqualTo(RandomBytes.of("a", 16, 64));
        assertThat(RandomBytes.of("a", 8, 64)).isNotEqualTo(RandomBytes.of("b", 8, 64));
    }
}
