package io.penstock.writeback.staging;

import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.UploadedPart;
import io.penstock.writeback.journal.Journal;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.upload.PartLayout;
import io.penstock.writeback.upload.UploadJournal;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The journal of one file between two commits. Created with its first record. */
public final class FileJournal implements UploadJournal {
    private static final Logger log = LoggerFactory.getLogger(FileJournal.class);

    private final StagedFile file;
    private final Supplier<JournalRecord.Opened> opened;

    /** @param opened the file's current identity */
    public FileJournal(StagedFile file, Supplier<JournalRecord.Opened> opened) {
        this.file = file;
        this.opened = opened;
    }

    @Override
    public void created(MultipartUpload upload, PartLayout layout) {
        file.journal().uploadBegan(upload);
        note(new JournalRecord.UploadCreated(upload, layout));
    }

    @Override
    public void uploaded(UploadedPart part, int crc32c) {
        note(new JournalRecord.PartUploaded(part, crc32c));
    }

    @Override
    public void ended(MultipartUpload upload) {
        if (file.journal().uploadEnded(upload)) {
            note(new JournalRecord.UploadEnded(upload.id()));
        }
    }

    /** Does not wait for the disk: parts lost in a crash of the machine are uploaded again. */
    private void note(JournalRecord entry) {
        try {
            file.journal().open(opened.get()).append(entry);
        } catch (IOException e) {
            log.debug("An upload is not journalled: it cannot be resumed", e);
        }
    }

    /** Makes this staged data durable, then the records about it. */
    public void write(StagedData data, List<JournalRecord> entries) throws IOException {
        Journal journal = file.journal().open(opened.get());
        file.force(data);
        for (JournalRecord entry : entries) {
            journal.append(entry);
        }
        file.force(journal);
    }

    /**
     * Adds a record to those found after a crash, if there are any.
     *
     * @return whether this record, or nothing, would be found after a crash
     */
    public boolean amend(JournalRecord entry) {
        Journal journal = file.journal().get();
        if (journal == null) {
            return true;
        }
        try {
            journal.append(entry);
            file.force(journal);
            return true;
        } catch (IOException e) {
            log.debug("A journal lacks a record about an object", e);
            return false;
        }
    }
}
