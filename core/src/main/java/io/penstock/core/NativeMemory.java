package io.penstock.core;

import static java.util.Objects.requireNonNull;
import static java.util.function.Function.identity;
import static java.util.stream.Collectors.toUnmodifiableMap;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * The memory outside the heap. Most of it is in direct buffers, for which {@code -XX:MaxDirectMemorySize} is the one
 * budget: an allocation that exceeds it fails here. {@code bin/penstock} sizes it for the sum of all shares, so that no
 * share takes what another was promised. A share keeps its buffers for reuse and allocates only when it grows. The
 * garbage collector frees a dropped buffer.
 *
 * <p>The memory of an {@linkplain #arena arena} comes on top of that budget and is freed when the arena is closed. Safe
 * for use by any number of threads.
 */
public final class NativeMemory {
    private static final Cleaner CLEANER = Cleaner.create();

    /** Bytes in use by each share. */
    private static final Map<Share, LongAdder> USED =
            Arrays.stream(Share.values()).collect(toUnmodifiableMap(identity(), _ -> new LongAdder()));

    private NativeMemory() {}

    /** A purpose of memory, and its bound. */
    public enum Share {
        /** Pages of the cache: the setting {@code memory}. */
        PAGES,
        /** Blocks of written files: the setting {@code write.memory}. */
        BLOCKS,
        /** Names of the whole bucket, in arenas: {@code metadata.preload-memory}, doubled while they are relisted. */
        NAMES,
        /** Requests of the kernel: one for each reader, and one for each large request that waits. */
        REQUESTS,
        /** Replies to the kernel, which have a separate budget. */
        REPLIES,
        /** Connections: 144 KiB each to the store, 16 to other nodes; with TLS 82 KiB more, and 72 while sending. */
        CONNECTIONS
    }

    /** The JVM has no more memory. A retry may succeed: memory comes back when a share drops some. */
    public static final class UsedUpException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        public UsedUpException(Share share, @Nullable OutOfMemoryError cause) {
            super(
                    "the JVM has no more direct memory for " + share.name().toLowerCase(Locale.ROOT)
                            + ": raise -XX:MaxDirectMemorySize",
                    cause);
        }
    }

    /** Bytes allocated to the share, including dropped ones that the garbage collector has not found yet. */
    public static long used(Share share) {
        return requireNonNull(USED.get(share)).sum();
    }

    /**
     * Memory whose first byte is aligned.
     *
     * @param bytes a multiple of the alignment
     * @param alignment a power of two
     * @throws UsedUpException if the JVM has no more memory
     */
    public static ByteBuffer allocate(Share share, int bytes, int alignment) {
        try {
            ByteBuffer whole = ByteBuffer.allocateDirect(bytes + alignment - 1);
            count(requireNonNull(USED.get(share)), whole);
            return whole.alignedSlice(alignment); // drops a partial unit at the end
        } catch (OutOfMemoryError e) { // only direct memory is short, the heap is not in danger
            throw new UsedUpException(share, e);
        }
    }

    /** Counts memory that was allocated elsewhere, until the garbage collector has freed it. */
    public static ByteBuffer counted(Share share, ByteBuffer whole) {
        count(requireNonNull(USED.get(share)), whole);
        return whole;
    }

    /** An arena for use by any number of threads. Its memory counts until it is closed. */
    public static Arena arena(Share share) {
        return new CountedArena(Arena.ofShared(), requireNonNull(USED.get(share)), new LongAdder());
    }

    private record CountedArena(Arena arena, LongAdder used, LongAdder bytes) implements Arena {
        @Override
        public MemorySegment allocate(long byteSize, long byteAlignment) {
            MemorySegment memory = arena.allocate(byteSize, byteAlignment);
            bytes.add(byteSize);
            used.add(byteSize);
            return memory;
        }

        @Override
        public MemorySegment.Scope scope() {
            return arena.scope();
        }

        @Override
        public void close() {
            arena.close(); // succeeds only once: the next call throws
            used.add(-bytes.sum());
        }
    }

    private static void count(LongAdder used, ByteBuffer whole) {
        int bytes = whole.capacity();
        used.add(bytes);
        CLEANER.register(whole, () -> used.add(-bytes)); // no slice of it outlives it
    }
}
