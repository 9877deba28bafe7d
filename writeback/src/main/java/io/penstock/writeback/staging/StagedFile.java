package io.penstock.writeback.staging;

import io.penstock.objectstore.MultipartUpload;
import io.penstock.writeback.content.Ranges;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One file's content on the staging disk: its {@linkplain StagedData data file}, and a journal, made when it is first
 * needed. Safe for use by any number of threads.
 *
 * <p>What a program replaces as a whole is staged in a data file of its own, beside the one that the journal speaks of:
 * until the journal speaks of the new one, a crash finds what the last fsync or close has promised, and nothing of what
 * was to take its place.
 */
public final class StagedFile {
    public static final String DATA = ".data";
    public static final String JOURNAL = ".journal";

    /** Of the names of a journal that cannot be read, and of its data file. */
    public static final String UNREADABLE = ".unreadable";

    private static final Pattern NAME =
            Pattern.compile("[0-9a-f]{16}((\\.[0-9]+)?\\.data|\\.journal|\\.journal\\.new)(\\.unreadable)?");

    /** The journal speaks of no data file. */
    private static final int NONE = -1;

    private static final Logger log = LoggerFactory.getLogger(StagedFile.class);

    private final Staging staging;
    private final String name;

    // Guarded by this, which is held while the files are made.
    private volatile StagedData data; // read with the file's lock held, too
    private @Nullable Journal journal;
    private boolean gone;

    /** Those that {@link #data} takes the place of; no more than one of them is spoken of. */
    private final List<StagedData> earlier = new ArrayList<>();

    /** The generation of data files that the journal may speak of, in what is durable or has yet to be. */
    private int spokenOf = NONE;

    /** Uploads that the journal names and that have neither been completed nor aborted. */
    private final Set<MultipartUpload> uploads = new HashSet<>();

    /** The journal is only there until they are aborted. */
    private boolean dropped;

    /** A sync has failed: what was written before may be lost although the next one succeeds. */
    private boolean suspect;

    /** How many files were made. */
    private int made;

    /** Whether the names would survive a crash of the machine. */
    private boolean namesDurable;

    /** Whether the journal's would: then its removal has to, as well. */
    private boolean journalDurable;

    public StagedFile(Staging staging, String name) {
        this(staging, name, 0);
    }

    private StagedFile(Staging staging, String name, int generation) {
        this.staging = staging;
        this.name = name;
        this.data = newData(generation);
    }

    private StagedData newData(int generation) {
        return new StagedData(staging, dataName(name, generation), generation, this::madeOne);
    }

    /** Whether it is the name of a file of a staged file's. */
    static boolean isName(String name) {
        return NAME.matcher(name).matches();
    }

    /** Of the staged file whose file has this name: what the names of all its files begin with. */
    static String nameOf(String file) {
        return file.substring(0, file.indexOf('.'));
    }

    /** Of the data file of a staged file of this name. */
    static String dataName(String name, int generation) {
        return generation == 0 ? name + DATA : name + "." + generation + DATA;
    }

    /**
     * What an earlier run left.
     *
     * @param generation of the data file that the journal speaks of
     * @param isThere whether there is one, of which only what the journal speaks of is kept
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
        file.journal = journal;
        file.namesDurable = true;
        file.journalDurable = true;
        file.spokenOf = generation;
        file.uploads.addAll(uploads);
        if (isThere) {
            file.data.found(data);
        }
        return file;
    }

    /** The one that is written to. */
    public StagedData data() {
        return data;
    }

    private synchronized void madeOne() {
        made++;
        namesDurable = false;
    }

    /** Whether a crash may find what is in this data file. */
    public synchronized boolean speaksOf(StagedData of) {
        return spokenOf == of.generation();
    }

    /** Goes on in another data file; the one that the journal speaks of stays until it speaks of that. */
    public synchronized void startOver() {
        earlier.add(data);
        data = newData(data.generation() + 1);
    }

    /** The journal is about to speak of this data file. @return what it has to say first */
    public synchronized List<JournalRecord> speakOf(StagedData of) {
        spokenOf = of.generation();
        return of.generation() == 0 ? List.of() : List.of(new JournalRecord.InData(of.generation()));
    }

    /** What the journal says of this data file is durable: those before it are not needed any more. */
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

    /** The journal; it begins with this record if it is new, and its name and the data file's are durable then. */
    public synchronized Journal journal(JournalRecord.Opened opened) throws IOException {
        if (gone) {
            throw new IOException("used after it was removed: " + name);
        }
        if (journal == null) {
            journal = newJournal(opened);
            journalDurable = false;
            madeOne();
        }
        return journal;
    }

    private Journal newJournal(JournalRecord.Opened opened) throws IOException {
        Journal fresh = Journal.create(staging.files(), name + JOURNAL);
        try {
            fresh.append(opened);
            return fresh;
        } catch (IOException e) {
            fresh.close();
            staging.files().remove(name + JOURNAL); // so that it can be made once the disk is well
            throw e;
        }
    }

    /** Has the journal say the same in less, if it has become large. One at a time, and not while it is written to. */
    void shortenJournal() throws IOException {
        Journal current = journal();
        if (current == null || !current.isLarge()) {
            return;
        }
        try {
            current.compact();
        } finally {
            madeOne();
        }
        force();
    }

    /** The journal, if there is one. */
    public synchronized @Nullable Journal journal() {
        return journal;
    }

    /** Makes durable what is written: the data and the names. */
    public void force() throws IOException {
        try {
            data.force();
            int names = namesToSync();
            if (names >= 0) {
                staging.files().force();
                setNamesDurable(names);
            }
        } catch (IOException e) {
            syncFailed(e);
            throw e;
        }
    }

    /** Makes durable what its journal says. */
    public void force(Journal of) throws IOException {
        try {
            of.force();
        } catch (IOException e) {
            syncFailed(e);
            throw e;
        }
    }

    private void syncFailed(IOException cause) {
        synchronized (this) {
            suspect = true; // fsync(2): the kernel says so once
        }
        staging.failed("sync", cause);
    }

    /** Whether what is staged here may not be what was written. */
    public synchronized boolean isSuspect() {
        return suspect;
    }

    /** How many files were made so far; -1 if all their names are durable. */
    private synchronized int namesToSync() {
        return namesDurable ? -1 : made;
    }

    /** Unless there are more by now. */
    private synchronized void setNamesDurable(int names) {
        if (names == made) {
            namesDurable = true;
            journalDurable = journal != null;
        }
    }

    /** Where what is staged lies, for messages. */
    public String where() {
        try {
            return staging.files().path(data.name()).toString();
        } catch (IOException e) {
            return "memory";
        }
    }

    /** The journal tells of an upload now. */
    synchronized void uploadBegan(MultipartUpload upload) {
        uploads.add(upload);
    }

    /** There is nothing left of it at the store. False if no journal is to say so. */
    synchronized boolean uploadEnded(MultipartUpload upload) {
        uploads.remove(upload);
        if (dropped && uploads.isEmpty()) {
            dropped = false;
            removeJournal();
            return false;
        }
        return journal != null;
    }

    /**
     * Nothing of it is found again after a crash, not even of the machine: else it would be taken for what is new. But an
     * upload that is yet to be aborted is.
     */
    public synchronized void forgetJournal() {
        Journal old = journal;
        if (old == null) {
            return;
        }
        journal = null;
        dropped = !uploads.isEmpty();
        try (old) {
            if (dropped) {
                old.append(new JournalRecord.Dropped());
                if (journalDurable) {
                    old.force();
                    staging.files().force(); // its name may be that of a shorter one since
                }
                return;
            }
        } catch (IOException e) {
            staging.failed("write to a journal", e);
            dropped = false;
        }
        removeJournal();
    }

    private void removeJournal() {
        try {
            staging.files().remove(name + JOURNAL);
            if (journalDurable) {
                staging.files().force();
            }
        } catch (IOException e) {
            staging.failed("remove a journal", e);
        }
    }

    /** It waits for people, maybe for long: it takes nothing of what staging may use. */
    public void uncount() {
        allData().forEach(StagedData::uncount);
    }

    private synchronized List<StagedData> allData() {
        List<StagedData> all = new ArrayList<>(earlier);
        all.add(data);
        return all;
    }

    /** Removes what is still there. Whoever reads a data file may go on until it is closed. */
    public void remove() {
        forgetJournal();
        synchronized (this) {
            gone = true;
        }
        allData().forEach(StagedData::remove);
    }

    /** Closes the data file, and with the last one the journal; what was not removed stays for another run. */
    public void close(StagedData of) {
        try {
            of.close();
            if (of == data) {
                closeJournal();
            }
        } catch (IOException e) {
            log.debug("A staging file could not be closed", e);
        }
    }

    private synchronized void closeJournal() throws IOException {
        if (journal != null) {
            journal.close();
        }
    }
}
