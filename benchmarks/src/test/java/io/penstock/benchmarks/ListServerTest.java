package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.embeddeds3.SyntheticObjects;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.s3.S3Config;
import io.penstock.objectstore.s3.S3ObjectStore;
import io.penstock.tools.measure.Measurement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A name server in a separate process, and the raw listing of its objects. */
class ListServerTest {
    @Test
    void rawListing_ofTheWholeBucket_takesARequestAPage() throws Exception {
        SyntheticObjects objects = new SyntheticObjects(4_500, 1_000);
        try (ListServer server = ListServer.start(Map.of("names", objects), Duration.ofMillis(1));
                ObjectStore store =
                        S3ObjectStore.connect(server.server().config("names", S3Config.HttpClient.DIRECT), "")) {
            long before = server.requests();
            Measurement measured = new RawListing(store, objects).run(3);
            assertThat(server.requests() - before).isEqualTo(5);
            assertThat(measured.operations()).isEqualTo(4_500);
        }
    }
}
