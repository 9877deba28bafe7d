package io.penstock.objectstore;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.S3Config.Checksums;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.ChecksumMode;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectTaggingRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.Tag;

/** What is asked of a bucket. Safe for use by any number of threads. */
final class BucketReader {
    private static final Logger LOG = LoggerFactory.getLogger(BucketReader.class);

    private final RequestExecutor requests;

    /** It has been said that tags cannot be read. Racy on purpose: it may be said twice. */
    private volatile boolean warnedOfDeniedTags;

    BucketReader(RequestExecutor requests) {
        this.requests = requests;
    }

    void get(ObjectVersion version, ByteRange range, BodySink sink) throws ObjectStoreException, InterruptedException {
        ErrorMapper errors = requests.errors;
        RangeGet get = new RangeGet(version, range, sink, errors);
        RetryState retryState = new RetryState();
        while (!get.isComplete()) {
            long missing = get.remaining().length();
            ObjectBody body =
                    requests.make(errors.object(version.key()), retryState, () -> open(version, get.remaining()));
            try {
                requests.watch(body);
                get.receive(body);
                requests.progressed();
            } catch (IOException | SdkException e) {
                RequestExecutor.checkInterrupt(e);
                ObjectStoreException failure = errors.explainBrokenBody(version.key(), e);
                if (get.remaining().length() < missing) {
                    retryState.progressed();
                    requests.progressed();
                    if (failure instanceof ObjectStoreException.Corrupt) {
                        throw failure; // what is wrong may be what the sink has already
                    }
                }
                requests.retryOrThrow(retryState, failure);
            } catch (RuntimeException e) {
                requests.checkOpen(); // what HTTP clients throw once they are closed
                throw e;
            } finally {
                requests.unwatch(body);
                if (!get.isComplete()) {
                    body.abort(); // closing would read the rest first
                }
            }
        }
    }

    private ObjectBody open(ObjectVersion version, ByteRange range) throws InterruptedException {
        ObjectBody body = requests.direct == null ? null : requests.direct.get(version, range);
        if (body != null) {
            return body;
        }
        GetObjectRequest request = GetObjectRequest.builder()
                .bucket(requests.bucket())
                .key(version.key())
                .ifMatch(version.etag().equals(ResponseValues.NO_ETAG) ? null : version.etag())
                .range(range.toHttpRange())
                .checksumMode(isChecked(version, range) ? ChecksumMode.ENABLED : null)
                .requestPayer(requests.payer)
                .build();
        return requests.client.getObject(request, SdkBody.LEFT_OPEN);
    }

    /**
     * The SDK compares a checksum where one comes, but asks for none by itself. What comes is of whole objects. That of an
     * object in parts is made of their checksums, which S3 does not always say (aws-sdk-java-v2 issue 5421): its ETag does.
     */
    private boolean isChecked(ObjectVersion version, ByteRange range) {
        return requests.config.integrity().checksums() == Checksums.SUPPORTED
                && range.length() == version.size()
                && !version.etag().contains("-");
    }

    StoredObject head(String key) throws ObjectStoreException, InterruptedException {
        HeadObjectResponse head = headers(key);
        return stored(key, head.eTag(), head.contentLength(), head.lastModified(), head.storageClassAsString());
    }

    /** With the time that the store will show of it, where its ETag alone does not tell it from others. */
    ObjectVersion asShown(ObjectVersion written) {
        if (written.hasContentEtag()) {
            return written;
        }
        try {
            ObjectVersion there = head(written.key()).version();
            return there.etag().equals(written.etag()) && there.size() == written.size() ? there : written;
        } catch (ObjectStoreException e) {
            LOG.debug("What was written will be taken for another's: {}", e.getMessage());
            return written;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // it is written for all that
            return written;
        }
    }

    /** Looks, where the ETag alone does not tell, that the key has no other version; it may have none. */
    void checkIsThere(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        if (version.hasContentEtag()) {
            return;
        }
        try {
            if (!head(version.key()).version().identity().equals(version.identity())) {
                throw new ObjectStoreException.PreconditionFailed(
                        requests.errors.object(version.key()) + " was changed by somebody else meanwhile", null);
            }
        } catch (ObjectStoreException.NotFound _) {
            // Somebody else has removed it.
        }
    }

    HeadObjectResponse headers(String key) throws ObjectStoreException, InterruptedException {
        HeadObjectRequest request = HeadObjectRequest.builder()
                .bucket(requests.bucket())
                .key(key)
                .checksumMode(ChecksumMode.ENABLED)
                .requestPayer(requests.payer)
                .build();
        return requests.ask(requests.errors.object(key), () -> requests.client.headObject(request));
    }

    ObjectProperties properties(String key) throws ObjectStoreException, InterruptedException {
        HeadObjectResponse head = headers(key);
        Integer tagCount = head.tagCount();
        return new ObjectProperties(
                PropertyHeaders.of(
                        head.sdkHttpResponse().headers(),
                        requests.config.server().isAws()),
                tagCount == null || tagCount == 0 ? Map.of() : tags(key));
    }

    private Map<String, String> tags(String key) throws ObjectStoreException, InterruptedException {
        GetObjectTaggingRequest request = GetObjectTaggingRequest.builder()
                .bucket(requests.bucket())
                .key(key)
                .requestPayer(requests.payer)
                .build();
        try {
            return requests
                    .ask(requests.errors.object(key), () -> requests.client.getObjectTagging(request))
                    .tagSet()
                    .stream()
                    .collect(Collectors.toMap(Tag::key, Tag::value));
        } catch (ObjectStoreException.AccessDenied e) {
            if (!warnedOfDeniedTags) {
                warnedOfDeniedTags = true;
                LOG.warn(
                        "The tags of {} may not be read, so that what is written over it has none: allow"
                                + " s3:GetObjectTagging to keep tags ({})",
                        requests.errors.object(key),
                        e.getMessage());
            }
            return Map.of();
        }
    }

    /** The object's ETag; null if there is none. */
    @Nullable
    String currentEtag(String key) throws ObjectStoreException, InterruptedException {
        try {
            return ResponseValues.etag(headers(key).eTag());
        } catch (ObjectStoreException.NotFound _) {
            return null;
        }
    }

    /** The object, if it is what the fingerprint is of. */
    @Nullable
    ObjectVersion find(String key, Fingerprint fingerprint) throws ObjectStoreException, InterruptedException {
        try {
            HeadObjectResponse head = headers(key);
            return fingerprint.isOf(head)
                    ? new ObjectVersion(
                            key, ResponseValues.etag(head.eTag()), head.contentLength(), head.lastModified())
                    : null;
        } catch (ObjectStoreException.NotFound _) {
            return null;
        }
    }

    ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
        ListPage page = requests.ask(requests.errors.bucket(), () -> listOnce(request));
        requests.progressed();
        return page;
    }

    private ListPage listOnce(ListRequest request) {
        ListingInterceptor.Listing listing = new ListingInterceptor.Listing(request.prefix());
        ListObjectsV2Request.Builder list = ListObjectsV2Request.builder()
                .bucket(requests.bucket())
                .prefix(emptyToNull(request.prefix()))
                .delimiter(emptyToNull(request.delimiter()))
                .startAfter(request.startAfter())
                .continuationToken(request.continuationToken())
                .maxKeys(request.maxKeys())
                // Keys may hold characters that XML cannot carry.
                .encodingType(EncodingType.URL)
                .requestPayer(requests.payer);
        listing.addTo(list);
        requests.client.listObjectsV2(list.build());
        return listing.page();
    }

    /** In whole seconds: HEAD tells no more (RFC 9110, section 5.6.7), and a file is to show one time however it was asked. */
    private static StoredObject stored(
            String key, @Nullable String etag, long size, Instant lastModified, @Nullable String storageClass) {
        Instant seconds = lastModified.truncatedTo(ChronoUnit.SECONDS);
        return new StoredObject(
                new ObjectVersion(key, ResponseValues.etag(etag), size, seconds),
                // There are few, and very many objects.
                Objects.requireNonNullElse(storageClass, ResponseValues.DEFAULT_STORAGE_CLASS)
                        .intern());
    }

    private static @Nullable String emptyToNull(String text) {
        return text.isEmpty() ? null : text;
    }
}
