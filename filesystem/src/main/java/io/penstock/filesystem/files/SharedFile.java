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
 * The file shared by all handles that were opened on one version, or on its content as written here: all see the same
 * content. It is read through the cache until it is first opened for writing, then through the {@link WrittenFile}
 * until the last handle is closed.
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
 * <p>While it is WRITTEN its name is overlaid in the tree: the name shows this file, whatever the store has.
 *
 * <p>Thread-safe. One monitor guards handles, content and name together. It is never held while waiting for the store.
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

    /** What the kernel has of it while its content is not that of a version. */
    private final KernelContent.Written ownContent;

    @GuardedBy("this")
    private final OpenCounts opens = new OpenCounts();

    @GuardedBy("this")
    private final OverlaidName name;

    /** Written with the monitor held. */
    private volatile State state;

    /**
     * The times of changes that no version has yet, or of a removed file. Null while the times of its version apply,
     * which are in {@link ModifiedTimes}. Written with the monitor held.
     */
    private volatile @Nullable Times own;

    /** mtime and ctime. */
    private record Times(Instant modified, Instant changed) {}

    /** Its kept attributes, once it was created or changed here; null before. */
    private volatile @Nullable ObjectAttributes attributes;

    /** Its last known kept attributes; null if they never were. Racy on purpose: each value was true at some time. */
    private volatile @Nullable ObjectAttributes lastKnown;

    /** Whether its content was changed here, so that the times kept with its object do not apply. */
    private volatile boolean rewritten;

    /** A version that the store has. */
    SharedFile(SharedFiles files, Inode inode, ObjectVersion version, ObjectReader reader) {
        this(files, inode, new SharedContent(version, reader), State.READING, null);
        Place place = inode.place();
        this.lastKnown = files.kept().now(place == null ? null : place.parent(), version);
    }

    /**
     * A new file, or one left by an earlier run.
     *
     * @param isOpen whether it is open for writing, already counted by the content
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
        if (written != null) {
            written.setInode(inode.number());
        }
        if (written != null && !written.headers().isEmpty()) { // by an earlier run
            this.attributes = AttributeHeaders.read(written.headers());
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

    /** Its kept attributes since it was created or changed here; null before. */
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

    /** Those attributes of its object that also apply to the file. */
    public ObjectAttributes inherited(ObjectAttributes ofObject) {
        return rewritten ? ofObject.withModified(null).withAccessed(null) : ofObject;
    }

    /**
     * Its last known kept attributes, for a caller that must not wait: null if they never were known.
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

    /** It was just created with these attributes. */
    void created(ObjectAttributes initial) {
        if (initial.equals(ObjectAttributes.NONE)) {
            attributes = initial;
        } else {
            keep(initial);
        }
    }

    /** Gives it these attributes from now on; the next commit stores them. It is open for writing. */
    public synchronized void keep(ObjectAttributes changedTo) {
        attributes = changedTo;
        WrittenFile written = content.written();
        if (written != null) {
            written.setHeaders(AttributeHeaders.of(changedTo));
        }
    }

    /** The same for a call that changes them. */
    public synchronized void keep(ObjectAttributes changedTo, Instant now) {
        keep(changedTo);
        own = new Times(modified(), now);
    }

    /** The object has these attributes now. Does nothing if the version is another one. */
    public synchronized void changed(ObjectVersion version, ObjectAttributes changedTo) {
        if (isOf(version)) {
            attributes = changedTo; // also once its name is gone
        }
    }

    /** Its content was changed: times set by a program no longer apply, known or not. */
    @GuardedBy("this")
    private void forgetTimes() {
        ObjectAttributes known = knownAttributes();
        rewritten = true;
        if (known != null && (known.modified() != null || known.accessed() != null)) {
            keep(known.withModified(null).withAccessed(null));
        }
    }

    // ---- times

    /** A program, or a kernel that collects writes, sets this mtime. */
    public synchronized void touch(Instant time, Instant now) {
        if (own == null) {
            files.times().set(requireNonNull(content.stored()), time, now);
        } else {
            own = new Times(time, now);
        }
    }

    /** Hands its times to its version. From now on the times kept with the version's object apply. */
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

    /** Its written content: null if it was only opened for reading. */
    public @Nullable WrittenFile written() {
        return content.written();
    }

    /** Its version in the store, as far as it is known here; null if there is none yet. */
    public @Nullable ObjectVersion stored() {
        return content.stored();
    }

    /** The version with exactly this content: null if there is none. */
    public @Nullable ObjectVersion version() {
        return content.version();
    }

    /** The key of its object, even if the object is gone. */
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

    /** {@link KernelView#open}, atomically with the content's current identity. */
    public synchronized KernelView.@Nullable Opened openPages(@Nullable BackingFile backing) {
        return files.kernel().open(inode, kernelContent(), content.written() == null ? backing : null);
    }

    @Override
    public synchronized KernelContent kernelContent() {
        ObjectVersion version = content.stored();
        boolean isStored = content.written() == null || state == State.COMMITTED;
        return isStored && version != null ? KernelContent.of(version) : ownContent;
    }

    /** Whether handles opened on this version share this file. */
    public synchronized boolean isOf(ObjectVersion version) {
        return state != State.ENDED && isStoredAs(version);
    }

    /** Whether this is its version in the store, under its present name; also once it has ended. */
    public boolean isStoredAs(ObjectVersion version) {
        ObjectVersion mine = content.stored();
        return mine != null && mine.key().equals(version.key()) && mine.hasIdentityOf(version);
    }

    // ---- handles

    /** Adds a handle. False if the file has been closed for the last time: look it up again. */
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
     * Prepares writing by a handle that has joined to write.
     *
     * @param truncate whether the content is not needed
     * @return false if the kernel reads the file directly under this inode: then it cannot be written under it
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
                    written.setInode(inode.number());
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

    /** Those handles that the mount's former process had have joined. */
    void inherited() {
        if (inode.place() == null) {
            remove();
        }
        WrittenFile left;
        synchronized (this) {
            left = opens.isAny() && !opens.isAnyToWrite() ? content.written() : null;
        }
        if (left != null && left.isDirty()) {
            files.commitInBackground(left);
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
     * A descriptor of the handle is closed. The handle may have others, and may be written to again.
     *
     * @return the content to commit, if no other handle is left that will commit it; else null
     */
    public synchronized @Nullable WrittenFile flush(Opener opener) {
        opens.flush(opener);
        return opens.isAnyUnflushed() || state == State.REMOVED ? null : content.written();
    }

    /** The content that a handle open for writing writes to. The handle no longer counts as flushed. */
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

    // ---- its name, and its further states

    /** Enters a state, and makes the name and the kernel's pages follow. */
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

    /** The store has this version of it now. */
    void committed(StoredObject object) {
        ObjectVersion version = object.version();
        synchronized (this) {
            ObjectAttributes committed = knownAttributes();
            content.setStored(version);
            Place place = inode.place();
            if (state != State.REMOVED && place != null && place.key().equals(version.key())) {
                files.stored(place, object, modified(), changed(), committed);
            }
        }
        settle();
    }

    /** It cannot be committed, and no handle is open: the name shows the store's object again. */
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
            attributes = known == null ? ObjectAttributes.NONE : known; // those of the key will be another file's
            own = new Times(modified(), changed());
            become(State.REMOVED, () -> {});
        }
    }

    /** Its name was not removed after all, and shows this file again if it did before. */
    public void reinstate() {
        overlayName();
        WrittenFile written = content.written();
        if (written != null) {
            written.reinstate();
        }
    }

    /** Its name is gone. Lets a running commit end first. */
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
     * Its inode has another name, where the store has a copy of this version. Does nothing if it is of another version.
     */
    public synchronized void moved(ObjectVersion before, ObjectVersion after) {
        if (isOf(before)) {
            become(state, () -> content.moved(after, files::open));
        }
    }

    /** Its inode has another name now, and none of it is in the store; null if no object has that name. */
    public synchronized void renamed(@Nullable ObjectVersion replaced) {
        attributes = attributes(); // not those of the replaced object
        content.setStored(replaced);
        overlayName();
    }

    /** While it is written, shows it at its name, whatever the store has. */
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
                giveTimes(); // before its name shows the version
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

    /** For tests, while no call is running: throws if something contradicts the state. */
    synchronized void checkInvariants() {
        boolean isWritten = content.written() != null;
        boolean holds = switch (state) {
            case READING -> !isWritten && content.stored() != null;
            case WRITTEN -> isWritten && (opens.isAnyToWrite() || !content.isCommitted());
            case COMMITTED -> isWritten && !opens.isAnyToWrite() && content.isCommitted();
            case REMOVED -> opens.isAny();
            case ENDING, ENDED -> false; // these are transient, and in no table
        };
        if (!holds || name.isOverlaid() != (state == State.WRITTEN)) {
            throw new IllegalStateException("%s is %s, with%s handles, overlaid: %s"
                    .formatted(inode, state, opens.isAny() ? "" : "out", name.isOverlaid()));
        }
    }
}
