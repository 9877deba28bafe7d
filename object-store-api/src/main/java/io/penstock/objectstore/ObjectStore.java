package io.penstock.objectstore;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * One bucket of an object store.
 *
 * <p>Every call blocks until its response arrives and is meant for a virtual thread: a thousand waiting calls are
 * cheap. Implementations are safe for use by any number of threads and hold no lock while they wait. They retry within
 * the thread's {@link Deadline}, or within one that {@link #retries} creates for this call. An interrupt ends a call
 * early with {@link InterruptedException}.
 *
 * <p>A PUT, the creation of an upload, and a copy carry the {@link OperationId} in their properties, or a new one. If
 * the response to an attempt was lost and the next is refused, the object is the call's own if it has that id. A call
 * ends in one of three ways: with the new version; with a refusal, which means that it has changed nothing; or with a
 * failure that {@linkplain ObjectStoreException#mayBeDone may still take effect}, for example after an interrupt.
 *
 * <p>The store checks a {@link WriteCondition} itself if it honours conditions on that kind of request. Otherwise a
 * HEAD before each attempt checks it, which is logged once for each kind. A write by another client between the HEAD
 * and the attempt is then lost.
 */
public interface ObjectStore extends AutoCloseable {
    /** The maximum number of objects in one DeleteObjects request. */
    int MOST_DELETED = 1_000;

    /** The bucket's name, for messages and cache keys. */
    String bucket();

    /** Creates the deadline of a call that makes several requests. */
    default RetryPolicy retries() {
        return RetryPolicy.DEFAULT;
    }

    /**
     * Reads a range of exactly this version (If-Match on its ETag) into the sink, in order, as the bytes arrive. A
     * connection that breaks midway is resumed after the last byte received. The sink never sees a byte twice, and has
     * seen all of them when this method returns.
     *
     * @param version the version to read; the range must lie within its size
     * @throws ObjectStoreException.PreconditionFailed if the object is no longer this version
     * @throws ObjectStoreException.NotFound if the object is gone
     */
    void get(ObjectVersion version, ByteRange range, BodySink sink) throws ObjectStoreException, InterruptedException;

    /**
     * The current version of the object with exactly this key.
     *
     * @throws ObjectStoreException.NotFound if there is none
     */
    StoredObject head(String key) throws ObjectStoreException, InterruptedException;

    /** The current version of the object with exactly this key; null if there is none. */
    default @Nullable StoredObject find(String key) throws ObjectStoreException, InterruptedException {
        try {
            return head(key);
        } catch (ObjectStoreException.NotFound _) {
            return null;
        }
    }

    /**
     * The current version of the object with exactly this key, and its headers: one HEAD.
     *
     * @throws ObjectStoreException.NotFound if there is none
     */
    ObjectDescription describe(String key) throws ObjectStoreException, InterruptedException;

    /**
     * The version of the object with exactly this key if this operation made it; null if it did not or if there is
     * none. One HEAD.
     */
    default @Nullable ObjectVersion find(String key, OperationId operation)
            throws ObjectStoreException, InterruptedException {
        try {
            return describe(key).madeBy(operation);
        } catch (ObjectStoreException.NotFound _) {
            return null;
        }
    }

    /**
     * The checksums that the store keeps of exactly this version, by S3's names of the algorithms, such as {@code
     * CRC32C}. They are in Base64. A checksum of the parts' checksums ends in the number of parts ({@code gPuZzQ==-3}).
     * One HEAD, for which S3 requires the right to decrypt the object.
     *
     * @throws ObjectStoreException.PreconditionFailed if the object has been replaced
     * @throws ObjectStoreException.NotFound if there is none
     */
    SortedMap<String, String> checksums(ObjectVersion version) throws ObjectStoreException, InterruptedException;

    /**
     * The properties of the object with exactly this key: a HEAD, and a request for its tags if it has any. Tags that
     * the credentials may not read are omitted, which is logged once.
     *
     * @throws ObjectStoreException.NotFound if there is no such object
     */
    ObjectProperties properties(String key) throws ObjectStoreException, InterruptedException;

    /** One page of a listing (ListObjectsV2). An empty page with a next token is possible and must be followed. */
    ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException;

    /**
     * Stores a whole object. Small files are written this way.
     *
     * @param properties of the new object; they replace those of an earlier object with this key
     * @return the new version. Its time is that of the response, which differs from the store's own by at most the
     *     duration of the call
     * @throws ObjectStoreException.PreconditionFailed if the store reports that the condition does not hold, or if an
     *     earlier attempt of this call succeeded and another client has written since
     * @throws ObjectStoreException.Corrupt if the checksum of the received bytes differs from that of the sent bytes
     * @throws IOException if the body cannot be read: the body's own exception, not a failure of the store
     */
    ObjectVersion put(String key, UploadBody body, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException;

    /** Stores a whole object with the properties of a new object of this name. */
    default ObjectVersion put(String key, UploadBody body, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        return put(key, body, ObjectProperties.ofNew(key), condition);
    }

    /**
     * Starts a multipart upload. The caller must complete or abort it: its parts cost storage until then.
     *
     * @param properties of the object, once it is completed
     */
    MultipartUpload createUpload(String key, ObjectProperties properties)
            throws ObjectStoreException, InterruptedException;

    /** Starts a multipart upload with the properties of a new object of this name. */
    default MultipartUpload createUpload(String key) throws ObjectStoreException, InterruptedException {
        return createUpload(key, ObjectProperties.ofNew(key));
    }

    /**
     * Sends a part. It replaces an earlier part with this number.
     *
     * @throws ObjectStoreException.NotFound if the upload is gone
     * @throws ObjectStoreException.Corrupt if the checksum of the received bytes differs from that of the sent bytes
     * @throws IOException if the body cannot be read: the body's own exception, not a failure of the store
     */
    UploadedPart uploadPart(MultipartUpload upload, int number, UploadBody body)
            throws ObjectStoreException, IOException, InterruptedException;

    /**
     * Copies a range of exactly this version into a part, within the store.
     *
     * @param range at most {@link UploadedPart#MAX_SIZE}
     * @throws ObjectStoreException.PreconditionFailed if the source is no longer this version, or is gone
     * @throws ObjectStoreException.NotFound if the upload is gone
     */
    UploadedPart copyPart(MultipartUpload upload, int number, ObjectVersion source, ByteRange range)
            throws ObjectStoreException, InterruptedException;

    /**
     * Makes the object visible. If the response to an attempt was lost, the object shows that the attempt succeeded if
     * it carries the upload's operation. So does it for an earlier call, if the store reports that the upload is gone.
     *
     * @param parts in the order of their numbers, at least one
     * @return the new version; its time is that of the response, as for {@link #put}
     * @throws ObjectStoreException.PreconditionFailed if the condition does not hold; the upload still exists
     * @throws ObjectStoreException.NotFound if the upload is gone and the object is another client's
     */
    ObjectVersion complete(MultipartUpload upload, List<UploadedPart> parts, WriteCondition condition)
            throws ObjectStoreException, InterruptedException;

    /** Aborts an upload and deletes its parts. An upload that is already gone is not an error. */
    void abort(MultipartUpload upload) throws ObjectStoreException, InterruptedException;

    /**
     * The parts of an upload, in the order of their numbers.
     *
     * @throws ObjectStoreException.NotFound if the upload is gone
     */
    List<UploadedPart> parts(MultipartUpload upload) throws ObjectStoreException, InterruptedException;

    /**
     * Copies exactly this version to another key, within the store, whatever its size.
     *
     * @param properties of the copy
     * @param listener notified of the upload that the copy of a large object needs
     * @throws ObjectStoreException.PreconditionFailed if the source is no longer this version or is gone, or the
     *     condition on the target does not hold
     */
    ObjectVersion copy(
            ObjectVersion source,
            String key,
            ObjectProperties properties,
            WriteCondition condition,
            UploadListener listener)
            throws ObjectStoreException, InterruptedException;

    /** Copies without a listener. */
    default ObjectVersion copy(ObjectVersion source, String key, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, InterruptedException {
        return copy(source, key, properties, condition, UploadListener.NOBODY);
    }

    /** Copies with the properties of the source. */
    default ObjectVersion copy(ObjectVersion source, String key, WriteCondition condition)
            throws ObjectStoreException, InterruptedException {
        ObjectProperties properties;
        try {
            properties = properties(source.key());
        } catch (ObjectStoreException.NotFound e) {
            throw new ObjectStoreException.PreconditionFailed(
                    "'" + source.key() + "' cannot be copied: another client has deleted it", e);
        }
        return copy(source, key, properties, condition);
    }

    /**
     * Copies exactly this version, within the store, to a key that is not known to have an object. Keeps headers, user
     * metadata, tags and storage class. One request is enough for most objects. The copy is encrypted as the bucket
     * encrypts new objects. Another client's object at the key stays if the store {@linkplain #checksDuplicates checks}
     * for it. Otherwise it may be replaced: a HEAD for each key would cost as much as the copy, so the caller lists
     * many keys. A copy made by one request has its source's metadata, so it carries no operation id.
     *
     * @param listener notified of the upload that the copy of a large object needs
     * @throws ObjectStoreException.PreconditionFailed if the source is no longer this version or is gone, or the store
     *     reports that there is an object at the key
     * @throws ObjectStoreException.OutcomeUnknown if it reports so after the response to an attempt was lost: the
     *     object at the key may be the copy or another client's
     */
    default ObjectVersion duplicate(StoredObject source, String key, UploadListener listener)
            throws ObjectStoreException, InterruptedException {
        ObjectVersion version = source.version();
        ObjectProperties properties;
        try {
            properties = properties(version.key());
        } catch (ObjectStoreException.NotFound e) {
            throw new ObjectStoreException.PreconditionFailed("'" + version.key() + "' no longer exists", e);
        }
        return copy(version, key, properties, WriteCondition.ABSENT, listener);
    }

    /** Whether the store refuses to {@link #duplicate} to a key that has an object. */
    default boolean checksDuplicates() throws ObjectStoreException, InterruptedException {
        return true;
    }

    /**
     * Deletes the object with this key, whatever its version. An object that is already gone is not an error. An
     * attempt whose response was lost is repeated, unless another client has replaced the object that was written here.
     */
    void delete(String key) throws ObjectStoreException, InterruptedException;

    /**
     * Deletes the object if it is this version, by its ETag. When this returns, the key no longer has this version. A
     * version that is already gone is not an error. Neither is a newer one, even with the same ETag, if an attempt of
     * this call may have deleted this version before.
     *
     * @throws ObjectStoreException.PreconditionFailed if the key has another version, which stays
     */
    void delete(ObjectVersion version) throws ObjectStoreException, InterruptedException;

    /**
     * Deletes each of these objects that is still this version, as {@link #delete(ObjectVersion)} does, in as few
     * requests as the store allows.
     *
     * @param versions at most {@link #MOST_DELETED} versions of different keys
     * @return the versions whose key has another version, which stays
     * @throws ObjectStoreException if some could not be deleted; others may have been
     */
    default List<ObjectVersion> deleteAll(List<ObjectVersion> versions)
            throws ObjectStoreException, InterruptedException {
        List<ObjectVersion> others = new ArrayList<>();
        for (ObjectVersion version : versions) {
            try {
                delete(version);
            } catch (ObjectStoreException.PreconditionFailed _) {
                others.add(version);
            }
        }
        return others;
    }

    /** Ends requests in flight with an error and frees the connections. */
    @Override
    void close();
}
