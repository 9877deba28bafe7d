package io.penstock.objectstore;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CommonPrefix;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.RequestPayer;

/**
 * A bucket on S3 or a compatible server, by the AWS SDK's synchronous client: each call works on its caller's thread.
 * An interrupt ends a call at once on a virtual thread, whose blocked socket it closes; on a platform thread only once
 * the socket answers or its timeout passes. Safe for use by any number of threads.
 */
public final class S3ObjectStore implements ObjectStore {
    /** What S3 means where it names no class. */
    private static final String DEFAULT_STORAGE_CLASS = "STANDARD";

    /** Stands for the entity tag that S3Proxy does not give directory markers; they are empty, so no GET carries it. */
    private static final String NO_ETAG = "\"\"";

    private final S3Config config;
    private final S3Client client;
    private final SdkHttpClient http;
    /** Null if all requests are made by the SDK's client. */
    private final @Nullable DirectGets direct;

    private final Failures failures;
    private final @Nullable RequestPayer payer;
    /** Bodies that are being read, for {@link #close} to break. */
    private final Set<ObjectBody> bodies = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    /** The store closes both clients: an SDK client leaves the HTTP client that it was given open. */
    S3ObjectStore(S3Config config, S3Client client, SdkHttpClient http, @Nullable DirectGets direct) {
        this.direct = direct;
        this.config = config;
        this.client = client;
        this.http = http;
        this.failures = new Failures(config);
        this.payer = config.requesterPays() ? RequestPayer.REQUESTER : null;
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

    @Override
    public String bucket() {
        return config.bucket();
    }

    @Override
    public void get(ObjectVersion version, ByteRange range, BodySink sink)
            throws ObjectStoreException, InterruptedException {
        RangeGet get = new RangeGet(version, range, sink, failures);
        Persistence persistence = new Persistence(config.retryDeadline());
        while (!get.isComplete()) {
            long missing = get.rest().length();
            ObjectBody body = call(failures.object(version.key()), persistence, () -> open(version, get.rest()));
            bodies.add(body);
            try {
                checkOpen();
                get.receive(body);
            } catch (IOException | SdkException e) {
                checkInterrupt(e);
                if (get.rest().length() < missing) {
                    persistence.progressed();
                }
                retryOrThrow(persistence, failures.explainBrokenBody(version.key(), e));
            } catch (RuntimeException e) {
                checkOpen(); // what HTTP clients throw once they are closed
                throw e;
            } finally {
                bodies.remove(body);
                if (!get.isComplete()) {
                    body.abort(); // closing would read the rest first
                }
            }
        }
    }

    private ObjectBody open(ObjectVersion version, ByteRange range) throws InterruptedException {
        ObjectBody body = direct == null ? null : direct.get(version, range);
        if (body != null) {
            return body;
        }
        GetObjectRequest request = GetObjectRequest.builder()
                .bucket(config.bucket())
                .key(version.key())
                .ifMatch(version.etag())
                .range(range.toHttpRange())
                .requestPayer(payer)
                .build();
        return client.getObject(request, SdkBody.LEFT_OPEN);
    }

    @Override
    public StoredObject head(String key) throws ObjectStoreException, InterruptedException {
        HeadObjectRequest request = HeadObjectRequest.builder()
                .bucket(config.bucket())
                .key(key)
                .requestPayer(payer)
                .build();
        HeadObjectResponse head =
                call(failures.object(key), new Persistence(config.retryDeadline()), () -> client.headObject(request));
        return stored(key, head.eTag(), head.contentLength(), head.lastModified(), head.storageClassAsString());
    }

    @Override
    public ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
        return list(request, new Persistence(config.retryDeadline()));
    }

    ListPage list(ListRequest request, Persistence persistence) throws ObjectStoreException, InterruptedException {
        ListObjectsV2Request list = ListObjectsV2Request.builder()
                .bucket(config.bucket())
                .prefix(emptyToNull(request.prefix()))
                .delimiter(emptyToNull(request.delimiter()))
                .startAfter(request.startAfter())
                .continuationToken(request.continuationToken())
                .maxKeys(request.maxKeys())
                // Keys may hold characters that XML cannot carry; the SDK decodes what it says is encoded.
                .encodingType(EncodingType.URL)
                .requestPayer(payer)
                .build();
        ListObjectsV2Response page = call(failures.bucket(), persistence, () -> client.listObjectsV2(list));
        List<StoredObject> objects = page.contents().stream()
                .map(o -> stored(o.key(), o.eTag(), o.size(), o.lastModified(), o.storageClassAsString()))
                .toList();
        List<String> prefixes =
                page.commonPrefixes().stream().map(CommonPrefix::prefix).toList();
        return new ListPage(
                objects, prefixes, Boolean.TRUE.equals(page.isTruncated()) ? page.nextContinuationToken() : null);
    }

    @Override
    public void close() {
        closed = true;
        // Not every HTTP client breaks what is in flight when it is closed. (URL_CONNECTION cannot be broken at all:
        // its reads end by the read timeout.)
        bodies.forEach(ObjectBody::abort);
        if (direct != null) {
            direct.close();
        }
        client.close();
        http.close();
    }

    private <T> T call(String subject, Persistence persistence, Call<T> call)
            throws ObjectStoreException, InterruptedException {
        while (true) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            checkOpen();
            try {
                return call.make();
            } catch (SdkException e) {
                checkInterrupt(e);
                ObjectStoreException failure = failures.explain(subject, e);
                if (!Failures.isPassing(e)) {
                    throw failure;
                }
                retryOrThrow(persistence, failure);
            } catch (IllegalStateException e) {
                checkOpen(); // what HTTP clients throw once they are closed
                throw e;
            }
        }
    }

    private void checkOpen() throws ObjectStoreException {
        if (closed) {
            throw new ObjectStoreException.Unavailable(failures.bucket() + " was closed", null);
        }
    }

    private void retryOrThrow(Persistence persistence, ObjectStoreException failure)
            throws ObjectStoreException, InterruptedException {
        if (failure instanceof ObjectStoreException.Corrupt || closed || !persistence.again()) {
            throw failure;
        }
    }

    /** A failure of an interrupted thread is the interrupt's doing: the SDK has its own exceptions for it. */
    private static void checkInterrupt(Exception failure) throws InterruptedException {
        if (Thread.interrupted() || failure instanceof AbortedException) {
            InterruptedException interrupted = new InterruptedException();
            interrupted.initCause(failure);
            throw interrupted;
        }
    }

    private static StoredObject stored(
            String key, @Nullable String etag, long size, Instant lastModified, @Nullable String storageClass) {
        return new StoredObject(
                new ObjectVersion(key, Objects.requireNonNullElse(etag, NO_ETAG), size, lastModified),
                Objects.requireNonNullElse(storageClass, DEFAULT_STORAGE_CLASS));
    }

    private static @Nullable String emptyToNull(String text) {
        return text.isEmpty() ? null : text;
    }

    private interface Call<T> {
        T make() throws InterruptedException;
    }
}
