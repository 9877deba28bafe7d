package io.penstock.writeback;

import io.penstock.writeback.WritebackConfig.Close;
import io.penstock.writeback.WritebackConfig.Fsync;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.upload.Uploads.PartSizes;
import io.penstock.writeback.upload.WritebackLimits;
import java.nio.file.Path;

/** Configurations for tests. */
final class TestConfig {
    private TestConfig() {}

    static WritebackConfig withMemory(int blocks) {
        return in(Path.of("unused"), blocks);
    }

    static WritebackConfig in(Path staging, int blocks) {
        return new WritebackConfig(
                staging,
                Close.VISIBLE,
                Fsync.STAGED,
                PartSizes.GROWING,
                5L << 40,
                new WritebackLimits.Values(4, 4, 4, (long) blocks * Block.BLOCK_SIZE, 1L << 30, 8 << 20));
    }
}
