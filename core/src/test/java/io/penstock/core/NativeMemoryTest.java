package io.penstock.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.NativeMemory.Share;
import io.penstock.core.NativeMemory.UsedUpException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Accounting and limits of the memory outside the heap. */
final class NativeMemoryTest {
    @Test
    void allocate_givesAlignedBytesOfThatLength() {
        for (int bytes : List.of(4096, 8192, 1 << 20)) {
            ByteBuffer memory = NativeMemory.allocate(Share.PAGES, bytes, 4096);
            assertThat(memory.capacity()).isEqualTo(bytes);
            assertThat(memory.alignmentOffset(0, 4096)).isZero();
            assertThat(memory.isDirect()).isTrue();
        }
        assertThat(NativeMemory.allocate(Share.REPLIES, 112, 1).capacity()).isEqualTo(112);
    }

    @Test
    @Timeout(60)
    void used_byShare_isWhatWasAllocatedUntilItIsCollected() throws InterruptedException {
        long before = NativeMemory.used(Share.CONNECTIONS);
        long ofOthers = NativeMemory.used(Share.REPLIES);
        List<ByteBuffer> slices = new ArrayList<>();
        slices.add(NativeMemory.allocate(Share.CONNECTIONS, 1 << 20, 4096).slice(100, 100));
        assertThat(NativeMemory.used(Share.CONNECTIONS)).isEqualTo(before + (1 << 20) + 4095);
        assertThat(NativeMemory.used(Share.REPLIES)).isEqualTo(ofOthers);

        System.gc();
        assertThat(slices).hasSize(1);
        assertThat(NativeMemory.used(Share.CONNECTIONS)).isGreaterThan(before);
        slices.clear();
        while (NativeMemory.used(Share.CONNECTIONS) > before) {
            System.gc();
            Thread.sleep(1);
        }
    }

    @Test
    void arena_countsItsMemoryUntilItIsClosed() {
        long before = NativeMemory.used(Share.NAMES);
        MemorySegment memory;
        try (Arena arena = NativeMemory.arena(Share.NAMES)) {
            memory = arena.allocate(1000, 1);
            MemorySegment _ = arena.allocate(24, 8);
            memory.set(ValueLayout.JAVA_BYTE, 999, (byte) 7);

            assertThat(NativeMemory.used(Share.NAMES)).isEqualTo(before + 1024);
        }
        assertThat(NativeMemory.used(Share.NAMES)).isEqualTo(before);
        assertThat(memory.scope().isAlive()).isFalse();
    }

    @Test
    void arena_closedTwice_throwsAndCountsItOnce() {
        long before = NativeMemory.used(Share.NAMES);
        Arena arena = NativeMemory.arena(Share.NAMES);
        MemorySegment _ = arena.allocate(1000);
        arena.close();

        assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class);
        assertThat(NativeMemory.used(Share.NAMES)).isEqualTo(before);
    }

    @Test
    void allocate_whereTheJvmHasNoMore_saysForWhomAndWhatToDo() {
        List<ByteBuffer> all = new ArrayList<>();
        assertThatThrownBy(() -> {
                    while (true) {
                        all.add(NativeMemory.allocate(Share.BLOCKS, 512 << 20, 4096));
                    }
                })
                .isInstanceOf(UsedUpException.class)
                .hasMessageContaining("for blocks")
                .hasMessageContaining("MaxDirectMemorySize");
        assertThat(all.size()).isLessThan(1000);
    }
}
