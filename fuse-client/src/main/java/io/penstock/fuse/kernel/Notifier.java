package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.core.Errno;
import io.penstock.filesystem.kernel.KernelCache;
import io.penstock.fuse.kernel.Layouts.NotifyInvalEntryOut;
import io.penstock.fuse.kernel.Layouts.NotifyInvalInodeOut;
import io.penstock.fuse.kernel.Layouts.NotifyPruneOut;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the kernel notices of outdated cache contents, on its own thread. In such a call the kernel waits for the
 * holder of a directory's or a page's lock, which may be waiting for a reply of ours. No reply ever waits for this
 * thread.
 */
final class Notifier implements KernelCache {
    private static final Logger log = LoggerFactory.getLogger(Notifier.class);

    /** Further notices are dropped: then the kernel keeps its cached answer until its time to live ends. */
    private static final int MOST_PENDING = 10_000;

    /** Enough for a struct and the longest name. */
    private static final int LONGEST_NOTICE = 4096;

    private sealed interface Notice {
        record Inode(long number, boolean pages) implements Notice {}

        record Name(long parent, String name) implements Notice {}

        record Unused(long number) implements Notice {}
    }

    private final Device device;

    /** Confined to the notifier's thread. */
    private final NoticeWriter delayed;

    private final boolean prunes;
    private final BlockingQueue<Notice> pending = new LinkedBlockingQueue<>(MOST_PENDING);
    private final Thread thread =
            Thread.ofPlatform().daemon().name("fuse notifier").unstarted(this::run);

    /** Confined to the notifier's thread. */
    private final Reply message = new Reply(LONGEST_NOTICE);

    @GuardedBy("this")
    private final Reply immediate = new Reply(LONGEST_NOTICE);

    private Notifier(Device device, NoticeWriter delayed, boolean prunes) {
        this.device = device;
        this.delayed = delayed;
        this.prunes = prunes;
    }

    /**
     * @param device after its handshake
     * @param delayed for notices that may have to wait; closed with this
     * @param prunes see {@link NegotiatedInit#prunes}
     */
    static Notifier start(Device device, NoticeWriter delayed, boolean prunes) {
        Notifier notifier = new Notifier(device, delayed, prunes);
        notifier.thread.start();
        return notifier;
    }

    @Override
    public void dropInode(long inode, boolean pages) {
        add(new Notice.Inode(inode, pages));
    }

    /** The kernel does not wait if the inode is in use: fuse_reverse_inval_inode in fs/fuse/inode.c. */
    @Override
    public synchronized void dropAttributes(long inode) {
        Notice notice = new Notice.Inode(inode, false);
        refused(notice, device.write(immediate.address(), compose(notice, immediate)));
    }

    @Override
    public void dropName(long parent, String name) {
        add(new Notice.Name(parent, name));
    }

    /** Dropping a directory's name would remove it from under a process that works in it. */
    @Override
    public boolean forgetsDirectories() {
        return prunes;
    }

    /** Outdated names go first: half of the queue is reserved for them. */
    @Override
    public void forget(long inode, long parent, String name) {
        if (pending.size() < MOST_PENDING / 2) {
            // Dropping the name of an unused inode also drops the inode.
            add(prunes ? new Notice.Unused(inode) : new Notice.Name(parent, name));
        }
    }

    /**
     * Ends the notices.
     *
     * @return whether the thread no longer uses the device
     */
    boolean end(Duration patience) throws InterruptedException {
        thread.interrupt();
        return thread.join(patience);
    }

    private void add(Notice notice) {
        if (!pending.offer(notice)) {
            log.debug("The queue is full; this notice to the kernel is dropped: {}", notice);
        }
    }

    private void run() {
        try (delayed) {
            while (true) {
                Notice notice = pending.take();
                refused(notice, delayed.write(message.address(), compose(notice, message)));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the session has ended
        }
    }

    /** @param error a result of the device */
    private static void refused(Notice notice, int error) {
        // ENOENT: the kernel did not know the name or inode. ENOTDIR: it did not know the directory as one.
        if (error != 0 && error != -Errno.ENOENT.number() && error != -Errno.ENOTDIR.number()) {
            log.debug("The kernel refused {}: error number {}", notice, -error);
        }
    }

    private static int compose(Notice notice, Reply message) {
        return switch (notice) {
            case Notice.Inode(long number, boolean pages) -> {
                message.clear(NotifyInvalInodeOut.SIZE).u64(NotifyInvalInodeOut.INO, number);
                message.u64(NotifyInvalInodeOut.OFF, pages ? 0 : -1);
                yield message.sealNotice(NotifyInvalInodeOut.CODE, NotifyInvalInodeOut.SIZE);
            }
            case Notice.Name(long parent, String name) -> {
                byte[] bytes = name.getBytes(UTF_8);
                int length = NotifyInvalEntryOut.SIZE + bytes.length + 1;
                message.clear(length).u64(NotifyInvalEntryOut.PARENT, parent);
                message.u32(NotifyInvalEntryOut.NAMELEN, bytes.length);
                message.bytes(NotifyInvalEntryOut.SIZE, bytes);
                yield message.sealNotice(NotifyInvalEntryOut.CODE, length);
            }
            case Notice.Unused(long number) -> {
                int length = NotifyPruneOut.SIZE + Long.BYTES;
                message.clear(length).u32(NotifyPruneOut.COUNT, 1);
                message.u64(NotifyPruneOut.SIZE, number);
                yield message.sealNotice(NotifyPruneOut.CODE, length);
            }
        };
    }
}
