package io.penstock.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.net.ssl.TrustManagerFactory;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.CompletedPart;

/** Fills a bucket with the AWS SDK only: no measured code writes the measured data. */
final class SdkUploads implements AutoCloseable {
    private static final long PART = 32L << 20;
    private static final int CONCURRENCY = 4;

    private final S3Client s3;
    private final String bucket;

    SdkUploads(S3Target server, String bucket) throws BenchException {
        S3ClientBuilder builder = S3Client.builder()
                .httpClientBuilder(http(server))
                .endpointOverride(server.endpoint())
                .forcePathStyle(server.pathStyle());
        if (server.region() != null) {
            builder.region(Region.of(server.region()));
        } else { // the server's redirection reveals the bucket's
            builder.region(Region.US_EAST_1).crossRegionAccessEnabled(true);
        }
        S3Target.Keys keys = server.keys();
        if (keys != null) {
            builder.credentialsProvider(StaticCredentialsProvider.create(
                    AwsBasicCredentials.create(keys.accessKeyId(), keys.secretAccessKey())));
        }
        this.s3 = builder.build();
        this.bucket = bucket;
    }

    private static Apache5HttpClient.Builder http(S3Target server) throws BenchException {
        Path caFile = server.caFile();
        Apache5HttpClient.Builder builder = Apache5HttpClient.builder();
        if (caFile != null) {
            try (InputStream in = Files.newInputStream(caFile)) {
                KeyStore trusted = KeyStore.getInstance("PKCS12");
                trusted.load(null, null);
                for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                    trusted.setCertificateEntry("ca-" + trusted.size(), each);
                }
                TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
                factory.init(trusted);
                builder.tlsTrustManagersProvider(factory::getTrustManagers);
            } catch (IOException | GeneralSecurityException e) {
                throw new BenchException("AWS_CA_BUNDLE: " + caFile + ": " + e);
            }
        }
        return builder;
    }

    void createBucket() {
        s3.createBucket(request -> request.bucket(bucket));
    }

    /** Objects of random bytes. */
    void put(String prefix, Map<String, Long> sizes) throws Exception {
        try (ExecutorService executor = Executors.newFixedThreadPool(CONCURRENCY)) {
            List<Callable<Void>> small = new ArrayList<>();
            for (Map.Entry<String, Long> object : sizes.entrySet()) {
                String key = prefix + object.getKey();
                long size = object.getValue();
                if (size > PART) {
                    putInParts(key, size, executor);
                } else {
                    small.add(() -> put(key, (int) size));
                }
            }
            all(small, executor);
        }
    }

    @SuppressWarnings("NullAway") // A task without a result.
    private Void put(String key, int size) {
        s3.putObject(request -> request.bucket(bucket).key(key), RequestBody.fromBytes(RandomBytes.of(key, 0, size)));
        return null;
    }

    private void putInParts(String key, long size, ExecutorService executor) throws Exception {
        String id = s3.createMultipartUpload(request -> request.bucket(bucket).key(key))
                .uploadId();
        List<Callable<CompletedPart>> uploads = new ArrayList<>();
        for (long offset = 0; offset < size; offset += PART) {
            long start = offset;
            int length = (int) Math.min(PART, size - offset);
            int number = uploads.size() + 1;
            uploads.add(() -> putPart(key, id, number, RandomBytes.of(key, start, length)));
        }
        boolean completed = false;
        try {
            List<CompletedPart> parts = all(uploads, executor);
            s3.completeMultipartUpload(request ->
                    request.bucket(bucket).key(key).uploadId(id).multipartUpload(upload -> upload.parts(parts)));
            completed = true;
        } finally {
            if (!completed) {
                s3.abortMultipartUpload(
                        request -> request.bucket(bucket).key(key).uploadId(id));
            }
        }
    }

    private CompletedPart putPart(String key, String id, int number, byte[] bytes) {
        String etag = s3.uploadPart(
                        request -> request.bucket(bucket).key(key).uploadId(id).partNumber(number),
                        RequestBody.fromBytes(bytes))
                .eTag();
        return CompletedPart.builder().partNumber(number).eTag(etag).build();
    }

    private static <T> List<T> all(List<Callable<T>> calls, ExecutorService executor) throws Exception {
        List<T> results = new ArrayList<>();
        for (Future<T> result : executor.invokeAll(calls)) {
            results.add(result.get());
        }
        return results;
    }

    @Override
    public void close() {
        s3.close();
    }
}
