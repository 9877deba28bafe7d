package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.filesystem.NamesStep.Failing;
import io.penstock.filesystem.NamesStep.Failure;
import io.penstock.metadata.attributes.FileKind;
import java.time.Instant;
import java.util.List;
import java.util.random.RandomGenerator;

/** Draws steps that mostly have something to do in the current tree. There are two names, so that they collide. */
final class NamesGenerator {
    /** A time at which nothing is written, so a file that shows it got it from a step. */
    private static final Instant LONG_AGO = Instant.parse("2001-02-03T04:05:06.123456789Z");

    private static final Creator OTHER = new Creator(7, 8);

    private final RandomGenerator random;
    private final ReferenceTree tree;

    /** @param tree its state before the step */
    NamesGenerator(RandomGenerator random, ReferenceTree tree) {
        this.random = random;
        this.tree = tree;
    }

    NamesStep next() {
        if (tree.all().size() < 3 && random.nextBoolean()) {
            return making();
        }
        return switch (random.nextInt(20)) {
            case 0, 1, 2 -> new Failing(ofNames(), failure());
            case 3 -> befalling();
            case 4, 5, 6 -> ofHandles();
            case 7, 8, 9 -> ofAttributes();
            case 10, 11 -> making();
            default -> ofNames();
        };
    }

    private NamesStep making() {
        String path = free();
        return switch (random.nextInt(8)) {
            case 0, 1, 2 -> new NamesStep.Save(path, mode(), creator(), random.nextInt(4) == 0);
            case 3, 4, 5 -> new NamesStep.Mkdir(path, directoryMode(), creator());
            case 6 -> new NamesStep.Symlink(path, random.nextBoolean() ? "../a" : "b/\u00e4 %");
            default -> new NamesStep.Mknod(path, type() | mode());
        };
    }

    private NamesStep ofNames() {
        return switch (random.nextInt(12)) {
            case 0, 1 -> making();
            case 2 -> new NamesStep.Save(taken(), mode(), creator(), random.nextInt(4) == 0);
            case 3 -> new NamesStep.Link(taken(), random.nextInt(3) == 0 ? taken() : free());
            case 4, 5 -> new NamesStep.Unlink(taken());
            case 6, 7 -> new NamesStep.Rmdir(taken());
            default -> new NamesStep.Rename(taken(), random.nextBoolean() ? taken() : free(), random.nextInt(4) == 0);
        };
    }

    private NamesStep ofHandles() {
        int slot = random.nextInt(NamesRun.SLOTS);
        return switch (random.nextInt(14)) {
            case 12 -> truncate();
            case 9, 10 -> new NamesStep.Read(slot, taken());
            case 11 -> new NamesStep.Fchmod(slot, directoryMode());
            case 0, 1 -> new NamesStep.Create(slot, free(), mode());
            case 2, 3 -> new NamesStep.Open(slot, taken());
            case 4, 5 -> new NamesStep.Write(slot, random.nextBoolean());
            case 6 -> new NamesStep.Fsync(slot);
            case 7 -> new Failing(new NamesStep.Close(slot), failure());
            default -> new NamesStep.Close(slot);
        };
    }

    private NamesStep truncate() {
        NamesStep step = new NamesStep.Truncate(taken(), random.nextInt(8));
        return random.nextInt(3) == 0 ? new Failing(step, failure()) : step;
    }

    private NamesStep ofAttributes() {
        String path = taken();
        NamesStep step = switch (random.nextInt(5)) {
            case 0 -> new NamesStep.Chmod(path, directoryMode());
            case 1 -> new NamesStep.Chown(path, random.nextBoolean() ? Mounted.CREATOR : OTHER);
            case 2 -> new NamesStep.Utimens(path, time(), time());
            case 3 -> new NamesStep.SetExtended(path, extended(), "v" + random.nextInt(3), random.nextInt(3));
            default -> new NamesStep.SetExtended(path, extended(), null, AttributeChanges.XATTR_REPLACE);
        };
        return random.nextInt(6) == 0 ? new Failing(step, failure()) : step;
    }

    private NamesStep befalling() {
        return switch (random.nextInt(8)) {
            case 0, 1 -> new NamesStep.Put(random.nextBoolean() ? taken() : free());
            case 2 -> new NamesStep.PutDirectory(random.nextBoolean() ? taken() : free());
            case 3, 4 -> new NamesStep.Delete(taken());
            case 5 -> new NamesStep.Wait(random.nextInt(3) == 0);
            case 6 -> new NamesStep.Remount();
            default -> new NamesStep.Crash();
        };
    }

    // ---- paths

    /** Mostly an existing one. */
    private String taken() {
        List<String> all = tree.all();
        return all.isEmpty() || random.nextInt(8) == 0 ? any() : all.get(random.nextInt(all.size()));
    }

    /** Mostly one in an existing directory. */
    private String free() {
        if (random.nextInt(8) == 0) {
            return any();
        }
        List<String> directories = tree.all().stream().filter(tree::isDirectory).toList();
        int picked = random.nextInt(-1, directories.size());
        return picked < 0 ? name() : directories.get(picked) + "/" + name();
    }

    private String any() {
        String path = name();
        while (random.nextBoolean()) {
            path = path + "/" + name();
        }
        return path;
    }

    private String name() {
        return random.nextBoolean() ? "a" : "b";
    }

    // ---- attributes and failures

    private int type() {
        return switch (random.nextInt(3)) {
            case 0 -> Attributes.S_IFREG;
            case 1 -> FileKind.SOCKET.typeBits();
            default -> FileKind.FIFO.typeBits();
        };
    }

    private int mode() {
        return random.nextBoolean() ? 0640 : random.nextBoolean() ? 0600 : 0755;
    }

    private int directoryMode() {
        return switch (random.nextInt(4)) {
            case 0 -> 0700;
            case 1 -> 02775;
            case 2 -> 04755;
            default -> 0751;
        };
    }

    private Creator creator() {
        return random.nextInt(4) == 0 ? OTHER : Mounted.CREATOR;
    }

    private Instant time() {
        return LONG_AGO.plusSeconds(random.nextInt(1000));
    }

    private String extended() {
        return random.nextBoolean() ? "user.x" : "user.y";
    }

    private Failure failure() {
        boolean write = random.nextInt(3) > 0;
        boolean lost = random.nextInt(3) == 0;
        boolean denied = write && !lost && random.nextBoolean();
        return new Failure(write, random.nextInt(random.nextInt(1, 5)), lost, denied ? Errno.EACCES : Errno.EIO);
    }
}
