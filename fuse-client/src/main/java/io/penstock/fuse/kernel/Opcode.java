package io.penstock.fuse.kernel;

import io.penstock.fuse.calls.KernelCall;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The requests that are served: enum fuse_opcode in include/uapi/linux/fuse.h. */
enum Opcode {
    /** Any other: its reply is ENOSYS. Not null, because a switch with null is slow without the optimizing compiler. */
    UNKNOWN(0),
    LOOKUP(1),
    FORGET(2),
    GETATTR(3),
    SETATTR(4),
    READLINK(5),
    SYMLINK(6),
    MKNOD(8),
    MKDIR(9),
    UNLINK(10),
    RMDIR(11),
    RENAME(12),
    LINK(13),
    OPEN(14),
    READ(15),
    WRITE(16),
    STATFS(17),
    RELEASE(18),
    FSYNC(20),
    SETXATTR(21),
    GETXATTR(22),
    LISTXATTR(23),
    REMOVEXATTR(24),
    FLUSH(25),
    INIT(26),
    OPENDIR(27),
    READDIR(28),
    RELEASEDIR(29),
    FSYNCDIR(30),
    ACCESS(34),
    CREATE(35),
    INTERRUPT(36),
    DESTROY(38),
    BATCH_FORGET(42),
    FALLOCATE(43),
    READDIRPLUS(44),
    RENAME2(45),
    LSEEK(46),
    COPY_FILE_RANGE(47);

    // GETLK, SETLK and SETLKW are absent: INIT leaves locks to the kernel.

    private static final Opcode[] BY_NUMBER = new Opcode[64];

    static {
        Arrays.fill(BY_NUMBER, UNKNOWN);
        for (Opcode opcode : values()) {
            BY_NUMBER[opcode.number] = opcode;
        }
    }

    private final int number;
    private final @Nullable KernelCall call;

    Opcode(int number) {
        this.number = number;
        String name = name().equals("RENAME2") ? "RENAME" : name();
        this.call = Arrays.stream(KernelCall.values())
                .filter(each -> each.name().equals(name))
                .findAny()
                .orElse(null);
    }

    int number() {
        return number;
    }

    static Opcode of(int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : UNKNOWN;
    }

    /** Whether the kernel waits for a reply. It does not for requests sent by fuse_queue_forget in fs/fuse/dev.c. */
    boolean isAnswered() {
        return this != FORGET && this != BATCH_FORGET;
    }

    /** The call for observers; null if not observed: UNKNOWN, FORGET, INTERRUPT and the session's own requests. */
    @Nullable
    KernelCall call() {
        return call;
    }
}
