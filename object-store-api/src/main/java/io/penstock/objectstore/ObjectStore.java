package io.penstock.objectstore;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import java.io.IOException;
import java.util.List;

/**
 * One bucket of an object store.
 *
 * <p>Every call blocks until its answer is there and is meant to be made on a virtual thread: a thousand waiting calls
 * are cheap. Implementations are safe for use by any number of threads, repeat what is worth repeating within the
 * thread's {@link Deadline}, else within one that {@link #retries} makes for this call, and hold no lock while they wait.
 * An interrupt ends a call early with {@link InterruptedException}.
 *
 * <p>A {@link WriteCondition} is kept by the store where it honours conditions on that kind of request. Where it does not,
 * which is logged once a kind, it is compared by a HEAD before each attempt, and what somebody else writes between the two
 * is lost.
 */
public interface ObjectStore extends AutoCloseable {
    /** The bucket's name, for messages and cache keys. */
    String bucket();

    /** What makes the deadline of a call that comes to several requests. */
    default RetryPolicy retries() {
        return RetryPolicy.DEFAULT;
    }

    /**
     * Reads a range of exactly this version (If-Match on its ETag) into the sink, in order, as the bytes arrive. A
     * connection that breaks midway is resumed after the last byte received; the sink never sees a byte twice, and
     * returns from this method mean that it saw all of them.
     *
     * @param version what to read; the range must lie within its size
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

    /**
     * What the object with exactly this key is beside its bytes: a HEAD, and a request for its tags if it has any. Tags
     * that may not be read are left out, which is logged once.
     *
     * @throws ObjectStoreException.NotFound if there is none
     */
    ObjectProperties properties(String key) throws ObjectStoreException, InterruptedException;

    /** One page of a listing (ListObjectsV2). An empty page with a next token is possible and must be followed. */
    ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException;

    /**
     * Stores a whole object: what small files are written with.
     *
     * @param properties that it has from now on, in place of all that one of this key had
     * @return the version that is there now. Its time is that of the answer, which the store's own may differ from by
     *     the duration of the call
     * @throws ObjectStoreException.PreconditionFailed if the condition does not hold, by the store or because an earlier
     *     attempt of this very call has succeeded and another writer came in between
     * @throws ObjectStoreException.Corrupt if what arrived is not what was sent, by its checksum
     * @throws IOException if the body cannot be read: what it threw, and no failure of the store
     */
    ObjectVersion put(String key, UploadBody body, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException;

    /** The same with the properties of a new object of this name. */
    default ObjectVersion put(String key, UploadBody body, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        return put(key, body, ObjectProperties.ofNew(key), condition);
    }

    /**
     * Starts a multipart upload; whoever does must complete or abort it, or it costs its bytes for ever.
     *
     * @param properties that the object has once it is completed
     */
    MultipartUpload createUpload(String key, ObjectProperties properties)
            throws ObjectStoreException, InterruptedException;

    /** The same with the properties of a new object of this name. */
    default MultipartUpload createUpload(String key) throws ObjectStoreException, InterruptedException {
        return createUpload(key, ObjectProperties.ofNew(key));
    }

    /**
     * Sends a part, in place of one that has this number already.
     *
     * @throws ObjectStoreException.NotFound if the upload is gone
     * @throws ObjectStoreException.Corrupt if what arrived is not what was sent, by its checksum
     * @throws IOException if the body cannot be read: what it threw, and no failure of the store
     */
    UploadedPart uploadPart(MultipartUpload upload, int number, UploadBody body)
            throws ObjectStoreException, IOException, InterruptedException;

    /**
     * Makes a part of a range of exactly this version, copied by the store itself.
     *
     * @param range at most {@link UploadedPart#MAX_SIZE}
     * @throws ObjectStoreException.PreconditionFailed if the source is no longer this version, or is gone
     * @throws ObjectStoreException.NotFound if the upload is gone
     */
    UploadedPart copyPart(MultipartUpload upload, int number, ObjectVersion source, ByteRange range)
            throws ObjectStoreException, InterruptedException;

    /**
     * Makes the object visible. An attempt whose answer was lost, an earlier call's too, is recognised as done: the
     * upload is gone and the object is what its parts make.
     *
     * @param parts in the order of their numbers, at least one
     * @return the version that is there now, its time as {@link #put} has it
     * @throws ObjectStoreException.PreconditionFailed if the condition does not hold; the upload is still there
     * @throws ObjectStoreException.NotFound if the upload is gone and the object is not what its parts make
     */
    ObjectVersion complete(MultipartUpload upload, List<UploadedPart> parts, WriteCondition condition)
            throws ObjectStoreException, InterruptedException;

    /** Gives an upload up with its parts; one that is gone already is no error. */
    void abort(MultipartUpload upload) throws ObjectStoreException, InterruptedException;

    /**
     * The parts that an upload has, in the order of their numbers.
     *
     * @throws ObjectStoreException.NotFound if the upload is gone
     */
    List<UploadedPart> parts(MultipartUpload upload) throws ObjectStoreException, InterruptedException;

    /**
     * Copies exactly this version to another key, within the store, whatever its size. An attempt whose answer was lost is recognised as done where the
     * source's ETag is the MD5 of its content.
     *
     * @param properties that the copy has
     * @param listener told of the upload that a copy of a large object takes
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

    /** The same where nobody has to know of uploads. */
    default ObjectVersion copy(ObjectVersion source, String key, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, InterruptedException {
        return copy(source, key, properties, condition, new UploadListener() {
            @Override
            public void began(MultipartUpload upload) {}

            @Override
            public void ended(MultipartUpload upload) {}
        });
    }

    /** The same with the properties of the source. */
    default ObjectVersion copy(ObjectVersion source, String key, WriteCondition condition)
            throws ObjectStoreException, InterruptedException {
        ObjectProperties properties;
        try {
            properties = properties(source.key());
        } catch (ObjectStoreException.NotFound e) {
            throw new ObjectStoreException.PreconditionFailed(
                    "'" + source.key() + "' is to be copied and was deleted by somebody else meanwhile", e);
        }
        return copy(source, key, properties, condition);
    }

    /**
     * Removes whatever object has the key; one that is gone already is no error. An attempt whose answer was lost is
     * repeated, and may then remove what somebody else has put there since: {@link #delete(ObjectVersion)} does not.
     */
    void delete(String key) throws ObjectStoreException, InterruptedException;

    /**
     * Removes the object if it is this version, by its ETag. Once this has returned the key has this version no more: one
     * that was gone already is no error, nor is another that somebody has put there after an attempt of this call may have
     * removed this one.
     *
     * @throws ObjectStoreException.PreconditionFailed if another version is there, which stays
     */
    void delete(ObjectVersion version) throws ObjectStoreException, InterruptedException;

    /** Ends requests in flight with an error and frees the connections. */
    @Override
    void close();
}
