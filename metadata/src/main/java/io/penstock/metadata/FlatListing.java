package io.penstock.metadata;

import io.penstock.metadata.Answers.Dated;
import io.penstock.metadata.Answers.Name;
import io.penstock.metadata.Listing.DatedPage;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Answers from what is known of the bucket as a whole: a {@link KeyTable}, and what is not to be asked of it. While one
 * answers, the next may be under way:
 *
 * <pre>
 *   known:   NOTHING ──become──▶ a table ──become──▶ the next one
 *               ▲                   │ it is not believed any more, or much has changed here
 *               └───────────────────┘
 *   coming:  NOTHING ──begin──▶ a listing ──become, abandon──▶ NOTHING
 * </pre>
 *
 * <p>It says nothing of what was changed here, or found to be otherwise, since its listing was begun, nor of what the store
 * refused to list.
 *
 * <p>Safe for use by any number of threads. Nothing waits.
 */
final class FlatListing implements AutoCloseable {
    private final LongSupplier nanoClock;
    private final Consumer<Throwable> damage;

    private volatile State state = new State(null, null); // changed under the monitor

    private record State(@Nullable Known known, @Nullable Coming coming) {}

    /**
     * A listing that is under way.
     *
     * @param heard what the store has said of names meanwhile, of which it may know less
     */
    record Coming(Superseded superseded, Map<Name, Answer> heard) {
        /** More are taken to be otherwise. */
        private static final int MOST_HEARD = 20_000;

        void hear(Directory directory, String name, Answer answer) {
            if (heard.size() < MOST_HEARD) {
                heard.put(new Name(directory, name), answer);
            } else {
                superseded.add(directory, name);
            }
        }
    }

    /** @param refused prefixes of which nothing is known */
    private record Known(KeyTable table, FlatTree tree, List<String> refused, Superseded superseded, Belief belief) {
        /**
         * Of a directory in which something is otherwise, what is believed as if it had just been asked for would win over
         * what the store has said since.
         */
        boolean isSuperseded(Directory directory, String name) {
            return superseded.contains(directory, name)
                    || (!(belief instanceof Belief.ByPage) && superseded.containsAnyIn(directory.prefix()));
        }

        /** @param now when it was asked for */
        long asOf(long page, long now) {
            return belief instanceof Belief.ByPage ? page : now;
        }

        boolean isRefused(String prefix) {
            return refused.stream().anyMatch(each -> prefix.startsWith(each) || each.startsWith(prefix));
        }
    }

    /** For how long a table is believed. Times are those of the tree's clock: nanoseconds. */
    sealed interface Belief {
        /**
         * Each name from when its page was asked for.
         *
         * @param newest when the last page was asked for
         */
        record ByPage(long ttlNanos, long newest) implements Belief {}

        /** All, as if it had just been asked for. */
        record Until(long nanos) implements Belief {}

        /** All, as if it had just been asked for, and for ever. */
        enum Always implements Belief {
            ALWAYS
        }
    }

    /** @param damage told why a table that lies in a file was dropped */
    FlatListing(LongSupplier nanoClock, Consumer<Throwable> damage) {
        this.nanoClock = nanoClock;
        this.damage = damage;
    }

    /** Whether there is a table, and it is still believed. */
    boolean isKnown() {
        Known known = state.known;
        return known != null && isBelieved(known);
    }

    /** A listing begins: what is changed here from now on, it may not know. */
    synchronized Coming begin() {
        Coming coming = new Coming(new Superseded(), new ConcurrentHashMap<>());
        state = new State(state.known, coming);
        return coming;
    }

    /** The listing has failed, unless it has become what is known. */
    synchronized void abandon(Coming coming) {
        if (coming.equals(state.coming)) {
            state = new State(state.known, null);
        }
    }

    /**
     * From now on this table answers, if it is of the listing that was begun last, and not too much has changed since.
     *
     * @param comparison called with the table before it, while both can be read; not if there is none
     * @return whether it answers; if not, the table has been closed
     */
    boolean become(Coming coming, KeyTable table, List<String> refused, Belief belief, Comparison comparison) {
        Known next = new Known(table, new FlatTree(table), refused, coming.superseded, belief);
        Known former;
        synchronized (this) {
            former = state.known;
            if (!coming.equals(state.coming) || coming.superseded.isFull()) {
                table.close();
                abandon(coming);
                return false;
            }
            supersedeHeard(coming, next);
            state = new State(next, null);
        }
        supersedeHeard(coming, next); // what was heard meanwhile
        if (former != null) {
            try {
                comparison.compare(former.table, table, name -> !next.superseded.containsKey(name));
            } catch (IllegalStateException e) {
                // one of them is closed: it is not believed any more, or the tree is closed
            } catch (UncheckedIOException | InternalError e) {
                damage.accept(e);
            } finally {
                former.table.close();
            }
        }
        return true;
    }

    private static void supersedeHeard(Coming coming, Known next) {
        coming.heard.forEach((name, answer) -> {
            try {
                if (!next.tree.lookup(name.directory(), name.name()).answer().equals(answer)) {
                    next.superseded.add(name.directory(), name.name());
                }
            } catch (IllegalStateException | UncheckedIOException e) {
                // it is closed or damaged already, which who asks it finds
            }
        });
    }

    /** Hears what differs between a table and the one before it. */
    @FunctionalInterface
    interface Comparison {
        /** @param isTold whether a key's change is news */
        void compare(KeyTable before, KeyTable after, Predicate<String> isTold);
    }

    /** What it says of a name: null if it does not know, or is not to be asked. It may be too old to be believed. */
    @Nullable
    Dated find(Directory directory, String name) {
        long now = nanoClock.getAsLong(); // of what is said now, nothing that comes after it
        return ask(known -> {
            if (known.isSuperseded(directory, name) || known.isRefused(directory.key(name))) {
                return null;
            }
            Dated found = known.tree.lookup(directory, name);
            return new Dated(found.answer(), known.asOf(found.asOf(), now));
        });
    }

    /** A page of a directory's listing: null if it does not know it, or is not to be asked for it. */
    @Nullable
    DatedPage page(ListRequest request) {
        if (request.continuationToken() != null) {
            return null; // the store has begun it
        }
        long now = nanoClock.getAsLong();
        return ask(known -> {
            if (known.superseded.containsAnyIn(request.prefix()) || known.isRefused(request.prefix())) {
                return null;
            }
            FlatTree.DatedPage found = known.tree.list(request);
            if (known.belief instanceof Belief.ByPage(long ttlNanos, long _) && now - found.asOf() >= ttlNanos) {
                return null;
            }
            return new DatedPage(found.page(), next(request, found.page()), known.asOf(found.asOf(), now));
        });
    }

    /** What goes on where a page of this ended, be it here or in the store. */
    private static @Nullable ListRequest next(ListRequest request, ListPage page) {
        return page.nextToken() == null
                ? null
                : new ListRequest(request.prefix(), request.delimiter(), page.nextToken(), null, request.maxKeys());
    }

    private <T> @Nullable T ask(Function<Known, @Nullable T> question) {
        Known known = state.known;
        if (known == null) {
            return null;
        } else if (!isBelieved(known)) {
            forget(known);
            return null;
        }
        try {
            return question.apply(known);
        } catch (IllegalStateException e) {
            if (known.equals(state.known)) {
                throw e;
            }
            return null; // another has taken its place, or it was forgotten
        } catch (UncheckedIOException | InternalError e) { // the latter is what the JVM makes of a bad sector
            forget(known);
            damage.accept(e);
            return null;
        }
    }

    private boolean isBelieved(Known known) {
        return switch (known.belief) {
            case Belief.ByPage(long ttlNanos, long newest) -> nanoClock.getAsLong() - newest < ttlNanos;
            case Belief.Until(long nanos) -> nanoClock.getAsLong() - nanos < 0;
            case Belief.Always _ -> true;
        };
    }

    private synchronized void forget(Known known) {
        if (known.equals(state.known)) {
            state = new State(null, state.coming);
            known.table.close();
        }
    }

    /** The name has been changed here, or what is known of it is wrong. */
    void supersede(Directory directory, String name) {
        State current = state;
        if (current.coming != null) {
            current.coming.superseded.add(directory, name);
        }
        Known known = current.known;
        if (known != null) {
            known.superseded.add(directory, name);
            if (known.superseded.isFull()) {
                forget(known);
            }
        }
    }

    /** The store has said what a name is. */
    void heard(Directory directory, String name, Answer answer) {
        Coming coming = state.coming;
        if (coming != null) {
            coming.hear(directory, name, answer);
        }
        // In this order: what is under way may have become what is known in between.
        Dated known = find(directory, name);
        if (known != null && !known.answer().equals(answer)) {
            supersede(directory, name);
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
