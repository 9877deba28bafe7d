package io.penstock.metadata;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.Printable;
import io.penstock.listing.KeyTable;
import io.penstock.listing.KeyTableSorter;
import io.penstock.listing.WholeListing;
import io.penstock.metadata.FlatListing.Validity;
import io.penstock.metadata.PreloadConfig.Mode;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists the whole bucket when that is worth it, and gives the result to {@link FlatListing}.
 *
 * <pre>
 *   auto: WAITING ──many directories are listed one by one──▶ LISTING ──▶ WAITING, if nothing is refreshed
 *   on:                                     immediately ────▶ LISTING ──▶ ENDED, if nothing is refreshed
 *                                                                ▲  └──▶ WAITING
 *                                                                └─ metadata.refresh ─┘
 * </pre>
 *
 * <p>Safe for use by any number of threads. It works on its own threads, which {@link Tree#endPreload} interrupts.
 */
final class Preloader {
    private static final Logger LOG = LoggerFactory.getLogger(Preloader.class);

    /** The time between two log lines about progress. */
    private static final Duration PROGRESS = Duration.ofSeconds(10);

    /** How long a mount that begins with a kept listing waits before it lists the bucket again. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    private static final int PAUSES_A_REFRESH = 1_000;

    /** Directories listed one by one, within a listing's validity, that make it worth listing the whole bucket. */
    static final int WORTH_IT = 32;

    private final ObjectStore store;
    private final String prefix;

    /** The listed prefix, in log lines. */
    private final String what;

    private final PreloadConfig config;
    private final MetadataLimits limits;
    private final Executor executor;
    private final LongSupplier nanoClock;
    private final FlatListing flat;
    private final FlatListing.Comparison comparison;

    /** Null if no listing is kept. */
    private final @Nullable TableSnapshot snapshot;

    /** Gets a permit once listing is worth it. */
    private final Semaphore worthIt = new Semaphore(0);

    /** Directories listed one by one since then. */
    @GuardedBy("this")
    private int listedOneByOne;

    @GuardedBy("this")
    private long countedSince;

    private volatile @Nullable Running running;
    private volatile @Nullable Ended ended;

    /** Null if there is none. Set before {@link #start}. */
    private @Nullable Index index;

    /** @param pending the changes made here since the index was given */
    private record Index(ObjectIndex names, PendingListing pending) {}

    private record Running(WholeListing listing, long since) {}

    private record Ended(long objects, long at) {}

    /** @param comparison notified of the difference between a listing and the one before it */
    Preloader(
            ObjectStore store,
            String prefix,
            PreloadConfig config,
            MetadataLimits limits,
            Executor executor,
            LongSupplier nanoClock,
            FlatListing flat,
            FlatListing.Comparison comparison) {
        this.store = store;
        this.prefix = prefix;
        this.what = "s3://" + store.bucket() + "/" + Printable.text(prefix);
        this.config = config;
        this.limits = limits;
        this.executor = executor;
        this.nanoClock = nanoClock;
        this.flat = flat;
        this.comparison = comparison;
        PreloadConfig.Kept kept = config.kept();
        this.snapshot = kept == null ? null : new TableSnapshot(kept.file(), kept.owner(), nanoClock);
        this.countedSince = nanoClock.getAsLong();
    }

    /** Uses the index until the bucket has been listed here, if ever, except for names changed here from now on. */
    void index(ObjectIndex names) {
        index = new Index(names, flat.begin());
    }

    /** Begins, if configured. */
    void start() {
        if (snapshot != null && !isRefreshed()) {
            snapshot.delete(); // it would grow out of date
        }
        Index given = index;
        if (given != null || config.mode() != Mode.OFF) {
            executor.execute(() -> run(given));
        }
    }

    private boolean isRefreshed() {
        return config.mode() != Mode.OFF && config.refresh() != null;
    }

    /** The bucket is about to be changed here. */
    void beginChange() {
        if (snapshot != null) {
            snapshot.beginChange();
        }
    }

    /** The kept listing turned out to be damaged. */
    void damaged(Throwable why) {
        if (snapshot != null) {
            snapshot.drop(why);
        }
    }

    /** A directory was listed on its own, because no listing of the bucket has it. */
    void listedByItself() {
        if (config.mode() != Mode.AUTO) {
            return;
        }
        synchronized (this) {
            long now = nanoClock.getAsLong();
            if (now - countedSince >= timeToLive().toNanos()) {
                countedSince = now;
                listedOneByOne = 0;
            }
            if (++listedOneByOne == WORTH_IT) {
                worthIt.release();
            }
        }
    }

    PreloadState state() {
        Running now = running;
        Ended last = ended;
        if (now != null) {
            return new PreloadState.Listing(now.listing.listed(), now.listing.share(), since(now.since));
        }
        return last == null || !flat.isKnown()
                ? PreloadState.None.NONE
                : new PreloadState.Known(last.objects, since(last.at));
    }

    private Duration since(long nanos) {
        return Duration.ofNanos(nanoClock.getAsLong() - nanos);
    }

    /** How long a listing is valid. */
    private Duration timeToLive() {
        Duration refresh = config.refresh();
        return refresh == null ? limits.ttl() : refresh;
    }

    private void run(@Nullable Index given) {
        try {
            if (given != null && read(given.names, given.pending)) {
                if (!isRefreshed()) {
                    return;
                }
                sleepUntilRefresh();
            } else if (config.mode() == Mode.OFF) {
                return;
            } else if (load()) {
                Thread.sleep(pause());
            } else {
                awaitWorthIt();
            }
            while (list()) {
                if (isRefreshed()) {
                    sleepUntilRefresh();
                } else if (config.mode() == Mode.AUTO) {
                    awaitWorthIt();
                } else {
                    return;
                }
            }
        } catch (InterruptedException | RejectedExecutionException e) {
            // endPreload
        }
    }

    /** Leaves the processors to the programs that wait for the mount. */
    private Duration pause() {
        Duration share = Objects.requireNonNull(config.refresh()).dividedBy(PAUSES_A_REFRESH);
        return share.compareTo(LONGEST_PAUSE) < 0 ? share : LONGEST_PAUSE;
    }

    private void sleepUntilRefresh() throws InterruptedException {
        Thread.sleep(Objects.requireNonNull(config.refresh()));
    }

    /** Begins with the index of another program. Returns whether it could be read. */
    private boolean read(ObjectIndex index, PendingListing pending) throws InterruptedException {
        long begun = nanoClock.getAsLong();
        // The sorter puts it in order, which is all that the tree needs; the user knows its age.
        try (KeyTableSorter sorter = new KeyTableSorter(begun)) {
            index.read(sorter::add);
            KeyTable table = sorter.finish();
            LOG.info(
                    "{}: {} objects are known from the index of {}, which was read in {} s; {} MiB of memory.",
                    what,
                    table.size(),
                    index.asOf(),
                    since(begun).toSeconds(),
                    table.bytes() >> 20);
            Ended listed = new Ended(
                    table.size(),
                    begun - Duration.between(index.asOf(), Instant.now()).toNanos());
            Validity validity = isRefreshed() ? validity() : Validity.Always.ALWAYS;
            return publish(pending, table, List.of(), validity, listed);
        } catch (IOException e) {
            LOG.error("{}: the index cannot be used: {}", what, e.getMessage());
        } catch (OutOfMemoryError e) {
            LOG.error("{}: there is not enough memory for the index: {}", what, e.getMessage());
        } catch (IllegalArgumentException e) {
            LOG.error("{}: the index has an invalid key: {}", what, e.getMessage());
        }
        flat.abandon(pending);
        return false;
    }

    /** Begins with the listing that the last mount kept. Returns whether there is one. */
    private boolean load() {
        if (snapshot == null || !isRefreshed()) {
            return false;
        }
        PendingListing pending = flat.begin();
        KeyTable table = snapshot.load();
        if (table == null || !isWhole(table)) {
            flat.abandon(pending);
            return false;
        }
        LOG.info("{}: {} objects are known from the last mount.", what, table.size());
        Ended kept = new Ended(table.size(), table.pageTime(table.pageCount() - 1));
        boolean _ = publish(pending, table, List.of(), validity(), kept); // the bucket was worth listing in any case
        return true;
    }

    /** Reads and checks the whole table, so that lookups need not wait for that. Closes a damaged one. */
    private boolean isWhole(KeyTable table) {
        try {
            table.check();
            return true;
        } catch (UncheckedIOException | InternalError e) {
            table.close();
            damaged(e);
            return false;
        }
    }

    private void awaitWorthIt() throws InterruptedException {
        if (config.mode() == Mode.AUTO) {
            worthIt.acquire();
        }
    }

    /**
     * Lists the bucket, and logs progress and result.
     *
     * @return whether it is worth listing again
     */
    private boolean list() throws InterruptedException {
        PendingListing pending = flat.begin();
        CountDownLatch isOver = new CountDownLatch(1);
        long since = nanoClock.getAsLong();
        try (WholeListing listing =
                new WholeListing(store, prefix, limits.listConcurrency(), config.memoryBytes(), executor, nanoClock)) {
            running = new Running(listing, since);
            executor.execute(() -> watch(listing, isOver));
            WholeListing.Listed listed = listing.list();
            KeyTable table = listed.table();
            long complete = nanoClock.getAsLong();
            LOG.info(
                    "{} is listed: {} objects in {} s by {} requests; {} MiB of memory.",
                    what,
                    table.size(),
                    since(since).toSeconds(),
                    listed.requests(),
                    table.bytes() >> 20);
            listed.refused()
                    .forEach(refused -> LOG.warn(
                            "The store refuses to list {}: each name there is looked up individually.", refused));
            if (publish(pending, table, listed.refused(), validity(), new Ended(table.size(), complete))) {
                keep(table, listed);
            }
            WholeListing.collectGarbage(table.bytes());
            return true;
        } catch (ObjectStoreException | CancellationException e) {
            logFailure(e.getMessage());
            return e instanceof ObjectStoreException && config.refresh() != null;
        } catch (OutOfMemoryError e) {
            logFailure("there is not enough memory for the listing: " + e.getMessage());
            return false;
        } catch (IllegalArgumentException e) {
            logFailure("the server's keys cannot be sorted: " + e.getMessage());
            return false;
        } finally {
            flat.abandon(pending);
            running = null;
            isOver.countDown();
            restart();
        }
    }

    /** Puts the table into use, and has {@link #state} report it. Returns whether the table is used. */
    private boolean publish(
            PendingListing pending, KeyTable table, List<String> refused, Validity validity, Ended listed) {
        boolean isKnown = flat.publish(pending, table, refused, validity, comparison);
        if (isKnown) {
            ended = listed;
        }
        return isKnown;
    }

    /** Keeps the table, unless prefixes were refused: the next mount would consider them empty. */
    private void keep(KeyTable table, WholeListing.Listed listed) {
        if (snapshot != null && isRefreshed() && listed.refused().isEmpty()) {
            snapshot.save(table);
        }
    }

    /** Directories listed during the listing do not count. */
    private synchronized void restart() {
        worthIt.drainPermits();
        listedOneByOne = 0;
    }

    private Validity validity() {
        Duration refresh = config.refresh();
        long now = nanoClock.getAsLong();
        // The next listing begins later and takes some time; if it fails, this one still expires.
        return refresh == null
                ? new Validity.ByPage(limits.ttlNanos(), now)
                : new Validity.Until(now + refresh.multipliedBy(2).toNanos());
    }

    private void watch(WholeListing listing, CountDownLatch isOver) {
        Duration most = timeToLive().dividedBy(2);
        long since = nanoClock.getAsLong();
        try {
            while (!isOver.await(PROGRESS.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.info(
                        "{} is being listed: {} objects so far, {} % of it.",
                        what, listing.listed(), Math.round(listing.share() * 100));
                if (config.mode() == Mode.AUTO && since(since).compareTo(most) > 0) {
                    listing.stop("listing it takes more than half of the time that the result is valid; raise"
                            + " metadata.ttl, or set metadata.refresh");
                }
            }
        } catch (InterruptedException e) {
            // endPreload
        }
    }

    private void logFailure(@Nullable String why) {
        LOG.warn("{} is not listed as a whole: {}. Each folder is listed when it is first used.", what, why);
    }
}
