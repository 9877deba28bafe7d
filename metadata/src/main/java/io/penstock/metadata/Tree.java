package io.penstock.metadata;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
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

    private final ObjectStore store;
    private final Directory root;
    private final long ttlNanos;
    private final long negativeTtlNanos;
    private final LongSupplier nanoClock;
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    private final HiddenKeys hidden;
    private final NameProbe probe;
    private final AsyncCache<Name, Dated> answers;
    private final Cache<Directory, Listing> listings;

    private record Name(Directory directory, String name) {}

    /** An answer, and when it was asked for. */
    private record Dated(Answer answer, long asOf) {}

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
                .expireAfter(Expiry.<Name, Dated>creating((name, dated) -> switch (dated.answer()) {
                    case Node _ -> config.ttl();
                    case Absent _ -> config.negativeTtl();
                }))
                .buildAsync();
        this.listings = Caffeine.newBuilder()
                .maximumWeight(MAX_LISTED)
                .weigher((Directory directory, Listing listing) -> listing.size())
                .ticker(nanoClock::getAsLong)
                .executor(Runnable::run)
                .expireAfterWrite(config.ttl())
                .build();
    }

    public Directory root() {
        return root;
    }

    /** What {@code name} is in the directory. A name that no key can have, or no path, is {@link Absent}. */
    public Answer lookup(Directory directory, String name) throws ObjectStoreException, InterruptedException {
        Answer known = lookupNow(directory, name);
        if (known != null) {
            return known;
        }
        Name asked = new Name(directory, name);
        return Calls.await(answers.get(asked, (key, _) -> Calls.start(executor, () -> ask(key))))
                .answer();
    }

    /** {@link #lookup} if the answer is known: null if it is not. Never waits. */
    public @Nullable Answer lookupNow(Directory directory, String name) {
        if (Names.objection(name) != null || Names.utf8Length(directory.key(name)) > Names.MAX_KEY_BYTES) {
            return Absent.ABSENT;
        }
        Listing listing = listings.getIfPresent(directory);
        if (listing != null) {
            Answer listed = listing.find(name, nanoClock.getAsLong(), ttlNanos, negativeTtlNanos);
            if (listed != null) {
                return listed;
            }
        }
        Name asked = new Name(directory, name);
        CompletableFuture<Dated> answer = answers.getIfPresent(asked);
        if (answer == null || answer.state() != Future.State.SUCCESS) {
            return null;
        }
        Dated dated = answer.resultNow();
        if (listing != null && listing.supersedes(name, dated.asOf())) {
            answers.asMap().remove(asked, answer); // what the listing says is newer, though it is too old by now
            return null;
        }
        return dated.answer();
    }

    /** The directory's entries: those of a listing that others read or have read, if it is recent enough. */
    public Listing list(Directory directory) {
        return listings.asMap()
                .compute(
                        directory,
                        (key, known) -> known != null && known.isFresh(nanoClock.getAsLong(), ttlNanos)
                                ? known
                                : new Listing(key, store, hidden, executor, nanoClock, listing -> keep(key, listing)));
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

    private Dated ask(Name asked) throws ObjectStoreException, InterruptedException {
        long now = nanoClock.getAsLong();
        Answer answer = probe.ask(asked.directory(), asked.name());
        Listing listing = listings.getIfPresent(asked.directory());
        if (listing != null) {
            listing.correct(asked.name(), answer);
        }
        return new Dated(answer, now);
    }

    /** Weighs a listing that has grown and counts its time anew, if it is still the directory's listing. */
    private void keep(Directory directory, Listing listing) {
        listings.asMap().replace(directory, listing, listing);
    }
}
