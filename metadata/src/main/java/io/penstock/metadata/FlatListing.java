package io.penstock.metadata;

import io.penstock.listing.KeyTable;
import io.penstock.metadata.Listing.DatedPage;
import io.penstock.metadata.LookupCache.Dated;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers from a listing of the whole bucket: a {@link KeyTable}, and the names for which it is no longer valid. While
 * one table answers, the next listing may run:
 *
 * <pre>
 *   known:   NOTHING ──publish─▶ a table ──publish─▶ the next one
 *               ▲                   │ it has expired, or many names have changed here
 *               └───────────────────┘
 *   pending: NOTHING ──begin──▶ a listing ──publish, abandon──▶ NOTHING
 * </pre>
 *
 * <p>It does not answer about names that were changed here, or found to differ, since its listing began, nor about
 * prefixes that the store refused to list.
 *
 * <p>Safe for use by any number of threads. No method waits.
 */
final class FlatListing implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FlatListing.class);

    private final LongSupplier nanoClock;
    private final Consumer<Throwable> damage;

    private volatile State state = new State(null, null); // written under the monitor

    private record State(@Nullable Known known, @Nullable PendingListing pending) {}

    /** @param refused prefixes that the store refused to list */
    private record Known(
            KeyTable table, FlatTree tree, List<String> refused, SupersededNames superseded, Validity validity) {
        /**
         * Whether the name is superseded, or its directory has a superseded name. Otherwise a table that is valid as if
         * requested now would override newer answers of the store.
         */
        boolean isSuperseded(Directory directory, String name) {
            return superseded.contains(directory, name)
                    || (!(validity instanceof Validity.ByPage) && superseded.containsAnyIn(directory.prefix()));
        }

        /** @param now the time of the lookup */
        long asOf(long page, long now) {
            return validity instanceof Validity.ByPage ? page : now;
        }

        boolean isRefused(String prefix) {
            return refused.stream().anyMatch(each -> prefix.startsWith(each) || each.startsWith(prefix));
        }
    }

    /** How long a table is valid. Times are those of the tree's clock: nanoseconds. */
    sealed interface Validity {
        /**
         * Each name is valid from the time of its page's request.
         *
         * @param newest when the last page was requested
         */
        record ByPage(long ttlNanos, long newest) implements Validity {}

        /** All names are valid until then, as if requested now. */
        record Until(long nanos) implements Validity {}

        /** All names are valid forever, as if requested now. */
        enum Always implements Validity {
            ALWAYS
        }
    }

    /** @param damage notified of the reason why a table that is mapped from a file was dropped */
    FlatListing(LongSupplier nanoClock, Consumer<Throwable> damage) {
        this.nanoClock = nanoClock;
        this.damage = damage;
    }

    /** Whether there is a table that is still valid. */
    boolean isKnown() {
        Known known = state.known;
        return known != null && isValid(known);
    }

    /** A listing begins. It may miss changes made here from now on. */
    synchronized PendingListing begin() {
        PendingListing pending = new PendingListing();
        state = new State(state.known, pending);
        return pending;
    }

    /** The listing has failed. Does nothing if its table already answers. */
    synchronized void abandon(PendingListing pending) {
        if (pending.equals(state.pending)) {
            state = new State(state.known, null);
        }
    }

    /**
     * From now on this table answers, if its listing is the one that began last and not too much has changed since.
     *
     * @param comparison called with the former table while both can be read; not called if there is none
     * @return whether it answers; if not, the table has been closed
     */
    boolean publish(
            PendingListing pending, KeyTable table, List<String> refused, Validity validity, Comparison comparison) {
        Known next = new Known(table, new FlatTree(table), refused, pending.superseded(), validity);
        pending.compare(next.tree);
        Known former;
        synchronized (this) {
            former = state.known;
            if (!pending.equals(state.pending) || next.superseded.isFull()) {
                logIfFull(next);
                table.close();
                abandon(pending);
                return false;
            }
            state = new State(next, null);
        }
        pending.compare(next.tree); // answers that arrived during the first comparison
        if (former != null) {
            try {
                comparison.compare(former.table, table, name -> !next.superseded.containsKey(name));
            } catch (IllegalStateException e) {
                // one table is closed: it has expired, or the tree is closed
            } catch (UncheckedIOException | InternalError e) {
                damage.accept(e);
            } finally {
                former.table.close();
            }
        }
        return true;
    }

    /** Notified of the difference between a table and the one before it. */
    @FunctionalInterface
    interface Comparison {
        /** @param isReported whether a change of this key is reported */
        void compare(KeyTable before, KeyTable after, Predicate<String> isReported);
    }

    /** The answer about a name, which may be expired; null if the table has no valid answer. */
    @Nullable
    Dated find(Directory directory, String name) {
        long now = nanoClock.getAsLong(); // the answer is valid as of this moment
        return ask(known -> {
            if (known.isSuperseded(directory, name) || known.isRefused(directory.key(name))) {
                return null;
            }
            Dated found = known.tree.lookup(directory, name);
            return new Dated(found.answer(), known.asOf(found.asOf(), now));
        });
    }

    /** A page of a directory's listing; null if the table does not have it or is not valid for the directory. */
    @Nullable
    DatedPage page(ListRequest request) {
        if (request.continuationToken() != null) {
            return null; // the store has begun the listing
        }
        long now = nanoClock.getAsLong();
        return ask(known -> {
            if (known.superseded.containsAnyIn(request.prefix()) || known.isRefused(request.prefix())) {
                return null;
            }
            FlatTree.DatedPage found = known.tree.list(request);
            if (known.validity instanceof Validity.ByPage(long ttlNanos, long _) && now - found.asOf() >= ttlNanos) {
                return null;
            }
            return new DatedPage(found.page(), next(request, found.page()), known.asOf(found.asOf(), now));
        });
    }

    /** The request that continues after this page, in this table or at the store. */
    private static @Nullable ListRequest next(ListRequest request, ListPage page) {
        return page.nextToken() == null
                ? null
                : new ListRequest(request.prefix(), request.delimiter(), page.nextToken(), null, request.maxKeys());
    }

    private <T> @Nullable T ask(Function<Known, @Nullable T> question) {
        Known known = state.known;
        if (known == null) {
            return null;
        } else if (!isValid(known)) {
            forget(known);
            return null;
        }
        try {
            return question.apply(known);
        } catch (IllegalStateException e) {
            if (known.equals(state.known)) {
                throw e;
            }
            return null; // another table has replaced it, or it was dropped
        } catch (UncheckedIOException | InternalError e) { // InternalError is the JVM's form of a bad sector
            forget(known);
            damage.accept(e);
            return null;
        }
    }

    private boolean isValid(Known known) {
        return switch (known.validity) {
            case Validity.ByPage(long ttlNanos, long newest) -> nanoClock.getAsLong() - newest < ttlNanos;
            case Validity.Until(long nanos) -> nanoClock.getAsLong() - nanos < 0;
            case Validity.Always _ -> true;
        };
    }

    private synchronized void forget(Known known) {
        if (known.equals(state.known)) {
            logIfFull(known);
            state = new State(null, state.pending);
            known.table.close();
        }
    }

    private static void logIfFull(Known known) {
        if (known.superseded.isFull()) {
            LOG.warn("Too many names have changed since the bucket was listed: the listing or index is no longer"
                    + " used. Names are looked up one at a time until the bucket is listed again (metadata.refresh).");
        }
    }

    /** The name was changed here, or the known answer is wrong. */
    void supersede(Directory directory, String name) {
        supersede(names -> names.add(directory, name));
    }

    /** The directory and everything below it was changed here. */
    void supersedeAll(Directory directory) {
        supersede(names -> names.addAll(directory));
    }

    private void supersede(Consumer<SupersededNames> change) {
        State current = state;
        if (current.pending != null) {
            change.accept(current.pending.superseded());
        }
        Known known = current.known;
        if (known != null) {
            change.accept(known.superseded);
            if (known.superseded.isFull()) {
                forget(known);
            }
        }
    }

    /** The store has answered about a name. */
    void answered(Directory directory, String name, Answer answer) {
        PendingListing pending = state.pending;
        if (pending != null) {
            pending.answered(directory, name, answer);
        }
        // In this order: the running listing may have become the known table since then.
        Dated known = find(directory, name);
        if (known != null && !known.answer().equals(answer)) {
            supersede(directory, name);
        }
    }

    /** The store has listed a directory, or a part of it. */
    void listed(ListRequest request, ListPage page) {
        PendingListing pending = state.pending;
        if (pending != null) {
            pending.listed(request, page);
        }
        DatedPage known = page(request); // in this order, as above
        if (known != null && !known.page().equals(page)) {
            supersede(new Directory(request.prefix()), "");
        }
    }

    @Override
    public synchronized void close() {
        Known known = state.known;
        state = new State(null, null);
        if (known != null) {
            known.table.close();
        }
    }
}
