package io.penstock.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.testing.Seeded;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class PeerRequestTest {
    private static final PeerRequest REQUEST = new PeerRequest(
            "minio.example.com:9000/data",
            new ObjectVersion("a b/ü&=?#%+\n日", "W/\"x y\"", 9_000_000_000L, Instant.ofEpochSecond(1, 5)),
            new ByteRange(8_000_000_000L, OwnedSlabs.SIZE),
            Urgency.READAHEAD);

    private static String query(PeerRequest request) {
        return request.target().substring(PeerRequest.PATH.length() + 1);
    }

    @Test
    void parse_ofATarget_isTheRequest() {
        assertThat(REQUEST.target()).matches("[!-~]+").startsWith(PeerRequest.PATH + "?");
        assertThat(PeerRequest.parse(query(REQUEST))).isEqualTo(REQUEST);
    }

    @Test
    void parse_ofGarbage_isRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> PeerRequest.parse(null));
        assertThatIllegalArgumentException().isThrownBy(() -> PeerRequest.parse(""));
        assertThatIllegalArgumentException().isThrownBy(() -> PeerRequest.parse(query(REQUEST) + "&key=other"));
        String later = query(REQUEST).replace("urgency=READAHEAD", "urgency=LATER");
        assertThatIllegalArgumentException().isThrownBy(() -> PeerRequest.parse(later));
        Seeded.check(500, random -> {
            StringBuilder query = new StringBuilder(query(REQUEST));
            int at = random.nextInt(query.length());
            query.setCharAt(at, (char) random.nextInt('!', '~'));
            query.setLength(random.nextInt(query.length()));
            assertThatThrownBy(() -> PeerRequest.parse(query.toString())).isInstanceOf(IllegalArgumentException.class);
        });
    }

    @Test
    void request_ofMoreThanASlabOrBeyondTheEnd_isRefused() {
        ObjectVersion version = REQUEST.version();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PeerRequest("n", version, new ByteRange(0, OwnedSlabs.SIZE + 1), Urgency.DEMAND));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PeerRequest("n", version, new ByteRange(version.size(), 1), Urgency.DEMAND));
        ObjectVersion absurd = new ObjectVersion("k", "e", ObjectVersion.LARGEST + 1, version.lastModified());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PeerRequest("n", absurd, new ByteRange(0, 1), Urgency.DEMAND));
    }

    @Test
    void chunks_coverARange_andItsBodyIsAsLongAsSaid() {
        Seeded.check(200, random -> {
            long from = random.nextLong(20 << 20);
            long end = from + 1 + random.nextLong(OwnedSlabs.SIZE);
            long body = 0;
            for (long at = from; at < end; ) {
                int length = Chunks.length(at, end);
                assertThat(length).isBetween(1, Chunks.SIZE);
                at += length;
                assertThat(at == end || at % Chunks.SIZE == 0).isTrue();
                body += length + Chunks.CHECKSUM;
            }
            assertThat(body).isEqualTo(Chunks.bodyLength(from, end));
        });
    }
}
