package io.penstock.objectstore;

import io.penstock.embeddeds3.EmbeddedS3;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

final class S3ProxyContractTest extends ObjectStoreWriteContract {
    @TempDir
    private static Path folder;

    private static EmbeddedS3 server;
    private static S3Buckets buckets;

    @BeforeAll
    static void startServer() throws IOException {
        server = new EmbeddedS3(folder, "id", "secret");
        buckets = new S3Buckets(server.endpoint(), "id", "secret");
    }

    @AfterAll
    static void stopServer() {
        buckets.close();
        server.close();
    }

    @Override
    protected TestBucket newBucket() throws Exception {
        return buckets.create(settings -> settings);
    }

    @Override
    protected boolean holdsFileAndDirectoryOfOneName() {
        return false;
    }

    /** It lists no parts of an upload that it does not know, instead of saying so. */
    @Override
    protected List<Ability> lacks() {
        return List.of(Ability.KNOWS_UPLOADS);
    }

    @Override
    protected Set<String> keysNotHeld() {
        return Set.of("a//b", "/leading", "//", "./a", "a/../b");
    }
}
