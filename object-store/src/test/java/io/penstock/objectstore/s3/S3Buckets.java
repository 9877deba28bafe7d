package io.penstock.objectstore.s3;

import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.s3.S3Config.Credentials;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.objectstore.s3.S3Config.Requester;
import io.penstock.objectstore.s3.S3Config.Server;
import io.penstock.testing.ObjectStoreContract;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** New buckets on a server, written by a separate client. */
final class S3Buckets implements AutoCloseable {
    private static final AtomicInteger NEXT = new AtomicInteger();

    private final Requester requester;
    private final S3Client writer;

    S3Buckets(URI endpoint, String accessKeyId, String secretAccessKey) {
        this.requester = TestConfigs.requester(new Credentials.Static(accessKeyId, secretAccessKey));
        this.writer = S3Client.builder()
                .endpointOverride(endpoint)
                .forcePathStyle(true)
                .region(Region.US_EAST_1)
                .credentialsProvider(
                        StaticCredentialsProvider.create(AwsBasicCredentials.create(accessKeyId, secretAccessKey)))
                .httpClient(Apache5HttpClient.create())
                .build();
    }

    /**
     * Creates a bucket and connects to it.
     *
     * @param server how to reach the server that has the bucket
     */
    ObjectStoreContract.TestBucket create(Server server, HttpClient httpClient) throws Exception {
        String bucket = "test-" + NEXT.incrementAndGet();
        writer.createBucket(request -> request.bucket(bucket));
        S3ObjectStore store = S3ObjectStore.connect(new S3Config(
                bucket, server, requester, httpClient, Limits.DEFAULT, Integrity.DEFAULT, RetryPolicy.DEFAULT));
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
