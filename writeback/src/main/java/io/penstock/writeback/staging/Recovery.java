package io.penstock.writeback.staging;

import static java.util.Objects.requireNonNull;

import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import io.penstock.disk.RecordLog;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.writeback.content.BlockMap;
import io.penstock.writeback.journal.Journal;
import io.penstock.writeback.journal.JournalRecord;
import io.penstock.writeback.journal.JournalState;
import io.penstock.writeback.survivors.Survivor;
import io.penstock.writeback.survivors.SurvivorMemory;
import io.penstock.writeback.survivors.Survivors;
import io.penstock.writeback.upload.JournalledUpload;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of earlier runs in the staging folder. Removes files that were neither fsynced nor closed, data files
 * without a journal, and journals that have not replaced another. Leaves those of other buckets alone, and sets
 * unreadable journals aside. Distinguishes all ways in which a journal and its data file can be incomplete.
 */
public final class Recovery {
    private static final Logger log = LoggerFactory.getLogger(Recovery.class);

    private static final String DATA_MISSING = "its data file is missing";
    private static final String DATA_SHORT = "its data file is too short";

    private final Staging staging;

    /** What the mount's former process has left in memory. */
    private final List<Survivor> survivors;

    /** The same by the names of their files in the staging folder. */
    private final Map<String, Survivor> stagedSurvivors = new HashMap<>();

    /** Names of files in the staging folder that such a file has replaced, and that may be left. */
    private final Set<String> replaced = new HashSet<>();

    private final @Nullable SurvivorMemory memory;
    private final List<Found> found = new ArrayList<>();
    private final List<Found> failed = new ArrayList<>();
    private final List<Orphans> orphans = new ArrayList<>();
    private final List<UnreadableFile> unreadable = new ArrayList<>();
    private final List<StrandedFile> stranded = new ArrayList<>();

    /**
     * A file that was closed or fsynced.
     *
     * @param opened of the state, like {@code written}
     * @param state of its journal
     * @param survived null if it is known from its journal alone
     */
    public record Found(
            JournalRecord.Opened opened,
            JournalRecord.Written written,
            BlockMap content,
            StagedFile staged,
            JournalState state,
            @Nullable Survived survived) {

        private static Found of(JournalState state, StagedFile staged, @Nullable Survived survived) {
            JournalRecord.Written written = requireNonNull(state.written());
            BlockMap content = BlockMap.found(written.baseEnd(), written.size(), state.zeros(), state.data());
            return new Found(requireNonNull(state.opened()), written, content, staged, state, survived);
        }
    }

    /**
     * A file that the mount's former process was writing.
     *
     * @param journalled its identity in its journal, which may be older than the rest; null if it has none
     */
    public record Survived(Survivor file, SurvivorMemory memory, JournalRecord.@Nullable Opened journalled) {}

    /**
     * Uploads of one file that nothing will resume.
     *
     * @param aborted runs once they are aborted: until then the next run finds them too
     */
    public record Orphans(List<MultipartUpload> uploads, Runnable aborted) {}

    private Recovery(Staging staging, List<Survivor> survivors, @Nullable SurvivorMemory memory) {
        this.staging = staging;
        this.survivors = survivors;
        this.memory = memory;
    }

    /** Empty without a staging folder. */
    public static Recovery of(Staging staging) throws IOException {
        return recovered(new Recovery(staging, List.of(), null));
    }

    /** The same, with what the mount's former process has left in this memory. */
    public static Recovery of(Staging staging, Survivors left, SurvivorMemory memory) throws IOException {
        return recovered(new Recovery(staging, left.files(), memory));
    }

    private static Recovery recovered(Recovery recovery) throws IOException {
        NavigableSet<String> names = recovery.staging.hasFolder()
                ? new TreeSet<>(recovery.staging.files().names())
                : Collections.emptyNavigableSet();
        recovery.run(names);
        return recovery;
    }

    /** Files to commit. */
    public List<Found> found() {
        return found;
    }

    /** Files left to {@code penstock recover}. */
    public List<Found> failed() {
        return failed;
    }

    public List<Orphans> orphans() {
        return orphans;
    }

    /** Files of other buckets, left alone. */
    public List<StrandedFile> stranded() {
        return stranded;
    }

    /** Files set aside. */
    public List<UnreadableFile> unreadable() {
        return unreadable;
    }

    private void run(NavigableSet<String> names) throws IOException {
        for (Survivor survivor : survivors) {
            stagedSurvivors.put(survivor.header().staged(), survivor);
            replaced.add(survivor.header().replacedStaged());
        }
        for (String name : names) {
            try {
                if (name.endsWith(StagedFile.JOURNAL)) {
                    take(withoutEnd(name, StagedFile.JOURNAL), names);
                } else if (name.endsWith(StagedFile.JOURNAL + StagedFile.UNREADABLE)) {
                    tryAgain(withoutEnd(name, StagedFile.JOURNAL + StagedFile.UNREADABLE), names);
                }
            } catch (IOException e) {
                log.error("The journal {} cannot be read; it is left in place: {}", name, e.toString());
            }
        }
        for (Survivor survivor : survivors) {
            if (!names.contains(survivor.header().staged() + StagedFile.JOURNAL)) {
                survive(survivor, null, names);
            }
        }
        for (String name : names) {
            if (name.endsWith(RecordLog.DRAFT) || isWithoutJournal(name, names)) {
                remove(name);
            }
        }
    }

    private static String withoutEnd(String name, String end) {
        return name.substring(0, name.length() - end.length());
    }

    private boolean isWithoutJournal(String file, NavigableSet<String> names) {
        if (!file.endsWith(StagedFile.DATA) || stagedSurvivors.containsKey(StagedFile.nameOf(file))) {
            return false;
        }
        String journal = StagedFile.nameOf(file) + StagedFile.JOURNAL;
        return !names.contains(journal) && !names.contains(journal + StagedFile.UNREADABLE);
    }

    /** The data files of a staged file. Its journal may not refer to one of them yet, or no longer. */
    private static List<String> dataOf(String name, String end, NavigableSet<String> names) {
        return names.subSet(name + ".", name + "/").stream() // '/' follows '.'
                .filter(file -> file.endsWith(end))
                .toList();
    }

    private void take(String name, NavigableSet<String> names) throws IOException {
        JournalState state = new JournalState();
        Journal journal;
        try {
            journal = replay(name + StagedFile.JOURNAL, state);
        } catch (RecordLog.UnreadableException e) {
            setAside(name, names, state, reason(e));
            return;
        }
        Survivor survivor = stagedSurvivors.get(name);
        if (survivor != null) {
            dataOf(name, StagedFile.DATA, names).stream()
                    .filter(other -> !other.equals(StagedFile.dataName(name, state.generation()))
                            && !other.equals(
                                    StagedFile.dataName(name, survivor.header().generation())))
                    .forEach(this::remove);
            survive(survivor, new StagedFile.Journalled(journal, state), names);
            return;
        } else if (replaced.contains(name)) {
            state.accept(new JournalRecord.Dropped());
        }
        JournalRecord.Opened opened = state.opened();
        JournalRecord.Written written = state.written();
        if (opened != null && !staging.namespace().equals(opened.namespace())) {
            journal.close();
            if (written != null) {
                stranded.add(new StrandedFile(opened.namespace(), opened.key(), written.size()));
            }
            return;
        }
        String data = StagedFile.dataName(name, state.generation());
        boolean hasData = names.contains(data);
        String fault = faultOf(data, hasData, state);
        if (fault != null) {
            journal.close();
            setAside(name, names, state, fault);
        } else if (opened == null || written == null) {
            journal.close();
            dataOf(name, StagedFile.DATA, names).forEach(this::remove);
            if (state.uploads().isEmpty()) {
                remove(name + StagedFile.JOURNAL);
            } else {
                orphans.add(new Orphans(state.uploads(), () -> remove(name + StagedFile.JOURNAL)));
            }
        } else {
            dataOf(name, StagedFile.DATA, names).stream()
                    .filter(other -> !other.equals(data))
                    .forEach(this::remove);
            add(name, state, journal, hasData);
        }
    }

    private Journal replay(String name, JournalState state) throws IOException {
        return Journal.replay(staging.files(), name, state);
    }

    private static String reason(RecordLog.UnreadableException e) {
        return String.valueOf(e.getMessage());
    }

    /** Why the data file cannot contain everything in the journal; null if it can or need not. */
    private @Nullable String faultOf(String data, boolean isThere, JournalState state) {
        if (state.written() == null || state.data().isEmpty()) {
            return null;
        } else if (!isThere) {
            return DATA_MISSING;
        }
        try (DataFile file = staging.files().open(data)) {
            return file.length() < state.data().end() ? DATA_SHORT : null;
        } catch (IOException e) {
            return "its data file cannot be opened: " + e.getMessage();
        }
    }

    /** Uses nothing of it. The data file comes first: without its journal it would be removed. */
    private void setAside(String name, NavigableSet<String> names, JournalState state, String reason) {
        try {
            DataFolder files = staging.files();
            for (String data : dataOf(name, StagedFile.DATA, names)) {
                files.rename(data, data + StagedFile.UNREADABLE);
            }
            files.force();
            files.rename(name + StagedFile.JOURNAL, name + StagedFile.JOURNAL + StagedFile.UNREADABLE);
            files.force();
        } catch (IOException e) {
            log.warn("The journal {} cannot be set aside: {}", name, e.toString());
        }
        boolean hasData = names.contains(StagedFile.dataName(name, state.generation()));
        UnreadableFile file = unreadable(name, hasData, state, reason);
        log.error(
                "Data written to {} is not uploaded, because its journal {} cannot be read: {}. It is kept:"
                        + " penstock mounts shows the penstock recover command for it.",
                file.key() == null ? "a file" : "'" + file.key() + "'",
                file.journal(),
                reason);
        unreadable.add(file);
    }

    private UnreadableFile unreadable(String name, boolean hasData, JournalState state, String reason) {
        JournalRecord.Opened opened = state.opened();
        return new UnreadableFile(
                opened == null ? null : opened.key(),
                reason,
                path(name + StagedFile.JOURNAL),
                hasData ? path(StagedFile.dataName(name, state.generation())) : null);
    }

    private String path(String name) {
        try {
            return staging.files().path(name + StagedFile.UNREADABLE).toString();
        } catch (IOException e) {
            return name + StagedFile.UNREADABLE;
        }
    }

    /** It was set aside, perhaps by an earlier version that knew less. */
    private void tryAgain(String name, NavigableSet<String> names) throws IOException {
        JournalState state = new JournalState();
        try {
            replay(name + StagedFile.JOURNAL + StagedFile.UNREADABLE, state).close();
        } catch (RecordLog.UnreadableException e) {
            unreadable.add(unreadable(name, isSetAside(name, state, names), state, reason(e)));
            return;
        }
        boolean hasData = isSetAside(name, state, names);
        String fault = faultOf(StagedFile.dataName(name, state.generation()) + StagedFile.UNREADABLE, hasData, state);
        if (fault != null) {
            unreadable.add(unreadable(name, hasData, state, fault));
            return;
        }
        DataFolder files = staging.files();
        files.rename(name + StagedFile.JOURNAL + StagedFile.UNREADABLE, name + StagedFile.JOURNAL);
        for (String data : dataOf(name, StagedFile.DATA + StagedFile.UNREADABLE, names)) {
            files.rename(data, withoutEnd(data, StagedFile.UNREADABLE));
        }
        files.force();
        take(name, new TreeSet<>(files.names()));
    }

    private static boolean isSetAside(String name, JournalState state, NavigableSet<String> names) {
        return names.contains(StagedFile.dataName(name, state.generation()) + StagedFile.UNREADABLE);
    }

    private void add(String name, JournalState state, Journal journal, boolean hasData) throws IOException {
        JournalledUpload upload = state.upload();
        StagedFile staged =
                StagedFile.found(staging, name, journal, state.generation(), hasData, state.data(), state.uploads());
        addOrphans(state, upload, staged);
        Found file = Found.of(state, staged, null);
        if (state.failure() == null) {
            found.add(file);
        } else {
            staged.uncount();
            failed.add(file);
        }
    }

    /** @param journal what is durable of it; null if nothing is */
    private void survive(Survivor survivor, StagedFile.@Nullable Journalled journal, NavigableSet<String> names)
            throws IOException {
        Survivor.Header header = survivor.header();
        JournalState durable = journal == null ? new JournalState() : journal.state();
        JournalState state = survivor.state(durable.records().stream()
                .filter(record ->
                        record instanceof JournalRecord.UploadCreated || record instanceof JournalRecord.PartUploaded)
                .toList());
        String data = StagedFile.dataName(header.staged(), header.generation());
        String fault = faultOf(data, names.contains(data), state);
        if (fault != null) {
            log.error(
                    "What was written to '{}' is lost: {} ({})", header.opened().key(), fault, data);
            return;
        }
        boolean isJournalled = durable.written() != null && durable.generation() == header.generation();
        if (names.contains(data) && survivor.stored().isEmpty() && !isJournalled) {
            remove(data); // the process died before it had written a block there
        }
        StagedFile staged =
                StagedFile.survived(staging, header.staged(), header.generation(), survivor.stored(), journal);
        JournalledUpload upload = state.upload();
        addOrphans(durable, upload, staged);
        found.add(Found.of(
                state,
                staged,
                new Survived(survivor, requireNonNull(memory), durable.written() == null ? null : durable.opened())));
    }

    /** @param resumed the upload that is not among them; null if none is resumed */
    private void addOrphans(JournalState journal, @Nullable JournalledUpload resumed, StagedFile staged) {
        List<MultipartUpload> others = journal.uploads().stream()
                .filter(other -> resumed == null || !other.equals(resumed.upload()))
                .toList();
        if (!others.isEmpty()) {
            orphans.add(new Orphans(others, () -> others.forEach(staged.journal()::uploadEnded)));
        }
    }

    private void remove(String name) {
        try {
            staging.files().remove(name);
        } catch (IOException e) {
            staging.failed("remove a file", e);
        }
    }
}
