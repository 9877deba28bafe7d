package io.penstock.objectstore.s3;

import static io.penstock.objectstore.s3.TestConfigs.at;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.penstock.embeddeds3.EmbeddedS3;
import io.penstock.objectstore.s3.S3Config.HttpClient;
import io.penstock.testing.ObjectStoreWriteContract;
import io.penstock.testing.TestTier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The contract of writes, with stores that each lack one request or one header of S3. */
@ParameterizedClass
@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "LIST_PARTS") // else nobody would know the parts of an upload
final class GapsContractTest extends ObjectStoreWriteContract {
    @TempDir
    private static Path folder;

    private static @Nullable EmbeddedS3 server;
    private static FaultProxy front;
    private static S3Buckets buckets;

    private final GapsTest.Off off;

    GapsContractTest(GapsTest.Off off) {
        this.off = off;
    }

    @BeforeAll
    static void startServer() throws Exception {
        assumeThat(TestTier.isAll()).isTrue(); // takes minutes
        server = new EmbeddedS3(Files.createDirectory(folder.resolve("buckets")), "id", "secret");
        front = new FaultProxy(server.endpoint());
        buckets = new S3Buckets(server.endpoint(), "id", "secret");
    }

    @AfterAll
    static void stopServer() throws IOException {
        if (server == null) {
            return;
        }
        buckets.close();
        front.close();
        server.close();
    }

    @Override
    protected TestBucket newBucket() throws Exception {
        off.switchOff(front);
        return buckets.create(at(front.endpoint()), HttpClient.DIRECT);
    }

    @Override
    protected boolean holdsFileAndDirectoryOfOneName() {
        return false;
    }

    /** Those of {@link S3ProxyContractTest}, and what is switched off. */
    @Override
    protected List<Ability> lacks() {
        return List.of(
                Ability.TELLS_CHECKSUMS,
                Ability.KNOWS_UPLOADS,
                Ability.TAGS,
                Ability.EXPIRES,
                Ability.EXPIRES_OF_DUPLICATES,
                Ability.CHECKSUMS,
                Ability.COPIES_IN_PARTS);
    }

    @Override
    protected Set<String> keysNotHeld() {
        return Set.of("a//b", "/leading", "//", "./a", "a/../b");
    }
}
