package io.penstock.metadata.attributes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.KeptAttributes.Keeping;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.testing.Content;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.RecordingObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AttributesSnapshotTest {
    private static final String OWNER = "server/bucket/prefix/";
    private static final Duration TTL = Duration.ofMinutes(1);

    @TempDir
    private Path folder;

    private final Random random = new Random(3);
    private final ManualClock clock = new ManualClock();
    private final InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);

    @Test
    void read_whatWasWritten_isTheSame() throws Exception {
        List<KnownAttributes.Settled> all = write(1000);
        assertThat(snapshot().read()).usingRecursiveComparison().isEqualTo(all);
    }

    @Test
    void write_again_replacesAll() throws Exception {
        write(10);
        List<KnownAttributes.Settled> all = write(3);
        assertThat(snapshot().read()).usingRecursiveComparison().isEqualTo(all);
        assertThat(folder).isDirectoryContaining(path -> path.equals(file())).isDirectoryNotContaining("glob:**.tmp");
    }

    @Test
    void read_ofAnotherOwner_isNothing() throws Exception {
        write(10);
        assertThat(new AttributesSnapshot(file(), "server/other/").read()).isEmpty();
    }

    @Test
    void read_nothingWritten_throws() {
        assertThatThrownBy(() -> snapshot().read()).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void read_oneByteDamagedOrTheRestMissing_neverReturnsAnythingElse() throws Exception {
        List<KnownAttributes.Settled> all = write(20);
        byte[] good = Files.readAllBytes(file());
        for (int i = 0; i < 2000; i++) {
            byte[] bad = i % 4 == 0 ? Arrays.copyOf(good, random.nextInt(good.length)) : good.clone();
            if (bad.length == good.length) {
                bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
            }
            Files.write(file(), bad);
            try {
                assertThat(snapshot().read()).isEmpty(); // the head names another owner
            } catch (IOException e) {
                assertThat(e.getMessage()).contains(file().toString());
            }
        }
        Files.write(file(), good);
        assertThat(snapshot().read()).hasSameSizeAs(all);
    }

    @Test
    void nextMount_unchangedObject_isNotAsked() throws Exception {
        ObjectVersion version = put("a", ObjectAttributes.NONE.withPermissions(0600));
        clock.advance(KnownAttributes.SETTLED);
        assertThat(mount(version)).isEqualTo(1);

        assertThat(mount(version)).isZero();
        assertThat(mount(put("a", ObjectAttributes.NONE.withPermissions(0640)))).isEqualTo(1);
    }

    /** Another node's change of attributes leaves ETag and size unchanged, and within the same second also the time. */
    @Test
    void nextMount_changedWithinTheSameSecond_requestsAgain() throws Exception {
        ObjectVersion version = put("a", ObjectAttributes.NONE.withPermissions(0600));
        assertThat(mount(version)).isEqualTo(1);

        assertThat(put("a", ObjectAttributes.NONE.withPermissions(0640))).isEqualTo(version);
        assertThat(mount(version)).isEqualTo(1);
        clock.advance(KnownAttributes.SETTLED.minusNanos(1));
        assertThat(mount(version)).isEqualTo(1);
        clock.advance(Duration.ofNanos(1));
        assertThat(mount(version)).isEqualTo(1);
        assertThat(mount(version)).isZero();
    }

    /** Asks for the object's attributes. Returns the number of requests to the store. */
    private int mount(ObjectVersion version) throws Exception {
        RecordingObjectStore store = new RecordingObjectStore(bucket);
        ObjectAttributes expected =
                AttributeHeaders.read(bucket.properties(version.key()).headers());
        try (Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 8000), clock::nanoTime);
                DirectoryMarkers markers = new DirectoryMarkers(store, tree, clock::nanoTime);
                KeptAttributes kept = new KeptAttributes(store, markers, Keeping.ALL, snapshot())) {
            kept.load();
            while (!kept.isLoaded()) {
                Thread.sleep(1);
            }
            assertThat(kept.of(tree.root(), version)).isEqualTo(expected);
        }
        return store.only(Call.Describe.class).size();
    }

    private ObjectVersion put(String key, ObjectAttributes attributes) {
        ObjectProperties properties = ObjectProperties.ofNew(key).with(AttributeHeaders.of(attributes));
        return bucket.put(key, Content.of(new byte[] {1}), properties);
    }

    private List<KnownAttributes.Settled> write(int count) throws IOException {
        List<KnownAttributes.Settled> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ObjectVersion version = new ObjectVersion(
                    "größe/\ud83d\ude00 " + i,
                    "\"" + random.nextLong() + "\"",
                    random.nextLong(1L << 40),
                    Instant.ofEpochSecond(random.nextInt()));
            all.add(new KnownAttributes.Settled(version, AttributeHeadersTest.any(random)));
        }
        snapshot().write(all);
        return all;
    }

    private AttributesSnapshot snapshot() {
        return new AttributesSnapshot(file(), OWNER);
    }

    private Path file() {
        return folder.resolve("attributes");
    }
}
