package io.penstock.serve.mount;

import static io.penstock.cache.PageCache.PAGE_SIZE;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Absent;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.Pace;
import io.penstock.prefetch.PeerReader;
import io.penstock.prefetch.PeerSource;
import io.penstock.settings.process.RefusedException;
import io.penstock.share.ShareGroup;
import io.penstock.share.ShareStatistics.Fallback;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warms the caches of a group, each page on the node that owns it. This node sends read requests to the owners and does
 * not cache their bytes. So an owner needs no command, and its cached pages cost no GET. This node itself fetches the
 * pages that it owns. The bytes cross the network once.
 */
final class GroupWarmJob extends FileJob {
    private static final Logger log = LoggerFactory.getLogger(GroupWarmJob.class);

    /** The maximum number of concurrent requests. */
    private static final int MOST = 16;

    /** The attempts for a piece whose owner fails or has left; another node may own it by then. */
    static final int TRIES = 40;

    /** An owner without room or bandwidth is awaited, until nothing has come from any owner for this many pauses. */
    static final int IDLE_PAUSES = 600;

    private static final Duration PAUSE = Duration.ofMillis(500);

    private final Owners owners;
    private final Pace pace;
    private final Duration pause;
    private final Semaphore permits = new Semaphore(MOST);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /** The part of a group that the job needs. */
    interface Owners {
        /** Whether this node owns the byte at the position. */
        boolean isSelf(ObjectVersion version, long position);

        /** As {@link ShareGroup#ask}. */
        @Nullable
        Fallback ask(ObjectVersion version, ByteRange range, PeerSource.Sink sink) throws InterruptedException;
    }

    /** @param bandwidth the maximum in bytes per second; 0 for no limit */
    GroupWarmJob(MountedModules modules, FileSelection files, ShareGroup group, long bandwidth) {
        this(modules, files, owners(group), bandwidth, PAUSE);
    }

    /** @param pause the pause before a request is repeated */
    GroupWarmJob(MountedModules modules, FileSelection files, Owners owners, long bandwidth, Duration pause) {
        super("warm --group", modules, files);
        this.owners = owners;
        this.pace = new Pace(bandwidth, System::nanoTime);
        this.pause = pause;
    }

    private static Owners owners(ShareGroup group) {
        return new Owners() {
            @Override
            public boolean isSelf(ObjectVersion version, long position) {
                return group.owns(version, position);
            }

            @Override
            public @Nullable Fallback ask(ObjectVersion version, ByteRange range, PeerSource.Sink sink)
                    throws InterruptedException {
                return group.ask(version, range, Urgency.READAHEAD, sink);
            }
        };
    }

    @Override
    void work() throws RefusedException, ObjectStoreException, IOException, InterruptedException {
        try {
            super.work();
            permits.acquire(MOST);
        } finally {
            threads.shutdownNow();
        }
    }

    @Override
    public void file(ObjectVersion version) throws InterruptedException {
        if (!hasBytes(version)) {
            return;
        }
        Coming coming = new Coming(version);
        for (long at = 0; at < version.size() && coming.end == null; at += ShareGroup.SLAB) {
            ByteRange piece = new ByteRange(at, Math.min(ShareGroup.SLAB, version.size() - at));
            TimeUnit.NANOSECONDS.sleep(pace.nanosToWait());
            pace.take(piece.length());
            permits.acquire();
            coming.left.incrementAndGet();
            threads.execute(() -> coming.bring(piece));
        }
        coming.pieceDone();
    }

    /** Why a file was not fetched. */
    private sealed interface End {
        /** The bucket has another version of it, or none. */
        record Changed() implements End {}

        record Failed(String why) implements End {}
    }

    /**
     * The result of a request.
     *
     * @param bytes the bytes that arrived, from the start of its range
     * @param why the cause of missing bytes; null if none are, or if another node has become the owner
     */
    private record Part(long bytes, @Nullable Fallback why) {}

    /** A file whose pieces are being fetched. */
    private final class Coming {
        private final ObjectVersion version;

        /** Pieces that are not done, plus one for the thread that starts them. */
        private final AtomicInteger left = new AtomicInteger(1);

        /** Null unless a piece has failed; the other pieces are then skipped. */
        private volatile @Nullable End end;

        Coming(ObjectVersion version) {
            this.version = version;
        }

        void bring(ByteRange piece) {
            try {
                tryToBring(piece);
                pieceDone();
            } catch (ObjectStoreException e) {
                failed(String.valueOf(e.getMessage()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // the job is cancelled, and the file is not done
            } catch (RuntimeException | Error e) {
                log.error("'{}' failed unexpectedly", version.key(), e);
                failed("internal error; see the mount's log");
            } finally {
                permits.release();
            }
        }

        private void failed(String why) {
            end = new End.Failed(why);
            pieceDone();
        }

        private void tryToBring(ByteRange piece) throws ObjectStoreException, InterruptedException {
            long at = piece.offset();
            long seen = -1;
            int tries = 0;
            int idle = 0;
            while (end == null) {
                ByteRange rest = new ByteRange(at, piece.end() - at);
                boolean isOwn = owners.isSelf(version, at);
                Part part = isOwn ? bringHere(rest) : askOwner(rest);
                bytes.add(part.bytes());
                at += part.bytes();
                if (at == piece.end()) {
                    return;
                }
                boolean mustWait = part.why() == Fallback.LIMITED || part.why() == Fallback.BUSY;
                tries += mustWait ? 0 : 1;
                idle = bytes.sum() == seen ? idle + 1 : 0;
                seen = bytes.sum();
                if (part.why() == Fallback.CHANGED) {
                    end = new End.Changed();
                } else if (tries == TRIES || idle == IDLE_PAUSES) {
                    end = new End.Failed(
                            isOwn ? "the memory or the disk of this node cannot keep up" : missing(part.why()));
                } else {
                    Thread.sleep(pause);
                }
            }
        }

        private static String missing(@Nullable Fallback why) {
            return "the node that owns part of it did not fetch it"
                    + (why == null ? "" : ": " + why.name().toLowerCase(Locale.ROOT));
        }

        private Part bringHere(ByteRange range) throws ObjectStoreException, InterruptedException {
            ByteBuffer page = ByteBuffer.allocate(PAGE_SIZE);
            long at = range.offset();
            try (PeerReader reader = modules.fetcher().openForPeer(version)) {
                reader.prepare(at, range.end(), Urgency.READAHEAD);
                while (at < range.end()) {
                    page.clear().limit((int) Math.min(PAGE_SIZE, range.end() - at));
                    reader.read(at, page);
                    at += page.limit();
                }
                return new Part(range.length(), null);
            } catch (PeerReader.BusyException e) {
                return new Part(at - range.offset(), Fallback.BUSY);
            } catch (ObjectStoreException.PreconditionFailed | ObjectStoreException.NotFound e) {
                return new Part(at - range.offset(), Fallback.CHANGED);
            }
        }

        private Part askOwner(ByteRange range) throws InterruptedException {
            Discarding sink = new Discarding();
            Fallback why = owners.ask(version, range, sink);
            return new Part(sink.arrived, why);
        }

        void pieceDone() {
            if (left.decrementAndGet() > 0) {
                return;
            }
            switch (end) {
                case null -> done("brought");
                case End.Failed(String why) -> {
                    done("failed");
                    problem(shown(version.key()), why);
                }
                case End.Changed() -> {
                    boolean isGone = forget(version) instanceof Absent;
                    done(isGone ? "gone" : "changed");
                    problem(shown(version.key()), isGone ? GONE : CHANGED);
                }
            }
        }
    }

    /** The sink of one request; confined to its thread. */
    private static final class Discarding implements PeerSource.Sink {
        private final ByteBuffer buffer = ByteBuffer.allocate(PAGE_SIZE);
        private long arrived;

        @Override
        public boolean isAwaited() {
            return false;
        }

        @Override
        public ByteBuffer buffer() {
            return buffer.clear();
        }

        @Override
        public void filled(int count) {
            arrived += count;
        }
    }
}
