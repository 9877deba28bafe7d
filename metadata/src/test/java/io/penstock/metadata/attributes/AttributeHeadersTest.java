package io.penstock.metadata.attributes;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.objectstore.ObjectProperties;
import java.time.Instant;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class AttributeHeadersTest {
    private static final String META = ObjectProperties.USER_METADATA;

    @Test
    void of_anyAttributes_areReadAsTheyWereWritten() {
        Random random = new Random(7);
        for (int i = 0; i < 1000; i++) {
            ObjectAttributes attributes = any(random);

            ObjectAttributes read = AttributeHeaders.read(stored(attributes));

            assertThat(read).usingRecursiveComparison().isEqualTo(attributes);
        }
    }

    /** In the form that an object keeps: an empty value means no header. */
    private static SortedMap<String, String> stored(ObjectAttributes attributes) {
        return ObjectProperties.ofNew("key")
                .with(AttributeHeaders.of(attributes))
                .headers();
    }

    static ObjectAttributes any(Random random) {
        FileKind[] kinds = FileKind.values();
        ObjectAttributes attributes = ObjectAttributes.ofNew(
                kinds[random.nextInt(kinds.length)],
                random.nextBoolean() ? null : random.nextInt(010000),
                random.nextBoolean() ? null : random.nextInt(),
                random.nextBoolean() ? null : random.nextInt());
        if (random.nextBoolean()) {
            attributes =
                    attributes.withModified(Instant.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000_000)));
        }
        if (random.nextBoolean()) {
            attributes =
                    attributes.withAccessed(Instant.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000_000)));
        }
        if (random.nextBoolean()) {
            attributes = attributes.withTarget("../a b/%2F/\u00e4\ud83d\ude00\n" + random.nextInt());
        }
        if (random.nextBoolean()) {
            attributes = attributes.withDevice(random.nextInt());
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            byte[] value = new byte[random.nextInt(20)];
            random.nextBytes(value);
            attributes = attributes.withExtended("user.a,=\u00fc" + i, value);
        }
        return attributes;
    }

    @Test
    void of_none_isNoHeader() {
        assertThat(stored(ObjectAttributes.NONE).keySet()).noneMatch(name -> name.startsWith(META));
        assertThat(AttributeHeaders.read(new TreeMap<>(Map.of("content-type", "text/plain"))))
                .isEqualTo(ObjectAttributes.NONE);
    }

    /** A journal has them in the form given to the object: with empty values for those that it must not have. */
    @Test
    void read_emptyValues_countAsMissing() {
        ObjectAttributes attributes = ObjectAttributes.NONE.withPermissions(0600);

        assertThat(AttributeHeaders.read(AttributeHeaders.of(attributes))).isEqualTo(attributes);
    }

    @Test
    void read_whatDataSyncWrites_isUnderstood() {
        ObjectAttributes read = AttributeHeaders.read(new TreeMap<>(Map.of(
                META + "file-permissions", "0640",
                META + "file-owner", "1000",
                META + "file-group", "4294967294",
                META + "file-mtime", "1595002920000000001ns",
                META + "file-atime", "1595002921000000000ns")));

        assertThat(read.permissions()).isEqualTo(0640);
        assertThat(read.uid()).isEqualTo(1000);
        assertThat(read.gid()).isEqualTo(-2);
        assertThat(read.modified()).isEqualTo(Instant.ofEpochSecond(1_595_002_920, 1));
        assertThat(read.accessed()).isEqualTo(Instant.ofEpochSecond(1_595_002_921));
    }

    @Test
    void read_whatS3fsAndRcloneWrite_isUnderstood() {
        ObjectAttributes s3fs = AttributeHeaders.read(new TreeMap<>(
                Map.of(META + "mode", "33188", META + "uid", "1", META + "gid", "2", META + "mtime", "1595002920")));
        ObjectAttributes rclone = AttributeHeaders.read(new TreeMap<>(Map.of(META + "mtime", "1595002920.123456789")));

        assertThat(AttributeHeaders.read(new TreeMap<>(Map.of(META + "mode", "100640")))
                        .permissions())
                .isEqualTo(0640);
        assertThat(s3fs.permissions()).isEqualTo(0644);
        assertThat(s3fs.uid()).isEqualTo(1);
        assertThat(s3fs.gid()).isEqualTo(2);
        assertThat(s3fs.modified()).isEqualTo(Instant.ofEpochSecond(1_595_002_920));
        assertThat(rclone.modified()).isEqualTo(Instant.ofEpochSecond(1_595_002_920, 123_456_789));
    }

    /** cp -a would give programs capabilities, and what Penstock itself reports cannot be kept. */
    @Test
    void read_extendedAttributesThatNoUserMaySet_areLeftOut() {
        ObjectAttributes read = AttributeHeaders.read(new TreeMap<>(Map.of(
                META + "penstock-xattrs",
                "security.capability=AQ,user.penstock.key=AQ,user.a%00b=AQ,user.kept=AQ,trusted.x=AQ,=AQ")));

        assertThat(read.extended()).containsOnlyKeys("user.kept");
    }

    @Test
    void read_garbage_countsAsMissing() {
        ObjectAttributes read = AttributeHeaders.read(new TreeMap<>(Map.of(
                META + "file-permissions", "rw-r--r--",
                META + "file-owner", "-1",
                META + "file-mtime", "1e999999999ns",
                META + "mtime", "yesterday",
                META + "penstock-kind", "door",
                META + "penstock-xattrs", "no equals, %%%")));

        assertThat(read).usingRecursiveComparison().isEqualTo(ObjectAttributes.NONE);
    }
}
