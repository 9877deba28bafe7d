package io.penstock.writeback;

import io.penstock.cache.DataFile;
import io.penstock.cache.PageCache;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.MultipartUpload;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One file's content on the staging disk: a sparse data file with each byte at its place, and a journal. Each is made
 * when it is first needed. Safe for use by any number of threads.
 */
final class StagedFile implements AutoCloseable {
    static final String DATA = ".data";
    static final String JOURNAL = ".journal";

    /** Of the names of a journal that cannot be read, and of its data file. */
    static final String UNREADABLE = ".unreadable";

    private static final Pattern NAME =
            Pattern.compile("[0-9a-f]{16}(\\.data|\\.journal|\\.journal\\.new)(\\.unreadable)?");

    private static final Logger log = LoggerFactory.getLogger(StagedFile.class);

    private final Staging staging;
    private final String name;

    // Guarded by this, which is held while the files are made.
    private volatile @Nullable DataFile data; // whether there is one is asked with the file's lock held, too
    private @Nullable Journal journal;
    private boolean gone;

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

    /** Bytes taken of the disk for each block that has been written to, whether its bytes still count or not. */
    private final Map<Long, Long> taken = new HashMap<>();

    private long takenBytes;

    StagedFile(Staging staging, String name) {
        this.staging = staging;
        this.name = name;
    }

    /** Whether it is the name of a file of a staged file's. */
    static boolean isName(String name) {
        return NAME.matcher(name).matches();
    }

    /**
     * What an earlier run left.
     *
     * @param isThere whether there is a data file, of which only what the journal speaks of is kept
     * @param uploads that the journal names
     */
    static StagedFile found(
            Staging staging,
            String name,
            Journal journal,
            boolean isThere,
            Ranges data,
            Collection<MultipartUpload> uploads)
            throws IOException {
        StagedFile file = new StagedFile(staging, name);
        file.journal = journal;
        file.namesDurable = true;
        file.journalDurable = true;
        file.uploads.addAll(uploads);
        if (isThere) {
            file.data = staging.files().open(name + DATA);
            cut(file.data, data.end());
        }
        for (ByteRange range : data.toList()) {
            for (long block = Content.indexOf(range.offset()); block <= Content.indexOf(range.end() - 1); block++) {
                long from = Math.max(range.offset(), block * Writeback.BLOCK_SIZE);
                long to = Math.min(range.end(), (block + 1) * Writeback.BLOCK_SIZE);
                file.taken.merge(block, to - from, Long::sum);
            }
        }
        file.takenBytes = data.length();
        staging.found(file.takenBytes);
        return file;
    }

    private static void cut(DataFile data, long length) {
        try {
            data.setLength(length);
        } catch (IOException e) {
            log.debug("What is behind the journalled part of a data file stays", e);
        }
    }

    /** Takes space for so many bytes of the block in all. False if there is none, or if this was removed meanwhile. */
    synchronized boolean take(long block, long bytes) {
        if (gone) {
            return false; // nobody would give it back
        }
        long more = Math.max(0, bytes - taken.getOrDefault(block, 0L));
        if (!staging.take(more)) {
            return false;
        }
        taken.merge(block, bytes, Math::max);
        takenBytes += more;
        return true;
    }

    /** False if this was removed meanwhile, which says nothing of the disk. */
    boolean write(long position, ByteBuffer from) throws IOException {
        try {
            DataFile file = dataUnlessGone();
            if (file == null) {
                return false;
            }
            file.write(position, from);
            staging.succeeded();
            return true;
        } catch (IOException e) {
            staging.failed("write", e);
            throw e;
        }
    }

    int read(long position, ByteBuffer to) throws IOException {
        DataFile file;
        synchronized (this) {
            file = data;
        }
        if (file == null) {
            throw new IOException("nothing is staged in " + name);
        }
        return file.read(position, to);
    }

    private DataFile dataForWriting() throws IOException {
        DataFile file = dataUnlessGone();
        if (file == null) {
            throw new IOException("used after it was removed: " + name);
        }
        return file;
    }

    private synchronized @Nullable DataFile dataUnlessGone() throws IOException {
        if (gone) {
            return null;
        }
        if (data == null) {
            data = staging.files().create(name + DATA);
            made++;
            namesDurable = false;
        }
        return data;
    }

    /** Never waits. */
    boolean hasData() {
        return data != null;
    }

    /** The journal; it begins with this record if it is new, and its name and the data file's are durable then. */
    synchronized Journal journal(JournalRecord.Opened opened) throws IOException {
        if (gone) {
            throw new IOException("used after it was removed: " + name);
        }
        if (journal == null) {
            journal = newJournal(opened);
            namesDurable = false;
            journalDurable = false;
            made++;
        }
        return journal;
    }

    private Journal newJournal(JournalRecord.Opened opened) throws IOException {
        DataFile file = staging.files().create(name + JOURNAL);
        try {
            Journal fresh = Journal.create(file);
            fresh.append(opened);
            return fresh;
        } catch (IOException e) {
            file.close();
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
            current.shorten(staging.files(), name + JOURNAL);
        } finally {
            synchronized (this) {
                made++;
                namesDurable = false;
            }
        }
        force();
    }

    /** The journal, if there is one. */
    synchronized @Nullable Journal journal() {
        return journal;
    }

    /** Makes durable what is written: the data and the names. */
    void force() throws IOException {
        DataFile file;
        synchronized (this) {
            file = data;
        }
        try {
            if (file != null) {
                file.force();
            }
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
    void force(Journal of) throws IOException {
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
    synchronized boolean isSuspect() {
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
    String where() {
        try {
            return staging.files().path(name + DATA).toString();
        } catch (IOException e) {
            return "memory";
        }
    }

    /**
     * Gives the data file to the cache as that of the committed version. False if it does not take it. No journal may
     * speak of the file any more.
     */
    boolean giveTo(PageCache cache, ObjectVersion version, BitSet pages, int[] checksums) {
        try {
            DataFile file = dataForWriting();
            file.setLength(version.size());
            return cache.adopt(staging.namespace(), version, staging.files().path(name + DATA), pages, checksums);
        } catch (IOException e) {
            log.debug("What was written of {} is not cached", version, e);
            return false;
        }
    }

    /** Gives the space of all other pages back. */
    void freeAllBut(BitSet pages) throws IOException {
        List<Long> blocks;
        synchronized (this) {
            blocks = List.copyOf(taken.keySet());
        }
        int pagesPerBlock = Writeback.BLOCK_SIZE / PageCache.PAGE_SIZE;
        for (long block : blocks) {
            for (long page = block * pagesPerBlock; page < (block + 1) * pagesPerBlock; page++) {
                if (!pages.get(Math.toIntExact(page))) {
                    dataForWriting().punch(page * PageCache.PAGE_SIZE, PageCache.PAGE_SIZE);
                }
            }
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
    synchronized void forgetJournal() {
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
    void uncount() {
        long bytes;
        synchronized (this) {
            bytes = takenBytes;
            takenBytes = 0;
        }
        staging.free(bytes);
    }

    /** Removes what is still there. Whoever reads the data file may go on until it is closed. */
    void remove() {
        forgetJournal();
        long bytes;
        synchronized (this) {
            gone = true;
            bytes = takenBytes;
            takenBytes = 0;
        }
        try {
            if (hasData()) {
                staging.files().remove(name + DATA);
            }
        } catch (IOException e) {
            staging.failed("remove a file", e);
        }
        staging.free(bytes);
    }

    /** Closes the files; those that were not removed stay for another run. */
    @Override
    public synchronized void close() {
        try (DataFile first = data;
                Journal second = journal) {
            log.trace("{} {} are closed", first, second);
        } catch (IOException e) {
            log.debug("A staging file could not be closed", e);
        }
    }
}
