package io.penstock.it;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A copy of this build's program with another version in the names of the nodes' protocols: the state of some nodes
 * after an update. It is otherwise the same.
 */
final class OtherVersion {
    /** The beginning of the path of a request for bytes. */
    static final String BYTES = "/penstock/share/";

    /** The beginning of a group's name. */
    static final String GROUP = "penstock-";

    private static final int OWN = 1;

    private OtherVersion() {}

    /**
     * @param folder does not exist yet
     * @param version of one digit
     * @param names the names that get this version
     * @return its {@code penstock}
     */
    static Path make(Path folder, int version, List<String> names) throws IOException {
        Path build = Path.of("..").toAbsolutePath().normalize();
        String jar = Program.shell(build, """
            set -e
            lib=cli/target/penstock/lib
            mkdir -p "$1/$lib"
            cp -r bin "$1/"
            cp $lib/*.jar "$1/$lib/"
            ls "$1"/$lib/penstock-share-*.jar
            """, folder).orThrow();
        replace(Path.of(jar.strip()), version, names);
        // Without training for a faster start, which would take longer than its start.
        Program.shell(build, """
            set -e
            cd cli/target/penstock
            [[ ! -e penstock.aot.stamp ]] || cp penstock.aot.stamp "$1/cli/target/penstock/"
            : >"$1/cli/target/penstock/penstock.aot"
            """, folder).orThrow();
        return folder.resolve("bin/penstock");
    }

    private static void replace(Path jar, int version, List<String> names) throws IOException {
        try (FileSystem inside = FileSystems.newFileSystem(jar);
                Stream<Path> files = Files.list(inside.getPath("io/penstock/share"))) {
            List<Path> classes = files.toList();
            for (String name : names) {
                int changed = 0;
                for (Path each : classes) {
                    String before = new String(Files.readAllBytes(each), ISO_8859_1);
                    String after = before.replace(name + OWN, name + version);
                    if (!after.equals(before)) {
                        Files.write(each, after.getBytes(ISO_8859_1));
                        changed++;
                    }
                }
                assertThat(changed).as(name).isPositive();
            }
        }
    }
}
