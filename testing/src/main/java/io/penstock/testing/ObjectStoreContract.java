package io.penstock.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of every {@link ObjectStore}, both the fakes of tests and S3 on every server. */
public abstract class ObjectStoreContract {
    private TestBucket bucket;
    /** A store connected to a bucket that is empty at first. */
    protected ObjectStore store;

    /** A bucket, empty at first. */
    public interface TestBucket {
        /** The store under test. */
        ObjectStore store();

        /** Writes as another client would. */
        void put(String key, byte[] content) throws Exception;

        /** Deletes as another client would. */
        void delete(String key) throws Exception;

        /** Closes the store and removes the bucket. */
        void close() throws Exception;
    }

    /** A new bucket for each test. */
    protected abstract TestBucket newBucket() throws Exception;

    /** The unusual keys that the server refuses or changes. */
    protected Set<String> keysNotHeld() {
        return Set.of();
    }

    /** Whether {@code a} and {@code a/…} may both be objects: not if objects are files. */
    protected boolean holdsFileAndDirectoryOfOneName() {
        return true;
    }

    @BeforeEach
    final void openBucket() throws Exception {
        bucket = newBucket();
        store = bucket.store();
    }

    @AfterEach
    final void closeBucket() throws Exception {
        bucket.close();
    }

    @Test
    void get_wholeObject_deliversItsBytes() throws Exception {
        byte[] content = put("object", 300_000);

        assertThat(get("object", 0, content.length)).isEqualTo(content);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 4095, 4096, 99_999})
    void get_range_deliversExactlyIt(long offset) throws Exception {
        byte[] content = put("object", 100_000);
        int length = (int) Math.min(5000, content.length - offset);

        byte[] expected = Arrays.copyOfRange(content, (int) offset, (int) offset + length);
        assertThat(get("object", offset, length)).isEqualTo(expected);
    }

    @Test
    void get_sinkOfManySmallBuffers_fillsEachInOrder() throws Exception {
        byte[] content = put("object", 100_000);
        ObjectVersion version = store.head("object").version();
        for (ByteBuffer memory : List.of(ByteBuffer.allocate(100_000), ByteBuffer.allocateDirect(100_000))) {
            CollectingSink sink = new CollectingSink(memory, 777);

            store.get(version, new ByteRange(0, content.length), sink);

            assertThat(sink.bytes()).isEqualTo(content);
        }
    }

    @Test
    void get_objectChanged_failsThePrecondition() throws Exception {
        put("object", 10);
        ObjectVersion old = store.head("object").version();
        bucket.put("object", "other bytes".getBytes(UTF_8));

        assertThatThrownBy(() -> get(old, 0, 10))
                .isInstanceOf(ObjectStoreException.PreconditionFailed.class)
                .hasMessageContaining("object")
                .hasMessageContaining(store.bucket());
    }

    @Test
    void get_objectDeleted_isNotFound() throws Exception {
        put("object", 10);
        ObjectVersion old = store.head("object").version();
        bucket.delete("object");

        assertThatThrownBy(() -> get(old, 0, 10))
                .isInstanceOf(ObjectStoreException.NotFound.class)
                .hasMessageContaining("object")
                .hasMessageContaining(store.bucket());
    }

    @Test
    void get_threadInterrupted_endsWithInterruptedException() throws Exception {
        put("object", 10);
        ObjectVersion version = store.head("object").version();

        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> get(version, 0, 10)).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void head_object_tellsItsVersion() throws Exception {
        put("folder/object", 12_345);

        StoredObject found = store.head("folder/object");

        assertThat(found.version().key()).isEqualTo("folder/object");
        assertThat(found.version().size()).isEqualTo(12_345);
        assertThat(found.version().etag()).startsWith("\"").endsWith("\"");
        assertThat(found.storageClass()).isEqualTo("STANDARD");
    }

    @Test
    void head_emptyObject_hasSizeZero() throws Exception {
        put("empty", 0);

        assertThat(store.head("empty").version().size()).isZero();
    }

    @Test
    void head_noSuchKey_isNotFound() {
        assertThatThrownBy(() -> store.head("nothing"))
                .isInstanceOf(ObjectStoreException.NotFound.class)
                .hasMessageContaining("nothing")
                .hasMessageContaining(store.bucket());
    }

    @Test
    void find_key_showsWhatHeadShowsOrNothing() throws Exception {
        put("object", 1);

        assertThat(store.find("object")).isEqualTo(store.head("object"));
        assertThat(store.find("nothing")).isNull();
    }

    @Test
    void list_object_showsWhatHeadShows() throws Exception {
        put("object", 42);

        StoredObject listed = store.list(ListRequest.of("", "")).objects().getFirst();

        StoredObject head = store.head("object");
        assertThat(listed.version().etag()).isEqualTo(head.version().etag());
        assertThat(listed.version().size()).isEqualTo(42);
        assertThat(listed.storageClass()).isEqualTo(head.storageClass());
        assertThat(listed.version().lastModified()).isEqualTo(head.version().lastModified());
    }

    @Test
    void list_emptyBucket_isOneEmptyPage() throws Exception {
        assertThat(store.list(ListRequest.of("", "/"))).isEqualTo(new ListPage(List.of(), List.of(), null));
    }

    @Test
    void list_noDelimiter_isFlatAndInByteOrder() throws Exception {
        List<String> keys = List.of("a-b", "a/b", "a/c/d", "a0", "Ä", "ﬀ", "𝄞", "~");
        for (String key : keys) {
            put(key, 1);
        }

        assertThat(listAll(ListRequest.of("", ""))).containsExactlyElementsOf(inByteOrder(keys));
    }

    @Test
    void list_delimiter_rollsUpWhatLiesBelow() throws Exception {
        putAll("dir/a", "dir/b/1", "dir/b/2", "dir/c/1", "dir/d", "dirx", "other/x");

        ListPage page = store.list(ListRequest.of("dir/", "/"));

        assertThat(keys(page)).containsExactly("dir/a", "dir/d");
        assertThat(page.commonPrefixes()).containsExactly("dir/b/", "dir/c/");
        assertThat(page.nextToken()).isNull();
    }

    @Test
    void list_prefixWithinAName_findsAllThatBeginWithIt() throws Exception {
        putAll("dir/aa", "dir/ab/x", "dir/b");

        ListPage page = store.list(ListRequest.of("dir/a", "/"));

        assertThat(keys(page)).containsExactly("dir/aa");
        assertThat(page.commonPrefixes()).containsExactly("dir/ab/");
    }

    @Test
    void list_directoryMarker_isAnObjectWithinItsOwnPrefix() throws Exception {
        bucket.put("dir/", new byte[0]);
        putAll("dir/a");

        assertThat(store.list(ListRequest.of("", "/")).commonPrefixes()).containsExactly("dir/");
        assertThat(keys(store.list(ListRequest.of("dir/", "/")))).containsExactly("dir/", "dir/a");
    }

    @Test
    void list_fileAndDirectoryOfOneName_showsBoth() throws Exception {
        assumeThat(holdsFileAndDirectoryOfOneName()).isTrue();
        putAll("name", "name/below");

        ListPage page = store.list(ListRequest.of("", "/"));

        assertThat(keys(page)).containsExactly("name");
        assertThat(page.commonPrefixes()).containsExactly("name/");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 1000})
    void list_inPages_showsEachItemOnce(int maxKeys) throws Exception {
        putAll("a", "b/1", "b/2", "c", "d/1", "d/2", "e");
        ListRequest request = new ListRequest("", "/", null, null, maxKeys);

        assertThat(listAll(request)).containsExactly("a", "b/", "c", "d/", "e");
    }

    @Test
    void list_moreThanOneFullPage_goesOnAtTheToken() throws Exception {
        List<String> keys =
                IntStream.range(0, 25).mapToObj("key %02d"::formatted).toList();
        putAll(keys.toArray(String[]::new));
        ListRequest request = new ListRequest("key ", "", null, null, 10);

        ListPage first = store.list(request);

        assertThat(first.objects()).hasSize(10);
        assertThat(first.nextToken()).isNotNull();
        assertThat(listAll(request)).containsExactlyElementsOf(keys);
    }

    @Test
    void list_startAfterKey_showsWhatComesAfter() throws Exception {
        putAll("a", "b", "b-c/d", "c", "d");

        assertThat(listAll(new ListRequest("", "", "b", null, 2))).containsExactly("b-c/d", "c", "d");
        assertThat(listAll(new ListRequest("", "", "bb", null, 1000))).containsExactly("c", "d");
    }

    @Test
    void list_startAfterOutsideThePrefix_comparesWholeKeys() throws Exception {
        putAll("dir/a", "dir/b");

        assertThat(listAll(new ListRequest("dir/", "", "a", null, 1000))).containsExactly("dir/a", "dir/b");
        assertThat(listAll(new ListRequest("dir/", "", "e", null, 1000))).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("strangeKeys")
    void strangeKey_heldByTheServer_isFoundReadAndListed(String key) throws Exception {
        assumeThat(keysNotHeld()).doesNotContain(key);
        byte[] content = key.endsWith("/") ? new byte[0] : key.getBytes(UTF_8);
        bucket.put(key, content);

        assertThat(listAll(ListRequest.of("", ""))).containsExactly(key);
        assertThat(listAll(ListRequest.of(key, ""))).containsExactly(key);
        assertThat(store.head(key).version().key()).isEqualTo(key);
        if (content.length > 0) {
            assertThat(get(key, 0, content.length)).isEqualTo(content);
        }
    }

    static Stream<String> strangeKeys() {
        return Stream.of(
                "with space",
                " leading and trailing ",
                "a+b",
                "100%",
                "a%2Fb%20c",
                "ünïcødé/日本語/🚀",
                "a//b",
                "/leading",
                "//",
                "trailing/",
                "./a",
                "a/../b",
                "question?mark=1&and#hash",
                "quotes\"'`<>&amp;",
                "back\\slash",
                "semi;colon:at@dollar$(paren)[bracket]{brace}|^~!*,=",
                "tab\tnew\nline\rreturn",
                "control\u0001character",
                "del\u007f",
                "not in XML \ufffe");
    }

    /** Writes as another client would. */
    protected final byte[] put(String key, int size) throws Exception {
        byte[] content = new byte[size];
        new Random(key.hashCode()).nextBytes(content);
        bucket.put(key, content);
        return content;
    }

    private void putAll(String... keys) throws Exception {
        for (String key : keys) {
            put(key, 1);
        }
    }

    private byte[] get(String key, long offset, int length) throws Exception {
        return get(store.head(key).version(), offset, length);
    }

    protected final byte[] get(ObjectVersion version, long offset, int length) throws Exception {
        CollectingSink sink = new CollectingSink(length);
        store.get(version, new ByteRange(offset, length), sink);
        return sink.bytes();
    }

    private List<String> listAll(ListRequest request) throws Exception {
        List<String> items = new ArrayList<>();
        for (@Nullable ListRequest at = request; at != null; ) {
            ListPage page = store.list(at);
            assertThat(page.objects().size() + page.commonPrefixes().size()).isLessThanOrEqualTo(request.maxKeys());
            items.addAll(inByteOrder(Stream.concat(keys(page).stream(), page.commonPrefixes().stream())
                    .toList()));
            at = page.nextToken() == null ? null : at.next(page.nextToken());
        }
        return items;
    }

    private static List<String> keys(ListPage page) {
        return page.objects().stream().map(object -> object.version().key()).toList();
    }

    private static List<String> inByteOrder(List<String> keys) {
        Comparator<String> order = (a, b) -> Arrays.compareUnsigned(a.getBytes(UTF_8), b.getBytes(UTF_8));
        return keys.stream().sorted(order).toList();
    }
}
