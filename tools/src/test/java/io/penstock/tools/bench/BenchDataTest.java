package io.penstock.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.objectstore.UploadBody;
import io.penstock.settings.process.RefusedException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class BenchDataTest {
    private static final int LENGTH = BenchData.CHUNK + 1000;

    private final BenchData data = new BenchData(7);

    private static ByteBuffer read(BenchData data, int file) throws Exception {
        ByteBuffer bytes = ByteBuffer.allocate(LENGTH);
        data.body(file, LENGTH).read(0, bytes);
        return bytes.flip();
    }

    @Test
    void check_whatWasWritten_passes() {
        assertThatCode(() -> data.check("file", 3, 0, read(data, 3))).doesNotThrowAnyException();
    }

    @Test
    void check_oneByteDiffers_isNamed() throws Exception {
        ByteBuffer bytes = read(data, 3);
        int last = LENGTH - 1;
        bytes.put(last, (byte) ~bytes.get(last));

        assertThatThrownBy(() -> data.check("/mnt/x", 3, 0, bytes))
                .isInstanceOf(RefusedException.class)
                .hasMessage("/mnt/x: the bytes read differ from those written, starting at byte " + last);
    }

    @Test
    void check_bytesOfAnotherFilePlaceOrRun_differ() throws Exception {
        ByteBuffer bytes = read(data, 3);
        assertThatThrownBy(() -> data.check("x", 4, 0, bytes)).isInstanceOf(RefusedException.class);
        assertThatThrownBy(() -> data.check("x", 3, 1, bytes)).isInstanceOf(RefusedException.class);
        assertThatThrownBy(() -> new BenchData(8).check("x", 3, 0, bytes)).isInstanceOf(RefusedException.class);
    }

    @Test
    void body_readInPieces_isTheSame() throws Exception {
        UploadBody body = data.body(3, LENGTH);
        ByteBuffer pieces = ByteBuffer.allocate(LENGTH);
        while (pieces.hasRemaining()) {
            int offset = pieces.position();
            ByteBuffer piece = pieces.slice(offset, Math.min(1337, pieces.remaining()));
            body.read(offset, piece);
            pieces.position(offset + piece.position());
        }
        assertThat(pieces.flip()).isEqualTo(read(data, 3));
        CRC32C crc = new CRC32C();
        crc.update(pieces);
        assertThat(body.crc32c()).hasValue((int) crc.getValue());
    }
}
