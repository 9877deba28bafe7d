package io.penstock.cli.mount;

import static io.penstock.cache.PageCache.PAGE_SIZE;

import io.penstock.cache.Urgency;
import io.penstock.cli.process.RefusedException;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.prefetch.Pace;
import io.penstock.prefetch.PeerReader;
import io.penstock.prefetch.PeerSource;
import io.penstock.share.ShareGroup;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings files into the caches of a group, each page to the node that owns it. This node sends the owners a reader's requests,
 * and caches none of their bytes: so an owner needs no command of its own, and its cached pages cost no GET. This node fetches
 * its own pages itself. The bytes cross the network once.
 */
final class GroupWarmJob extends Job {
    private static final Logger log = LoggerFactory.getLogger(GroupWarmJob.class);

    /** The bytes of one request: nodes own pieces of this size, at multiples of it. */
    private static final long PIECE = 8L * PAGE_SIZE;

    /** Requests at once. */
    private static final int MOST = 16;

    /** A request to an owner that is busy, or has gone, is repeated; by then another may own the piece. */
    private static final int TRIES = 40;

    private static final Duration PAUSE = Duration.ofMillis(500);

    private final Contents contents;
    private final FileSelection files;
    private final ShareGroup group;
    private final Pace pace;
    private final LongAdder bytes = new LongAdder();
    private final Semaphore permits = new Semaphore(MOST);

    /** @param bandwidth most bytes a second; 0 for no limit */
    GroupWarmJob(Contents contents, FileSelection files, ShareGroup group, long bandwidth) {
        super("warm --group", files.paths());
        this.contents = contents;
        this.files = files;
        this.group = group;
        this.pace = new Pace(bandwidth, System::nanoTime);
    }

    @Override
    long bytes() {
        return bytes.sum();
    }

    @Override
    void work() throws RefusedException, ObjectStoreException, IOException, InterruptedException {
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        try {
            files.visit(contents, new Bringing(threads));
            permits.acquire(MOST);
        } finally {
            threads.shutdownNow();
        }
    }

    private final class Bringing implements FileSelection.Visitor {
        private final ExecutorService threads;

        Bringing(ExecutorService threads) {
            this.threads = threads;
        }

        @Override
        public void file(ObjectVersion version) throws InterruptedException {
            if (!WarmJob.hasBytes(version)) {
                return;
            }
            Coming coming = new Coming(version);
            for (long at = 0; at < version.size(); at += PIECE) {
                ByteRange piece = new ByteRange(at, Math.min(PIECE, version.size() - at));
                TimeUnit.NANOSECONDS.sleep(pace.nanosToWait());
                pace.take(piece.length());
                permits.acquire();
                threads.execute(() -> coming.bring(piece));
            }
            coming.pieceDone();
        }

        @Override
        public void written(String key) {
            GroupWarmJob.this.problem(shown(key), "it is being written, and not in the bucket yet");
        }

        @Override
        public void problem(String path, String why) {
            GroupWarmJob.this.problem(path, why);
        }
    }

    /** A file whose pieces come. */
    private final class Coming {
        private final ObjectVersion version;

        /** Pieces that are not done, and one for the thread that begins them. */
        private final AtomicInteger left;

        private final AtomicReference<@Nullable String> failure = new AtomicReference<>();

        Coming(ObjectVersion version) {
            this.version = version;
            this.left = new AtomicInteger((int) ((version.size() + PIECE - 1) / PIECE) + 1);
        }

        void bring(ByteRange piece) {
            try {
                tryToBring(piece);
                pieceDone();
            } catch (ObjectStoreException e) {
                failed(String.valueOf(e.getMessage()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // the job is cancelled, and the file not done
            } catch (RuntimeException | Error e) {
                log.error("'{}' failed unexpectedly", version.key(), e);
                failed("it failed; the mount's log says why");
            } finally {
                permits.release();
            }
        }

        private void failed(String why) {
            failure.set(why);
            pieceDone();
        }

        private void tryToBring(ByteRange piece) throws ObjectStoreException, InterruptedException {
            long at = piece.offset();
            for (int tries = 0; at < piece.end(); tries++) {
                if (tries == TRIES) {
                    failure.set("the node that owns a part of it does not bring it");
                    return;
                } else if (tries > 0) {
                    Thread.sleep(PAUSE);
                }
                ByteRange rest = new ByteRange(at, piece.end() - at);
                long came = group.owns(version, at) ? bringHere(rest) : askOwner(rest);
                bytes.add(came);
                at += came;
            }
        }

        /** @return bytes that are here now, from the start of the range */
        private long bringHere(ByteRange range) throws ObjectStoreException, InterruptedException {
            ByteBuffer page = ByteBuffer.allocate(PAGE_SIZE);
            long at = range.offset();
            try (PeerReader reader = contents.fetcher().openForPeer(version)) {
                reader.prepare(at, range.end(), Urgency.READAHEAD);
                while (at < range.end()) {
                    page.clear().limit((int) Math.min(PAGE_SIZE, range.end() - at));
                    reader.read(at, page);
                    at += page.limit();
                }
            } catch (PeerReader.BusyException e) {
                return at - range.offset(); // the disk is behind
            }
            return at - range.offset();
        }

        /** @return bytes that the owner has sent, from the start of the range */
        private long askOwner(ByteRange range) throws InterruptedException {
            Discarding sink = new Discarding();
            group.get(version, range, Urgency.READAHEAD, sink);
            return sink.arrived;
        }

        void pieceDone() {
            if (left.decrementAndGet() > 0) {
                return;
            }
            String why = failure.get();
            done(why == null ? "brought" : "failed");
            if (why != null) {
                problem(shown(version.key()), why);
            }
        }
    }

    /** Of one request; confined to its thread. */
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

    private String shown(String key) {
        return FileSelection.shown(contents.tree(), key);
    }
}
