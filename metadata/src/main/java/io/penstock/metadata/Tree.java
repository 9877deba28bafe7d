package io.penstock.metadata;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Answers.Name;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.Listing.DatedPage;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The directory tree of a bucket, or of what lies below a prefix in it: built from keys on demand, and believed for a
 * configured time. A name whose directory has been listed costs no request; any other costs one, shared by all who ask
 * for it at the same time.
 *
 * <p>Where a listing and an answer about a single name disagree, the later one holds; {@link #invalidate} makes a name
 * unknown before its time.
 *
 * <p>What is changed here shows at once. {@link #changed} says what the store has now: it corrects what is known, and
 * what is under way cannot bring back what was before. {@link #show} lays something over a name that the store does not
 * have so, or not yet, and that holds whatever the store says.
 *
 * <p>Safe for use by any number of threads. No lock is held across a call to the store.
 */
public final class Tree implements AutoCloseable {
    /** A listing that holds nothing takes as much memory as so many entries. */
    private static final int LISTING_WEIGHT = 2;

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
    private final int mostListedOfOne;
    private final int listConcurrency;
    private final LongSupplier nanoClock;
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    private final HiddenKeys hidden;
    private final NameProbe probe;
    private final Answers answers;
    private final LocalNames local = new LocalNames();
    private final EmptiedDirectories emptied;
    private final FlatListing flat;
    private final Preloader preloader;
    private final Cache<Directory, Listing> listings;

    /** Listings that others take the place of, which are being read: {@link #listed}. */
    private final Map<Directory, Listing> former = new ConcurrentHashMap<>();

    /** How many names of a directory were asked for one by one lately. */
    private final Cache<Directory, AtomicInteger> askedOneByOne;

    /** Hears what the store has said; null if nobody does. */
    private volatile @Nullable NewsListener newsListener;

    /** Hears of each answer when it is known. Called on the threads that bring answers: it must not wait. */
    @FunctionalInterface
    public interface NewsListener {
        void heard(Directory directory, String name, Answer answer);
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
        this.mostListedOfOne = config.mostListedOfOne();
        this.listConcurrency = config.listConcurrency();
        this.nanoClock = nanoClock;
        this.emptied = new EmptiedDirectories(ttlNanos);
        this.hidden = new HiddenKeys(store.bucket());
        this.flat = new FlatListing(nanoClock, this::flatIsDamaged);
        this.preloader = new Preloader(store, prefix, config, executor, nanoClock, flat, this::tellDifference);
        this.probe = new NameProbe(store, hidden, executor);
        this.answers = new Answers(this::ask, executor, config, nanoClock, this::correctListing);
        this.listings = Caffeine.newBuilder()
                .maximumWeight(config.mostListed())
                .weigher((Directory directory, Listing listing) -> LISTING_WEIGHT + listing.held())
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
        Answers.Dated answer = answers.ask(new Name(directory, name));
        Believed shown = shownAs(directory, name); // which it may have become meanwhile
        return shown == null ? kept(directory, name, answer) : shown;
    }

    /** What an answer says, but for a directory that was emptied here and is there all the same. */
    private Believed kept(Directory directory, String name, Answers.Dated answer) {
        boolean isKept = answer.answer() instanceof Absent && emptied.contains(directory, name);
        return new Believed(isKept ? directory.child(name) : answer.answer(), answers.validNanos(answer));
    }

    /** {@link #believe} if the answer is known: null if it is not. Never waits. */
    public @Nullable Believed believeNow(Directory directory, String name) {
        if (!Names.canBe(directory, name)) {
            return new Believed(Absent.ABSENT, negativeTtlNanos);
        }
        Believed shown = shownAs(directory, name);
        if (shown != null) {
            return shown;
        }
        Listing listing = listings.getIfPresent(directory);
        Believed listed = listing == null ? null : listed(directory, listing, name);
        if (listed != null) {
            return listed;
        }
        Name asked = new Name(directory, name);
        Answers.Dated known = answers.known(asked);
        if (known == null) {
            Answers.Dated first = flat.find(directory, name);
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
     * What listings know of a name. Where many names are asked for that are not there, as by who makes many files in one
     * directory, that is listed anew as soon as its listing is too old to say so, and meanwhile believed up to as long
     * again: the kernel lets nobody else make a file in the directory while one such name waits for the store.
     */
    private @Nullable Believed listed(Directory directory, Listing listing, String name) {
        long now = nanoClock.getAsLong();
        // In this order: one that is completed in between is not too old.
        Believed believedOn = listing.find(name, now, ttlNanos, 2 * negativeTtlNanos);
        Believed listed = listing.find(name, now, ttlNanos, negativeTtlNanos);
        if (listed != null) {
            return listed;
        }
        if (believedOn == null) {
            Listing old = former.get(directory);
            return old == null ? null : old.find(name, now, ttlNanos, 2 * negativeTtlNanos);
        }
        AtomicInteger asked = askedOneByOne.getIfPresent(directory);
        if (asked == null || asked.get() < ASKED_BEFORE_LISTING || listing.held() > MAX_LISTED_UNASKED) {
            return null;
        }
        askedOneByOne.put(directory, asked); // who goes on making files is not to be counted from the start
        relist(directory, listing);
        return believedOn;
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

    private @Nullable Believed shownAs(Directory directory, String name) {
        return switch (local.get(directory, name)) {
            case null -> null;
            case Node node -> new Believed(node, ttlNanos);
            case Absent absent -> new Believed(absent, negativeTtlNanos);
        };
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
                                : newListing(key));
    }

    private Listing newListing(Directory directory) {
        return new Listing(
                directory,
                new DirectoryPages(store, this::pageNow, listConcurrency, mostListedOfOne / 4, executor, nanoClock),
                hidden,
                executor,
                nanoClock,
                emptied,
                (listing, from) -> keep(directory, listing, from),
                mostListedOfOne);
    }

    /** A page of a listing that is known as the whole bucket is; null if it is not. */
    private @Nullable DatedPage pageNow(ListRequest request) {
        DatedPage known = flat.page(request);
        if (known == null && !flat.isKnown() && request.startAfter() == null && request.continuationToken() == null) {
            preloader.listedByItself();
        }
        return known;
    }

    /**
     * Lists the whole bucket behind everybody's back, when that is configured: from then on it is answered from there. To be
     * called once.
     *
     * @param index what somebody else has listed: believed until the bucket has been listed here, or for ever if
     *     {@link PreloadConfig#refresh} is not set; null for none
     */
    public void preload(@Nullable ObjectIndex index) {
        preloader.start(index);
    }

    /** Without an index. */
    public void preload() {
        preload(null);
    }

    /** How far that is. */
    public PreloadState preloaded() {
        return preloader.state();
    }

    private void flatIsDamaged(Throwable why) {
        preloader.damaged(why);
    }

    private void tellDifference(KeyTable before, KeyTable after, Predicate<String> isTold) {
        NewsListener listener = newsListener;
        if (listener != null) {
            TableDifference.tell(before, after, root, isTold, listener);
        }
    }

    /**
     * The names of the directory that stand for something else than in the store ({@link #show}), as they are now and
     * later. A listing is complete and right only together with them.
     */
    public Map<String, Answer> shown(Directory directory) {
        return local.in(directory);
    }

    /** From now on the name stands for this here, whatever the store has, until {@link #unshow}. */
    public void show(Directory directory, String name, Answer answer) {
        local.put(directory, name, answer);
    }

    /** The name stands for what the store has again; does nothing if something else than {@code shown} is shown. */
    public void unshow(Directory directory, String name, Answer shown) {
        local.remove(directory, name, shown);
    }

    /**
     * The directory stays, and those that it is in, even if the store has no key in it. Its last file may be about to be
     * removed, and POSIX directories do not vanish with that. The store's word holds again once it shows something of the
     * name, or a listing that was begun a time to live later does not show it; or after {@link #letGo}.
     */
    public void keep(Directory directory) {
        long now = nanoClock.getAsLong();
        Directory child = directory;
        while (!child.equals(root)) {
            Place place = place(child);
            emptied.add(place.parent(), place.name(), now);
            child = place.parent();
        }
    }

    /** A directory that was kept has been removed here. */
    public void letGo(Directory directory) {
        Place place = place(directory);
        emptied.remove(place.parent(), place.name());
    }

    static Place place(Directory directory) {
        return split(directory.prefix().substring(0, directory.prefix().length() - 1));
    }

    /** Where the object of this key is shown: null if it is not below what is mounted. */
    public @Nullable Place place(String key) {
        return key.startsWith(root.prefix()) ? split(key) : null;
    }

    private static Place split(String path) {
        int slash = path.lastIndexOf('/') + 1;
        return new Place(new Directory(path.substring(0, slash)), path.substring(slash));
    }

    /** The bucket is about to be changed here. The first call may wait for the disk; later ones wait for nothing. */
    public void changing() {
        preloader.changing();
    }

    /** The store has been changed: this is what it has at the name now. */
    public void changed(Directory directory, String name, Answer answer) {
        flat.supersede(directory, name);
        answers.set(new Name(directory, name), answer);
    }

    /**
     * Whether nothing is in the directory, as the store has it now and as is shown here; its own marker object does not
     * count. Asks the store.
     *
     * @param isRemoved keys that do not count either
     */
    public boolean isEmpty(Directory directory, Predicate<String> isRemoved)
            throws ObjectStoreException, InterruptedException {
        if (emptied.containsAny(directory)
                || local.in(directory).values().stream().anyMatch(Node.class::isInstance)) {
            return false;
        }
        ListRequest request = new ListRequest(directory.prefix(), "", null, null, 2);
        while (true) {
            ListPage page = store.list(request);
            Optional<String> found = page.objects().stream()
                    .map(object -> object.version().key())
                    .filter(key -> !key.equals(directory.prefix()) && !isRemoved.test(key))
                    .findFirst();
            if (found.isPresent()) {
                explain(directory, found.get());
                return false;
            } else if (page.nextToken() == null) {
                return true;
            }
            request = request.next(page.nextToken());
        }
    }

    /** Says what is in a directory that looks empty. */
    private void explain(Directory directory, String key) {
        String objection = Names.objection(directory, key);
        if (objection != null) {
            hidden.keeps(directory, key, objection);
        }
    }

    /**
     * Forgets what is known of a name, because the version known of it turned out not to be current. Does nothing if
     * another is known already.
     */
    public void invalidate(Directory directory, String name, ObjectVersion stale) {
        if (lookupNow(directory, name) instanceof FileEntry(var object)
                && object.version().identity().equals(stale.identity())) {
            invalidate(directory, name);
        }
    }

    /** Forgets what is known of a name. */
    public void invalidate(Directory directory, String name) {
        flat.supersede(directory, name);
        answers.forget(new Name(directory, name));
        forListings(directory, listing -> listing.doubt(name));
    }

    /** The directory's listing, and that which it takes the place of, as long as that counts. */
    private void forListings(Directory directory, Consumer<Listing> action) {
        // In this order: what takes the place of this one later asks the store later, and this one is known.
        Listing listing = listings.getIfPresent(directory);
        if (listing != null) {
            action.accept(listing);
        }
        Listing old = former.get(directory);
        if (old != null && !old.equals(listing)) {
            action.accept(old);
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
        flat.close();
    }

    /**
     * What {@code name} is in the directory at some time from now on: a file that is known is compared with the store's,
     * for one HEAD; what differs from that, or is not known, is asked for anew. What is shown here ({@link #show}) stands.
     */
    public Answer revalidate(Directory directory, String name) throws ObjectStoreException, InterruptedException {
        Believed shown = shownAs(directory, name);
        if (shown != null) {
            return shown.answer();
        } else if (!Names.canBe(directory, name)) {
            return Absent.ABSENT;
        }
        Answer known = lookupNow(directory, name);
        if (known instanceof Directory
                || (known instanceof FileEntry(StoredObject object) && isCurrent(object.version()))) {
            return known;
        }
        invalidate(directory, name);
        Answers.Dated asked = answers.askAnew(new Name(directory, name));
        Believed meanwhile = shownAs(directory, name);
        return (meanwhile == null ? kept(directory, name, asked) : meanwhile).answer();
    }

    private boolean isCurrent(ObjectVersion version) throws ObjectStoreException, InterruptedException {
        try {
            ObjectVersion now = store.head(version.key()).version();
            return now.identity().equals(version.identity()) && now.size() == version.size();
        } catch (ObjectStoreException.NotFound e) {
            return false;
        }
    }

    private Answer ask(Name name) throws ObjectStoreException, InterruptedException {
        Answer answer = probe.ask(name.directory(), name.name());
        NewsListener listener = newsListener;
        if (listener != null) {
            listener.heard(name.directory(), name.name(), answer);
        }
        listWhereManyAsk(name.directory());
        return answer;
    }

    private void correctListing(Name name, Answers.Dated answer) {
        flat.heard(name.directory(), name.name(), answer.answer());
        if (answer.answer() instanceof Node) {
            emptied.found(name.directory(), name.name(), answer.asOf());
        } else if (emptied.contains(name.directory(), name.name())) {
            return; // it is there all the same
        }
        forListings(name.directory(), listing -> listing.correct(name.name(), answer));
    }

    private void listWhereManyAsk(Directory directory) {
        int count = askedOneByOne.get(directory, _ -> new AtomicInteger()).incrementAndGet();
        if (count == ASKED_BEFORE_LISTING && !executor.isShutdown() && !isTooLarge(directory)) {
            executor.execute(() -> readListing(directory));
        }
    }

    /** Whether a listing of it is known to be too large to be kept: whoever reads it has more of it than another would. */
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
            // Names go on being asked for one by one, which says what is wrong to whoever needs one.
        } finally {
            listing.leave();
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
