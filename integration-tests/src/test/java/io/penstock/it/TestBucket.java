package io.penstock.it;

import io.penstock.testing.TestData;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.S3Object;

/** A bucket of its own, filled by a client other than the one under test, and gone when closed. */
final class TestBucket implements AutoCloseable {
    private static final long PART = 64L << 20;
    private static final int CONCURRENCY = 4;
    private static final AtomicInteger COUNT = new AtomicInteger();

    private final S3Client s3;
    private final String name;

    TestBucket(S3Server server) {
        s3 = S3Client.builder()
                .endpointOverride(server.endpoint())
                .region(Region.US_EAST_1)
                .forcePathStyle(true)
                .httpClient(UrlConnectionHttpClient.create())
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

    /** An object of these bytes under the data's name, as large as it may be. */
    TestData put(TestData data) throws Exception {
        if (data.size() <= PART) {
            put(data.name(), data.bytes());
        } else {
            putInParts(data);
        }
        return data;
    }

    /** Many small objects, several at once. */
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

    private static <T> List<T> allOf(List<Callable<T>> calls) throws Exception {
        try (ExecutorService executor = Executors.newFixedThreadPool(CONCURRENCY)) {
            List<T> results = new ArrayList<>();
            for (Future<T> future : executor.invokeAll(calls)) {
                results.add(future.get());
            }
            return results;
        }
    }

    void delete(String key) {
        s3.deleteObject(request -> request.bucket(name).key(key));
    }

    @Override
    public void close() {
        try (s3) {
            s3.listObjectsV2Paginator(request -> request.bucket(name)).contents().stream()
                    .map(S3Object::key)
                    .forEach(this::delete);
            s3.deleteBucket(request -> request.bucket(name));
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
