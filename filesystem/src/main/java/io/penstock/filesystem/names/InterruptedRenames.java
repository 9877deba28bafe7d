package io.penstock.filesystem.names;

import io.penstock.core.ObjectVersion;
import io.penstock.core.Printable;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.names.MovingDirectories.Move;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Tree;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.writeback.RenameJournal;
import io.penstock.writeback.RenameJournal.Copied;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The renames of directories that earlier runs did not end. A rename that had copied everything is finished, any other
 * is undone. For one thread, before anything else is written.
 */
public final class InterruptedRenames {
    private static final Logger LOG = LoggerFactory.getLogger(InterruptedRenames.class);

    private final Tree tree;
    private final InodeTable inodes;
    private final SharedFiles files;
    private final ObjectStore store;
    private final Writeback writeback;
    private final ObjectMoves objects;
    private final MovingDirectories moving;

    /** Those that had copied everything. */
    private final List<RenameJournal> finished = new ArrayList<>();

    public InterruptedRenames(Writing writing, InodeTable inodes, SharedFiles files, MovingDirectories moving) {
        this.tree = files.tree();
        this.inodes = inodes;
        this.files = files;
        this.store = writing.store();
        this.writeback = writing.writeback();
        this.objects = new ObjectMoves(store, writeback, new RenameProgress());
        this.moving = moving;
    }

    /**
     * Ends them all. A rename that fails is left to the next mount.
     *
     * @return moved files left by an earlier run: the caller must resume their commits once commits may begin
     */
    public List<WrittenFile> end() {
        List<RenameJournal> left = writeback.leftRenames();
        List<WrittenFile> moved = new ArrayList<>();
        if (!left.isEmpty()) {
            tree.beginChange();
        }
        for (RenameJournal journal : left) {
            Move move = move(journal);
            if (journal.isDecided()) {
                finished.add(journal);
                moved.addAll(moveWritten(journal));
            }
            String names = "'" + Printable.text(move.from().prefix()) + "' to '"
                    + Printable.text(move.to().prefix()) + "'";
            LOG.info(
                    "An earlier mount did not finish the rename of {}: it is {}, {} objects were copied",
                    names,
                    journal.isDecided() ? "finished" : "undone",
                    journal.copied().size());
            try {
                store.retries().forWriting().<@Nullable Void, IOException>call(() -> {
                    end(journal, move);
                    return null;
                });
                journal.end();
                LOG.info("The rename of {} is {}", names, journal.isDecided() ? "finished" : "undone");
            } catch (ObjectStoreException | IOException e) {
                leave(journal, move, names, e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                leave(journal, move, names, e);
            }
        }
        return moved;
    }

    /** Inodes of the mount's former process may still have the old names. */
    public void moveInodes() {
        for (RenameJournal journal : finished) {
            Move move = move(journal);
            inodes.move(move.from(), move.to(), _ -> true);
        }
    }

    /** Its handles may still read the originals. */
    public void moveFiles() {
        for (RenameJournal journal : finished) {
            for (Copied copied : journal.copied()) {
                Place place = Place.of(copied.copy().key());
                Inode inode = inodes.find(place.parent(), place.name());
                if (inode != null) {
                    files.moved(inode.number(), copied.original(), copied.copy());
                }
            }
        }
        finished.clear();
    }

    private static Move move(RenameJournal journal) {
        return new Move(
                new Directory(journal.begun().from()),
                new Directory(journal.begun().to()));
    }

    private void end(RenameJournal journal, Move move) throws ObjectStoreException, IOException, InterruptedException {
        if (journal.isDecided()) {
            objects.finish(move, journal.copied());
        } else {
            objects.undo(move, journal.copied());
        }
    }

    /** The crash may have come before the journals of written files got the new names. */
    private List<WrittenFile> moveWritten(RenameJournal journal) {
        Map<String, Copied> copies = new HashMap<>();
        journal.copied().forEach(copied -> copies.put(copied.original().key(), copied));
        List<WrittenFile> moved = new ArrayList<>();
        List<WrittenFile> found = Stream.concat(writeback.recovered().stream(), writeback.survivors().stream())
                .toList();
        for (WrittenFile content : found) {
            Copied copied = copies.get(content.key());
            ObjectVersion base = content.committed();
            if (copied != null && base != null && base.hasIdentityOf(copied.original())) {
                content.moved(copied.copy());
                moved.add(content);
            }
        }
        return moved;
    }

    private void leave(RenameJournal journal, Move move, String names, Exception failure) {
        moving.leaveToNextMount(move, journal);
        LOG.error(
                "The next mount will finish the rename of {}; until then some objects have both names: {}",
                names,
                failure.toString());
    }
}
