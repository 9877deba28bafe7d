package io.penstock.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file of a local file system.
 *
 * <p>An interrupt of one thread in a channel makes Java close it for all threads, and every Ctrl-C of a user interrupts
 * readers. So a transfer that finds its channel closed reopens it, and restores the interrupt afterwards.
 */
public final class LocalFile implements DataFile {
    private static final Set<OpenOption> BUFFERED =
            Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    private static final Set<OpenOption> DIRECT =
            Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS, DirectIo.OPTION);

    /** From this size on, the kernel's page cache costs more than it saves: ADR 3. */
    private static final int LARGE = 128 << 10;

    private final Path path;
    private final boolean direct;

    /** Writes are guarded by this, as for the next. */
    private volatile @Nullable FileChannel buffered;

    private volatile @Nullable FileChannel unbuffered;

    @GuardedBy("this")
    private boolean closed;

    /**
     * Opens an existing file that is not a symbolic link.
     *
     * @param direct whether aligned transfers bypass the kernel's page cache: see {@link DirectIo#isSupported}
     */
    public LocalFile(Path path, boolean direct) throws IOException {
        this.path = path;
        this.direct = direct;
        this.buffered = FileChannel.open(path, BUFFERED);
    }

    private interface Transfer {
        /** Runs again if interrupted, possibly after part of the transfer. */
        int run(FileChannel channel) throws IOException;
    }

    @Override
    public int read(long position, ByteBuffer to) throws IOException {
        return read(position, to, to.remaining() >= LARGE && isDirect(position, to));
    }

    @Override
    public int readDirect(long position, ByteBuffer to) throws IOException {
        return read(position, to, isDirect(position, to));
    }

    private int read(long position, ByteBuffer to, boolean past) throws IOException {
        int start = to.position();
        int read = 0;
        while (read >= 0 && to.hasRemaining() && goesOn(past, to.position() - start)) {
            read = uninterruptibly(past, channel -> {
                int count = to.position() - start; // an interrupted transfer may have moved it before failing
                return to.hasRemaining() && goesOn(past, count) ? channel.read(to, position + count) : 0;
            });
        }
        return to.position() - start;
    }

    /** Whether another read can follow: a direct one cannot once the file has ended within a block. */
    private static boolean goesOn(boolean past, int count) {
        return !past || count % DirectIo.ALIGNMENT == 0;
    }

    /**
     * A transfer that is not aligned goes entirely through the page cache. Otherwise the last pages of small objects
     * would wait for the disk one by one.
     */
    private boolean isDirect(long position, ByteBuffer bytes) {
        return direct && DirectIo.isAligned(position, bytes);
    }

    @Override
    public void write(long position, ByteBuffer from) throws IOException {
        boolean past = isDirect(position, from);
        int start = from.position();
        while (from.hasRemaining()) {
            uninterruptibly(past, channel -> channel.write(from, position + from.position() - start));
        }
    }

    @Override
    public void punch(long position, long length) throws IOException {
        SystemCalls.punch(path, position, length);
    }

    @Override
    public void force() throws IOException {
        uninterruptibly(false, channel -> {
            channel.force(false);
            return 0;
        });
    }

    @Override
    public long length() throws IOException {
        return Files.size(path);
    }

    @Override
    public void setLength(long bytes) throws IOException {
        int shorter = uninterruptibly(false, channel -> {
            channel.truncate(bytes); // the open file, which may have been renamed or removed
            return channel.size() < bytes ? 1 : 0;
        });
        if (shorter > 0) {
            try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
                file.setLength(bytes);
            }
        }
    }

    private int uninterruptibly(boolean past, Transfer transfer) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                FileChannel channel = channel(past);
                try {
                    return transfer.run(channel);
                } catch (ClosedChannelException e) {
                    interrupted |= Thread.interrupted();
                    replace(channel, past);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private FileChannel channel(boolean past) throws IOException {
        FileChannel channel = past ? unbuffered : buffered;
        return channel != null ? channel : replace(null, past);
    }

    private FileChannel replace(@Nullable FileChannel old, boolean past) throws IOException {
        FileChannel opened = FileChannel.open(path, past ? DIRECT : BUFFERED);
        FileChannel current;
        synchronized (this) {
            current = closed ? null : past ? unbuffered : buffered;
            if (!closed && (current == null || current.equals(old))) {
                if (past) {
                    unbuffered = opened;
                } else {
                    buffered = opened;
                }
                return opened;
            }
        }
        opened.close();
        if (current == null) {
            throw new IOException("used after it was closed: " + path);
        }
        return current;
    }

    @Override
    public void rest() throws IOException {
        FileChannel first;
        FileChannel second;
        synchronized (this) {
            first = buffered;
            second = unbuffered;
            buffered = null;
            unbuffered = null;
        }
        close(first, second);
    }

    @Override
    public void close() throws IOException {
        synchronized (this) {
            closed = true;
        }
        close(buffered, unbuffered);
    }

    private static void close(@Nullable FileChannel first, @Nullable FileChannel second) throws IOException {
        try {
            if (first != null) {
                first.close();
            }
        } finally {
            if (second != null) {
                second.close();
            }
        }
    }
}
