package io.penstock.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.inventory.Index;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.TestData;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** {@code penstock index export}, as a user runs it: the file has every object, as another client lists it. */
@Timeout(240)
@DisabledIfSystemProperty(named = "penstock.test.binding", matches = "jnr", disabledReason = "nothing is mounted")
final class IndexIT {
    private static final int MANY = 2_100;
    private static final S3Server SERVER = S3Server.shared();

    private static final List<String> ODD_KEYS = List.of(
            "plain",
            "with space",
            " lead",
            "trail ",
            "with+plus",
            "100%25",
            "a//b",
            "dir/",
            "dir/sub/file",
            "é/€/😀",
            "\uff5e",
            "quote\"s,and'commas",
            "&amp;<x>",
            "line\nbreak",
            "tab\t",
            "bell\u0007",
            "delete\u007f");

    @TempDir
    private Path scratch;

    private TestBucket bucket;

    @BeforeEach
    void makeBucket() {
        bucket = new TestBucket(SERVER);
    }

    @AfterEach
    void deleteBucket() {
        // One by one: requests to delete many are XML, which cannot represent some characters.
        bucket.objects().stream()
                .map(object -> object.version().key())
                .filter(ODD_KEYS::contains)
                .forEach(bucket::delete);
        bucket.close();
    }

    private Program.Result export(String source, Path file) {
        return export(Path.of("/tmp"), source, file);
    }

    private Program.Result export(Path temporary, String source, Path file) {
        List<Object> command = new ArrayList<>(List.of(SERVER.accessKey(), SERVER.secretKey(), temporary));
        command.addAll(MountedBucket.penstock());
        command.addAll(List.of("index", "export", source, file));
        command.addAll(List.of("--endpoint", SERVER.endpoint(), "--region", "us-east-1", "--path-style"));
        return Program.shell(
                scratch,
                "export AWS_ACCESS_KEY_ID=$1 AWS_SECRET_ACCESS_KEY=$2 TMPDIR=$3; shift 3; exec \"$@\"",
                command.toArray());
    }

    private List<StoredObject> read(Path file, String prefix) throws Exception {
        List<StoredObject> objects = new ArrayList<>();
        Index.open(file, bucket.name(), prefix).read(objects::add);
        return objects;
    }

    /** Without the keys that this server refuses. */
    private List<String> putOddKeys() {
        List<String> put = new ArrayList<>();
        for (String key : ODD_KEYS) {
            try {
                bucket.put(key, key.getBytes(UTF_8));
                put.add(key);
            } catch (S3Exception e) {
                assertThat(e.statusCode()).as(key).isEqualTo(400);
            }
        }
        assertThat(put).hasSizeGreaterThan(ODD_KEYS.size() / 2).contains("with space", "with+plus", "é/€/😀");
        return put;
    }

    @Tag("long")
    @Test
    void export_oddKeys_everyObjectIsInTheFileAsItIsListed() throws Exception {
        Instant before = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        List<String> keys = putOddKeys();
        Path file = scratch.resolve("index.parquet");

        String said = export(bucket.name(), file).orThrow();

        assertThat(said).contains(keys.size() + " objects of s3://" + bucket.name(), file.toString());
        assertThat(read(file, "")).containsExactlyInAnyOrderElementsOf(bucket.objects());
        assertThat(Index.open(file, bucket.name(), "").asOf()).isBetween(before, Instant.now());
        try (var files = Files.list(scratch)) {
            assertThat(files).containsExactly(file);
        }
    }

    @Test
    void export_ofAFolder_hasWhatIsBelowItInItsOrder() throws Exception {
        List<TestData> many = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            many.add(TestData.of("many/%05d".formatted(i), 3));
        }
        bucket.putAll(many);
        bucket.put("other", new byte[1]);
        Path file = scratch.resolve("index.parquet");

        export(bucket.name() + "/many", file).orThrow();

        assertThat(read(file, "many/").stream().map(object -> object.version().key()))
                .containsExactlyElementsOf(many.stream().map(TestData::name).toList());
    }

    @Tag("long")
    @Test
    void export_thatCannotBe_isRefusedInWords() throws Exception {
        Program.Result noFolder = export(bucket.name(), scratch.resolve("none/index"));
        assertThat(noFolder.exit()).isEqualTo(1);
        assertThat(noFolder.out())
                .contains("penstock: the index cannot be written", "none/index")
                .doesNotContain("Exception", "\tat ");

        bucket.put("key", new byte[1]);
        Path file = Files.writeString(scratch.resolve("index"), "old");
        Program.Result noCodec = export(Path.of("/proc"), bucket.name(), file);
        assertThat(noCodec.exit()).isEqualTo(1);
        assertThat(noCodec.out())
                .contains("penstock: the index cannot be written", "unpacked into /proc", "TMPDIR=")
                .doesNotContain("internal error");
        Program.Result noBucket = export("it-no-such-bucket", file);
        assertThat(noBucket.exit()).isEqualTo(1);
        assertThat(noBucket.out()).contains("it-no-such-bucket").doesNotContain("Exception", "\tat ");
        assertThat(file).hasContent("old");
    }

    @Test
    void mount_withAnIndex_showsWhatItHas() throws Exception {
        for (int i = 0; i < 20; i++) {
            bucket.put("d%02d/listed".formatted(i), new byte[] {1, 2, 3});
        }
        Path file = scratch.resolve("index.parquet");
        export(bucket.name(), file).orThrow();
        bucket.put("d07/later", new byte[1]);
        try (MountedBucket mount = MountedBucket.mount(SERVER, bucket.name(), scratch, "-o", "index=" + file)) {
            await(mount);

            assertThat(mount.path().resolve("d07")).isDirectoryNotContaining("glob:**later");
            assertThat(mount.path().resolve("d07/listed")).hasBinaryContent(new byte[] {1, 2, 3});
            Files.write(mount.path().resolve("d08/new"), new byte[4]);
            assertThat(mount.path().resolve("d08/new")).hasSize(4);
            assertThat(mount.path().resolve("d09/listed")).hasSize(3);
        }
    }

    private static void await(MountedBucket mount) throws Exception {
        while (!mount.log().contains("are known from the index")) {
            Thread.sleep(10);
        }
    }

    @Tag("long")
    @Test
    void mount_withAnIndexOfAnotherBucket_isRefusedInWords() throws Exception {
        bucket.put("a", new byte[1]);
        Path file = scratch.resolve("index.parquet");
        export(bucket.name(), file).orThrow();
        try (TestBucket other = new TestBucket(SERVER)) {
            assertThatThrownBy(() -> MountedBucket.mount(SERVER, other.name(), scratch, "-o", "index=" + file)
                            .close())
                    .hasMessageContaining("is from the bucket '" + bucket.name() + "', not from '" + other.name());
        }
    }
}
