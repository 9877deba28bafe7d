package io.penstock.writeback.content;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.ByteRange;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The structure of a file's content. */
final class BlockMapTest {
    /** The blocks of 1 TiB: reading all of them for each part would take minutes, with the file locked. */
    @Test
    @Timeout(60)
    void runs_ofEachPartOfATebibyte_looksAtThatPartOnly() {
        int blocks = 1 << 18;
        BlockMap content = new BlockMap(0);
        Block whole = new Block(0);
        for (int i = 0; i < blocks; i++) {
            whole = content.blockForWriting((long) i * BLOCK_SIZE);
        }
        content.grow(whole.end());

        for (int i = 0; i < blocks; i += 2) {
            ByteRange part = new ByteRange((long) i * BLOCK_SIZE, 2L * BLOCK_SIZE);
            assertThat(content.runs(part, null)).isEqualTo(List.of(Run.sent(part)));
        }
    }
}
