package io.penstock.objectstore.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.objectstore.http.ResponseHead;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ObjectHeadTest {
    @Test
    void of_response_hasItsDateAndTheObjectsTime() throws Exception {
        ObjectHead head = ObjectHead.of(new ResponseHead(
                "HTTP/1.1",
                200,
                Map.of(
                        "Content-Length", "5",
                        "Last-Modified", "Sun, 22 Nov 2026 12:00:00 GMT",
                        "Date", "Sun, 22 Nov 2026 12:00:02 GMT")));

        assertThat(head.lastModified()).isEqualTo(Instant.parse("2026-11-22T12:00:00Z"));
        assertThat(head.date()).isEqualTo(Instant.parse("2026-11-22T12:00:02Z"));
    }
}
