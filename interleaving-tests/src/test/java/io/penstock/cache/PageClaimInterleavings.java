package io.penstock.cache;

import static java.util.Objects.requireNonNull;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.penstock.cache.CachedObject.FromDisk;
import io.penstock.core.ObjectVersion;
import io.penstock.interleaving.WaitingCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Claims of a page, and the memory of a page that is claimed ({@link ObjectPages}, {@link PageFrame}). */
final class PageClaimInterleavings {
    private static final AtomicLong NAMES = new AtomicLong();

    private PageClaimInterleavings() {}

    /** One for all states. */
    private static final class Cache {
        static final PageCache CACHE;

        static {
            try {
                Path folder = Path.of("cache-" + ProcessHandle.current().pid());
                CACHE = PageCache.open(new CacheConfig(folder, 1 << 30, 0, 64 << 20));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static CachedObject newObject() {
        String key = "object" + NAMES.incrementAndGet();
        return Cache.CACHE.open("namespace", new ObjectVersion(key, "\"etag\"", 2, Instant.EPOCH));
    }

    /** Exactly one of two claims of a Missing page succeeds. When its fill has failed, the page is Missing again. */
    @JCStressTest
    @Outcome(
            id = {"1, 0", "0, 1"},
            expect = ACCEPTABLE,
            desc = "one has it")
    @State
    public static class Claim {
        private final CachedObject object = newObject();
        private volatile @Nullable Fill claimed;

        private int claim(Urgency urgency) {
            try {
                Fill fill = object.claim(0, 1, urgency);
                if (fill == null) {
                    return 0;
                }
                claimed = fill;
                return 1;
            } catch (InterruptedException e) {
                return -1;
            }
        }

        @Actor
        public void reader(II_Result r) {
            r.r1 = claim(Urgency.DEMAND);
        }

        @Actor
        public void readahead(II_Result r) {
            r.r2 = claim(Urgency.READAHEAD);
        }

        @Arbiter
        public void end() {
            requireNonNull(claimed).fail(new IOException("the test is over"));
            if (object.state(0) != PageState.MISSING) {
                throw new IllegalStateException("the page is " + object.state(0));
            }
            object.close();
        }
    }

    /** A reader that begins to wait while its byte arrives gets it. */
    @JCStressTest
    @Outcome(id = "42", expect = ACCEPTABLE, desc = "the byte")
    @State
    public static class Arrival {
        private final CachedObject object = newObject();
        private final Fill fill = claimed(object);
        private final WaitingCall waiting = new WaitingCall();

        private static Fill claimed(CachedObject object) {
            try {
                return requireNonNull(object.claim(0, 1, Urgency.READAHEAD));
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        private int read() throws InterruptedException {
            try {
                ByteBuffer to = ByteBuffer.allocate(1);
                int count = object.read(0, to, null, FromDisk.REQUESTED);
                return count == 1 ? to.get(0) : count;
            } catch (FillFailedException e) {
                return -1;
            }
        }

        @Actor
        public void reads(I_Result r) {
            r.r1 = waiting.run(this::read);
        }

        @Actor
        public void fills() {
            fill.buffer().put((byte) 42);
            waiting.serve(() -> fill.filled(1));
        }

        @Arbiter
        public void end() {
            fill.fail(new IOException("the test is over"));
            object.close();
        }
    }

    /** The memory of an evicted page is returned once, and not while a reader has a reference to it. */
    @JCStressTest
    @Outcome(
            id = {"0, 1", "1, 1"},
            expect = ACCEPTABLE,
            desc = "returned once, after the reader if it came first")
    @State
    public static class Eviction implements PageFrame.Owner {
        private static final PageMemory MEMORY = new PageMemory(64 << 20, Slab::new);

        private final AtomicInteger returned = new AtomicInteger();
        private final PageFrame frame = new PageFrame(this, 0, 1, PageFrame.Origin.STORE);

        {
            frame.setChunk(requireNonNull(MEMORY.tryAcquire(1, Urgency.DEMAND)));
            frame.arrived(1);
            frame.release(); // the fill has ended
        }

        @Actor
        public void reads(II_Result r) {
            if (frame.tryRetain()) {
                r.r1 = returned.get() == 0 ? 1 : -1;
                frame.release();
            }
        }

        @Actor
        public void evicts() {
            Slab.Chunk chunk = frame.evict();
            if (chunk != null) {
                memory().free(chunk);
            }
        }

        @Arbiter
        public void end(II_Result r) {
            r.r2 = returned.get();
        }

        @Override
        public PageMemory memory() {
            returned.incrementAndGet();
            return MEMORY;
        }

        @Override
        public PageFrame frame(int page) {
            return frame;
        }

        @Override
        public boolean removeFrame(PageFrame removed) {
            return true;
        }

        @Override
        public void readerWaits() {
            // not counted
        }

        @Override
        public void readerWaited(long nanos) {
            // not counted
        }
    }
}
