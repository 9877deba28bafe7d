package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.REQUESTER;
import static io.penstock.objectstore.s3.TestConfigs.at;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.WriteCondition;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.objectstore.s3.S3Config.Integrity;
import io.penstock.objectstore.s3.S3Config.Limits;
import io.penstock.testing.BytesBody;
import io.penstock.testing.CollectingSink;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bodies that must be fetched while they are sent: the fetches need connections too. */
@Timeout(60)
final class ConnectionShareTest {
    private static final int WRITERS = 8;
    private static final BytesBody CONTENT = BytesBody.random(300_000, 1);

    @TempDir
    private Path folder;

    private EmbeddedS3 server;

    @BeforeEach
    void start() throws IOException {
        server = new EmbeddedS3(folder, "id", "secret");
        server.createBucket("bucket");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @EnumSource
    void put_moreBodiesThanConnectionsAndEachReadsTheStore_allArrive(HttpClient httpClient) throws Exception {
        S3Config config = new S3Config(
                "bucket",
                at(server.endpoint()),
                REQUESTER,
                httpClient,
                new Limits(2, Limits.DEFAULT.connectTimeout(), Limits.DEFAULT.readTimeout()),
                Integrity.DEFAULT,
                RetryPolicy.DEFAULT);
        try (S3ObjectStore store = S3ObjectStore.connect(config);
                ExecutorService writers = Executors.newVirtualThreadPerTaskExecutor()) {
            ObjectVersion source = store.put("source", CONTENT, WriteCondition.ALWAYS);
            List<Future<ObjectVersion>> written = new ArrayList<>();
            for (int i = 0; i < WRITERS; i++) {
                String key = "copy-" + i;
                written.add(writers.submit(() -> store.put(key, fetched(store, source), WriteCondition.ALWAYS)));
            }
            for (Future<ObjectVersion> version : written) {
                assertThat(version.get().size()).isEqualTo(CONTENT.length());
            }
        }
    }

    /** A body of the same bytes, each read of which is a GET. */
    private static UploadBody fetched(ObjectStore store, ObjectVersion source) {
        CRC32C checksum = new CRC32C();
        ByteBuffer all = ByteBuffer.allocate((int) CONTENT.length());
        CONTENT.read(0, all);
        checksum.update(all.flip());
        return new UploadBody() {
            @Override
            public long length() {
                return source.size();
            }

            @Override
            public OptionalInt crc32c() {
                return OptionalInt.of((int) checksum.getValue());
            }

            @Override
            public void read(long offset, ByteBuffer target) throws IOException, InterruptedException {
                CollectingSink sink = new CollectingSink(target.remaining());
                try {
                    store.get(source, new ByteRange(offset, target.remaining()), sink);
                } catch (ObjectStoreException e) {
                    throw new IOException(e);
                }
                target.put(sink.bytes());
            }
        };
    }
}
