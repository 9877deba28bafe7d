package io.penstock.objectstore.s3;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectDescription;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.http.HttpConnection.StalledException;
import io.penstock.objectstore.http.ResponseHead;
import io.penstock.objectstore.s3.S3Config.Checksums;
import java.io.IOException;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.ChecksumMode;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;

/** Reads objects, their metadata and listings of a bucket. Safe for use by any number of threads. */
final class BucketReader {
    private static final Logger LOG = LoggerFactory.getLogger(BucketReader.class);

    private final RequestExecutor requests;
    private final PropertyReader properties;

    BucketReader(RequestExecutor requests) {
        this.requests = requests;
        this.properties = new PropertyReader(requests);
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
            } catch (StalledException e) {
                LOG.debug("{}: {}", errors.object(version.key()), e.getMessage());
                if (get.remaining().length() < missing) {
                    retryState.progressed();
                    requests.progressed();
                }
            } catch (IOException | SdkException e) {
                RequestExecutor.checkInterrupt(e);
                ObjectStoreException failure = errors.explainBrokenBody(version.key(), e);
                if (get.remaining().length() < missing) {
                    retryState.progressed();
                    requests.progressed();
                    if (failure instanceof ObjectStoreException.Corrupt) {
                        throw failure; // the sink may already have the wrong bytes
                    }
                }
                requests.retryOrThrow(retryState, failure);
            } catch (RuntimeException e) {
                requests.checkOpen(); // a closed HTTP client throws this
                throw e;
            } finally {
                requests.unwatch(body);
                if (!get.isComplete()) {
                    body.abort(); // closing would first read the rest
                }
            }
        }
    }

    private ObjectBody open(ObjectVersion version, ByteRange range) throws InterruptedException {
        boolean checked = isChecked(version, range);
        ObjectBody body = requests.direct == null ? null : requests.direct.get(version, range, checked);
        if (body != null) {
            return body;
        }
        GetObjectRequest request = GetObjectRequest.builder()
                .bucket(requests.bucket())
                .key(version.key())
                .ifMatch(version.etag().equals(ResponseValues.NO_ETAG) ? null : version.etag())
                .range(range.toHttpRange())
                .checksumMode(checked ? ChecksumMode.ENABLED : null)
                .requestPayer(requests.payer)
                .build();
        return requests.client.getObject(request, SdkBody.LEFT_OPEN);
    }

    /**
     * Whether a checksum is requested and compared. A checksum covers the whole object. S3 computes that of a multipart
     * object from the parts' checksums and does not always say so (aws-sdk-java-v2 issue 5421), but the ETag shows it.
     */
    private boolean isChecked(ObjectVersion version, ByteRange range) {
        return requests.config.integrity().checksums() == Checksums.SUPPORTED
                && range.length() == version.size()
                && !version.etag().contains("-");
    }

    StoredObject head(String key) throws ObjectStoreException, InterruptedException {
        return headers(key).object(key);
    }

    ObjectDescription describe(String key) throws ObjectStoreException, InterruptedException {
        ObjectHead head = headers(key);
        return new ObjectDescription(head.object(key), head.date(), properties.headers(key, head), head.operation());
    }

    SortedMap<String, String> checksums(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        ObjectHead head = headers(version.key(), true);
        check(version, head.version(version.key()));
        return head.checksums();
    }

    /** The version with the time that the store will report, if the ETag alone does not identify it. */
    ObjectVersion asShown(ObjectVersion written) {
        return written.hasContentEtag() ? written : asListed(written);
    }

    /** The version with the time that the store will report. */
    ObjectVersion asListed(ObjectVersion written) {
        try {
            ObjectVersion there = head(written.key()).version();
            return there.etag().equals(written.etag()) && there.size() == written.size() ? there : written;
        } catch (ObjectStoreException e) {
            LOG.debug("The written object will appear to be another client's: {}", e.getMessage());
            return written;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the write has succeeded nevertheless
            return written;
        }
    }

    /**
     * Checks by HEAD that the key has no other version, if the ETag alone does not identify it. A missing object is not
     * an error.
     */
    void checkIsThere(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        if (version.hasContentEtag()) {
            return;
        }
        try {
            check(version, head(version.key()).version());
        } catch (ObjectStoreException.NotFound _) {
            // Another client has deleted it.
        }
    }

    /** A copy, conditional on this ETag of the source if it is not null. */
    @FunctionalInterface
    interface Copying<T> {
        T make(@Nullable String etag) throws ObjectStoreException, InterruptedException;
    }

    /** Copies exactly this version: the store checks that it is still current, or else a HEAD before the copy does. */
    <T> T ifUnchanged(ObjectVersion source, Copying<T> copying) throws ObjectStoreException, InterruptedException {
        Gaps.Way<T, RuntimeException> looking = () -> {
            try {
                ObjectVersion there = head(source.key()).version();
                boolean isTold = !there.etag().equals(ResponseValues.NO_ETAG); // not for S3Proxy's directory markers
                check(source, isTold || there.size() != source.size() ? there : source);
            } catch (ObjectStoreException.NotFound e) {
                throw requests.errors.explainMissing(source.key(), e);
            }
            return copying.make(null);
        };
        return source.etag().equals(ResponseValues.NO_ETAG)
                ? looking.go()
                : requests.gaps.go(Gaps.Gap.SOURCE_CONDITIONS, () -> copying.make(source.etag()), looking);
    }

    private void check(ObjectVersion expected, ObjectVersion there) throws ObjectStoreException.PreconditionFailed {
        if (!there.hasIdentityOf(expected)) {
            throw new ObjectStoreException.PreconditionFailed(
                    requests.errors.object(expected.key()) + " was changed by another client", null);
        }
    }

    private ObjectHead headers(String key) throws ObjectStoreException, InterruptedException {
        return headers(key, false);
    }

    /**
     * @param checksums whether to request checksums too. For an object encrypted with a KMS key, S3 then requires the
     *     right to use that key
     */
    private ObjectHead headers(String key, boolean checksums) throws ObjectStoreException, InterruptedException {
        RetryState retryState = new RetryState();
        boolean lacksSize = false;
        while (true) {
            try {
                ObjectHead head =
                        requests.make(requests.errors.object(key), retryState, () -> headersOnce(key, checksums));
                if (!head.lacksSize()) {
                    return head;
                }
                StoredObject listed = listed(key);
                // Otherwise the connection ended within the headers, or the object has changed since.
                boolean isSame =
                        listed != null && opaque(listed.version().etag()).equals(opaque(head.etag()));
                if (listed != null && isSame && (lacksSize || head.isWhole())) {
                    return head.withSize(listed.version().size());
                }
                lacksSize = true;
                requests.retryOrThrow(retryState, requests.errors.explainNoSize(key));
            } catch (ObjectStoreException.Refused e) {
                if (ErrorMapper.isUnexplained(e)) {
                    ListPage _ = list(only(key)); // the refusal of a listing has a body
                }
                throw e;
            } catch (ObjectStoreException.NotFound e) {
                if (ErrorMapper.isOfStore(e) || listed(key) == null) {
                    throw e;
                }
                requests.retryOrThrow(retryState, requests.errors.explainUnseen(key, e));
            }
        }
    }

    /** Some listings omit the quotes. */
    private static String opaque(String etag) {
        return etag.replace("\"", "");
    }

    /** The object as the store lists it; null if it does not, or if the credentials do not allow listing. */
    private @Nullable StoredObject listed(String key) throws ObjectStoreException, InterruptedException {
        try {
            return page(only(key)).objects().stream()
                    .filter(object -> object.version().key().equals(key))
                    .findFirst()
                    .orElse(null);
        } catch (ObjectStoreException.AccessDenied e) {
            e.throwUnlessNotAllowed();
            return null;
        }
    }

    /** The first object listed is this one, if it exists: of all keys with this prefix, it is the smallest. */
    private static ListRequest only(String key) {
        return new ListRequest(key, "", null, null, 1);
    }

    /** Avoids the SDK if possible: its HTTP client takes a connection's end for the end of the headers. */
    private ObjectHead headersOnce(String key, boolean checksums) throws ObjectStoreException, InterruptedException {
        try {
            ResponseHead direct = requests.direct == null ? null : requests.direct.head(key, checksums);
            if (direct == null) {
                HeadObjectRequest request = HeadObjectRequest.builder()
                        .bucket(requests.bucket())
                        .key(key)
                        .checksumMode(checksums ? ChecksumMode.ENABLED : null)
                        .requestPayer(requests.payer)
                        .build();
                return ObjectHead.of(requests.client.headObject(request));
            } else if (direct.status() == DirectRequests.NOT_FOUND) {
                throw NoSuchKeyException.builder() // as the SDK reports it
                        .statusCode(direct.status())
                        .requestId(direct.header(ErrorMapper.REQUEST_ID))
                        .build();
            }
            return ObjectHead.of(direct);
        } catch (IOException e) {
            throw SdkClientException.create(e.getMessage(), e); // is retried
        }
    }

    ObjectProperties properties(String key) throws ObjectStoreException, InterruptedException {
        ObjectHead head = headers(key);
        return new ObjectProperties(properties.headers(key, head), head.hasTags() ? properties.tags(key) : Map.of());
    }

    /** The size of an object's first part; of the whole object if the store knows no parts; 0 if it does not say. */
    long firstPartSize(String key) throws ObjectStoreException, InterruptedException {
        HeadObjectRequest request = HeadObjectRequest.builder()
                .bucket(requests.bucket())
                .key(key)
                .partNumber(1)
                .requestPayer(requests.payer)
                .build();
        try {
            Long length = requests.ask(requests.errors.object(key), () -> requests.client.headObject(request))
                    .contentLength();
            return length == null ? 0 : length;
        } catch (ObjectStoreException.NotFound
                | ObjectStoreException.PreconditionFailed
                | ObjectStoreException.Refused _) {
            return 0;
        }
    }

    /** The object's ETag; null if there is no object. */
    @Nullable
    String currentEtag(String key) throws ObjectStoreException, InterruptedException {
        try {
            return headers(key).etag();
        } catch (ObjectStoreException.NotFound _) {
            return null;
        }
    }

    /**
     * The version that a write has created although its last attempt failed.
     *
     * @param operation of the write; null if its request carries none
     * @param isInDoubt whether an earlier attempt may have succeeded and its response was lost
     * @throws ObjectStoreException the failure if the store shows no version that the write has created
     */
    ObjectVersion settle(String key, @Nullable OperationId operation, boolean isInDoubt, ObjectStoreException failure)
            throws ObjectStoreException, InterruptedException {
        if (failure.mayBeDone() || !isInDoubt) {
            throw failure;
        } else if (operation == null) {
            throw unknown(key, failure);
        }
        ObjectVersion made = described(key, failure).madeBy(operation);
        if (made == null) {
            throw failure;
        }
        return made;
    }

    /**
     * The version that a write has created, if its response has no ETag: it was cut off, or the store has no ETags.
     *
     * @throws ObjectStoreException the failure if another client has written since
     */
    ObjectVersion named(ObjectVersion nameless, OperationId operation, ObjectStoreException failure)
            throws ObjectStoreException, InterruptedException {
        ObjectDescription there = described(nameless.key(), failure);
        ObjectVersion made = there.madeBy(operation);
        if (made == null && !there.object().version().etag().equals(ResponseValues.NO_ETAG)) {
            throw failure;
        }
        return made == null ? nameless : made;
    }

    private ObjectDescription described(String key, ObjectStoreException failure)
            throws ObjectStoreException, InterruptedException {
        try {
            return describe(key);
        } catch (ObjectStoreException.NotFound _) {
            throw failure;
        } catch (ObjectStoreException.AccessDenied e) {
            e.addSuppressed(failure);
            throw unknown(key, e);
        }
    }

    private ObjectStoreException unknown(String key, ObjectStoreException cause) {
        return new ObjectStoreException.OutcomeUnknown(
                requests.errors.object(key) + " may be ours or another client's, because a response was lost: "
                        + cause.getMessage(),
                cause);
    }

    ListPage list(ListRequest request) throws ObjectStoreException, InterruptedException {
        ListPage page = page(request);
        requests.progressed();
        return page;
    }

    /** {@link #list} as a part of an attempt to change something: a listing is not progress of the change. */
    ListPage page(ListRequest request) throws ObjectStoreException, InterruptedException {
        return requests.ask(requests.errors.bucket(), () -> listOnce(request));
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
                // Keys may contain characters that XML cannot represent.
                .encodingType(EncodingType.URL)
                .requestPayer(requests.payer);
        listing.addTo(list);
        requests.client.listObjectsV2(list.build());
        return listing.page();
    }

    private static @Nullable String emptyToNull(String text) {
        return text.isEmpty() ? null : text;
    }
}
