package io.penstock.objectstore.s3;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.KeyOrder;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListPages;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.s3.Gaps.Gap;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.services.s3.model.Delete;
import software.amazon.awssdk.services.s3.model.DeleteObjectsRequest;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Error;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Deletes up to 1,000 objects by one request (DeleteObjects). Objects that it does not delete are left to single
 * requests, which know each failure and repeat it. Safe for use by any number of threads.
 */
final class BatchDeletions {
    private final RequestExecutor requests;
    private final BucketReader reader;

    BatchDeletions(RequestExecutor requests, BucketReader reader) {
        this.requests = requests;
        this.reader = reader;
    }

    /**
     * Deletes each of these objects if it has its ETag.
     *
     * @return those that are not known to be deleted
     */
    List<ObjectVersion> deleteIfUnchanged(List<ObjectVersion> versions)
            throws ObjectStoreException, InterruptedException {
        return others(versions, requests.change(requests.errors.bucket(), () -> delete(versions, true)));
    }

    /**
     * Deletes those of these objects that a listing before each attempt shows unchanged. A write by another client
     * between the listing and the attempt is lost, as between a HEAD and a single deletion. The listing stops when
     * single deletions would be done: these objects may be few among very many others.
     *
     * @return those that are not known to be deleted
     */
    List<ObjectVersion> deleteIfListed(List<ObjectVersion> versions) throws ObjectStoreException, InterruptedException {
        return others(versions, requests.change(requests.errors.bucket(), () -> delete(listed(versions), false)));
    }

    private static List<ObjectVersion> others(List<ObjectVersion> versions, Set<ObjectVersion> deleted) {
        return versions.stream().filter(version -> !deleted.contains(version)).toList();
    }

    private List<ObjectVersion> listed(List<ObjectVersion> versions) throws ObjectStoreException, InterruptedException {
        List<ObjectVersion> inOrder = versions.stream()
                .sorted((a, b) -> KeyOrder.COMPARATOR.compare(a.key(), b.key()))
                .toList();
        Map<String, ObjectVersion> wanted = new HashMap<>();
        inOrder.forEach(version -> wanted.put(version.key(), version));
        String prefix = commonPrefix(inOrder.getFirst().key(), inOrder.getLast().key());
        List<ObjectVersion> unchanged = new ArrayList<>();
        ListPages pages = new ListPages(
                reader::page,
                new ListRequest(prefix, "", before(inOrder.getFirst().key(), prefix), null, ListRequest.MAX_KEYS));
        for (int left = 1 + versions.size() / SingleDeletions.CONCURRENCY; left > 0 && !wanted.isEmpty(); left--) {
            ListPage page = pages.next();
            if (page == null) {
                break;
            }
            for (StoredObject object : page.objects()) {
                ObjectVersion there = object.version();
                ObjectVersion version = wanted.remove(there.key());
                if (version != null && version.hasIdentityOf(there) && version.size() == there.size()) {
                    unchanged.add(version);
                }
            }
            boolean isBehind = !page.objects().isEmpty()
                    && KeyOrder.COMPARATOR.compare(
                                    page.objects().getLast().version().key(),
                                    inOrder.getLast().key())
                            >= 0;
            if (isBehind) {
                break;
            }
        }
        return unchanged;
    }

    private static String commonPrefix(String first, String last) {
        int length = 0;
        while (length < Math.min(first.length(), last.length()) && first.charAt(length) == last.charAt(length)) {
            length++;
        }
        return first.substring(0, first.lastIndexOf('/', length - 1) + 1);
    }

    /** A key shortly before this one, to start a listing after; null for the beginning of the prefix. */
    private static @Nullable String before(String key, String prefix) {
        int last = key.codePointBefore(key.length());
        String shorter = key.substring(0, key.length() - Character.charCount(last));
        return shorter.length() > prefix.length() ? shorter : null;
    }

    /**
     * One attempt.
     *
     * @return those that are deleted
     */
    private Set<ObjectVersion> delete(List<ObjectVersion> versions, boolean conditionally) {
        List<ObjectVersion> sent =
                versions.stream().filter(version -> canBeWritten(version.key())).toList();
        if (sent.isEmpty()) {
            return Set.of();
        }
        Set<String> failed =
                send(sent, conditionally).stream().map(S3Error::key).collect(Collectors.toSet());
        if (!sent.stream().map(ObjectVersion::key).collect(Collectors.toSet()).containsAll(failed)) {
            return Set.of(); // a response that names other keys proves nothing about these
        }
        return sent.stream().filter(version -> !failed.contains(version.key())).collect(Collectors.toSet());
    }

    /** @return why objects still exist */
    private List<S3Error> send(List<ObjectVersion> versions, boolean conditionally) {
        return requests
                .client
                .deleteObjects(DeleteObjectsRequest.builder()
                        .bucket(requests.bucket())
                        .requestPayer(requests.payer)
                        .delete(Delete.builder()
                                .quiet(true)
                                .objects(versions.stream()
                                        .map(version -> ObjectIdentifier.builder()
                                                .key(version.key())
                                                .eTag(conditionally ? version.etag() : null)
                                                .build())
                                        .toList())
                                .build())
                        .build())
                .errors()
                .stream()
                .filter(error -> !"NoSuchKey".equals(error.code()))
                .toList();
    }

    /**
     * Deletes one object if it has this ETag, which it does not. An error about the object is treated like that of a
     * request that deletes it alone: the request is repeated if the error is transient.
     *
     * @throws ObjectStoreException.PreconditionFailed if the store reports it
     */
    void probe(String key, String etag) throws ObjectStoreException, InterruptedException {
        ObjectVersion wrong = new ObjectVersion(key, etag, 1, Instant.EPOCH);
        try {
            List<S3Error> _ = requests.change(requests.errors.object(key), () -> {
                List<S3Error> failures = send(List.of(wrong), true);
                if (!failures.isEmpty()) {
                    throw asOfOneRequest(failures.getFirst());
                }
                return failures;
            });
        } catch (ObjectStoreException.Refused e) {
            requests.gaps.learn(Gap.BATCHES, e);
            throw e;
        }
    }

    private static AwsServiceException asOfOneRequest(S3Error error) {
        return S3Exception.builder()
                .statusCode(200)
                .awsErrorDetails(AwsErrorDetails.builder()
                        .errorCode(error.code())
                        .errorMessage(error.message())
                        .build())
                .build();
    }

    /** Whether XML 1.0 can contain the key, and a parser leaves it unchanged. */
    private static boolean canBeWritten(String key) {
        return key.chars().allMatch(c -> c >= ' ' && c != 0x7f && c < 0xfffe);
    }
}
