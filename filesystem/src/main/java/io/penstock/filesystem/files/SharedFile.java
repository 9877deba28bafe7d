package io.penstock.filesystem.files;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.OpenCounts.Opener;
import io.penstock.filesystem.kernel.BackingFile;
import io.penstock.filesystem.kernel.KernelContent;
import io.penstock.filesystem.kernel.KernelView;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.attributes.AttributeHeaders;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.prefetch.ObjectReader;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import io.penstock.writeback.WrittenFile.Progress;
import java.io.IOException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The file that handles share which were opened on one version, or on its content as written here: all see the same
 * content. It is read through the cache until it is first opened for writing, and through the {@link WrittenFile} from
 * then on, until the last handle is closed.
 *
 * <pre>
 *               opened for writing            all committed, no writer left
 *     READING ─────────────────────▶ WRITTEN ◀─────────────────────────────▶ COMMITTED
 *        │                              │           opened for writing           │
 *        └────────────▶ REMOVED ◀───────┴────────────────────────────────────────┘
 *             its name is removed, or taken by another file; or its uncommitted content is given up
 *
 *     each  ──no handle left, and nothing to commit──▶ ENDED
 *     WRITTEN ──a handle comes too late: the content is being closed──▶ ENDING ──the last commit is known──▶ ENDED
 * </pre>
 *
 * <p>Its name is overlaid in the tree while it is WRITTEN: it stands for this file, whatever the store has.
 *
 * <p>Safe for use by any number of threads. One monitor guards handles, content and name together, which is why this is one long
 * class; it is never held while waiting for the store.
 */
public final class SharedFile implements KernelContent.Holder {
    private enum State {
        READING,
        WRITTEN,
        COMMITTED,
        REMOVED,
        ENDING,
        ENDED
    }

    private final SharedFiles files;
    private final Inode inode;
    private final SharedContent content;

    /** The content that the kernel has of it while that is no version's. */
    private final KernelContent.Written ownContent;

    @GuardedBy("this")
    private final OpenCounts opens = new OpenCounts();

    @GuardedBy("this")
    private final OverlaidName name;

    /** Written with the monitor held. */
    private volatile State state;

    /**
     * The times of changes that no version has yet, or of a removed file: null while those of its version count, which
     * {@link ModifiedTimes} has. Written with the monitor held.
     */
    private volatile @Nullable Times own;

    /** mtime and ctime. */
    private record Times(Instant modified, Instant changed) {}

    /** Its kept attributes, once it was made or changed here; null before. */
    private volatile @Nullable ObjectAttributes attributes;

    /** Its kept attributes as they were known last; null if they never were. Racy on purpose: all of them were true. */
    private volatile @Nullable ObjectAttributes lastKnown;

    /** Whether its content was changed here, so that the times which its object keeps are not its own. */
    private volatile boolean rewritten;

    /** A version that the store has. */
    SharedFile(SharedFiles files, Inode inode, ObjectVersion version, ObjectReader reader) {
        this(files, inode, new SharedContent(version, reader), State.READING, null);
        Place place = inode.place();
        this.lastKnown = files.kept().now(place == null ? null : place.parent(), version);
    }

    /**
     * A new file, or one that was left by an earlier run.
     *
     * @param isOpen whether it is open for writing, which the content counts already
     */
    SharedFile(SharedFiles files, Inode inode, WrittenFile written, boolean isOpen) {
        this(
                files,
                inode,
                new SharedContent(written),
                State.WRITTEN,
                new Times(written.modified(), written.modified()));
        if (isOpen) {
            opens.join(true);
        }
    }

    private SharedFile(SharedFiles files, Inode inode, SharedContent content, State state, @Nullable Times own) {
        this.files = files;
        this.inode = inode;
        this.content = content;
        this.name = new OverlaidName(files.tree(), inode, this);
        this.ownContent = new KernelContent.Written(files.newNumber());
        this.state = state;
        this.own = own;
        WrittenFile written = content.written();
        this.rewritten = written != null;
        if (written != null && !written.kept().isEmpty()) { // by an earlier run
            this.attributes = AttributeHeaders.read(written.kept());
        }
    }

    public Inode inode() {
        return inode;
    }

    public SharedContent content() {
        return content;
    }

    @Override
    public long size() {
        return content.size();
    }

    @Override
    public Instant modified() {
        Times mine = own;
        return mine == null ? files.times().of(requireNonNull(content.stored())) : mine.modified;
    }

    @Override
    public int links() {
        return state == State.REMOVED ? 0 : 1;
    }

    /** ctime. */
    public Instant changed() {
        Times mine = own;
        return mine == null ? files.times().changed(requireNonNull(content.stored())) : mine.changed;
    }

    // ---- attributes

    /** Its kept attributes, as far as they are known. */
    public ObjectAttributes attributes() {
        ObjectAttributes known = knownAttributes();
        return known == null ? ObjectAttributes.NONE : known;
    }

    /** Its kept attributes since it was made or changed here; null before. */
    public @Nullable ObjectAttributes ownAttributes() {
        return attributes;
    }

    /** {@link #attributes}; null if they are not known. */
    public @Nullable ObjectAttributes knownAttributes() {
        ObjectAttributes own = attributes;
        ObjectVersion version = content.stored();
        ObjectAttributes known =
                own != null || version == null ? null : files.kept().of(version);
        return known == null ? own : inherited(known);
    }

    /** Those of its object that are its own, too. */
    public ObjectAttributes inherited(ObjectAttributes ofObject) {
        return rewritten ? ofObject.withModified(null).withAccessed(null) : ofObject;
    }

    /**
     * Its kept attributes as they were known last, for a caller that must not wait: null if they never were.
     *
     * @param now null if they are not known now
     */
    public @Nullable ObjectAttributes lastKnown(@Nullable ObjectAttributes now) {
        ObjectAttributes known = now == null ? knownAttributes() : now;
        if (known != null) {
            lastKnown = known;
            return known;
        }
        ObjectAttributes last = lastKnown;
        return last == null ? null : inherited(last);
    }

    /** It was just made with these. */
    void created(ObjectAttributes initial) {
        if (initial.equals(ObjectAttributes.NONE)) {
            attributes = initial;
        } else {
            keep(initial);
        }
    }

    /** From now on it has these, and the next commit says so. It is open for writing. */
    public synchronized void keep(ObjectAttributes changedTo) {
        attributes = changedTo;
        WrittenFile written = content.written();
        if (written != null) {
            written.keep(AttributeHeaders.of(changedTo));
        }
    }

    /** The same of a call that changes them. */
    public synchronized void keep(ObjectAttributes changedTo, Instant now) {
        keep(changedTo);
        own = new Times(modified(), now);
    }

    /** The object has these now; nothing if it is of another version. */
    public synchronized void changed(ObjectVersion version, ObjectAttributes changedTo) {
        if (isOf(version)) {
            attributes = changedTo; // also once its name is gone
        }
    }

    /** Its content was changed: times that a program has set do not count any more, known or not. */
    @GuardedBy("this")
    private void forgetTimes() {
        ObjectAttributes known = knownAttributes();
        rewritten = true;
        if (known != null && (known.modified() != null || known.accessed() != null)) {
            keep(known.withModified(null).withAccessed(null));
        }
    }

    // ---- times

    /** A program, or a kernel that collects writes, gives it this mtime. */
    public synchronized void touch(Instant time, Instant now) {
        if (own == null) {
            files.times().set(requireNonNull(content.stored()), time, now);
        } else {
            own = new Times(time, now);
        }
    }

    /** Its version has its times from now on, and those count that the version's object keeps. */
    @GuardedBy("this")
    private void giveTimes() {
        Times mine = own;
        ObjectVersion version = content.stored();
        if (mine != null && version != null) {
            files.times().set(version, mine.modified, mine.changed);
            own = null;
        }
        rewritten = false;
    }

    /** Its written content: null if it was only opened to be read. */
    public @Nullable WrittenFile written() {
        return content.written();
    }

    /** Its version in the store, as far as it is known here; null if there is none yet. */
    public @Nullable ObjectVersion stored() {
        return content.stored();
    }

    /** The version that has this very content: null if none has. */
    public @Nullable ObjectVersion version() {
        return content.version();
    }

    /** Of its object; also once that is gone. */
    public String key() {
        WrittenFile written = content.written();
        return written != null
                ? written.key()
                : requireNonNull(content.stored()).key();
    }

    /** How far its written content has come. */
    public Progress progress() {
        WrittenFile written = content.written();
        return written == null ? Progress.VISIBLE : written.progress();
    }

    /** {@link KernelView#open}, in one step with the content's name at this moment. */
    public synchronized KernelView.@Nullable Opened openPages(@Nullable BackingFile backing) {
        return files.kernel().open(inode, kernelContent(), content.written() == null ? backing : null);
    }

    @Override
    public synchronized KernelContent kernelContent() {
        ObjectVersion version = content.stored();
        boolean isStored = content.written() == null || state == State.COMMITTED;
        return isStored && version != null ? KernelContent.of(version) : ownContent;
    }

    /** Whether handles that are opened on this version share it. */
    public synchronized boolean isOf(ObjectVersion version) {
        return state != State.ENDED && isStoredAs(version);
    }

    /** Whether this is its version in the store, under its present name; also once it has ended. */
    public boolean isStoredAs(ObjectVersion version) {
        ObjectVersion mine = content.stored();
        return mine != null && mine.key().equals(version.key()) && mine.hasIdentityOf(version);
    }

    // ---- handles

    /** One more handle. False if the last was closed for good: look the file up again. */
    synchronized boolean join(boolean write) {
        if (state == State.ENDING || state == State.ENDED) {
            return false;
        }
        WrittenFile written = content.written();
        if (written != null && !opens.isAny() && !written.retain()) {
            state = state == State.REMOVED ? State.REMOVED : State.ENDING;
            return false;
        }
        opens.join(write);
        return true;
    }

    /** Waits until it has ended, if it could not be {@linkplain #join joined}. */
    synchronized void awaitEnd() throws InterruptedException {
        while (state == State.ENDING) {
            wait();
        }
    }

    /**
     * A handle that has joined to write begins.
     *
     * @param truncate whether the content is not needed
     * @return false if the kernel reads it by itself under this inode, so that it cannot be written under it
     */
    public boolean beginWriting(Writeback writeback, boolean truncate, Instant now)
            throws ObjectStoreException, IOException, InterruptedException {
        WrittenFile written;
        boolean isNewOfRemoved;
        synchronized (this) {
            WrittenFile known = content.written();
            if (known == null && files.kernel().isPassedThrough(inode)) {
                return false;
            }
            written = known == null ? open(writeback, truncate) : known;
            isNewOfRemoved = known == null && state == State.REMOVED;
            become(state == State.REMOVED ? State.REMOVED : State.WRITTEN, () -> {
                if (known == null) {
                    content.becomeWritten(written);
                    files.add(written, this);
                }
            });
        }
        if (isNewOfRemoved) {
            written.unlink();
        }
        if (truncate) {
            written.truncate(0);
            changed(now);
        }
        return true;
    }

    private WrittenFile open(Writeback writeback, boolean truncate) throws ObjectStoreException {
        ObjectVersion base = content.stored();
        if (base == null) {
            throw new IllegalStateException(inode + " has neither an object nor content");
        }
        return truncate ? writeback.create(base.key(), base) : writeback.open(base);
    }

    /** A call that has joined does not open it after all. */
    public void leave(boolean wrote) {
        leave(new Opener(wrote));
    }

    /** A handle is closed. */
    public void leave(Opener opener) {
        WrittenFile done = null;
        WrittenFile toCommit = null;
        synchronized (this) {
            opens.leave(opener);
            WrittenFile written = content.written();
            if (!opens.isAny()) {
                done = written;
            } else if (opener.isWriter() && !opens.isAnyToWrite() && written != null && written.isDirty()) {
                toCommit = written;
            }
        }
        if (done != null) {
            done.release();
        }
        if (toCommit != null) {
            files.commitInBackground(toCommit);
        }
        settle();
    }

    /** Whether it is open for writing. close(2) ends that: the kernel releases the handle some time later. */
    public synchronized boolean isOpenToWrite() {
        return opens.isAnyUnflushed();
    }

    synchronized boolean isOpen() {
        return opens.isAny();
    }

    /**
     * A descriptor of the handle is closed. It may not be the only one: the handle may be written to again.
     *
     * @return the content to commit, because no other handle is left that will do it; null if there is none
     */
    public synchronized @Nullable WrittenFile flush(Opener opener) {
        opens.flush(opener);
        return opens.isAnyUnflushed() || state == State.REMOVED ? null : content.written();
    }

    /** What a handle that is open for writing writes to; it is not flushed any more. */
    public WrittenFile written(Opener opener) {
        if (opener.isFlushed()) { // racy on purpose: a write during another thread's close may miss its commit
            synchronized (this) {
                opens.write(opener);
            }
        }
        WrittenFile written = content.written();
        if (written == null) {
            throw new IllegalStateException(inode + " is not being written");
        }
        return written;
    }

    /** Its content was changed. */
    public synchronized void changed(Instant now) {
        own = new Times(now, now);
        forgetTimes();
    }

    // ---- its name, and what becomes of it

    /** Enters a state: the name and the kernel's pages stand for what it is then. */
    @GuardedBy("this")
    private void become(State next, Runnable change) {
        KernelContent before = kernelContent();
        change.run();
        state = next;
        if (next == State.WRITTEN) {
            name.overlay(); // first: the name must not look older than the pages
        }
        files.kernel().becomes(inode, before, kernelContent());
        if (next != State.WRITTEN) {
            name.uncover();
        }
    }

    /** The store has this of it now. */
    void committed(StoredObject object) {
        ObjectVersion version = object.version();
        synchronized (this) {
            ObjectAttributes committed = knownAttributes();
            content.committed(version);
            Place place = inode.place();
            if (state != State.REMOVED && place != null && place.key().equals(version.key())) {
                files.stored(place, object, modified(), changed(), committed);
            }
        }
        settle();
    }

    /** It cannot be committed, and no handle is open: the name stands for the store's object. */
    void abandoned() {
        synchronized (this) {
            if (opens.isAny()) {
                return;
            }
            lose();
        }
        settle();
    }

    @GuardedBy("this")
    private void lose() {
        if (state != State.ENDED) {
            ObjectAttributes known = lastKnown(null);
            attributes = known == null ? ObjectAttributes.NONE : known; // the key's will be another file's
            own = new Times(modified(), changed());
            become(State.REMOVED, () -> {});
        }
    }

    /** Its name was not removed after all, and stands for it again if it did. */
    public void reinstate() {
        overlayName();
        WrittenFile written = content.written();
        if (written != null) {
            written.reinstate();
        }
    }

    /** Its name is gone. A running commit ends first. */
    public void remove() {
        files.unheard().forget(key());
        synchronized (this) {
            lose();
        }
        WrittenFile written = content.written();
        if (written != null) {
            written.unlink();
        }
    }

    /**
     * Its inode has another name, under which the store has a copy of this version: does nothing if it is of another.
     */
    public synchronized void moved(ObjectVersion before, ObjectVersion after) {
        if (isOf(before)) {
            become(state, () -> content.moved(after, files::open));
        }
    }

    /** Its inode has another name, and nothing of it is in the store; null if no object has that name. */
    public synchronized void renamed(@Nullable ObjectVersion replaced) {
        attributes = attributes(); // not those of what it replaces
        content.inPlaceOf(replaced);
        overlayName();
    }

    /** Has its name stand for it, whatever the store has, while it is written. */
    synchronized void overlayName() {
        if (state == State.WRITTEN) {
            name.overlay();
        }
    }

    /** Ends its written state with the last writer, and the file itself with the last handle. */
    public void settle() {
        synchronized (this) {
            if (state == State.ENDED || (state != State.REMOVED && !content.isCommitted())) {
                return;
            }
            if (state == State.ENDING || (state == State.WRITTEN && !opens.isAnyToWrite())) {
                giveTimes(); // before its name stands for the version
                become(State.COMMITTED, () -> {});
            }
            if (opens.isAny()) {
                return;
            }
            state = State.ENDED;
            notifyAll();
        }
        content.close();
        files.ended(this);
    }

    /** For tests, while no call is under way: throws if something contradicts the state. */
    synchronized void checkInvariants() {
        boolean isWritten = content.written() != null;
        boolean holds = switch (state) {
            case READING -> !isWritten && content.stored() != null;
            case WRITTEN -> isWritten && (opens.isAnyToWrite() || !content.isCommitted());
            case COMMITTED -> isWritten && !opens.isAnyToWrite() && content.isCommitted();
            case REMOVED -> opens.isAny();
            case ENDING, ENDED -> false; // which end by themselves, and are in no table
        };
        if (!holds || name.isOverlaid() != (state == State.WRITTEN)) {
            throw new IllegalStateException("%s is %s, with%s handles, overlaid: %s"
                    .formatted(inode, state, opens.isAny() ? "" : "out", name.isOverlaid()));
        }
    }
}
