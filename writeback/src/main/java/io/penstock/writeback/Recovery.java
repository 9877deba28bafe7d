package io.penstock.writeback;

import io.penstock.cache.DataFile;
import io.penstock.objectstore.MultipartUpload;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What earlier runs left in the staging folder. Files that were neither fsynced nor closed are removed, as are data files
 * without a journal, and journals that have not taken another's place; those of another bucket are left alone.
 */
final class Recovery {
    private static final Logger log = LoggerFactory.getLogger(Recovery.class);

    private final Staging staging;
    private final List<Found> found = new ArrayList<>();
    private final List<Found> kept = new ArrayList<>();
    private final List<Orphans> orphans = new ArrayList<>();

    /**
     * A file that was closed or fsynced.
     *
     * @param upload that was under way; null if there was none
     * @param withdrawn whether its name was about to be removed, or to be taken by another file
     * @param keptFor why it cannot be committed by itself; null if it can, for all that is known
     */
    record Found(
            JournalRecord.Opened opened,
            JournalRecord.Written written,
            Content content,
            StagedFile staged,
            @Nullable JournalledUpload upload,
            boolean withdrawn,
            @Nullable String keptFor) {}

    /**
     * Uploads of one file that nothing will resume.
     *
     * @param aborted to be run once they are: until then a further run finds them too
     */
    record Orphans(List<MultipartUpload> uploads, Runnable aborted) {}

    private Recovery(Staging staging) {
        this.staging = staging;
    }

    static Recovery of(Staging staging) throws IOException {
        Recovery recovery = new Recovery(staging);
        recovery.run();
        return recovery;
    }

    /** To be committed. */
    List<Found> found() {
        return found;
    }

    /** To be left to {@code penstock recover}. */
    List<Found> kept() {
        return kept;
    }

    List<Orphans> orphans() {
        return orphans;
    }

    private void run() throws IOException {
        List<String> names = staging.files().names();
        for (String name : names) {
            if (name.endsWith(StagedFile.JOURNAL)) {
                try {
                    take(name.substring(0, name.length() - StagedFile.JOURNAL.length()), names);
                } catch (IOException e) {
                    log.error("The journal {} cannot be read; it stays where it is: {}", name, e.toString());
                }
            }
        }
        for (String name : names) {
            if (name.endsWith(Journal.DRAFT)) {
                remove(name);
            }
            if (name.endsWith(StagedFile.DATA) && !names.contains(name.replace(StagedFile.DATA, StagedFile.JOURNAL))) {
                remove(name);
            }
        }
    }

    private void take(String name, List<String> names) throws IOException {
        JournalState state = new JournalState();
        DataFile file = staging.files().open(name + StagedFile.JOURNAL);
        Journal journal;
        try {
            journal = Journal.replay(file, state);
        } catch (IOException e) {
            file.close();
            throw e;
        }
        JournalRecord.Opened opened = state.opened();
        if (opened != null && !opened.namespace().equals(staging.namespace())) {
            journal.close();
            log.warn(
                    "'{}' of {} waits in the staging folder for a mount of that bucket",
                    opened.key(),
                    opened.namespace());
            return;
        }
        JournalRecord.Written written = state.written();
        boolean lost = written != null && !state.data().isEmpty() && !names.contains(name + StagedFile.DATA);
        if (opened == null || written == null || lost) {
            journal.close();
            remove(name + StagedFile.DATA);
            if (state.uploads().isEmpty()) {
                remove(name + StagedFile.JOURNAL);
            } else {
                orphans.add(new Orphans(state.uploads(), () -> remove(name + StagedFile.JOURNAL)));
            }
            return;
        }
        add(name, opened, written, state, journal, names.contains(name + StagedFile.DATA));
    }

    private void add(
            String name,
            JournalRecord.Opened opened,
            JournalRecord.Written written,
            JournalState state,
            Journal journal,
            boolean hasData)
            throws IOException {
        JournalledUpload upload = state.upload();
        StagedFile staged = StagedFile.found(staging, name, journal, hasData, state.data(), state.uploads());
        List<MultipartUpload> others = state.uploads().stream()
                .filter(other -> upload == null || !other.equals(upload.upload()))
                .toList();
        if (!others.isEmpty()) {
            orphans.add(new Orphans(others, () -> others.forEach(staged::uploadEnded)));
        }
        Found file = new Found(
                opened,
                written,
                Content.found(written.baseEnd(), written.size(), state.zeros(), state.data()),
                staged,
                upload,
                state.withdrawn(),
                state.keptFor());
        (file.keptFor() == null ? found : kept).add(file);
    }

    private void remove(String name) {
        try {
            staging.files().remove(name);
        } catch (NoSuchFileException e) {
            log.trace("There is no {}", name, e);
        } catch (IOException e) {
            staging.failed("remove a file", e);
        }
    }
}
