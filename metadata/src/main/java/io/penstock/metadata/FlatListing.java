package io.penstock.metadata;

import io.penstock.core.Printable;
import io.penstock.metadata.Answers.Dated;
import io.penstock.metadata.Listing.DatedPage;
import io.penstock.metadata.MetadataConfig.Preload;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All that the bucket has, by one flat listing that runs behind everybody's back, in some thirty bytes an object. Each
 * object is believed from when its page was asked for, as if its directory had been listed then:
 *
 * <pre>
 *   NONE ──run──▶ RUNNING ──all pages──▶ KNOWN ──all that it says is too old──▶ NONE
 *                    └────the store failed, or much has changed here──▶ NONE
 * </pre>
 *
 * <p>It says nothing of what was changed here, or found to be otherwise, since it was begun.
 *
 * <p>Safe for use by any number of threads. Only {@link #run} waits.
 */
final class FlatListing implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FlatListing.class);

    /** How often the log tells how far it is. */
    private static final int PROGRESS_SECONDS = 10;

    private final ObjectStore store;
    private final String prefix;

    /** For the log. */
    private final String what;

    private final boolean wanted;
    private final int concurrency;
    private final long ttlNanos;
    private final Executor executor;
    private final LongSupplier nanoClock;

    private volatile State state = None.NONE; // changed under the monitor

    private sealed interface State {}

    private enum None implements State {
        NONE
    }

    private record Running(Superseded superseded) implements State {}

    /** @param newest when the last page was asked for: what it says is believed for longest */
    private record Known(KeyTable table, FlatTree tree, Superseded superseded, long newest) implements State {}

    FlatListing(ObjectStore store, String prefix, MetadataConfig config, Executor executor, LongSupplier nanoClock) {
        this.store = store;
        this.prefix = prefix;
        this.what = "s3://" + store.bucket() + "/" + Printable.text(prefix);
        this.wanted = config.preload() == Preload.ON;
        this.concurrency = config.listConcurrency();
        this.ttlNanos = TimeUnit.NANOSECONDS.convert(config.ttl());
        this.executor = executor;
        this.nanoClock = nanoClock;
    }

    boolean isWanted() {
        return wanted;
    }

    /** Whether all has come, and is still believed. */
    boolean isKnown() {
        return state instanceof Known known && isFresh(known.newest());
    }

    /** Lists all, and says in the log how far it is and what came of it. */
    void run() {
        Running running = new Running(new Superseded());
        become(running);
        CountDownLatch ended = new CountDownLatch(1);
        try (Collected collected = new Collected()) {
            RangeLister<KeyTableBuilder> lister =
                    new RangeLister<>(store, prefix, "", concurrency, executor, nanoClock, collected);
            executor.execute(() -> tellProgress(lister, ended));
            long begun = nanoClock.getAsLong();
            KeyTable table = KeyTable.join(lister.list());
            LOG.info(
                    "{} is listed: {} objects in {} s by {} requests; {} MiB of memory.",
                    what,
                    table.size(),
                    TimeUnit.NANOSECONDS.toSeconds(nanoClock.getAsLong() - begun),
                    lister.requests(),
                    table.bytes() >> 20);
            known(running, table);
        } catch (ObjectStoreException e) {
            giveUp(e.getMessage());
        } catch (OutOfMemoryError e) {
            giveUp("there is no memory for it: " + e.getMessage());
        } catch (IllegalArgumentException e) {
            giveUp("what the server lists cannot be kept in order: " + e.getMessage());
        } catch (InterruptedException | RejectedExecutionException e) {
            become(None.NONE); // the tree is closed
        } finally {
            ended.countDown();
        }
    }

    private void tellProgress(RangeLister<?> lister, CountDownLatch ended) {
        try {
            while (!ended.await(PROGRESS_SECONDS, TimeUnit.SECONDS)) {
                LOG.info("{} is being listed: {} objects so far.", what, lister.listed());
            }
        } catch (InterruptedException e) {
            // the tree is closed
        }
    }

    /** What each range of keys is collected in. */
    private static final class Collected implements RangeLister.Collector<KeyTableBuilder>, AutoCloseable {
        private final Queue<KeyTableBuilder> begun = new ConcurrentLinkedQueue<>();

        @Override
        public KeyTableBuilder begin() {
            KeyTableBuilder range = new KeyTableBuilder();
            begun.add(range);
            return range;
        }

        @Override
        public void page(KeyTableBuilder range, ListPage page, long askedAt) {
            range.page(askedAt);
            for (StoredObject object : page.objects()) {
                range.add(object);
            }
        }

        /** Frees what no table has taken over. */
        @Override
        public void close() {
            begun.forEach(KeyTableBuilder::close);
        }
    }

    private synchronized void known(Running running, KeyTable table) {
        if (state.equals(running) && !running.superseded().isFull()) {
            state = new Known(table, new FlatTree(table), running.superseded(), nanoClock.getAsLong());
        } else {
            table.close();
            state = None.NONE;
        }
    }

    private void giveUp(@Nullable String why) {
        LOG.warn("{} is not listed as a whole, but each folder when it is entered: {}", what, why);
        become(None.NONE);
    }

    private synchronized void become(State next) {
        State former = state;
        state = next;
        if (former instanceof Known known) {
            known.table().close();
        }
    }

    /** What it says of a name: null if it does not know, or is not to be asked. It may be too old to be believed. */
    @Nullable
    Dated find(Directory directory, String name) {
        return ask(known -> known.superseded().contains(directory, name)
                ? null
                : known.tree().lookup(directory, name));
    }

    /** A page of a directory's listing: null if it does not know it, or is not to be asked for it. */
    @Nullable
    DatedPage page(ListRequest request) {
        if (request.continuationToken() != null) {
            return null; // the store has begun it
        }
        return ask(known -> {
            if (known.superseded().containsAnyIn(request.prefix())) {
                return null;
            }
            FlatTree.DatedPage found = known.tree().list(request);
            return isFresh(found.asOf())
                    ? new DatedPage(found.page(), next(request, found.page()), found.asOf())
                    : null;
        });
    }

    /** What goes on where a page of this ended, be it here or in the store. */
    private static @Nullable ListRequest next(ListRequest request, ListPage page) {
        return page.nextToken() == null
                ? null
                : new ListRequest(request.prefix(), request.delimiter(), page.nextToken(), null, request.maxKeys());
    }

    private <T> @Nullable T ask(Function<Known, @Nullable T> question) {
        if (!(state instanceof Known known)) {
            return null;
        }
        if (!isFresh(known.newest())) {
            forget(known);
            return null;
        }
        try {
            return question.apply(known);
        } catch (IllegalStateException e) {
            if (state.equals(known)) {
                throw e;
            }
            return null; // it was forgotten meanwhile
        }
    }

    private boolean isFresh(long asOf) {
        return nanoClock.getAsLong() - asOf < ttlNanos;
    }

    private synchronized void forget(Known known) {
        if (state.equals(known)) {
            become(None.NONE);
        }
    }

    /** The name has been changed here, or what is known of it is wrong. */
    void supersede(Directory directory, String name) {
        Superseded superseded = switch (state) {
            case None _ -> null;
            case Running running -> running.superseded();
            case Known known -> known.superseded();
        };
        if (superseded != null) {
            superseded.add(directory, name);
            if (superseded.isFull() && state instanceof Known known) {
                forget(known);
            }
        }
    }

    /** The store has said what a name is. */
    void heard(Directory directory, String name, Answer answer) {
        Dated known = find(directory, name);
        if (known != null && !known.answer().equals(answer)) {
            supersede(directory, name);
        }
    }

    @Override
    public void close() {
        become(None.NONE);
    }
}
