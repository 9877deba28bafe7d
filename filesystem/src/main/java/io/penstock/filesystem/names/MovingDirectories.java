package io.penstock.filesystem.names;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.ErrnoException;
import io.penstock.core.Printable;
import io.penstock.filesystem.kernel.Errnos;
import io.penstock.metadata.Directory;
import io.penstock.writeback.RenameJournal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes calls that change something in a directory wait while that directory, or one above it, is being renamed. The
 * rename begins once the calls running there have ended. A call that has waited continues at the new name, because it
 * knows its directory by inode.
 *
 * <p>A rename waits for others only before it moves anything, and only one rename does so at a time. So two renames
 * never wait for each other. Thread-safe.
 */
public final class MovingDirectories {
    private static final Logger LOG = LoggerFactory.getLogger(MovingDirectories.class);

    /** The directories that are being renamed, and their new names. */
    @GuardedBy("this")
    private final List<Directory> moving = new ArrayList<>();

    /** The number of running calls in each directory. */
    @GuardedBy("this")
    private final Map<Directory, Integer> busy = new HashMap<>();

    /** Whether a rename is waiting for running calls. */
    @GuardedBy("this")
    private boolean isBeginning;

    /** Renames that failed midway, to be ended by the next mount. */
    @GuardedBy("this")
    private final List<Left> left = new ArrayList<>();

    private record Left(Move move, RenameJournal journal) {}

    /** A directory and its new name. Neither is a bucket's root, and neither is within the other. */
    record Move(Directory from, Directory to) {
        private boolean meets(Directory directory) {
            return directory.isWithin(from) || directory.isWithin(to);
        }

        private List<Directory> parents() {
            List<Directory> parents = new ArrayList<>();
            for (Directory each : List.of(from, to)) {
                Directory parent = each.parent();
                if (parent != null) {
                    parents.add(parent);
                }
            }
            return parents;
        }
    }

    /** A call. */
    @FunctionalInterface
    public interface Call<T extends @Nullable Object> {
        T run() throws ErrnoException;
    }

    /**
     * Makes the call while none of the directories moves. It must not make another such call.
     *
     * @param where returns the directories that the call is about to change, by their current names. Must not wait
     */
    public <T extends @Nullable Object> T in(Call<List<Directory>> where, Call<T> call) throws ErrnoException {
        List<Directory> entered = Errnos.call(() -> enter(where));
        try {
            abandon(to -> entered.stream().anyMatch(directory -> directory.isWithin(to)));
            return call.run();
        } finally {
            leave(entered);
        }
    }

    /** A call that returns nothing. */
    @FunctionalInterface
    public interface Change {
        void run() throws ErrnoException;
    }

    /** {@link #in} for a call that returns nothing. */
    public void run(Call<List<Directory>> where, Change change) throws ErrnoException {
        this.<@Nullable Void>in(where, () -> {
            change.run();
            return null;
        });
    }

    private synchronized List<Directory> enter(Call<List<Directory>> where)
            throws ErrnoException, InterruptedException {
        List<Directory> directories = where.run();
        while (isAnyMoving(directories)) {
            wait();
            directories = where.run();
        }
        directories.forEach(directory -> busy.merge(directory, 1, Integer::sum));
        return directories;
    }

    /**
     * A rename has failed midway, and some objects have both names. The next mount continues it unless a call changes
     * something at the new name first: then the objects there may no longer be the copies.
     */
    synchronized void leaveToNextMount(Move move, RenameJournal journal) {
        journal.close();
        left.add(new Left(move, journal));
    }

    /** A rename is about to move something: renames that failed at the same names are abandoned. */
    void abandon(Move move) {
        abandon(to -> move.meets(to) || move.from.isWithin(to) || move.to.isWithin(to));
    }

    private void abandon(Predicate<Directory> isUsed) {
        List<Left> used;
        synchronized (this) {
            used = left.stream().filter(each -> isUsed.test(each.move.to)).toList();
            left.removeAll(used);
        }
        for (Left each : used) {
            LOG.warn(
                    "The new name of the failed rename of '{}' to '{}' is in use: the objects stay at both names",
                    Printable.text(each.move.from.prefix()),
                    Printable.text(each.move.to.prefix()));
            each.journal.end();
        }
    }

    /** Work begun by a call in this directory continues after the call, until {@link #leave}. */
    synchronized void stay(Directory directory) {
        busy.merge(directory, 1, Integer::sum);
    }

    /** That work has ended. May be called by any thread. */
    void leave(Directory directory) {
        leave(List.of(directory));
    }

    private synchronized void leave(List<Directory> directories) {
        directories.forEach(directory -> busy.merge(directory, -1, (a, b) -> a + b == 0 ? null : a + b));
        if (isBeginning) {
            notifyAll();
        }
    }

    @GuardedBy("this")
    private boolean isAnyMoving(List<Directory> directories) {
        for (Directory directory : directories) {
            if (isMoving(directory)) {
                return true;
            }
        }
        return false;
    }

    @GuardedBy("this")
    private boolean isMoving(Directory directory) {
        for (Directory each : moving) {
            if (directory.isWithin(each)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Begins a rename: nothing else changes what it moves until the caller calls {@link #end}, which it must do.
     *
     * @param which returns the directory to rename and its new name. Must not wait
     */
    Move begin(Call<Move> which) throws ErrnoException {
        return Errnos.call(() -> beginOnceFree(which));
    }

    private synchronized Move beginOnceFree(Call<Move> which) throws ErrnoException, InterruptedException {
        Move move = which.run();
        while (isBeginning || isMoving(move.from) || isMoving(move.to)) {
            wait();
            move = which.run();
        }
        isBeginning = true;
        moving.add(move.from);
        moving.add(move.to);
        boolean begun = false;
        try {
            while (busy.keySet().stream().anyMatch(move::meets)) {
                wait();
            }
            move.parents().forEach(directory -> busy.merge(directory, 1, Integer::sum));
            begun = true;
            return move;
        } finally {
            isBeginning = false;
            if (begun) {
                notifyAll();
            } else {
                give(move);
            }
        }
    }

    @GuardedBy("this")
    private void give(Move move) {
        moving.remove(move.from);
        moving.remove(move.to);
        notifyAll();
    }

    /** The rename has ended. May be called by any thread. */
    synchronized void end(Move move) {
        give(move);
        leave(move.parents());
    }
}
