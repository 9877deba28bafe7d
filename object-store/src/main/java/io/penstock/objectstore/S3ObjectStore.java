package io.penstock.objectstore;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Conditions.Kind;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * A bucket on S3 or a compatible server, by the AWS SDK's synchronous client: each call works on its caller's thread.
 * An interrupt ends a call at once on a virtual thread, whose blocked socket it closes; on a platform thread only once
 * the socket answers or its timeout passes. Safe for use by any number of threads.
 */
public final class S3ObjectStore implements ObjectStore {
    private final Requests requests;
    private final Reads reads;
    private final Conditions conditions;
    private final Puts puts;
    private final MultipartUploads uploads;
    private final Copies copies;

    /**
     * Closes client, HTTP client and direct requests when it is closed.
     *
     * @param direct null if all requests are made by the SDK's client
     * @param prefix of the keys that are going to be used
     */
    S3ObjectStore(
            S3Config config, S3Client client, SdkHttpClient http, @Nullable DirectRequests direct, String prefix) {
        requests = new Requests(config, client, http, direct);
        reads = new Reads(requests);
        puts = new Puts(requests, reads);
        uploads = new MultipartUploads(requests, reads);
        copies = new Copies(requests, reads, uploads);
        conditions = new Conditions(requests, puts, uploads, copies, prefix);
    }

    /** As {@link #connect(S3Config, String)}, for the whole bucket. */
    public static S3ObjectStore connect(S3Config config) throws ObjectStoreException, InterruptedException {
        return connect(config, "");
    }

    /**
     * Makes sure that the bucket can be used: that there are credentials, that the server answers, that the bucket
     * exists and lies in the configured region (or finds its region), and that it may be listed.
     *
     * @param prefix what is going to be read, for credentials that allow only a part of the bucket; empty for all
     * @throws ObjectStoreException whose message tells the user what to do
     */
    public static S3ObjectStore connect(S3Config config, String prefix)
            throws ObjectStoreException, InterruptedException {
        return new S3Connector(config).connect(prefix);
    }

    /**
     * Tells users of the store apart: the id of the access key, which temporary credentials have another of each time;
     * empty for anonymous access.
     *
     * @throws ObjectStoreException.AccessDenied if there are no credentials
     */
    public static String identity(S3Config config) throws ObjectStoreException {
        return new S3Connector(config).identity();
    }

    @Override
    public String bucket() {
        return requests.bucket();
    }

    @Override
    public RetryPolicy retries() {
        return requests.config.retries();
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink)
            throws ObjectStoreException, InterruptedException {
        reading(() -> {
            reads.get(version, range, sink);
            return null;
        });
    }

    @Override
    public StoredObject head(String key) throws ObjectStoreException, InterruptedException {
        return reading(() -> reads.head(key));
    }

    @Override
    public ObjectProperties properties(String key) throws ObjectStoreException, InterruptedException {
        return reading(() -> reads.properties(key));
    }

    @Override
    public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
        return reading(() -> reads.list(request));
    }

    /** A listing that is not tried again, to see whether there may be any. */
    void tryList(ListRequest request) throws ObjectStoreException, InterruptedException {
        RetryPolicy.ONE_ATTEMPT.forReading().call(() -> reads.list(request));
    }

    @Override
    public ObjectVersion put(String key, UploadBody body, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        return writing(() -> reads.asShown(conditions.<ObjectVersion, IOException>make(
                Kind.PUT, condition, precondition -> puts.put(key, body, properties, precondition))));
    }

    @Override
    public MultipartUpload createUpload(String key, ObjectProperties properties)
            throws ObjectStoreException, InterruptedException {
        return writing(() -> uploads.create(key, properties));
    }

    @Override
    public UploadedPart uploadPart(MultipartUpload upload, int number, UploadBody body)
            throws ObjectStoreException, IOException, InterruptedException {
        return writing(() -> uploads.send(upload, number, body));
    }

    @Override
    public UploadedPart copyPart(MultipartUpload upload, int number, ObjectVersion source, ByteRange range)
            throws ObjectStoreException, InterruptedException {
        return writing(() -> uploads.copy(upload, number, source, range));
    }

    @Override
    public ObjectVersion complete(MultipartUpload upload, List<UploadedPart> parts, WriteCondition condition)
            throws ObjectStoreException, InterruptedException {
        return writing(() -> reads.asShown(conditions.make(
                Kind.COMPLETE, condition, precondition -> uploads.complete(upload, parts, precondition))));
    }

    @Override
    public void abort(MultipartUpload upload) throws ObjectStoreException, InterruptedException {
        writing(() -> {
            uploads.abort(upload);
            return null;
        });
    }

    @Override
    public List<UploadedPart> parts(MultipartUpload upload) throws ObjectStoreException, InterruptedException {
        return reading(() -> uploads.parts(upload));
    }

    @Override
    public ObjectVersion copy(
            ObjectVersion source,
            String key,
            ObjectProperties properties,
            WriteCondition condition,
            UploadListener listener)
            throws ObjectStoreException, InterruptedException {
        return writing(() -> Copies.isAtOnce(source)
                ? reads.asShown(conditions.make(
                        Kind.COPY, condition, precondition -> copies.copyAtOnce(source, key, properties, precondition)))
                : copies.copyInParts(
                        source, key, properties, (upload, parts) -> complete(upload, parts, condition), listener));
    }

    @Override
    public void delete(String key) throws ObjectStoreException, InterruptedException {
        writing(() -> {
            puts.delete(key, Precondition.NONE);
            return null;
        });
    }

    @Override
    public void delete(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        writing(() -> {
            reads.checkIsThere(version);
            return conditions.make(Kind.DELETE, new WriteCondition.Unchanged(version.etag()), precondition -> {
                puts.delete(version.key(), precondition);
                return true;
            });
        });
    }

    private <T extends @Nullable Object, E extends Exception> T reading(Deadline.Work<T, E> call)
            throws ObjectStoreException, InterruptedException, E {
        return within(retries().forReading(), call);
    }

    private <T extends @Nullable Object, E extends Exception> T writing(Deadline.Work<T, E> call)
            throws ObjectStoreException, InterruptedException, E {
        return within(retries().forWriting(), call);
    }

    /** Makes the call within the caller's deadline, or else its own. */
    private <T extends @Nullable Object, E extends Exception> T within(Deadline own, Deadline.Work<T, E> call)
            throws ObjectStoreException, InterruptedException, E {
        return own.callUnlessWithin(() -> {
            requests.begin();
            return call.run();
        });
    }

    @Override
    public void close() {
        requests.close();
    }
}
