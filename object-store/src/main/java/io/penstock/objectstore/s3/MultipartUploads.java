package io.penstock.objectstore.s3;

import static java.util.Objects.requireNonNull;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.PageProgress;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.http.ResponseHead;
import io.penstock.objectstore.s3.Gaps.Gap;
import io.penstock.objectstore.s3.S3Config.UploadChecksums;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.model.AbortMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.CompleteMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.CompleteMultipartUploadResponse;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsRequest;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsResponse;
import software.amazon.awssdk.services.s3.model.ListPartsRequest;
import software.amazon.awssdk.services.s3.model.ListPartsResponse;
import software.amazon.awssdk.services.s3.model.UploadPartCopyRequest;
import software.amazon.awssdk.services.s3.model.UploadPartRequest;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/**
 * Objects written in parts. S3 accepts checksums of parts only if the upload has declared them. It then requires those
 * of all parts at completion, including copied parts. Compatible servers check undeclared ones. Some (MinIO) accept no
 * copied part in an upload that has declared any, so nothing is declared there. Safe for use by any number of threads.
 */
final class MultipartUploads {
    private final RequestExecutor requests;
    private final BucketReader reader;

    /** Whether the store has sent an ETag of a part: then a response without one was cut off within its headers. */
    private volatile boolean namesParts;

    MultipartUploads(RequestExecutor requests, BucketReader reader) {
        this.requests = requests;
        this.reader = reader;
    }

    /** @param properties of an operation */
    MultipartUpload create(String key, ObjectProperties properties) throws ObjectStoreException, InterruptedException {
        CreateMultipartUploadRequest request = CreateMultipartUploadRequest.builder()
                .bucket(requests.bucket())
                .key(key)
                .checksumAlgorithm(declaresChecksums() ? ChecksumAlgorithm.CRC32_C : null)
                .requestPayer(requests.payer)
                .overrideConfiguration(headers -> PropertyHeaders.of(properties).forEach(headers::putHeader))
                .build();
        OperationId operation = requireNonNull(properties.operation());
        return requests.change(
                requests.errors.object(key),
                () -> new MultipartUpload(
                        key, requests.client.createMultipartUpload(request).uploadId(), operation));
    }

    UploadedPart send(MultipartUpload upload, int number, UploadBody body)
            throws ObjectStoreException, IOException, InterruptedException {
        return SentBody.withChecksum(requests, body, sent -> send(upload, number, body, sent));
    }

    private UploadedPart send(MultipartUpload upload, int number, UploadBody body, SentBody sent)
            throws ObjectStoreException, IOException, InterruptedException {
        RetryState retryState = new RetryState();
        ResponseHead head = sent.sendDirectly(
                requests.direct,
                retryState,
                upload.key(),
                Map.of("uploadId", upload.id(), "partNumber", Integer.toString(number)),
                Map.of());
        if (head != null) {
            requests.progressed();
            checkArrived(upload, number, sent, head.header("x-amz-checksum-crc32c"));
            return new UploadedPart(number, ResponseValues.etag(head.header("ETag")), body.length(), sent.crc32c());
        }
        UploadPartRequest request = UploadPartRequest.builder()
                .bucket(requests.bucket())
                .key(upload.key())
                .uploadId(upload.id())
                .partNumber(number)
                .checksumCRC32C(sent.crc32cHeader())
                .contentMD5(sent.md5Header())
                .requestPayer(requests.payer)
                .build();
        UploadPartResponse response = sent.send(requests, retryState, subject(upload), content -> {
            UploadPartResponse arrived = requests.client.uploadPart(request, content);
            String crc32c = arrived.checksumCRC32C();
            boolean isWhole = ResponseValues.isWhole(arrived.eTag())
                    && (crc32c == null || BodyChecksums.decode(crc32c).isPresent());
            if (!isWhole && (namesParts || !retryState.isInDoubt())) {
                throw SdkClientException.create(
                        "the response lacks the part's ETag", new IOException()); // it is sent again
            }
            namesParts |= isWhole;
            return arrived;
        });
        checkArrived(upload, number, sent, response.checksumCRC32C());
        return new UploadedPart(number, ResponseValues.etag(response.eTag()), body.length(), sent.crc32c());
    }

    private void checkArrived(MultipartUpload upload, int number, SentBody sent, @Nullable String crc32c)
            throws ObjectStoreException.Corrupt {
        if (crc32c != null && !crc32c.equals(sent.crc32cHeader())) {
            throw new ObjectStoreException.Corrupt(
                    "part " + number + " of " + subject(upload) + " arrived damaged: its CRC32C is " + crc32c + ", not "
                            + sent.crc32cHeader(),
                    null);
        }
    }

    /** Copies a part inside the store. If the store cannot do that, reads and uploads it. */
    UploadedPart copy(MultipartUpload upload, int number, ObjectVersion source, ByteRange range)
            throws ObjectStoreException, InterruptedException {
        return requests.gaps.<UploadedPart, RuntimeException>go(
                Gap.PART_COPIES,
                () -> reader.ifUnchanged(source, etag -> copyInside(upload, number, source, etag, range)),
                () -> StoredBody.sending(() -> send(upload, number, new StoredBody(reader, source, range))));
    }

    private UploadedPart copyInside(
            MultipartUpload upload, int number, ObjectVersion source, @Nullable String etag, ByteRange range)
            throws ObjectStoreException, InterruptedException {
        UploadPartCopyRequest request = UploadPartCopyRequest.builder()
                .sourceBucket(requests.bucket())
                .sourceKey(source.key())
                .copySourceIfMatch(etag)
                // S3 accepts no range for a source of 5 MB or less.
                .copySourceRange(range.length() == source.size() ? null : range.toHttpRange())
                .destinationBucket(requests.bucket())
                .destinationKey(upload.key())
                .uploadId(upload.id())
                .partNumber(number)
                .requestPayer(requests.payer)
                .build();
        try {
            return requests.change(requests.errors.object(source.key()), () -> {
                var result = requests.client.uploadPartCopy(request).copyPartResult();
                return new UploadedPart(
                        number,
                        ResponseValues.etag(result.eTag()),
                        range.length(),
                        BodyChecksums.decode(result.checksumCRC32C()));
            });
        } catch (ObjectStoreException.NotFound e) {
            throw requests.errors.explainCopy(source.key(), e);
        }
    }

    ObjectVersion complete(MultipartUpload upload, List<UploadedPart> parts, Precondition precondition)
            throws ObjectStoreException, InterruptedException {
        String object = requests.errors.object(upload.key());
        List<UploadedPart> known = withChecksums(upload, parts);
        CompleteMultipartUploadRequest request = CompleteMultipartUploadRequest.builder()
                .bucket(requests.bucket())
                .key(upload.key())
                .uploadId(upload.id())
                .ifMatch(precondition.ifMatch())
                .ifNoneMatch(precondition.ifNoneMatch())
                .multipartUpload(
                        list -> list.parts(known.stream().map(this::completed).toList()))
                .requestPayer(requests.payer)
                .build();
        long size = known.stream().mapToLong(UploadedPart::size).sum();
        RetryState retryState = RetryState.ofOperation();
        try {
            CompleteMultipartUploadResponse response = requests.change(subject(upload), retryState, () -> {
                precondition.check(reader, upload.key(), object);
                return requests.client.completeMultipartUpload(request);
            });
            return new ObjectVersion(
                    upload.key(), ResponseValues.etag(response.eTag()), size, ResponseValues.timeOf(response));
        } catch (ObjectStoreException e) {
            // An upload that is gone was aborted, or completed by an attempt or call whose response was lost.
            boolean mayBeCompleted = retryState.isInDoubt() || e instanceof ObjectStoreException.NotFound;
            ObjectStoreException failure = precondition.explain(object, e);
            ObjectVersion made = reader.settle(upload.key(), upload.operation(), mayBeCompleted, failure);
            if (made.size() != size) {
                throw failure; // an earlier call has completed it with other parts
            }
            return made;
        }
    }

    void abort(String key, String id) throws ObjectStoreException, InterruptedException {
        AbortMultipartUploadRequest request = AbortMultipartUploadRequest.builder()
                .bucket(requests.bucket())
                .key(key)
                .uploadId(id)
                .requestPayer(requests.payer)
                .build();
        try {
            requests.change(subject(key), () -> requests.client.abortMultipartUpload(request));
        } catch (ObjectStoreException.NotFound _) {
            // Another client has aborted it, or it is completed.
        }
    }

    /** Aborts uploads of the key that began more than a day ago by the store's clock. */
    void abortOld(String key) throws ObjectStoreException, InterruptedException {
        ListMultipartUploadsRequest request = ListMultipartUploadsRequest.builder()
                .bucket(requests.bucket())
                .prefix(key) // MinIO finds uploads only by the whole key
                .requestPayer(requests.payer)
                .build();
        ListMultipartUploadsResponse response =
                requests.ask(requests.errors.object(key), () -> requests.client.listMultipartUploads(request));
        Instant dayAgo = ResponseValues.timeOf(response).minus(1, ChronoUnit.DAYS);
        for (var upload : response.uploads()) {
            Instant begun = upload.initiated(); // null if the server omits it
            if (key.equals(upload.key()) && begun != null && begun.isBefore(dayAgo)) {
                abort(key, upload.uploadId());
            }
        }
    }

    List<UploadedPart> parts(MultipartUpload upload) throws ObjectStoreException, InterruptedException {
        List<UploadedPart> parts = new ArrayList<>();
        ListPartsRequest.Builder request = ListPartsRequest.builder()
                .bucket(requests.bucket())
                .key(upload.key())
                .uploadId(upload.id())
                .requestPayer(requests.payer);
        PageProgress progress = new PageProgress("parts of the " + subject(upload));
        ListPartsResponse page;
        do {
            page = requests.ask(subject(upload), () -> requests.client.listParts(request.build()));
            page.parts().stream()
                    .map(part -> new UploadedPart(
                            part.partNumber(),
                            ResponseValues.etag(part.eTag()),
                            part.size(),
                            BodyChecksums.decode(part.checksumCRC32C())))
                    .forEach(parts::add);
            request.partNumberMarker(page.nextPartNumberMarker());
            progress.came(
                    Boolean.TRUE.equals(page.isTruncated()) ? String.valueOf(page.nextPartNumberMarker()) : null, null);
        } while (Boolean.TRUE.equals(page.isTruncated()));
        return parts;
    }

    private List<UploadedPart> withChecksums(MultipartUpload upload, List<UploadedPart> parts)
            throws ObjectStoreException, InterruptedException {
        if (!declaresChecksums()
                || parts.stream().allMatch(part -> part.crc32c().isPresent())) {
            return parts;
        }
        Map<Integer, OptionalInt> known;
        try {
            known = parts(upload).stream().collect(Collectors.toMap(UploadedPart::number, UploadedPart::crc32c));
        } catch (ObjectStoreException.NotFound _) {
            return parts; // It may be completed already.
        }
        return parts.stream()
                .map(part -> part.crc32c().isPresent()
                        ? part
                        : new UploadedPart(
                                part.number(),
                                part.etag(),
                                part.size(),
                                known.getOrDefault(part.number(), OptionalInt.empty())))
                .toList();
    }

    private CompletedPart completed(UploadedPart part) {
        boolean checked = declaresChecksums() && part.crc32c().isPresent();
        return CompletedPart.builder()
                .partNumber(part.number())
                .eTag(part.etag())
                .checksumCRC32C(checked ? BodyChecksums.encode(part.crc32c().getAsInt()) : null)
                .build();
    }

    private boolean declaresChecksums() {
        return requests.config.integrity().uploadChecksums() == UploadChecksums.CRC32C
                && requests.config.server().isAws();
    }

    private String subject(MultipartUpload upload) {
        return subject(upload.key());
    }

    private String subject(String key) {
        return "upload of " + requests.errors.object(key);
    }
}
