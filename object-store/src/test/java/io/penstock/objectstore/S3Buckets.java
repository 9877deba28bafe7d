package io.penstock.objectstore;

import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** New buckets on a server, written by a client of their own. */
final class S3Buckets implements AutoCloseable {
    private static final AtomicInteger NEXT = new AtomicInteger();

    private final URI endpoint;
    private final S3Config.Credentials.Static credentials;
    private final S3Client writer;

    S3Buckets(URI endpoint, String accessKeyId, String secretAccessKey) {
        this.endpoint = endpoint;
        this.credentials = new S3Config.Credentials.Static(accessKeyId, secretAccessKey);
        this.writer = S3Client.builder()
                .endpointOverride(endpoint)
                .forcePathStyle(true)
                .region(Region.US_EAST_1)
                .credentialsProvider(
                        StaticCredentialsProvider.create(AwsBasicCredentials.create(accessKeyId, secretAccessKey)))
                .httpClient(Apache5HttpClient.create())
                .build();
    }

    /** How to reach a bucket of this server. */
    S3Config.Builder config(String bucket) {
        return S3Config.builder(bucket).endpoint(endpoint).pathStyle(true).credentials(credentials);
    }

    /** Makes a bucket and connects to it. */
    ObjectStoreContract.TestBucket create(UnaryOperator<S3Config.Builder> settings) throws Exception {
        String bucket = "test-" + NEXT.incrementAndGet();
        writer.createBucket(request -> request.bucket(bucket));
        S3ObjectStore store =
                S3ObjectStore.connect(settings.apply(config(bucket)).build());
        return new ObjectStoreContract.TestBucket() {
            @Override
            public ObjectStore store() {
                return store;
            }

            @Override
            public void put(String key, byte[] content) {
                writer.putObject(request -> request.bucket(bucket).key(key), RequestBody.fromBytes(content));
            }

            @Override
            public void delete(String key) {
                writer.deleteObject(request -> request.bucket(bucket).key(key));
            }

            @Override
            public void close() {
                store.close();
            }
        };
    }

    @Override
    public void close() {
        writer.close();
    }
}
