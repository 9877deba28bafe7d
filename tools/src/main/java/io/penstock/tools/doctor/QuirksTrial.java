package io.penstock.tools.doctor;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.ZeroBody;
import io.penstock.objectstore.s3.S3Config.Checksums;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.UploadChecksums;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import io.penstock.tools.doctor.Quirks.Upload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tries what servers do differently from S3. Confined to one thread. */
final class QuirksTrial {
    private static final Logger LOG = LoggerFactory.getLogger(QuirksTrial.class);

    /** No object has this ETag: no content with this MD5 is known. */
    private static final String NEVER_MET_ETAG = "\"00000000000000000000000000000000\"";

    /** Characters that a server or a signature may encode differently. */
    private static final String SPECIAL = "/a b+c%25&'é";

    private final ObjectStore store;
    private final Server server;
    private final Integrity set;
    private final String prefix;
    private final String key;
    private final List<StoredObject> objects;

    /** Requests to a server other than those of a mount. */
    interface Server {
        /** Connects to the same bucket, with bodies sent differently. */
        ObjectStore connect(Integrity integrity) throws ObjectStoreException, InterruptedException;

        /** What the server was found to lack. */
        Set<String> gaps();

        /** Whether conditions are checked, by kind of request. */
        Map<String, Boolean> conditions() throws ObjectStoreException, InterruptedException;
    }

    /**
     * @param set how bodies are sent according to the settings
     * @param prefix the prefix of all keys used
     * @param key the key of temporary objects
     * @param objects some objects with the prefix
     */
    QuirksTrial(
            ObjectStore store, Server server, Integrity set, String prefix, String key, List<StoredObject> objects) {
        this.store = store;
        this.server = server;
        this.set = set;
        this.prefix = prefix;
        this.key = key;
        this.objects = objects;
    }

    Quirks.Facts run(boolean write) throws ObjectStoreException, InterruptedException {
        Upload upload = write ? upload() : null;
        boolean mayWrite = upload instanceof Upload.AsSet;
        return new Quirks.Facts(
                ifMatchOnGet(),
                startAfter(),
                mayWrite ? namesKept() : null,
                mayWrite ? unequalParts() : null,
                upload,
                mayWrite ? gaps() : Set.of(),
                mayWrite ? server.conditions() : Map.of());
    }

    private @Nullable Boolean ifMatchOnGet() throws ObjectStoreException, InterruptedException {
        Optional<ObjectVersion> there = objects.stream()
                .filter(Rights.Trial::isReadable)
                .map(StoredObject::version)
                .findFirst();
        if (there.isEmpty()) {
            return null;
        }
        ObjectVersion other = new ObjectVersion(
                there.get().key(),
                NEVER_MET_ETAG,
                there.get().size(),
                there.get().lastModified());
        try {
            store.get(other, new ByteRange(0, 1), new Rights.DiscardingSink());
            return false;
        } catch (ObjectStoreException.PreconditionFailed e) {
            return true;
        } catch (ObjectStoreException.Corrupt e) {
            return false; // the response is of the existing version
        } catch (ObjectStoreException.AccessDenied e) {
            return null;
        }
    }

    private @Nullable Boolean startAfter() throws ObjectStoreException, InterruptedException {
        boolean isOrdered = !store.bucket().endsWith("--x-s3"); // a directory bucket, which lists in no order
        if (objects.size() < 2 || !isOrdered) {
            return null;
        }
        String first = objects.getFirst().version().key();
        List<StoredObject> after =
                store.list(new ListRequest(prefix, "", first, null, 1)).objects();
        return after.isEmpty() || KeyOrder.compare(after.getFirst().version().key(), first) > 0;
    }

    /** Copies, and deletes in batches, as edits and renames do: that shows the store what the server lacks. */
    private Set<String> gaps() throws ObjectStoreException, InterruptedException {
        List<String> keys = List.of(key, key + "-copy", key + "-part");
        MultipartUpload upload = store.createUpload(keys.getLast());
        try {
            ObjectVersion original = store.put(key, new ZeroBody(1), WriteCondition.ALWAYS);
            ObjectVersion copy = store.copy(original, keys.get(1), WriteCondition.ALWAYS);
            UploadedPart _ = store.copyPart(upload, 1, original, new ByteRange(0, 1));
            List<ObjectVersion> _ = store.deleteAll(List.of(original, copy));
        } catch (IOException e) {
            throw noFile(e);
        } catch (ObjectStoreException.Refused | ObjectStoreException.Corrupt e) {
            LOG.debug("{} cannot copy such objects", store.bucket(), e);
        } finally {
            store.abort(upload);
            for (String each : keys) {
                store.delete(each);
            }
        }
        return server.gaps();
    }

    private Boolean namesKept() throws ObjectStoreException, InterruptedException {
        String special = key + SPECIAL;
        send(store, special);
        try {
            return store.list(ListRequest.of(key, "")).objects().stream()
                    .anyMatch(object -> object.version().key().equals(special));
        } finally {
            store.delete(special);
        }
    }

    private Boolean unequalParts() throws ObjectStoreException, InterruptedException {
        MultipartUpload upload = store.createUpload(key);
        boolean isComplete = false;
        try {
            List<UploadedPart> parts = new ArrayList<>();
            for (long size : List.of(UploadedPart.MIN_SIZE, UploadedPart.MIN_SIZE + (1 << 20), 1L)) {
                parts.add(store.uploadPart(upload, parts.size() + 1, new ZeroBody(size)));
            }
            store.complete(upload, parts, WriteCondition.ALWAYS);
            isComplete = true;
            return true;
        } catch (IOException e) {
            throw noFile(e);
        } catch (ObjectStoreException.Refused e) {
            return false;
        } finally {
            if (isComplete) {
                store.delete(key);
            } else {
                store.abort(upload);
            }
        }
    }

    /** Null if the credentials do not allow writes, which the rights show. */
    private @Nullable Upload upload() throws InterruptedException, ObjectStoreException {
        try {
            sendAndRemove(store);
            return new Upload.AsSet();
        } catch (ObjectStoreException.Refused | ObjectStoreException.Corrupt e) {
            String refusal = String.valueOf(e.getMessage());
            for (Integrity other : others()) {
                if (isTaken(other)) {
                    return new Upload.Otherwise(refusal, settings(other));
                }
            }
            return new Upload.Refused(refusal);
        } catch (ObjectStoreException.AccessDenied e) {
            return null;
        }
    }

    /** The cheapest ones first. */
    private List<Integrity> others() {
        return List.of(
                new Integrity(set.checksums(), UploadChecksums.MD5, set.signedPayloads()),
                new Integrity(Checksums.REQUIRED, UploadChecksums.MD5, set.signedPayloads()),
                new Integrity(Checksums.REQUIRED, UploadChecksums.NONE, set.signedPayloads()),
                new Integrity(set.checksums(), set.uploadChecksums(), true),
                new Integrity(Checksums.REQUIRED, UploadChecksums.MD5, true),
                new Integrity(Checksums.REQUIRED, UploadChecksums.NONE, true));
    }

    private boolean isTaken(Integrity integrity) throws InterruptedException {
        try (ObjectStore other = server.connect(integrity)) {
            sendAndRemove(other);
            return true;
        } catch (ObjectStoreException e) {
            return false;
        }
    }

    private String settings(Integrity other) {
        List<String> different = new ArrayList<>();
        if (other.checksums() != set.checksums()) {
            different.add(Settings.CHECKSUMS + " to " + word(other.checksums()));
        }
        if (other.uploadChecksums() != set.uploadChecksums()) {
            different.add(WriteSettings.CHECKSUMS + " to " + word(other.uploadChecksums()));
        }
        if (other.signedPayloads() != set.signedPayloads()) {
            different.add(WriteSettings.SIGNED_BODIES + " to true");
        }
        return String.join(" and ", different);
    }

    private static String word(Enum<?> choice) {
        return choice.name().toLowerCase(Locale.ROOT);
    }

    private void sendAndRemove(ObjectStore to) throws ObjectStoreException, InterruptedException {
        send(to, key);
        store.delete(key);
    }

    private static void send(ObjectStore to, String name) throws ObjectStoreException, InterruptedException {
        try {
            to.put(name, new ZeroBody(1), WriteCondition.ALWAYS);
        } catch (IOException e) {
            throw noFile(e);
        }
    }

    private static IllegalStateException noFile(IOException e) {
        return new IllegalStateException("unexpected I/O error of an in-memory body", e);
    }
}
