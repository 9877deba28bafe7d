package io.penstock.embeddeds3;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.blobstore.ForwardingBlobStore;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.DeleteObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/**
 * An S3 server in this process: S3Proxy over a folder, on a free port of the loopback interface. Buckets are folders,
 * and objects are files in them. It requires signed requests, and accepts path style and any region. Thread-safe.
 *
 * <p>It cannot hold both an object {@code a} and objects {@code a/…}, nor keys that are not file names, such as those
 * with {@code //} or {@code ..}.
 */
public final class EmbeddedS3 implements AutoCloseable {
    private final BlobStore folder;
    private final S3Proxy server;
    private final boolean encrypts;

    /**
     * Starts the server.
     *
     * @param root an existing folder, which keeps the objects after {@link #close}
     * @param accessKeyId the key that must sign requests
     * @param secretAccessKey its secret
     */
    public EmbeddedS3(Path root, String accessKeyId, String secretAccessKey) throws IOException {
        this(root, accessKeyId, secretAccessKey, null);
    }

    /**
     * Starts a server that speaks HTTPS.
     *
     * @param certificate of the server; clients must trust it
     */
    public EmbeddedS3(Path root, String accessKeyId, String secretAccessKey, @Nullable OwnCertificate certificate)
            throws IOException {
        folder = new WithMarkerEtags(new FilesystemNio2BlobStore(root.toString()));
        encrypts = certificate != null;
        S3Proxy.Builder builder = S3Proxy.builder()
                .blobStore(folder)
                .awsAuthentication(AuthenticationType.AWS_V4, accessKeyId, secretAccessKey)
                .ignoreUnknownHeaders(true);
        if (certificate == null) {
            builder.endpoint(URI.create("http://127.0.0.1:0"));
        } else {
            builder.secureEndpoint(URI.create("https://127.0.0.1:0"))
                    .keyStore(certificate.keyStore().toString(), OwnCertificate.PASSWORD);
        }
        server = builder.build();
        try {
            server.start();
        } catch (Exception e) {
            throw new IOException("the embedded S3 server does not start: " + e.getMessage(), e);
        }
    }

    /** Gives directories the ETag that listings show for them. Without it, no condition on their deletion holds. */
    private static final class WithMarkerEtags extends ForwardingBlobStore {
        private static final String OF_NOTHING = "\"d41d8cd98f00b204e9800998ecf8427e\""; // MD5

        WithMarkerEtags(BlobStore folder) {
            super(folder);
        }

        @Override
        public HeadObjectResponse blobMetadata(HeadObjectRequest request) {
            HeadObjectResponse found = super.blobMetadata(request);
            return request.key().endsWith("/") && found.eTag() == null
                    ? found.toBuilder().eTag(OF_NOTHING).build()
                    : found;
        }
    }

    /** The address on which the server listens. */
    public URI endpoint() {
        return URI.create(
                encrypts ? "https://127.0.0.1:" + server.getSecurePort() : "http://127.0.0.1:" + server.getPort());
    }

    /** Creates an empty bucket. */
    public void createBucket(String bucket) {
        folder.createContainer(bucket);
    }

    /** Stores an object without going through the network. */
    public void put(String bucket, String key, byte[] content) {
        put(bucket, key, new ByteArrayInputStream(content), content.length);
    }

    /** Stores a file's bytes as an object. */
    public void put(String bucket, String key, Path file) throws IOException {
        try (InputStream content = Files.newInputStream(file)) {
            put(bucket, key, content, Files.size(file));
        }
    }

    /**
     * Stores an object from a stream.
     *
     * @param size bytes in the stream
     */
    public void put(String bucket, String key, InputStream content, long size) {
        folder.putBlob(
                PutObjectRequest.builder()
                        .bucket(bucket)
                        .key(key)
                        .contentLength(size)
                        .build(),
                content);
    }

    /**
     * An object's bytes as a stream, which the caller closes.
     *
     * @throws RuntimeException if there is no such object
     */
    public InputStream get(String bucket, String key) {
        return folder.getBlob(GetObjectRequest.builder().bucket(bucket).key(key).build());
    }

    /** Removes an object, if there is one. */
    public void delete(String bucket, String key) {
        folder.removeBlob(DeleteObjectRequest.builder().bucket(bucket).key(key).build());
    }

    /** Stops the server; requests in flight fail. */
    @Override
    public void close() {
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("the embedded S3 server does not stop: " + e.getMessage(), e);
        }
    }
}
