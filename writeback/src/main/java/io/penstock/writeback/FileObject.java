package io.penstock.writeback;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.WriteCondition;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.content.Ranges;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.staging.FileJournal;
import io.penstock.writeback.upload.FileUpload;
import io.penstock.writeback.upload.JournalledUpload;
import io.penstock.writeback.upload.TargetProperties;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The object that a written file is or will be: its identity, the version that the next commit replaces, and the upload
 * for that commit. Guarded by the file's lock.
 */
final class FileObject {
    /** The class of most objects, until a listing shows another: the upload of an earlier run was not asked for it. */
    private static final String STANDARD = "STANDARD";

    private static final String TEMPORARY = ".tmp";

    private final MountContext context;
    private final FileState state;
    private final FileBytes bytes;
    private @Nullable FileUpload upload;

    /** The ranges changed since the running commit began. The upload is notified of them if the commit fails. */
    private Ranges changedSince = new Ranges();

    /** The identity last written to the journal by this run; null if the journal may lack it. */
    private JournalRecord.@Nullable Opened journalled;

    /** The object's properties; null until requested. Requested again after a change of key. */
    private final AtomicReference<@Nullable ObjectProperties> properties = new AtomicReference<>();

    /** Headers set for the object, whatever it had before. Written while holding the file's lock. */
    private final AtomicReference<SortedMap<String, String>> headers =
            new AtomicReference<>(Collections.emptySortedMap());

    /** The object over which the file was last renamed. None of its properties are kept. Null if there was none. */
    private @Nullable ObjectVersion renamedOver;

    FileObject(MountContext context, FileState state, FileBytes bytes) {
        this.context = context;
        this.state = state;
        this.bytes = bytes;
    }

    /** The version of this object under the content; null if there is none. */
    @Nullable
    ObjectVersion committed() {
        return isOfAnother() ? null : bytes.layer().version();
    }

    private boolean isOfAnother() {
        ObjectVersion base = bytes.layer().version();
        return base != null && !base.key().equals(state.key());
    }

    /** The version that the next commit replaces; null if it makes a new object. */
    private @Nullable ObjectVersion expected() {
        ObjectVersion committed = committed();
        return committed == null ? state.replaced() : committed;
    }

    /** The version whose properties the next commit keeps; null if there is none. Caller holds the lock. */
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
     * Whether programs rename such a name before they close the file, as safetensors and other users of Rust's
     * {@code tempfile} do. Parts of an upload cannot be renamed, so none are sent before a commit.
     */
    boolean isTemporary() {
        String key = state.key();
        return key.startsWith(TEMPORARY, key.lastIndexOf('/') + 1);
    }

    WriteCondition condition() {
        ObjectVersion expected = expected();
        return expected == null ? WriteCondition.ABSENT : new WriteCondition.Unchanged(expected.etag());
    }

    /** This version as a listing would show it. Does not need the lock. */
    StoredObject stored(ObjectVersion version) {
        ObjectProperties known = properties.get();
        return new StoredObject(version, known == null ? STANDARD : known.storageClass());
    }

    // ---- its journal

    /** The journal's record of the file's identity. Takes the lock, as {@link #journal} does. */
    JournalRecord.Opened identity() {
        return bytes.locked(() -> {
            ObjectVersion replaced = state.replaced();
            boolean renamed = replaced != null && replaced.equals(renamedOver);
            return new JournalRecord.Opened(context.staging().namespace(), state.key(), committed(), replaced, renamed);
        });
    }

    /** {@link #identity} for the mount's next process, over the version that its bytes are over. */
    JournalRecord.Opened recorded() {
        ObjectVersion replaced = bytes.recorded().isMade() ? null : state.replaced();
        boolean renamed = replaced != null && replaced.equals(renamedOver);
        return new JournalRecord.Opened(
                context.staging().namespace(), state.key(), bytes.recorded().base(bytes.layer()), replaced, renamed);
    }

    /** The journal of the changes between two commits. */
    FileJournal journal() {
        return bytes.locked(() -> new FileJournal(bytes.layer().staged(), this::identity));
    }

    JournalRecord.@Nullable Opened journalled() {
        return journalled;
    }

    void setJournalled(JournalRecord.@Nullable Opened identity) {
        journalled = identity;
    }

    /** Whether the file is found under its current name after a crash. */
    boolean isNameJournalled() {
        return journalled != null && journalled.key().equals(state.key());
    }

    // ---- its upload

    /** Resumes the upload that an earlier run began. */
    void resume(JournalledUpload earlier) {
        upload = context.uploads().resume(earlier, bytes, targetProperties(), journal());
    }

    /** The upload that the next commit completes; begins one if there is none. */
    FileUpload upload() {
        TargetProperties properties = targetProperties();
        FileUpload current = upload;
        if (current != null && !current.gives(properties)) { // all that it wrote over was cut off since it began
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
        return new TargetProperties(state.key(), over, properties, headers);
    }

    /** Headers set for the object in addition to those it has; for the journal. */
    SortedMap<String, String> headers() {
        return headers.get();
    }

    void setHeaders(SortedMap<String, String> wanted) {
        headers.set(Collections.unmodifiableSortedMap(new TreeMap<>(wanted)));
    }

    /** The bytes change: uploaded parts that contain them must be sent again, but not by the running commit. */
    void changed(ByteRange range) {
        if (state.running() != null) {
            changedSince.add(range.offset(), range.end());
        } else if (upload != null) {
            upload.changed(range);
        }
    }

    /** A commit begins. @return the upload that it completes */
    FileUpload beginCommit() {
        changedSince = new Ranges();
        return upload();
    }

    /** The commit has failed: the next one needs the parts that have changed since it began. */
    void commitFailed(FileUpload continued) {
        changedSince.toList().forEach(continued::changed);
    }

    long uploadedBytes() {
        return upload == null ? 0 : upload.uploadedBytes();
    }

    /** Detaches the upload from the file. The caller ends it if it was not committed. */
    @Nullable
    FileUpload takeUpload() {
        FileUpload taken = upload;
        upload = null;
        return taken;
    }

    // ---- another name, another object's bytes

    /** The object has another key now, with the same bytes. @return the upload under the old key, to be abandoned */
    @Nullable
    FileUpload moved(ObjectVersion to) {
        state.rename(to.key());
        bytes.layer().moved(to);
        properties.set(null); // a rename may have changed its type, and a change of attributes its headers
        return takeUpload();
    }

    /**
     * The store has nothing of the file, which gets another key. The properties of an object with that key are lost.
     *
     * @param replaced the object that has that key; null if there is none
     * @return the upload under the old key, for the caller to abandon
     */
    @Nullable
    FileUpload renamed(String to, @Nullable ObjectVersion replaced) {
        state.rename(to);
        replaceWhole(replaced);
        return takeUpload();
    }

    /** The next commit replaces this object including its properties. */
    void replaceWhole(@Nullable ObjectVersion replaced) {
        state.setReplaced(replaced);
        renamedOver = replaced;
        properties.set(ObjectProperties.ofNew(state.key()));
    }

    /** Whether some bytes are another object's, and so depend on its version until they are committed. */
    boolean isCopied() {
        return bytes.content().baseEnd() > 0 && isOfAnother();
    }

    /**
     * The file, empty or entirely from the same source until now, has the source's bytes up to {@code end}.
     *
     * @return the previous upload, for the caller to abandon
     */
    @Nullable
    FileUpload takeOver(ObjectVersion source, long end) {
        state.setReplaced(expected());
        bytes.layer().moved(source);
        bytes.content().extendBase(end);
        return takeUpload();
    }
}
