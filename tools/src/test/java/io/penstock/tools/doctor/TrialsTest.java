package io.penstock.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.objectstore.Call;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.s3.S3Config.Checksums;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.UploadChecksums;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.tools.doctor.Quirks.Upload;
import io.penstock.tools.doctor.Rights.Right;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The requests that trials send to a store, and what they leave in it. */
class TrialsTest {
    private static final String KEY = "a/.penstock/doctor-1";

    private final InMemoryObjectStore memory = new InMemoryObjectStore();
    private final FaultyObjectStore store = new FaultyObjectStore(memory);
    private List<StoredObject> objects = List.of();

    @BeforeEach
    void fill() throws Exception {
        memory.put("a/first", "content");
        memory.put("a/second", "content");
        objects = memory.list(ListRequest.of("", "")).objects();
    }

    private Rights.Facts rights(boolean write) throws InterruptedException {
        return new Rights.Trial(store, KEY, objects).run(write);
    }

    /** A server that honours conditions, and accepts uploads with this checksum only. */
    private record Server(UploadChecksums taken) implements QuirksTrial.Server {
        @Override
        public ObjectStore connect(Integrity integrity) {
            FaultyObjectStore connected = new FaultyObjectStore(new InMemoryObjectStore());
            if (integrity.uploadChecksums() != taken) {
                refusePuts(connected);
            }
            return connected;
        }

        @Override
        public Set<String> gaps() {
            return Set.of("UploadPartCopy");
        }

        @Override
        public Map<String, Boolean> conditions() {
            return Map.of("PutObject", true);
        }
    }

    private static void refusePuts(FaultyObjectStore store) {
        store.always(call -> call instanceof Call.Put, Fault.fail(ObjectStoreException.Refused::new));
    }

    private Quirks.Facts quirks(boolean write) throws Exception {
        return quirks(write, UploadChecksums.CRC32C);
    }

    private Quirks.Facts quirks(boolean write, UploadChecksums taken) throws Exception {
        return new QuirksTrial(
                        store,
                        new Server(taken),
                        new Integrity(Checksums.SUPPORTED, UploadChecksums.CRC32C, false),
                        "a/",
                        KEY,
                        objects)
                .run(write);
    }

    private void assertLeft(String... keys) throws Exception {
        assertThat(memory.list(ListRequest.of("", "")).objects())
                .extracting(object -> object.version().key())
                .containsExactly(keys);
        assertThat(memory.openUploads()).isEmpty();
    }

    @Test
    void rights_withoutWrites_onlyReads() throws Exception {
        assertThat(rights(false).granted()).containsExactlyInAnyOrder(Right.LIST, Right.READ);
        assertLeft("a/first", "a/second");
    }

    @Test
    void rights_withWrites_triesAllAndLeavesNothing() throws Exception {
        assertThat(rights(true)).isEqualTo(new Rights.Facts(Set.of(Right.values()), Map.of(), Map.of()));
        assertLeft("a/first", "a/second");
    }

    @Test
    void rights_nothingToRead_readIsUntried() throws Exception {
        objects = List.of();
        assertThat(rights(false)).isEqualTo(new Rights.Facts(Set.of(Right.LIST), Map.of(), Map.of()));
    }

    @Test
    void rights_noWriteAllowed_triesNothingThatDependsOnIt() throws Exception {
        store.always(call -> call instanceof Call.Put, Fault.fail(ObjectStoreException.AccessDenied::new));

        Rights.Facts rights = rights(true);

        assertThat(rights.denied()).containsOnlyKeys(Right.WRITE);
        assertThat(rights.granted()).containsExactlyInAnyOrder(Right.LIST, Right.READ);
    }

    @Test
    void rights_noDeleteAllowed_namesWhatStays() throws Exception {
        store.always(call -> call instanceof Call.Delete, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertThat(rights(true).denied().get(Right.DELETE)).endsWith("; remove the temporary object '" + KEY + "'");
        assertLeft(KEY, "a/first", "a/second");
    }

    @Test
    void rights_storeInTrouble_isNotTakenForAMissingRight() throws Exception {
        store.always(call -> call instanceof Call.Get, Fault.fail(ObjectStoreException.Unavailable::new));

        Rights.Facts rights = rights(false);

        assertThat(rights.denied()).isEmpty();
        assertThat(rights.failed()).containsOnlyKeys(Right.READ);
    }

    @Test
    void quirks_withoutWrites_onlyReads() throws Exception {
        assertThat(quirks(false)).isEqualTo(new Quirks.Facts(true, true, null, null, null, Set.of(), Map.of()));
        assertLeft("a/first", "a/second");
    }

    @Test
    void quirks_withWrites_areThoseOfS3AndLeaveNothing() throws Exception {
        assertThat(quirks(true))
                .isEqualTo(new Quirks.Facts(
                        true,
                        true,
                        true,
                        true,
                        new Upload.AsSet(),
                        Set.of("UploadPartCopy"),
                        Map.of("PutObject", true)));
        assertLeft("a/first", "a/second");
    }

    @Test
    void quirks_ifMatchIgnored_isNoticedByTheDamagedResponse() throws Exception {
        store.always(call -> call instanceof Call.Get, Fault.fail(ObjectStoreException.Corrupt::new));
        assertThat(quirks(false).ifMatchOnGet()).isFalse();
    }

    @Test
    void quirks_unequalPartsRefused_areNoticedAndAborted() throws Exception {
        store.always(call -> call instanceof Call.Complete, Fault.fail(ObjectStoreException.Refused::new));
        assertThat(quirks(true).unequalParts()).isFalse();
        assertLeft("a/first", "a/second");
    }

    @Test
    void quirks_checksumRefused_settingsThatAreTakenAreNamed() throws Exception {
        refusePuts(store);

        assertThat(quirks(true, UploadChecksums.MD5).upload())
                .isInstanceOfSatisfying(
                        Upload.Otherwise.class,
                        other -> assertThat(other.settings()).isEqualTo("write.checksums to md5"));
        assertThat(quirks(true, UploadChecksums.NONE).upload())
                .isInstanceOfSatisfying(
                        Upload.Otherwise.class,
                        other -> assertThat(other.settings())
                                .isEqualTo("s3.checksums to required and write.checksums to none"));
    }
}
