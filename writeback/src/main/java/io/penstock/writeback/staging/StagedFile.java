package io.penstock.writeback.staging;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.writeback.content.Ranges;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One file's content on the staging disk: its {@linkplain StagedData data file} and its {@linkplain StagedJournal journal},
 * each made when it is first needed. Safe for use by any number of threads.
 *
 * <p>Content that a program replaces as a whole is staged in a data file of its own, beside the one that the journal
 * speaks of: until the journal speaks of the new one, a crash finds the content that the last fsync or close has
 * promised, and nothing of its replacement.
 */
public final class StagedFile {
    public static final String DATA = ".data";
    public static final String JOURNAL = ".journal";

    /** Of the names of a journal that cannot be read, and of its data file. */
    public static final String UNREADABLE = ".unreadable";

    private static final Pattern NAME = Pattern.compile(
            "[0-9a-f]{16}(((\\.[0-9]+)?\\.data|\\.journal|\\.journal\\.new)(\\.unreadable)?|\\.rename)");

    /** The journal speaks of no data file. */
    private static final int NONE = -1;

    private static final Logger log = LoggerFactory.getLogger(StagedFile.class);

    private final Staging staging;
    private final String name;
    private final StagedNames names;
    private final StagedJournal journal;

    /** Replaced with this locked; read by all threads that stage or read. */
    private volatile StagedData data;

    /** Those that {@link #data} takes the place of; no more than one of them is spoken of. */
    @GuardedBy("this")
    private final List<StagedData> earlier = new ArrayList<>();

    /** The generation of data files that the journal may speak of, in records that are durable or have yet to be. */
    @GuardedBy("this")
    private int spokenOf = NONE;

    /** A sync has failed, for good: data written before may be lost although the next one succeeds. */
    private volatile boolean suspect;

    /** A place for one file's content; nothing is made on disk yet. */
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

    /** Whether it is the name of a file of a staged file's. */
    static boolean isName(String name) {
        return NAME.matcher(name).matches();
    }

    /** Of the staged file whose file has this name: the prefix of the names of all its files. */
    static String nameOf(String file) {
        return file.substring(0, file.indexOf('.'));
    }

    /** Of the data file of a staged file of this name. */
    static String dataName(String name, int generation) {
        return generation == 0 ? name + DATA : name + "." + generation + DATA;
    }

    /**
     * A file of an earlier run.
     *
     * @param journal closed if the data file cannot be opened
     * @param generation of the data file that the journal speaks of
     * @param isThere whether there is one, of which only the ranges in the journal are kept
     * @param uploads that the journal names
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
        List<JournalRecord> _ = file.speakOf(file.data); // which it has already
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

    /** The one that is written to. */
    public StagedData data() {
        return data;
    }

    StagedJournal journal() {
        return journal;
    }

    /** Whether the content of this data file may be found after a crash. */
    public synchronized boolean speaksOf(StagedData of) {
        return spokenOf == of.generation();
    }

    /** Goes on in another data file; the one that the journal speaks of stays until it speaks of that. */
    public synchronized void startOver() {
        earlier.add(data);
        data = newData(data.generation() + 1);
    }

    /** The journal is about to speak of this data file. @return the records that must come first */
    public synchronized List<JournalRecord> speakOf(StagedData of) {
        spokenOf = of.generation();
        return of.generation() == 0 ? List.of() : List.of(new JournalRecord.InData(of.generation()));
    }

    /** The journal's records of this data file are durable: those before it are not needed any more. */
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

    /** Compacts the journal if it has become large. One at a time, and not while it is written to. */
    public void compactJournal() {
        Journal current = journal.get();
        if (current != null && current.isLarge()) {
            try {
                compact(current);
            } catch (IOException e) {
                log.debug("A journal stays as long as it is", e);
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
            suspect = true; // fsync(2): the kernel says so once
            staging.failed("sync", e);
            throw e;
        }
    }

    /** Whether the staged data may differ from the written data. */
    public boolean isSuspect() {
        return suspect;
    }

    /** Where the staged data lies, for messages. */
    public String where() {
        try {
            return staging.files().path(data.name()).toString();
        } catch (IOException e) {
            return "memory";
        }
    }

    /** It waits for people, maybe for long: it takes no bytes of the staging limit. */
    public void uncount() {
        allData().forEach(StagedData::uncount);
    }

    private synchronized List<StagedData> allData() {
        List<StagedData> all = new ArrayList<>(earlier);
        all.add(data);
        return all;
    }

    /** Nothing of it is found again after a crash, but for uploads that are yet to be aborted. */
    public void forgetJournal() {
        journal.forget();
    }

    /** Removes the remaining files. Readers of a data file may go on until it is closed. */
    public void remove() {
        journal.remove();
        allData().forEach(StagedData::remove);
    }

    /** Closes the data file, and with the last one the journal; files that were not removed stay for another run. */
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
