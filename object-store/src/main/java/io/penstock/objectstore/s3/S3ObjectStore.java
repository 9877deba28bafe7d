package io.penstock.objectstore.s3;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.BucketProof;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectDescription;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.UploadListener;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.s3.ConditionalWrites.Kind;
import io.penstock.objectstore.s3.Gaps.Gap;
import io.penstock.objectstore.s3.S3Config.Credentials;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * A bucket on S3 or a compatible server, through the AWS SDK's synchronous client: each call runs on its caller's
 * thread. On a virtual thread an interrupt ends a call immediately, because it closes the blocked socket. On a platform
 * thread it ends the call when the socket gets bytes or its timeout passes. Safe for use by any number of threads.
 */
public final class S3ObjectStore implements ObjectStore {
    private static final Logger LOG = LoggerFactory.getLogger(S3ObjectStore.class);

    private final RequestExecutor requests;
    private final RequestCounters counters;
    private final BucketReader reader;
    private final ConditionalWrites conditionalWrites;
    private final ObjectWriter writer;
    private final MultipartUploads uploads;
    private final ObjectCopier copier;
    private final BatchDeletions deletions;
    private final PresignedProof proof;

    /** Set by the thread that opens it. */
    private volatile boolean foundNothing;

    /**
     * Closes client, HTTP client and direct requests when it is closed.
     *
     * @param direct null if the SDK's client makes all requests
     * @param prefix of the keys that will be used
     */
    S3ObjectStore(
            S3Config config,
            S3Client client,
            SdkHttpClient http,
            @Nullable DirectRequests direct,
            RequestCounters counters,
            PresignedProof proof,
            String prefix) {
        this.proof = proof;
        requests = new RequestExecutor(config, client, http, direct, counters);
        this.counters = counters;
        reader = new BucketReader(requests);
        writer = new ObjectWriter(requests, reader);
        uploads = new MultipartUploads(requests, reader);
        copier = new ObjectCopier(requests, reader, uploads);
        deletions = new BatchDeletions(requests, reader);
        conditionalWrites = new ConditionalWrites(requests, reader, writer, uploads, copier, deletions, prefix);
    }

    void setFoundNothing() {
        foundNothing = true;
    }

    /** Whether there was no object below the prefix when the bucket was opened. */
    public boolean foundNothing() {
        return foundNothing;
    }

    /** Connects as {@link #connect(S3Config, String)} does, for the whole bucket. */
    public static S3ObjectStore connect(S3Config config) throws ObjectStoreException, InterruptedException {
        return connect(config, "");
    }

    /**
     * Connects to a bucket and checks that it can be used: that there are credentials, that the server responds, that
     * the bucket exists and is in the configured region (or finds its region), and that it may be listed.
     *
     * @param prefix of the keys that will be read, for credentials that allow only a part of the bucket; empty for all
     * @throws ObjectStoreException whose message tells the user what to do
     */
    public static S3ObjectStore connect(S3Config config, String prefix)
            throws ObjectStoreException, InterruptedException {
        return new S3Connector(config).connect(prefix);
    }

    /**
     * Distinguishes users of the store: the id of the access key, which changes with each set of temporary credentials;
     * empty for anonymous access.
     *
     * @throws ObjectStoreException.AccessDenied if there are no credentials
     */
    public static String identity(S3Config config) throws ObjectStoreException {
        return new S3Connector(config).identity();
    }

    /**
     * Credentials.
     *
     * @param accessKeyId the access key's id, which is not secret
     * @param source where they were found, in words
     * @param expires when they expire, if that is known
     */
    public record FoundCredentials(String accessKeyId, String source, Optional<Instant> expires) {}

    /**
     * Finds the credentials without a request to the store.
     *
     * @throws ObjectStoreException.AccessDenied if there are none; the message says where they were looked for
     */
    public static FoundCredentials credentials(S3Config config) throws ObjectStoreException {
        return new S3Connector(config).found();
    }

    /**
     * The server's time minus this machine's: positive if this machine's clock is behind. In whole seconds, and
     * inaccurate by the duration of one request. Needs neither credentials nor a bucket.
     *
     * @return empty if the server does not report its time
     * @throws ObjectStoreException if the server does not respond
     */
    public static Optional<Duration> clockOffset(S3Config config) throws ObjectStoreException {
        return new S3Connector(config.withCredentials(new Credentials.Anonymous())).clockOffset();
    }

    /**
     * Whether the store checks conditions, by the request that carries them. Probes each kind that has not been used
     * yet, with temporary objects below the prefix. Omits requests that the store does not support at all.
     */
    public Map<String, Boolean> conditions() throws ObjectStoreException, InterruptedException {
        Map<String, Boolean> honoured = new TreeMap<>();
        for (Kind kind : Kind.values()) {
            try {
                boolean isHonoured = writing(() -> conditionalWrites.isHonoured(kind));
                if (!gaps().contains(kind.operation())) {
                    honoured.put(kind.operation(), isHonoured);
                }
            } catch (ObjectStoreException.Refused | ObjectStoreException.Corrupt e) {
                LOG.debug("{} does not accept {}", bucket(), kind.operation(), e);
            }
        }
        return honoured;
    }

    /** S3's names of requests and headers that the store turned out to lack, and that have an alternative. */
    public Set<String> gaps() {
        return requests.gaps.names();
    }

    /** Proves the right to list this bucket; not for directory buckets, which accept no presigned list requests. */
    public BucketProof proof() {
        return proof;
    }

    @Override
    public String bucket() {
        return requests.bucket();
    }

    @Override
    public RetryPolicy retries() {
        return requests.config.retries();
    }

    public RequestStatistics statistics() {
        return counters.snapshot();
    }

    /** The number of requests in flight: waiting for a connection, sent, or partly received. */
    public long requestsInFlight() {
        return requests.inFlight();
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink)
            throws ObjectStoreException, InterruptedException {
        reading(() -> {
            reader.get(version, range, sink);
            return null;
        });
    }

    @Override
    public StoredObject head(String key) throws ObjectStoreException, InterruptedException {
        return reading(() -> reader.head(key));
    }

    @Override
    public ObjectDescription describe(String key) throws ObjectStoreException, InterruptedException {
        return reading(() -> reader.describe(key));
    }

    @Override
    public SortedMap<String, String> checksums(ObjectVersion version)
            throws ObjectStoreException, InterruptedException {
        return reading(() -> reader.checksums(version));
    }

    @Override
    public ObjectProperties properties(String key) throws ObjectStoreException, InterruptedException {
        return reading(() -> reader.properties(key));
    }

    @Override
    public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
        return reading(() -> reader.list(request));
    }

    /** Lists with one attempt, to find out whether listing is allowed. */
    ListPage tryList(ListRequest request) throws ObjectStoreException, InterruptedException {
        return RetryPolicy.ONE_ATTEMPT.forReading().call(() -> reader.list(request));
    }

    /** Whether one attempt finds an object of this key: false also if the store does not say. */
    boolean isKnownToHave(String key) throws InterruptedException {
        try {
            StoredObject _ = RetryPolicy.ONE_ATTEMPT.forReading().call(() -> reader.head(key));
            return true;
        } catch (ObjectStoreException e) {
            LOG.debug("No object '{}': {}", key, e.getMessage());
            return false;
        }
    }

    @Override
    public ObjectVersion put(String key, UploadBody body, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, IOException, InterruptedException {
        ObjectProperties sent = properties.sent(key);
        return writing(() -> reader.asShown(conditionalWrites.<ObjectVersion, IOException>make(
                Kind.PUT, condition, precondition -> writer.put(key, body, sent, precondition))));
    }

    @Override
    public MultipartUpload createUpload(String key, ObjectProperties properties)
            throws ObjectStoreException, InterruptedException {
        return writing(() -> uploads.create(key, properties.sent(key)));
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
        return writing(() -> reader.asShown(conditionalWrites.make(
                Kind.COMPLETE, condition, precondition -> uploads.complete(upload, parts, precondition))));
    }

    @Override
    public void abort(MultipartUpload upload) throws ObjectStoreException, InterruptedException {
        writing(() -> {
            uploads.abort(upload.key(), upload.id());
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
        ObjectProperties sent = properties.sent(key);
        return writing(() -> {
            long partSize = copier.partSize(source, key, sent);
            return partSize == 0
                    ? requests.gaps.<ObjectVersion, RuntimeException>go(
                            Gap.COPIES,
                            () -> reader.asShown(conditionalWrites.make(
                                    Kind.COPY,
                                    condition,
                                    precondition -> copier.copyAtOnce(source, key, sent, precondition))),
                            () -> upload(source, key, sent, condition))
                    : copier.copyInParts(
                            source,
                            key,
                            sent,
                            partSize,
                            (upload, parts) -> complete(upload, parts, condition),
                            listener);
        });
    }

    /** For stores that cannot copy. */
    private ObjectVersion upload(
            ObjectVersion source, String key, ObjectProperties properties, WriteCondition condition)
            throws ObjectStoreException, InterruptedException {
        UploadBody body =
                source.size() == 0 ? UploadBody.EMPTY : new StoredBody(reader, source, new ByteRange(0, source.size()));
        return StoredBody.sending(() -> put(key, body, properties, condition));
    }

    @Override
    public void delete(String key) throws ObjectStoreException, InterruptedException {
        writing(() -> {
            writer.delete(key, null, Precondition.NONE);
            return null;
        });
    }

    @Override
    public void delete(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        writing(() -> {
            reader.checkIsThere(version);
            return conditionalWrites.make(Kind.DELETE, new WriteCondition.Unchanged(version.etag()), precondition -> {
                writer.delete(version.key(), version, precondition);
                return true;
            });
        });
    }

    @Override
    public ObjectVersion duplicate(StoredObject source, String key, UploadListener listener)
            throws ObjectStoreException, InterruptedException {
        if (!ObjectCopier.isAtOnce(source.version())) {
            ObjectVersion copy = ObjectStore.super.duplicate(source, key, listener);
            return reading(() -> reader.asListed(copy));
        }
        return writing(() -> requests.gaps.<ObjectVersion, RuntimeException>go(
                Gap.COPIES,
                () -> reader.asShown(conditionalWrites.<ObjectVersion, RuntimeException>makeUnchecked(
                        Kind.COPY,
                        WriteCondition.ABSENT,
                        precondition -> copier.duplicateAtOnce(source, key, precondition))),
                () -> upload(source.version(), key, properties(source.version().key()), WriteCondition.ABSENT)));
    }

    @Override
    public boolean checksDuplicates() throws ObjectStoreException, InterruptedException {
        return writing(() -> conditionalWrites.isHonoured(Kind.COPY));
    }

    /**
     * If the store checks conditions on DeleteObjects, each object has its own. If it checks them only on DeleteObject,
     * one request deletes one object. If it checks neither, a listing just before is compared with the versions.
     */
    @Override
    public List<ObjectVersion> deleteAll(List<ObjectVersion> versions)
            throws ObjectStoreException, InterruptedException {
        List<ObjectVersion> left = versions;
        if (!requests.gaps.has(Gap.BATCHES) && versions.size() > 1) {
            try {
                left = writing(() -> deleteInBatch(versions));
            } catch (ObjectStoreException.Refused | ObjectStoreException.Corrupt e) {
                requests.gaps.learn(Gap.BATCHES, e); // or it does not know the checksum of such a request
            }
        }
        List<ObjectVersion> single = left;
        return single.isEmpty() ? single : writing(() -> new SingleDeletions(this).deleteAll(single));
    }

    /** @return those that are not known to be deleted */
    private List<ObjectVersion> deleteInBatch(List<ObjectVersion> versions)
            throws ObjectStoreException, InterruptedException {
        boolean areIdentified = versions.stream().allMatch(ObjectVersion::hasContentEtag);
        if (areIdentified && conditionalWrites.isHonoured(Kind.DELETE_MANY)) {
            return deletions.deleteIfUnchanged(versions);
        }
        return conditionalWrites.isHonoured(Kind.DELETE) ? versions : deletions.deleteIfListed(versions);
    }

    private <T extends @Nullable Object, E extends Exception> T reading(Deadline.Work<T, E> call)
            throws ObjectStoreException, InterruptedException, E {
        return within(retries().forReading(), call);
    }

    private <T extends @Nullable Object, E extends Exception> T writing(Deadline.Work<T, E> call)
            throws ObjectStoreException, InterruptedException, E {
        return within(retries().forWriting(), call);
    }

    /** Makes the call within the caller's deadline, or within {@code own} if there is none. */
    private <T extends @Nullable Object, E extends Exception> T within(Deadline own, Deadline.Work<T, E> call)
            throws ObjectStoreException, InterruptedException, E {
        return own.callUnlessWithin(() -> {
            requests.begin();
            return call.run();
        });
    }

    @Override
    public void close() {
        proof.close();
        requests.close();
    }
}
