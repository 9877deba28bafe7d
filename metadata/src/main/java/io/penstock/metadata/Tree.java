package io.penstock.metadata;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.core.ObjectVersion;
import io.penstock.listing.KeyTable;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.Listing.DatedPage;
import io.penstock.metadata.LookupCache.Name;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListPages;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The directory tree of a bucket, or of a prefix in it. It is built from keys on demand, and each answer is cached for
 * a configured time to live. A name in a listed directory costs no request; any other costs one, shared by all callers
 * that ask for it at the same time.
 *
 * <p>Where a listing and an answer about a single name disagree, the later one wins. {@link #invalidate} drops an
 * answer early.
 *
 * <p>Changes made here are visible immediately. {@link #changed} sets the store's new state; running requests cannot
 * restore the old one. {@link #overlay} covers a name with something that the store does not have, or not yet; the
 * overlay takes precedence over the store.
 *
 * <p>Safe for use by any number of threads. No lock is held across a call to the store.
 */
public final class Tree implements AutoCloseable {
    /** A listing without entries takes as much memory as this many entries. */
    private static final int LISTING_WEIGHT = 2;

    /**
     * The number of single lookups in a directory after which it is listed in the background. A program that opens 16
     * samples of a folder will open thousands, and a page of the listing answers 1,000 lookups.
     */
    static final int ASKED_BEFORE_LISTING = 16;

    /** The maximum length of such a listing of a larger directory, in entries: 100 requests. */
    static final int MAX_LISTED_UNASKED = 100_000;

    /** The maximum number of directories whose lookups are counted; the least recently used one is dropped. */
    private static final int MAX_ASKED = 10_000;

    /** How long closing waits for a listing that has been interrupted. */
    private static final int LAST_SECONDS = 5;

    private final ObjectStore store;
    private final Directory root;
    private final MetadataLimits limits;
    private final int mostListedOfOne;
    private final LongSupplier nanoClock;
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

    /** For the listing of the whole bucket, which ends before the tree does. */
    private final ExecutorService preloading = Executors.newVirtualThreadPerTaskExecutor();

    private final HiddenKeys hidden;
    private final NameProbe probe;
    private final LookupCache answers;
    private final NameOverlay overlay = new NameOverlay();
    private final EmptiedDirectories emptied;
    private final FlatListing flat;
    private final Preloader preloader;
    private final Cache<Directory, Listing> listings;

    /** Former listings of directories that are being listed again: {@link #listed}. */
    private final Map<Directory, Listing> former = new ConcurrentHashMap<>();

    /** The number of recent single lookups in each directory. */
    private final Cache<Directory, AtomicInteger> askedOneByOne;

    /** Notified of the store's answers; null if there is no listener. */
    private volatile @Nullable NameListener nameListener;

    /**
     * @param prefix the beginning of all shown keys; empty or ending in a slash
     * @param nanoClock monotonic nanoseconds, such as {@link System#nanoTime}
     */
    public Tree(ObjectStore store, String prefix, MetadataConfig config, LongSupplier nanoClock) {
        this.store = store;
        this.root = new Directory(prefix);
        this.limits = new MetadataLimits(config);
        this.mostListedOfOne = config.mostListedOfOne();
        this.nanoClock = nanoClock;
        this.emptied = new EmptiedDirectories(limits::ttlNanos, overlay::hasNodesWithin);
        this.hidden = new HiddenKeys(store.bucket());
        this.flat = new FlatListing(nanoClock, this::flatIsDamaged);
        this.preloader = new Preloader(
                store, prefix, config.preload(), limits, preloading, nanoClock, flat, this::reportDifference);
        this.probe = new NameProbe(store, hidden, executor);
        this.answers = new LookupCache(this::ask, executor, limits, nanoClock, this::correctListing);
        this.listings = Caffeine.newBuilder()
                .maximumWeight(config.mostListed())
                .weigher((Directory directory, Listing listing) -> LISTING_WEIGHT + listing.weight())
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

    /** From now on notifies {@code listener} of the store's answers, in place of an earlier listener. */
    public void setListener(NameListener listener) {
        nameListener = listener;
    }

    /** Changes the times to live and the concurrency of listings; the other settings stay the same. */
    public void adjust(MetadataConfig config) {
        limits.set(config);
        answers.expireAfter(limits.longest());
        expireAfter(listings, config.ttl());
        expireAfter(askedOneByOne, config.ttl());
    }

    private static void expireAfter(Cache<?, ?> cache, Duration ttl) {
        cache.policy().expireAfterWrite().orElseThrow().setExpiresAfter(ttl);
    }

    /** The limits in effect. */
    public MetadataLimits limits() {
        return limits;
    }

    public Directory root() {
        return root;
    }

    /** What {@code name} refers to in the directory. A name that no key or path can have is {@link Absent}. */
    public CachedLookup resolve(Directory directory, String name) throws ObjectStoreException, InterruptedException {
        CachedLookup known = resolveNow(directory, name);
        if (known != null) {
            return known;
        }
        LookupCache.Dated answer = answers.ask(new Name(directory, name));
        CachedLookup overlaid = overlaidAs(directory, name); // the name may have got an overlay meanwhile
        return overlaid == null ? kept(directory, name, answer) : overlaid;
    }

    /** The answer, except for a directory that was emptied here: it still exists. */
    private CachedLookup kept(Directory directory, String name, LookupCache.Dated answer) {
        boolean isKept = answer.answer() instanceof Absent && emptied.contains(directory, name);
        return new CachedLookup(isKept ? directory.child(name) : answer.answer(), answers.validNanos(answer));
    }

    /** Like {@link #resolve}, from the cache only: null if the answer is not cached. Never waits. */
    public @Nullable CachedLookup resolveNow(Directory directory, String name) {
        if (!Names.canBe(directory, name)) {
            return new CachedLookup(Absent.ABSENT, limits.negativeTtlNanos());
        }
        CachedLookup overlaid = overlaidAs(directory, name);
        if (overlaid != null) {
            return overlaid;
        }
        Listing listing = listings.getIfPresent(directory);
        CachedLookup listed = listing == null ? null : listed(directory, listing, name);
        if (listed != null) {
            return listed;
        }
        Name asked = new Name(directory, name);
        LookupCache.Dated known = answers.known(asked);
        if (known == null) {
            LookupCache.Dated first = flat.find(directory, name);
            return first == null
                            || answers.validNanos(first) == 0
                            || (listing != null && listing.supersedes(name, first.asOf()))
                    ? null
                    : kept(directory, name, first);
        } else if (listing != null && listing.supersedes(name, known.asOf())) {
            answers.forget(asked);
            return null;
        }
        return kept(directory, name, known);
    }

    /**
     * The listings' answer about a name. When many lookups find nothing, for example when a program creates many files
     * in one directory, an expired listing is renewed in the background. It stays valid for up to the same time again:
     * while one such lookup waits for the store, the kernel lets no other program create a file in the directory.
     */
    private @Nullable CachedLookup listed(Directory directory, Listing listing, String name) {
        long now = nanoClock.getAsLong();
        long negativeTtl = limits.negativeTtlNanos();
        CachedLookup stillValid = listing.find(name, now, limits.ttlNanos(), 2 * negativeTtl);
        if (stillValid == null) {
            Listing old = former.get(directory);
            return old == null ? null : old.find(name, now, limits.ttlNanos(), 2 * negativeTtl);
        } else if (stillValid.answer() instanceof Node) {
            return stillValid;
        } else if (stillValid.nanos() > negativeTtl) {
            return new CachedLookup(Absent.ABSENT, stillValid.nanos() - negativeTtl);
        }
        AtomicInteger asked = askedOneByOne.getIfPresent(directory);
        if (asked == null || asked.get() < ASKED_BEFORE_LISTING || listing.held() > MAX_LISTED_UNASKED) {
            return null;
        }
        askedOneByOne.put(directory, asked); // keeps the count of a program that continues to create files
        relist(directory, listing);
        return stillValid;
    }

    private void relist(Directory directory, Listing old) {
        if (executor.isShutdown() || former.putIfAbsent(directory, old) != null) {
            return;
        }
        executor.execute(() -> {
            try {
                if (listings.asMap().replace(directory, old, newListing(directory))) {
                    readListing(directory);
                }
            } finally {
                former.remove(directory);
            }
        });
    }

    private @Nullable CachedLookup overlaidAs(Directory directory, String name) {
        return switch (overlay.get(directory, name)) {
            case null -> null;
            case Node node -> new CachedLookup(node, limits.ttlNanos());
            case Absent absent -> new CachedLookup(absent, limits.negativeTtlNanos());
        };
    }

    /** Like {@link #resolve}, without the validity. */
    public Answer lookup(Directory directory, String name) throws ObjectStoreException, InterruptedException {
        return resolve(directory, name).answer();
    }

    /** Like {@link #resolveNow}, without the validity. */
    public @Nullable Answer lookupNow(Directory directory, String name) {
        CachedLookup known = resolveNow(directory, name);
        return known == null ? null : known.answer();
    }

    /** The directory's entries. A recent listing is shared with other readers. */
    public Listing list(Directory directory) {
        return listings.asMap()
                .compute(
                        directory,
                        (key, known) -> known != null && known.isShareable(nanoClock.getAsLong(), limits.ttlNanos())
                                ? known
                                : newListing(key));
    }

    /**
     * The directory's recent listing so far; null if there is none. Unless it is whole, or is known to be too large to
     * keep, it continues in the background. Never waits.
     */
    public @Nullable Listing listNow(Directory directory) {
        Listing known = listings.getIfPresent(directory);
        if ((known == null || !known.isWhole()) && !isTooLarge(directory) && !executor.isShutdown()) {
            executor.execute(() -> readListing(directory));
        }
        return known;
    }

    private Listing newListing(Directory directory) {
        return new Listing(
                directory,
                new DirectoryPages(
                        store, new WholeBucket(), limits.listConcurrency(), mostListedOfOne / 4, executor, nanoClock),
                hidden,
                executor,
                nanoClock,
                emptied,
                (listing, from) -> keep(directory, listing, from),
                mostListedOfOne);
    }

    /** Pages from the listing of the whole bucket, if there is one. */
    private final class WholeBucket implements DirectoryPages.Source {
        @Override
        public @Nullable DatedPage page(ListRequest request) {
            DatedPage known = flat.page(request);
            if (known == null
                    && !flat.isKnown()
                    && request.startAfter() == null
                    && request.continuationToken() == null) {
                preloader.listedByItself();
            }
            return known;
        }

        @Override
        public void listed(ListRequest request, ListPage page) {
            flat.listed(request, page);
        }
    }

    /**
     * Makes {@link #preload} begin with another program's listing. It is used until the bucket has been listed here, or
     * permanently if {@link PreloadConfig#refresh} is not set. Must be called before the bucket is changed here:
     * earlier changes would be hidden.
     */
    public void index(ObjectIndex index) {
        preloader.index(index);
    }

    /** Lists the whole bucket in the background, if configured; that listing then answers. To be called once. */
    public void preload() {
        preloader.start();
    }

    /** Stops listing the whole bucket; a running listing ends. The last complete one remains in use. */
    public void endPreload() {
        preloading.shutdownNow();
    }

    /** The progress of that listing. */
    public PreloadState preloaded() {
        return preloader.state();
    }

    private void flatIsDamaged(Throwable why) {
        preloader.damaged(why);
    }

    private void reportDifference(KeyTable before, KeyTable after, Predicate<String> isReported) {
        NameListener listener = nameListener;
        if (listener != null) {
            TableDifference.report(before, after, root, isReported, listener);
        }
    }

    /**
     * A live view of the overlaid names of the directory ({@link #overlay}). A listing is complete and correct only
     * together with them.
     */
    public Map<String, Answer> overlaid(Directory directory) {
        return overlay.in(directory);
    }

    /** Overlays the name: until {@link #uncover} it refers to {@code answer}, regardless of the store. */
    public void overlay(Directory directory, String name, Answer answer) {
        overlay.put(directory, name, answer);
    }

    /** Removes the overlay. Does nothing if the overlay is not {@code overlaid}. */
    public void uncover(Directory directory, String name, Answer overlaid) {
        overlay.remove(directory, name, overlaid);
    }

    /**
     * Keeps the directory and its parents, even if the store has no key in them. Its last file may be about to be
     * removed, and POSIX directories do not vanish with their last file. The store's state is used again once it shows
     * the name, or once a listing that began a time to live later does not show it, or after {@link #letGo}.
     */
    public void keep(Directory directory) {
        long now = nanoClock.getAsLong();
        Directory child = directory;
        while (!child.equals(root)) {
            Place place = Place.of(child);
            emptied.add(place.parent(), place.name(), now);
            child = place.parent();
        }
    }

    /**
     * The directory has been created here. A program that creates a directory fills it, so the first single lookup in
     * it starts a listing in the background.
     */
    public void made(Directory directory) {
        askedOneByOne.put(directory, new AtomicInteger(ASKED_BEFORE_LISTING - 1));
    }

    /** A kept directory has been removed here. */
    public void letGo(Directory directory) {
        Place place = Place.of(directory);
        emptied.remove(place.parent(), place.name());
    }

    /**
     * When a listing that is still valid showed that the directory has no marker object: nanoseconds on the tree's
     * clock. Null if no listing shows that. Never waits.
     */
    public @Nullable Long hadNoMarker(Directory directory) {
        Listing listing = listings.getIfPresent(directory);
        Long listedAt = listing == null ? null : listing.hadNoMarker(nanoClock.getAsLong(), limits.ttlNanos());
        if (listedAt != null || directory.prefix().isEmpty()) { // the marker of a bucket's root has another name
            return listedAt;
        }
        DatedPage first = flat.page(new ListRequest(directory.prefix(), "", null, null, 1));
        return first == null
                        || first.page().objects().stream()
                                .anyMatch(object -> object.version().key().equals(directory.prefix()))
                ? null
                : (Long) first.asOf();
    }

    /** The store has this marker object of a directory. */
    public void markerFound(StoredObject marker) {
        Place place = Place.of(marker.version().key());
        flat.answered(place.parent(), place.name(), new FileEntry(marker));
    }

    /** The directory's marker object has been changed here. */
    public void markerChanged(Directory directory) {
        flat.supersede(directory, "");
    }

    /** Where the object with this key is shown; null if it is not below the mounted prefix. */
    public @Nullable Place place(String key) {
        return key.startsWith(root.prefix()) ? Place.of(key) : null;
    }

    /** The bucket is about to be changed here. The first call may wait for the disk; later ones never wait. */
    public void beginChange() {
        preloader.beginChange();
    }

    /** The store has been changed: the name now refers to {@code answer}. */
    public void changed(Directory directory, String name, Answer answer) {
        flat.supersede(directory, name);
        answers.set(new Name(directory, name), answer);
    }

    /**
     * The store has been changed: everything below one directory is now below the other, which had nothing but perhaps
     * its marker, and which the caller has {@linkplain #forgetAll forgotten}. Overlays stay: their owners move them.
     */
    public void moved(Directory from, Directory to) {
        emptied.move(from, to);
        letGo(from);
        forgetAll(from);
        Place before = Place.of(from);
        Place now = Place.of(to);
        changed(before.parent(), before.name(), Absent.ABSENT);
        changed(now.parent(), now.name(), to);
    }

    /**
     * Drops all cached answers about the directory and everything below it. The listing of its parent still shows it as
     * before.
     */
    public void forgetAll(Directory directory) {
        flat.supersedeAll(directory);
        answers.forgetAll(each -> each.isWithin(directory));
        listings.asMap().keySet().removeIf(each -> each.isWithin(directory));
        former.keySet().removeIf(each -> each.isWithin(directory));
        Place place = Place.of(directory);
        forget(place.parent(), place.name());
    }

    /**
     * Whether the directory is empty, in the store and in its overlay; its own marker object does not count. Asks the
     * store.
     */
    public boolean isEmpty(Directory directory) throws ObjectStoreException, InterruptedException {
        if (emptied.containsAny(directory)
                || overlay.in(directory).values().stream().anyMatch(Node.class::isInstance)) {
            return false;
        }
        ListPages pages = new ListPages(store::list, new ListRequest(directory.prefix(), "", null, null, 2));
        for (ListPage page = pages.next(); page != null; page = pages.next()) {
            Optional<String> found = page.objects().stream()
                    .map(object -> object.version().key())
                    .filter(key -> !key.equals(directory.prefix()))
                    .findFirst();
            if (found.isPresent()) {
                explain(directory, found.get());
                return false;
            }
        }
        return true;
    }

    /** Logs the hidden key of a directory that looks empty. */
    private void explain(Directory directory, String key) {
        String objection = Names.objection(directory, key);
        if (objection != null) {
            hidden.keeps(directory, key, objection);
        }
    }

    /**
     * Drops the cached answers about a name, because the known version is not current. Does nothing if another version
     * is known.
     */
    public void invalidate(Directory directory, String name, ObjectVersion stale) {
        if (lookupNow(directory, name) instanceof FileEntry(var object)
                && object.version().hasIdentityOf(stale)) {
            invalidate(directory, name);
        }
    }

    /** Drops the cached answers about a name. The next {@link #list} lists its directory again. */
    public void invalidate(Directory directory, String name) {
        forget(directory, name);
        forListings(directory, listing -> listing.doubt(name));
    }

    /**
     * Drops the cached answers about a name that was changed here, because the store may have other keys of the name: a
     * lookup asks the store. The listing of its directory still shows the name as before.
     */
    public void forget(Directory directory, String name) {
        flat.supersede(directory, name);
        answers.forget(new Name(directory, name));
        forListings(directory, listing -> listing.forget(name));
    }

    /** Applies the action to the directory's listing, and to a former one that is still in use. */
    private void forListings(Directory directory, Consumer<Listing> action) {
        // In this order: a later listing asks the store later, and then knows the change.
        Listing listing = listings.getIfPresent(directory);
        if (listing != null) {
            action.accept(listing);
        }
        Listing old = former.get(directory);
        if (old != null && !old.equals(listing)) {
            action.accept(old);
        }
    }

    /** The number of times that a key was found that no path can reach. */
    public long hiddenKeys() {
        return hidden.count();
    }

    /** Interrupts running requests. The store stays open. */
    @Override
    public void close() {
        endPreload();
        executor.shutdownNow();
        try {
            boolean _ = preloading.awaitTermination(LAST_SECONDS, TimeUnit.SECONDS); // it may be saving the names
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        flat.close();
    }

    /**
     * What {@code name} refers to at some time from now on. A known file is compared with the store's by one HEAD; a
     * different or unknown one is looked up again. An overlay ({@link #overlay}) takes precedence.
     */
    public Answer revalidate(Directory directory, String name) throws ObjectStoreException, InterruptedException {
        CachedLookup overlaid = overlaidAs(directory, name);
        if (overlaid != null) {
            return overlaid.answer();
        } else if (!Names.canBe(directory, name)) {
            return Absent.ABSENT;
        }
        Answer known = lookupNow(directory, name);
        if (known instanceof Directory
                || (known instanceof FileEntry(StoredObject object) && isCurrent(object.version()))) {
            return known;
        }
        invalidate(directory, name);
        LookupCache.Dated asked = answers.askAgain(new Name(directory, name));
        CachedLookup overlaidSince = overlaidAs(directory, name);
        return (overlaidSince == null ? kept(directory, name, asked) : overlaidSince).answer();
    }

    private boolean isCurrent(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        StoredObject now = store.find(version.key());
        return now != null
                && now.version().hasIdentityOf(version)
                && now.version().size() == version.size();
    }

    private Answer ask(Name name) throws ObjectStoreException, InterruptedException {
        Answer answer = probe.ask(name.directory(), name.name());
        NameListener listener = nameListener;
        if (listener != null) {
            listener.answered(name.directory(), name.name(), answer);
        }
        listWhereManyAsk(name.directory());
        return answer;
    }

    private void correctListing(Name name, LookupCache.Dated answer) {
        flat.answered(name.directory(), name.name(), answer.answer());
        if (answer.answer() instanceof Node) {
            emptied.found(name.directory(), name.name(), answer.asOf());
        } else if (emptied.contains(name.directory(), name.name())) {
            return; // the directory still exists
        }
        forListings(name.directory(), listing -> {
            listing.correct(name.name(), answer);
            grown(name.directory(), listing);
        });
    }

    /**
     * Names created here add to a listing, and removed names keep their places in it. One that has become too large is
     * replaced by another, which has neither.
     */
    private void grown(Directory directory, Listing listing) {
        if (listing.isOvergrown()) {
            listings.asMap().remove(directory, listing);
            askedOneByOne.invalidate(directory); // restarts the count
        } else if (listing.isOutgrown()) {
            weigh(directory, listing);
        }
    }

    /** Weighs a listing that has grown and restarts its time to live, if it is still the directory's listing. */
    private void weigh(Directory directory, Listing listing) {
        listings.asMap().replace(directory, listing, listing);
    }

    private void listWhereManyAsk(Directory directory) {
        int count = askedOneByOne.get(directory, _ -> new AtomicInteger()).incrementAndGet();
        if (count == ASKED_BEFORE_LISTING && !executor.isShutdown() && !isTooLarge(directory)) {
            executor.execute(() -> readListing(directory));
        }
    }

    /** Whether its listing is known to be too large to keep: then a second one would be no better. */
    private boolean isTooLarge(Directory directory) {
        Listing listing = listings.getIfPresent(directory);
        return listing != null && listing.hasDropped(0);
    }

    private void readListing(Directory directory) {
        Listing listing = list(directory);
        try {
            int index = 0;
            while (index < MAX_LISTED_UNASKED && listing.await(index)) {
                index += ListRequest.MAX_KEYS;
            }
        } catch (ObjectStoreException | InterruptedException e) {
            // Single lookups continue, and report the failure.
        } catch (RejectedExecutionException e) {
            // The mount ends.
        } finally {
            listing.leave();
        }
    }

    private void keep(Directory directory, Listing listing, int from) {
        weigh(directory, listing);
        NameListener listener = nameListener;
        if (listener != null) {
            for (int i = from; listing.has(i); i++) {
                Listing.Entry entry = listing.get(i);
                if (entry != null) {
                    listener.answered(directory, entry.name(), entry.node());
                }
            }
        }
    }
}
