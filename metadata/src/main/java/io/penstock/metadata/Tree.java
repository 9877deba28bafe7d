package io.penstock.metadata;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The directory tree of a bucket, or of what lies below a prefix in it: built from keys on demand, and believed for a
 * configured time. A name whose directory has been listed costs no request; any other costs one, shared by all who ask
 * for it at the same time.
 *
 * <p>Where a listing and an answer about a single name disagree, the later one holds; {@link #invalidate} makes a name
 * unknown before its time.
 *
 * <p>Safe for use by any number of threads. No lock is held across a call to the store.
 */
public final class Tree implements AutoCloseable {
    /** Answers about single names that are kept at most: some 500 bytes each. */
    private static final int MAX_ANSWERS = 100_000;

    /** Listed entries that are kept at most, in all directories together: some 400 bytes each. */
    private static final int MAX_LISTED = 1_000_000;

    /**
     * After so many names of one directory were asked for one by one, it is listed behind their back: whoever opens 16
     * samples of a folder opens the other thousands too, and a page of the listing answers for 1,000 of them.
     */
    static final int ASKED_BEFORE_LISTING = 16;

    /** How far such a listing goes in a larger directory, in entries: 100 requests. */
    static final int MAX_LISTED_UNASKED = 100_000;

    /** Directories whose lookups are counted at most; another forgets one that was not asked in for long. */
    private static final int MAX_ASKED = 10_000;

    private final ObjectStore store;
    private final Directory root;
    private final long ttlNanos;
    private final long negativeTtlNanos;
    private final LongSupplier nanoClock;
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    private final HiddenKeys hidden;
    private final NameProbe probe;
    private final AsyncCache<Name, Outcome> answers;
    private final Cache<Directory, Listing> listings;

    /** How many names of a directory were asked for one by one lately. */
    private final Cache<Directory, AtomicInteger> askedOneByOne;

    /** Hears what the store has said; null if nobody does. */
    private volatile @Nullable NewsListener newsListener;

    /** Hears of each answer when it is known. Called on the threads that bring answers: it must not wait. */
    @FunctionalInterface
    public interface NewsListener {
        void heard(Directory directory, String name, Answer answer);
    }

    private record Name(Directory directory, String name) {}

    private sealed interface Outcome {
        /** An answer, and when it was asked for. */
        record Dated(Answer answer, long asOf) implements Outcome {}

        /** Told to those who wait for it, and asked again by the next. (Caffeine would log a future that fails.) */
        record Failed(Exception cause) implements Outcome {}
    }

    /**
     * @param prefix what the mount shows: keys that begin with it; empty or ending in a slash
     * @param nanoClock nanoseconds that only go up, such as {@link System#nanoTime}
     */
    public Tree(ObjectStore store, String prefix, MetadataConfig config, LongSupplier nanoClock) {
        this.store = store;
        this.root = new Directory(prefix);
        this.ttlNanos = TimeUnit.NANOSECONDS.convert(config.ttl());
        this.negativeTtlNanos = TimeUnit.NANOSECONDS.convert(config.negativeTtl());
        this.nanoClock = nanoClock;
        this.hidden = new HiddenKeys(store.bucket());
        this.probe = new NameProbe(store, hidden, executor);
        this.answers = Caffeine.newBuilder()
                .maximumSize(MAX_ANSWERS)
                .ticker(nanoClock::getAsLong)
                .executor(Runnable::run)
                .expireAfterWrite(config.longest())
                .buildAsync();
        this.listings = Caffeine.newBuilder()
                .maximumWeight(MAX_LISTED)
                .weigher((Directory directory, Listing listing) -> listing.size())
                .ticker(nanoClock::getAsLong)
                .executor(Runnable::run)
                .expireAfterWrite(config.ttl())
                .build();
        this.askedOneByOne = Caffeine.newBuilder()
                .maximumSize(MAX_ASKED)
                .ticker(nanoClock::getAsLong)
                .executor(Runnable::run)
                .expireAfterWrite(config.ttl())
                .build();
    }

    /** From now on tells {@code listener} what the store says of each name; it takes the place of an earlier one. */
    public void tell(NewsListener listener) {
        newsListener = listener;
    }

    public Directory root() {
        return root;
    }

    /**
     * An answer, and for how long from now it may be believed.
     *
     * @param nanos 0 or more
     */
    public record Believed(Answer answer, long nanos) {}

    /** What {@code name} is in the directory. A name that no key can have, or no path, is {@link Absent}. */
    public Believed believe(Directory directory, String name) throws ObjectStoreException, InterruptedException {
        Believed known = believeNow(directory, name);
        if (known != null) {
            return known;
        }
        Name asked = new Name(directory, name);
        return switch (Calls.await(answers.get(asked, (key, _) -> Calls.start(executor, () -> ask(key))))) {
            case Outcome.Dated(Answer answer, long asOf) -> believed(answer, asOf);
            case Outcome.Failed(Exception cause) -> throw Calls.rethrow(cause);
        };
    }

    /** {@link #believe} if the answer is known: null if it is not. Never waits. */
    public @Nullable Believed believeNow(Directory directory, String name) {
        if (Names.objection(name) != null || Names.utf8Length(directory.key(name)) > Names.MAX_KEY_BYTES) {
            return new Believed(Absent.ABSENT, negativeTtlNanos);
        }
        Listing listing = listings.getIfPresent(directory);
        if (listing != null) {
            Believed listed = listing.find(name, nanoClock.getAsLong(), ttlNanos, negativeTtlNanos);
            if (listed != null) {
                return listed;
            }
        }
        Name asked = new Name(directory, name);
        CompletableFuture<Outcome> outcome = answers.getIfPresent(asked);
        if (outcome == null || !outcome.isDone()) {
            return null;
        }
        if (outcome.state() == Future.State.SUCCESS
                && outcome.resultNow() instanceof Outcome.Dated(Answer answer, long asOf)
                && (listing == null || !listing.supersedes(name, asOf))) {
            Believed believed = believed(answer, asOf);
            if (believed.nanos() > 0) {
                return believed;
            }
        }
        answers.asMap().remove(asked, outcome);
        return null;
    }

    /** {@link #believe} for who does not ask how long. */
    public Answer lookup(Directory directory, String name) throws ObjectStoreException, InterruptedException {
        return believe(directory, name).answer();
    }

    /** {@link #believeNow} for who does not ask how long. */
    public @Nullable Answer lookupNow(Directory directory, String name) {
        Believed known = believeNow(directory, name);
        return known == null ? null : known.answer();
    }

    /** The directory's entries: those of a listing that others read or have read, if it is recent enough. */
    public Listing list(Directory directory) {
        return listings.asMap()
                .compute(
                        directory,
                        (key, known) -> known != null && known.isFresh(nanoClock.getAsLong(), ttlNanos)
                                ? known
                                : new Listing(
                                        key,
                                        store,
                                        hidden,
                                        executor,
                                        nanoClock,
                                        (listing, from) -> keep(key, listing, from)));
    }

    /**
     * Forgets what is known of a name, because the version known of it turned out not to be current. Does nothing if
     * another is known already.
     */
    public void invalidate(Directory directory, String name, ObjectVersion stale) {
        if (lookupNow(directory, name) instanceof FileEntry(var object)
                && object.version().equals(stale)) {
            answers.synchronous().invalidate(new Name(directory, name));
            Listing listing = listings.getIfPresent(directory);
            if (listing != null) {
                listing.doubt(name);
            }
        }
    }

    /** How often a key was found that no path can reach. */
    public long hiddenKeys() {
        return hidden.count();
    }

    /** Ends what is in flight with an interrupt. The store stays open. */
    @Override
    public void close() {
        executor.shutdownNow();
    }

    private Believed believed(Answer answer, long asOf) {
        long lifetime = switch (answer) {
            case Node _ -> ttlNanos;
            case Absent _ -> negativeTtlNanos;
        };
        return new Believed(answer, Math.max(0, lifetime - (nanoClock.getAsLong() - asOf)));
    }

    private Outcome ask(Name name) {
        long now = nanoClock.getAsLong();
        try {
            Answer answer = probe.ask(name.directory(), name.name());
            Listing listing = listings.getIfPresent(name.directory());
            if (listing != null) {
                listing.correct(name.name(), answer);
            }
            NewsListener listener = newsListener;
            if (listener != null) {
                listener.heard(name.directory(), name.name(), answer);
            }
            listWhereManyAsk(name.directory());
            return new Outcome.Dated(answer, now);
        } catch (ObjectStoreException | InterruptedException e) {
            return new Outcome.Failed(e);
        }
    }

    private void listWhereManyAsk(Directory directory) {
        int count = askedOneByOne.get(directory, _ -> new AtomicInteger()).incrementAndGet();
        if (count == ASKED_BEFORE_LISTING && !executor.isShutdown()) {
            executor.execute(() -> readListing(directory));
        }
    }

    private void readListing(Directory directory) {
        Listing listing = list(directory);
        try {
            int index = 0;
            while (index < MAX_LISTED_UNASKED && listing.await(index)) {
                index += ListRequest.MAX_KEYS;
            }
        } catch (ObjectStoreException | InterruptedException e) {
            // Names go on being asked for one by one, which says what is wrong to whoever needs one.
        }
    }

    /** Weighs a listing that has grown and counts its time anew, if it is still the directory's listing. */
    private void keep(Directory directory, Listing listing, int from) {
        listings.asMap().replace(directory, listing, listing);
        NewsListener listener = newsListener;
        if (listener != null) {
            for (int i = from; listing.has(i); i++) {
                Listing.Entry entry = listing.get(i);
                if (entry != null) {
                    listener.heard(directory, entry.name(), entry.node());
                }
            }
        }
    }
}
