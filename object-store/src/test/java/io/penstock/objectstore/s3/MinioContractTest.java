package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.testing.ObjectStoreWriteContract;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** With every HTTP client, because the fakes only imitate the responses of S3. */
@ParameterizedClass
@EnumSource(HttpClient.class)
final class MinioContractTest extends ObjectStoreWriteContract {
    @TempDir
    private static Path folder;

    private static MinioServer server;
    private static S3Buckets buckets;

    private final HttpClient httpClient;

    MinioContractTest(HttpClient httpClient) {
        this.httpClient = httpClient;
    }

    @BeforeAll
    static void startServer() throws Exception {
        Optional<Path> program = MinioServer.program();
        assumeThat(program).as("a MinIO, which bin/test installs").isPresent();
        server = MinioServer.start(program.orElseThrow(), folder);
        buckets = new S3Buckets(server.endpoint(), MinioServer.ACCESS_KEY, MinioServer.SECRET_KEY);
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            buckets.close();
            server.close();
        }
    }

    @Override
    protected TestBucket newBucket() throws Exception {
        return buckets.create(at(server.endpoint()), httpClient);
    }

    @Override
    protected List<Ability> lacks() {
        return List.of(Ability.EXPIRES_OF_DUPLICATES);
    }

    @Override
    protected boolean holdsFileAndDirectoryOfOneName() {
        return false;
    }

    @Override
    protected Set<String> keysNotHeld() {
        return Set.of("a//b", "/leading", "//", "./a", "a/../b");
    }
}
