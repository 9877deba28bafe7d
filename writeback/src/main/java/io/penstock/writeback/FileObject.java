package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.staging.FileJournal;
import io.penstock.writeback.staging.JournalRecord;
import io.penstock.writeback.upload.FileUpload;
import io.penstock.writeback.upload.JournalledUpload;
import io.penstock.writeback.upload.TargetProperties;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The object that a written file is, or is to become: its identity, the version that the next commit replaces, and the upload
 * on the way to that. Guarded by the file's lock.
 */
final class FileObject {
    /** The class of most objects, until a listing tells: an upload that an earlier run began was not asked for it. */
    private static final String STANDARD = "STANDARD";

    private static final String TEMPORARY = ".tmp";

    private final MountContext context;
    private final FileState state;
    private final FileBytes bytes;
    private @Nullable FileUpload upload;

    /** The object's properties; null until they are requested, as they are again once it has another key. */
    private final AtomicReference<@Nullable ObjectProperties> properties = new AtomicReference<>();

    /** Headers that the object is to have whatever it had; written with the file's lock held. */
    private final AtomicReference<SortedMap<String, String>> kept = new AtomicReference<>(Collections.emptySortedMap());

    /** The object that it was last renamed over, of whose properties it keeps none; null if there was none. */
    private @Nullable ObjectVersion renamedOver;

    FileObject(MountContext context, FileState state, FileBytes bytes) {
        this.context = context;
        this.state = state;
        this.bytes = bytes;
    }

    /** The version of this object that the content is written over; null if there is none. */
    @Nullable
    ObjectVersion committed() {
        return isOfAnother() ? null : bytes.layer().version();
    }

    private boolean isOfAnother() {
        ObjectVersion base = bytes.layer().version();
        return base != null && !base.key().equals(state.key());
    }

    /** The version that the next commit replaces; null if that makes a new object. */
    private @Nullable ObjectVersion expected() {
        ObjectVersion committed = committed();
        return committed == null ? state.replaced() : committed;
    }

    /** The version whose properties the next commit keeps; null if there is none. With the lock held. */
    @Nullable
    ObjectVersion inherited() {
        ObjectVersion expected = expected();
        return expected == null || expected.equals(renamedOver) ? null : expected;
    }

    /** Whether the next commit makes a new object. */
    boolean isNew() {
        return expected() == null;
    }

    /**
     * Whether its name is one that programs rename before they close the file, as safetensors and others that use Rust's
     * {@code tempfile} do: parts of an upload cannot be given the new name, so that none are sent before a commit.
     */
    boolean isTemporary() {
        String key = state.key();
        return key.startsWith(TEMPORARY, key.lastIndexOf('/') + 1);
    }

    WriteCondition condition() {
        ObjectVersion expected = expected();
        return expected == null ? WriteCondition.ABSENT : new WriteCondition.Unchanged(expected.etag());
    }

    /** This version as a listing would show it. Needs no lock. */
    StoredObject stored(ObjectVersion version) {
        ObjectProperties known = properties.get();
        return new StoredObject(version, known == null ? STANDARD : known.storageClass());
    }

    // ---- its journal

    /** Its record of the file's identity. Takes the lock, as the next. */
    JournalRecord.Opened identity() {
        return bytes.locked(() -> {
            ObjectVersion replaced = state.replaced();
            boolean renamed = replaced != null && replaced.equals(renamedOver);
            return new JournalRecord.Opened(context.staging().namespace(), state.key(), committed(), replaced, renamed);
        });
    }

    /** The journal of the changes between two commits. */
    FileJournal journal() {
        return bytes.locked(() -> new FileJournal(bytes.layer().staged(), this::identity));
    }

    // ---- its upload

    /** Goes on with the upload that an earlier run began. */
    void resume(JournalledUpload earlier) {
        upload = context.uploads().resume(earlier, bytes, targetProperties(), journal());
    }

    /** The upload that the next commit ends; begun if there is none. */
    FileUpload upload() {
        TargetProperties properties = targetProperties();
        FileUpload current = upload;
        if (current != null && !current.gives(properties)) { // since it was begun, all that it wrote over was cut off
            current.abandon();
            current = null;
        }
        if (current == null) {
            current = context.uploads().begin(bytes.layer().version(), bytes, properties, journal());
            upload = current;
        }
        return current;
    }

    private TargetProperties targetProperties() {
        TargetProperties.Over over = expected() == null
                ? TargetProperties.Over.NOTHING
                : bytes.content().baseEnd() == 0 || isCopied()
                        ? TargetProperties.Over.OTHER_CONTENT
                        : TargetProperties.Over.SAME_CONTENT;
        return new TargetProperties(state.key(), over, properties, kept);
    }

    /** Headers that the object is to have, beside those that it has; for the journal. */
    SortedMap<String, String> kept() {
        return kept.get();
    }

    void keep(SortedMap<String, String> headers) {
        kept.set(Collections.unmodifiableSortedMap(new TreeMap<>(headers)));
    }

    /** The bytes are about to change: parts that hold them go up again. */
    void changed(ByteRange range) {
        if (upload != null) {
            upload.changed(range);
        }
    }

    long uploadedBytes() {
        return upload == null ? 0 : upload.uploadedBytes();
    }

    /** The file goes on without its upload, which the caller ends if it is not committed. */
    @Nullable
    FileUpload takeUpload() {
        FileUpload taken = upload;
        upload = null;
        return taken;
    }

    // ---- another name, another object's bytes

    /** The object has another key now, of the same bytes. @return the upload under the old one, to be abandoned */
    @Nullable
    FileUpload moved(ObjectVersion to) {
        state.rename(to.key());
        bytes.layer().moved(to);
        properties.set(null); // a rename may have changed its type, and a change of attributes its headers
        return takeUpload();
    }

    /**
     * Nothing of it is in the store, and it is to have another key. The properties of an object there are lost with
     * that.
     *
     * @param replaced the object that has that key; null if there is none
     * @return the upload under the old one, to be abandoned
     */
    @Nullable
    FileUpload renamed(String to, @Nullable ObjectVersion replaced) {
        state.rename(to);
        replaceWhole(replaced);
        return takeUpload();
    }

    /** The next commit replaces this object, and all that it has beside its bytes. */
    void replaceWhole(@Nullable ObjectVersion replaced) {
        state.setReplaced(replaced);
        renamedOver = replaced;
        properties.set(ObjectProperties.ofNew(state.key()));
    }

    /** Whether some bytes are those of another object, and stand and fall with that until they are committed. */
    boolean isCopied() {
        return bytes.content().baseEnd() > 0 && isOfAnother();
    }

    /**
     * The file, empty until now or all of the same source, has its bytes up to here.
     *
     * @return the upload so far, to be abandoned
     */
    @Nullable
    FileUpload takeOver(ObjectVersion source, long end) {
        state.setReplaced(expected());
        bytes.layer().moved(source);
        bytes.content().extendBase(end);
        return takeUpload();
    }
}
