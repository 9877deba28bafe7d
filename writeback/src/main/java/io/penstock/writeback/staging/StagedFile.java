package io.penstock.writeback.staging;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.writeback.content.Ranges;
import io.penstock.writeback.journal.Journal;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.journal.JournalState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One file's content on the staging disk: its {@linkplain StagedData data file} and its
 * {@linkplain StagedJournal journal}, each created when first needed. Safe for use by any number of threads.
 *
 * <p>When a program replaces the whole content, the new content is staged in another data file, next to the one that
 * the journal refers to. Until the journal refers to the new one, a crash leaves the content that the last fsync or
 * close promised, and nothing of its replacement.
 */
public final class StagedFile {
    public static final String DATA = ".data";
    public static final String JOURNAL = ".journal";

    /** Suffix of the names of an unreadable journal and its data file. */
    public static final String UNREADABLE = ".unreadable";

    private static final Pattern NAME = Pattern.compile(
            "[0-9a-f]{16}(((\\.[0-9]+)?\\.data|\\.journal|\\.journal\\.new)(\\.unreadable)?|\\.rename)");

    /** The journal refers to no data file. */
    private static final int NONE = -1;

    private static final Logger log = LoggerFactory.getLogger(StagedFile.class);

    private final Staging staging;
    private final String name;
    private final StagedNames names;
    private final StagedJournal journal;

    /** Replaced while this is locked; read by all threads that stage or read. */
    private volatile StagedData data;

    /** Those replaced by {@link #data}. The journal refers to at most one of them. */
    @GuardedBy("this")
    private final List<StagedData> earlier = new ArrayList<>();

    /** The generation of data files to which records of the journal may refer, durable or about to be. */
    @GuardedBy("this")
    private int spokenOf = NONE;

    /** A sync has failed, permanently: older data may be lost although the next sync succeeds. */
    private volatile boolean suspect;

    /** A place for one file's content. Creates nothing on disk yet. */
    public StagedFile(Staging staging) {
        this(staging, String.format("%016x", ThreadLocalRandom.current().nextLong()), 0);
    }

    private StagedFile(Staging staging, String name, int generation) {
        this.staging = staging;
        this.name = name;
        this.names = new StagedNames(staging);
        this.journal = new StagedJournal(staging, names, name + JOURNAL);
        this.data = newData(generation);
    }

    private StagedData newData(int generation) {
        return new StagedData(staging, dataName(name, generation), generation, names);
    }

    /** Whether a staged file may have a file with this name. */
    static boolean isName(String name) {
        return NAME.matcher(name).matches();
    }

    /** Name of the staged file to which this file belongs: the prefix of all its files. */
    static String nameOf(String file) {
        return file.substring(0, file.indexOf('.'));
    }

    /** Name of a data file of the staged file with this name. */
    static String dataName(String name, int generation) {
        return generation == 0 ? name + DATA : name + "." + generation + DATA;
    }

    /**
     * A file of an earlier run.
     *
     * @param journal closed if the data file cannot be opened
     * @param generation of the data file to which the journal refers
     * @param isThere whether that data file exists; only the ranges in the journal are kept
     * @param uploads named in the journal
     */
    public static StagedFile found(
            Staging staging,
            String name,
            Journal journal,
            int generation,
            boolean isThere,
            Ranges data,
            Collection<MultipartUpload> uploads)
            throws IOException {
        StagedFile file = new StagedFile(staging, name, generation);
        file.journal.found(journal, uploads);
        List<JournalRecord> _ = file.speakOf(file.data); // the journal has them already
        try {
            if (isThere) {
                file.data.found(data);
            }
            return file;
        } catch (IOException e) {
            file.close(file.data);
            throw e;
        }
    }

    /**
     * A file of the mount's former process.
     *
     * @param name empty if it has no files
     * @param generation of the data file
     * @param stored its ranges in that data file; none if that does not exist
     * @param journal what is in its journal; null if it has none
     */
    public static StagedFile survived(
            Staging staging, String name, int generation, Ranges stored, @Nullable Journalled journal)
            throws IOException {
        if (name.isEmpty()) {
            return new StagedFile(staging);
        }
        StagedFile file = new StagedFile(staging, name, generation);
        try {
            Ranges kept = stored.copy();
            if (journal != null) {
                file.found(journal, kept);
            }
            if (!kept.isEmpty()) {
                file.data.found(kept);
            }
            return file;
        } catch (IOException e) {
            file.close(file.data);
            throw e;
        }
    }

    /** @param kept ranges of the data file; those that the journal has there too are added */
    private synchronized void found(Journalled found, Ranges kept) throws IOException {
        JournalState state = found.state();
        journal.found(found.journal(), state.uploads());
        if (state.written() == null) {
            return;
        }
        StagedData its = data;
        if (state.generation() == data.generation()) {
            kept.addAll(state.data());
        } else {
            its = newData(state.generation());
            if (!state.data().isEmpty()) {
                its.found(state.data());
            }
            earlier.add(its);
        }
        List<JournalRecord> _ = speakOf(its); // the journal has them already
    }

    /** The journal of a file, and its records' sum. */
    public record Journalled(Journal journal, JournalState state) {}

    /** The prefix of the names of its files. */
    public String name() {
        return name;
    }

    /** The data file for writes. */
    public StagedData data() {
        return data;
    }

    StagedJournal journal() {
        return journal;
    }

    /** Whether a crash may leave the content of this data file. */
    public synchronized boolean speaksOf(StagedData of) {
        return spokenOf == of.generation();
    }

    /** Continues in another data file. The one to which the journal refers stays until it refers to the new one. */
    public synchronized void startOver() {
        earlier.add(data);
        data = newData(data.generation() + 1);
    }

    /** The journal is about to refer to this data file. @return the records that must come first */
    public synchronized List<JournalRecord> speakOf(StagedData of) {
        spokenOf = of.generation();
        return of.generation() == 0 ? List.of() : List.of(new JournalRecord.InData(of.generation()));
    }

    /** The journal's records of this data file are durable: earlier data files are no longer needed. */
    public void spoken(StagedData of) {
        List<StagedData> over;
        synchronized (this) {
            over = earlier.stream()
                    .filter(data -> data.generation() < of.generation())
                    .toList();
            earlier.removeAll(over);
        }
        over.forEach(StagedData::remove);
    }

    /** Compacts the journal if it has become large. Not concurrently with itself or with writes to the journal. */
    public void compactJournal() {
        Journal current = journal.get();
        if (current != null && current.isLarge()) {
            try {
                compact(current);
            } catch (IOException e) {
                log.debug("A journal cannot be shortened", e);
            }
        }
    }

    private void compact(Journal large) throws IOException {
        try {
            large.compact();
        } finally {
            names.add();
        }
        forced(names::force);
    }

    /** Makes this data and the names durable. */
    void force(StagedData of) throws IOException {
        forced(() -> {
            of.force();
            names.force();
        });
    }

    /** Makes its journal durable. */
    void force(Journal of) throws IOException {
        forced(of::force);
    }

    private interface Sync {
        void run() throws IOException;
    }

    private void forced(Sync sync) throws IOException {
        try {
            sync.run();
        } catch (IOException e) {
            suspect = true; // fsync(2): the kernel reports it once
            staging.failed("sync", e);
            throw e;
        }
    }

    /** Whether the staged data may differ from the written data. */
    public boolean isSuspect() {
        return suspect;
    }

    /** Location of the staged data, for messages. */
    public String where() {
        try {
            return staging.files().path(data.name()).toString();
        } catch (IOException e) {
            return "memory";
        }
    }

    /** It waits for people, perhaps for a long time: it no longer counts towards the staging limit. */
    public void uncount() {
        allData().forEach(StagedData::uncount);
    }

    private synchronized List<StagedData> allData() {
        List<StagedData> all = new ArrayList<>(earlier);
        all.add(data);
        return all;
    }

    /** None of it is found after a crash, except uploads still to be aborted. */
    public void forgetJournal() {
        journal.forget();
    }

    /** Removes the remaining files. Readers of a data file may continue until it is closed. */
    public void remove() {
        journal.remove();
        allData().forEach(StagedData::remove);
    }

    /** Closes the data file and, after the last one, the journal. Files that were not removed stay for the next run. */
    public void close(StagedData of) {
        try {
            of.close();
            if (of == data) {
                journal.close();
            }
        } catch (IOException e) {
            log.debug("A staging file could not be closed", e);
        }
    }
}
