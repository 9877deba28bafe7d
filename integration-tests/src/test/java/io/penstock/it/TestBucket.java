package io.penstock.it;

import static java.time.temporal.ChronoUnit.SECONDS;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.StoredObject;
import io.penstock.testing.TestData;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.NoSuchUploadException;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/** A separate bucket, filled by a client other than the one under test, and removed when closed. */
final class TestBucket implements AutoCloseable {
    private static final long PART = 64L << 20;
    private static final int CONCURRENCY = 4;
    private static final int CONFLICT = 409;
    private static final int PRECONDITION_FAILED = 412;
    private static final int DELETE_TRIES = 50;

    /** The maximum number of keys in one request of S3. */
    private static final int DELETED_AT_ONCE = 1_000;

    private static final long DELETE_PAUSE_NANOS = 100_000_000;
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final S3Client s3;
    private final String name;

    TestBucket(S3Server server) {
        s3 = S3Client.builder()
                .endpointOverride(server.endpoint())
                .region(Region.US_EAST_1)
                .forcePathStyle(true)
                .httpClient(Apache5HttpClient.create())
                .credentialsProvider(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(server.accessKey(), server.secretKey())))
                .build();
        name = "it-" + ProcessHandle.current().pid() + "-" + COUNT.incrementAndGet();
        s3.createBucket(request -> request.bucket(name));
    }

    String name() {
        return name;
    }

    void put(String key, byte[] content) {
        s3.putObject(request -> request.bucket(name).key(key), RequestBody.fromBytes(content));
    }

    /** Stores an object of these bytes under the data's name, of any size. */
    TestData put(TestData data) throws Exception {
        if (data.size() <= PART) {
            put(data.name(), data.bytes());
        } else {
            putInParts(data);
        }
        return data;
    }

    /** Stores many small objects, several at the same time. */
    void putAll(List<TestData> all) throws Exception {
        List<Callable<Void>> puts = new ArrayList<>();
        for (TestData data : all) {
            puts.add(() -> {
                put(data.name(), data.bytes());
                return null;
            });
        }
        allOf(puts);
    }

    private void putInParts(TestData data) throws Exception {
        String id = s3.createMultipartUpload(request -> request.bucket(name).key(data.name()))
                .uploadId();
        List<Callable<CompletedPart>> uploads = new ArrayList<>();
        for (long offset = 0; offset < data.size(); offset += PART) {
            int number = uploads.size() + 1;
            long start = offset;
            int length = (int) Math.min(PART, data.size() - offset);
            uploads.add(() -> {
                String etag = s3.uploadPart(
                                request -> request.bucket(name)
                                        .key(data.name())
                                        .uploadId(id)
                                        .partNumber(number),
                                RequestBody.fromBytes(data.bytes(start, length)))
                        .eTag();
                return CompletedPart.builder().partNumber(number).eTag(etag).build();
            });
        }
        List<CompletedPart> parts = allOf(uploads);
        s3.completeMultipartUpload(request ->
                request.bucket(name).key(data.name()).uploadId(id).multipartUpload(upload -> upload.parts(parts)));
    }

    /** The part is sent once; the server builds the object from it. */
    void put(RepeatedData data) throws Exception {
        TestData part = put(data.part());
        String id = s3.createMultipartUpload(request -> request.bucket(name).key(data.name()))
                .uploadId();
        List<Callable<CompletedPart>> copies = new ArrayList<>();
        for (long offset = 0; offset < data.size(); offset += data.period()) {
            int number = copies.size() + 1;
            long last = Math.min(data.period(), data.size() - offset) - 1;
            copies.add(() -> {
                String etag = s3.uploadPartCopy(request -> request.sourceBucket(name)
                                .sourceKey(part.name())
                                .copySourceRange("bytes=0-" + last)
                                .destinationBucket(name)
                                .destinationKey(data.name())
                                .uploadId(id)
                                .partNumber(number))
                        .copyPartResult()
                        .eTag();
                return CompletedPart.builder().partNumber(number).eTag(etag).build();
            });
        }
        List<CompletedPart> parts = allOf(copies);
        s3.completeMultipartUpload(request ->
                request.bucket(name).key(data.name()).uploadId(id).multipartUpload(upload -> upload.parts(parts)));
        delete(part.name());
    }

    private static <T> List<T> allOf(List<Callable<T>> calls) throws Exception {
        try (ExecutorService executor = Executors.newFixedThreadPool(CONCURRENCY)) {
            List<T> results = new ArrayList<>();
            for (Future<T> future : executor.invokeAll(calls)) {
                results.add(future.get());
            }
            return results;
        }
    }

    byte[] get(String key) {
        return s3.getObjectAsBytes(request -> request.bucket(name).key(key)).asByteArray();
    }

    /** The content if the object exists: MinIO lists objects a moment before they can be read. */
    Optional<byte[]> find(String key) {
        try {
            return Optional.of(get(key));
        } catch (NoSuchKeyException e) {
            return Optional.empty();
        }
    }

    /** The multipart uploads that were neither completed nor aborted, by their ids, with their keys. */
    Map<String, String> unfinishedUploads() {
        return unfinishedUploads("");
    }

    /**
     * The same for keys with this prefix. MinIO lists all uploads only for one whole key, or for the whole bucket,
     * where it may continue to list some that have ended.
     */
    Map<String, String> unfinishedUploads(String prefix) {
        return listed(prefix).stream()
                .filter(upload -> parts(upload.key(), upload.uploadId()).isPresent())
                .collect(Collectors.toMap(MultipartUpload::uploadId, MultipartUpload::key));
    }

    private List<MultipartUpload> listed(String prefix) {
        return s3.listMultipartUploads(request -> request.bucket(name).prefix(prefix))
                .uploads();
    }

    private void abortIfThere(String key, String uploadId) {
        try {
            abort(key, uploadId);
        } catch (NoSuchUploadException e) {
            return; // it has ended, which is fine
        }
    }

    /** The number of the upload's parts; empty if there is no such upload. */
    OptionalInt parts(String key, String uploadId) {
        try {
            return OptionalInt.of(
                    s3.listParts(request -> request.bucket(name).key(key).uploadId(uploadId))
                            .parts()
                            .size());
        } catch (NoSuchUploadException e) {
            return OptionalInt.empty();
        }
    }

    /** @return its id */
    String beginUpload(String key) {
        return s3.createMultipartUpload(request -> request.bucket(name).key(key))
                .uploadId();
    }

    void abort(String key, String uploadId) {
        s3.abortMultipartUpload(request -> request.bucket(name).key(key).uploadId(uploadId));
    }

    /** Keys of all objects below the prefix, including keys that XML cannot represent. */
    List<String> keys(String prefix) {
        return s3
                .listObjectsV2Paginator(
                        request -> request.bucket(name).prefix(prefix).encodingType(EncodingType.URL))
                .contents()
                .stream()
                .map(S3Object::key)
                .toList();
    }

    /** All objects as they are listed, with times in whole seconds, including those whose keys XML cannot represent. */
    List<StoredObject> objects() {
        return s3
                .listObjectsV2Paginator(request -> request.bucket(name).encodingType(EncodingType.URL))
                .contents()
                .stream()
                .map(object -> new StoredObject(
                        new ObjectVersion(
                                object.key(),
                                object.eTag(),
                                object.size(),
                                object.lastModified().truncatedTo(SECONDS)),
                        object.storageClassAsString()))
                .toList();
    }

    /** Lets everybody read and write, with or without credentials, on servers that have policies. */
    void open() {
        allow("s3:*");
    }

    /** Allows everybody this action, and nobody without credentials any other. */
    void allow(String action) {
        String arns = "[\"arn:aws:s3:::%1$s\", \"arn:aws:s3:::%1$s/*\"]".formatted(name);
        s3.putBucketPolicy(request -> request.bucket(name).policy("""
            {"Version": "2012-10-17", "Statement": [
              {"Effect": "Allow", "Principal": "*", "Action": "%s", "Resource": %s}]}
            """.formatted(action, arns)));
    }

    /** Withdraws the permissions of {@link #open} and {@link #allow}. */
    void shut() {
        s3.deleteBucketPolicy(request -> request.bucket(name));
    }

    /** Whether the server can create an object only if its key does not exist. */
    boolean honoursConditionsOnPuts() {
        put("probe", new byte[0]);
        return isRefused(() -> s3.putObject(
                request -> request.bucket(name).key("probe").ifNoneMatch("*"), RequestBody.fromBytes(new byte[0])));
    }

    /** The same for copies. */
    boolean honoursConditionsOnCopies() {
        put("probe", new byte[0]);
        put("probe copied", new byte[0]);
        return isRefused(() -> s3.copyObject(request -> request.sourceBucket(name)
                .sourceKey("probe")
                .destinationBucket(name)
                .destinationKey("probe copied")
                .ifNoneMatch("*")));
    }

    private static boolean isRefused(Runnable conditional) {
        try {
            conditional.run();
            return false;
        } catch (S3Exception e) {
            return e.statusCode() == PRECONDITION_FAILED;
        }
    }

    private void deleteKeys(List<String> all) {
        // Requests for many are XML, which cannot represent these keys.
        all.stream().filter(TestBucket::hasControlCharacter).forEach(this::delete);
        List<String> keys =
                all.stream().filter(key -> !hasControlCharacter(key)).toList();
        for (int from = 0; from < keys.size(); from += DELETED_AT_ONCE) {
            List<ObjectIdentifier> some = keys.subList(from, Math.min(from + DELETED_AT_ONCE, keys.size())).stream()
                    .map(key -> ObjectIdentifier.builder().key(key).build())
                    .toList();
            s3.deleteObjects(request -> request.bucket(name).delete(objects -> objects.objects(some)));
        }
    }

    private static boolean hasControlCharacter(String key) {
        return key.chars().anyMatch(c -> c < ' ');
    }

    void delete(String key) {
        s3.deleteObject(request -> request.bucket(name).key(key));
    }

    @Override
    public void close() {
        try (s3) {
            for (int tries = 1; !deleteAll(tries == DELETE_TRIES); tries++) {
                LockSupport.parkNanos(DELETE_PAUSE_NANOS);
            }
        }
    }

    /**
     * Requests of a killed mount may arrive meanwhile: MinIO then reports that the bucket is not empty.
     *
     * @param last whether that is an error
     */
    private boolean deleteAll(boolean last) {
        deleteKeys(keys(""));
        listed("").forEach(upload -> abortIfThere(upload.key(), upload.uploadId())); // S3Proxy: they are in the bucket
        try {
            s3.deleteBucket(request -> request.bucket(name));
            return true;
        } catch (S3Exception e) {
            if (last || e.statusCode() != CONFLICT) {
                throw e;
            }
            return false;
        }
    }

    /** Compares a stream with the data to its end. */
    static void verify(TestData data, InputStream in) throws Exception {
        byte[] buffer = new byte[1 << 20];
        long at = 0;
        for (int n = in.readNBytes(buffer, 0, buffer.length); n > 0; n = in.readNBytes(buffer, 0, buffer.length)) {
            if (at + n > data.size()) {
                throw new AssertionError(data.name() + " is longer than its " + data.size() + " bytes");
            }
            data.verify(at, ByteBuffer.wrap(buffer, 0, n));
            at += n;
        }
        if (at != data.size()) {
            throw new AssertionError("%s ends at %d of %d bytes".formatted(data.name(), at, data.size()));
        }
    }
}
