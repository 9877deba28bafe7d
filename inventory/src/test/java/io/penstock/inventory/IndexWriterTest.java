package io.penstock.inventory;

import static io.penstock.inventory.InventoryFiles.BUCKET;
import static io.penstock.inventory.InventoryFiles.TIME;
import static io.penstock.inventory.InventoryFiles.object;
import static io.penstock.inventory.InventoryFiles.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.Seeded;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class IndexWriterTest {
    @TempDir
    private Path folder;

    private static void write(Path file, String prefix, List<StoredObject> objects) throws IOException {
        try (IndexWriter writer = IndexWriter.create(file, BUCKET, prefix, TIME)) {
            for (StoredObject object : objects) {
                writer.add(object);
            }
            writer.finish();
        }
    }

    @Test
    void read_whatWasWritten_isTheSameToTheLetter() {
        Path file = folder.resolve("index.parquet");
        Seeded.check(20, random -> {
            List<StoredObject> objects = new ArrayList<>();
            for (int i = random.nextInt(4) * random.nextInt(4_000); i > 0; i--) {
                objects.add(randomObject(random));
            }
            write(file, "", objects);

            assertThat(read(file)).isEqualTo(objects);
            assertThat(Index.open(file, BUCKET, "").asOf()).isEqualTo(TIME);
        });
    }

    private static StoredObject randomObject(RandomGenerator random) {
        StringBuilder key = new StringBuilder();
        for (int i = random.nextInt(1, 30); i > 0; i--) {
            key.append(
                    switch (random.nextInt(6)) {
                        case 0 -> "/";
                        case 1 -> " ";
                        case 2 ->
                            List.of("+", "%", "é", "€", "😀", "\"", ",", "\n", "\0", "\u007f", "%2F", "\ufffd")
                                    .get(random.nextInt(12));
                        default -> Integer.toString(random.nextInt(36), 36);
                    });
        }
        String hash = "%016x%016x".formatted(random.nextLong(), random.nextLong());
        String etag = switch (random.nextInt(8)) {
            case 0 -> "\"" + hash + "-" + random.nextInt(10_000) + "\"";
            case 1 -> "W/\"" + hash + "\"";
            case 2 -> "\"\"";
            case 3 -> hash;
            default -> "\"" + hash + "\"";
        };
        return new StoredObject(
                new ObjectVersion(
                        key.toString(),
                        etag,
                        random.nextLong() >>> random.nextInt(1, 64),
                        Instant.ofEpochSecond(random.nextLong(-1L << 30, 1L << 32))),
                List.of("STANDARD", "GLACIER", "INTELLIGENT_TIERING").get(random.nextInt(3)));
    }

    @Test
    void finish_fileThatIsThere_isReplacedAndNothingElseIsLeft() throws Exception {
        Path file = folder.resolve("index");
        write(file, "", List.of(object("old")));
        try (IndexWriter writer = IndexWriter.create(file, BUCKET, "", TIME)) {
            writer.add(object("new"));
            assertThat(read(file)).containsExactly(object("old"));
            writer.finish();
            assertThat(read(file)).containsExactly(object("new"));
            assertThatThrownBy(() -> writer.add(object("late"))).isInstanceOf(IllegalStateException.class);
        }
        assertThat(read(file)).containsExactly(object("new"));
        assertThat(files()).containsExactly(file);
    }

    @Test
    void close_notFinished_leavesWhatWasThere() throws Exception {
        Path file = folder.resolve("index");
        write(file, "", List.of(object("old")));
        try (IndexWriter writer = IndexWriter.create(file, BUCKET, "", TIME)) {
            for (int i = 0; i < 10_000; i++) {
                writer.add(object("new" + i));
            }
        }
        assertThat(read(file)).containsExactly(object("old"));
        assertThat(files()).containsExactly(file);
    }

    @Test
    void create_whereNothingCanBe_throws() {
        assertThatThrownBy(() -> IndexWriter.create(folder.resolve("none/index"), BUCKET, "", TIME))
                .isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void open_ofAPartOfTheBucket_servesThatPartAndWhatIsBelow() throws Exception {
        Path file = folder.resolve("index");
        write(file, "a/", List.of(object("a/b/1"), object("a/c")));

        assertThat(read(file, "a/")).hasSize(2);
        assertThat(read(file, "a/b/")).containsExactly(object("a/b/1"));
        assertThatThrownBy(() -> read(file, ""))
                .isInstanceOf(IndexException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining("'a/'")
                .hasMessageContaining("s3://data/");
        assertThatThrownBy(() -> read(file, "b/")).isInstanceOf(IndexException.class);
    }

    private List<Path> files() throws IOException {
        try (var files = Files.list(folder)) {
            return files.toList();
        }
    }
}
