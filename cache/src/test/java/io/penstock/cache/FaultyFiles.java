package io.penstock.cache;

import io.penstock.cache.disk.ObjectFiles;
import io.penstock.disk.DataFile;
import io.penstock.disk.DataFolder;
import io.penstock.disk.NoHolesException;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;

/** Data files on a disk that can be made to fail. */
final class FaultyFiles {
    enum Fault {
        NONE,
        /** Every transfer fails. */
        DEAD,
        /** Existing content can be read; nothing can be written. */
        READ_ONLY,
        /** There is no space, as {@link DataFolder#usableBytes} reports. */
        FULL,
        /** Transfers fail in an unforeseen way. */
        UNFORESEEN,
        /** Nothing can be removed, and no hole can be punched. */
        UNREMOVABLE,
        /** Only whole files can be freed. */
        NO_HOLES,
        /** The free space cannot be measured. */
        UNMEASURED
    }

    private volatile Fault fault = Fault.NONE;
    private volatile CountDownLatch writesMayGoOn = new CountDownLatch(0);
    private volatile Runnable onMissing = () -> {};
    private volatile Runnable onRead = () -> {};
    private final LongAdder directReads = new LongAdder();

    DataFolder on(Path directory) throws IOException {
        return faulty(DataFolder.class, ObjectFiles.in(directory));
    }

    void set(Fault next) {
        fault = next;
    }

    /** Runs on any thread that finds a file missing, before the call returns. */
    void whenMissing(Runnable action) {
        onMissing = action;
    }

    /** Runs on any thread that reads a page, before the read. */
    void whenRead(Runnable action) {
        onRead = action;
    }

    /** How often {@link DataFile#readDirect} was called. */
    long directReads() {
        return directReads.sum();
    }

    /** From now on, writes hang until {@link #resume} or until the latch is counted down. */
    CountDownLatch stall() {
        CountDownLatch resumption = new CountDownLatch(1);
        writesMayGoOn = resumption;
        return resumption;
    }

    void resume() {
        writesMayGoOn.countDown();
    }

    private void reading(String path) throws IOException {
        if (fault == Fault.DEAD) {
            throw new FileSystemException(path, null, "Input/output error");
        }
        if (fault == Fault.UNFORESEEN) {
            throw new IllegalStateException("made up");
        }
    }

    private void writing(String path) throws IOException {
        reading(path);
        try {
            writesMayGoOn.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (fault == Fault.READ_ONLY) {
            throw new FileSystemException(path, null, "Read-only file system");
        }
        if (fault == Fault.FULL) {
            throw new FileSystemException(path, null, "No space left on device");
        }
    }

    private void removing(String path) throws IOException {
        reading(path);
        if (fault == Fault.UNREMOVABLE) {
            throw new FileSystemException(path, null, "Input/output error");
        }
    }

    private <T> T faulty(Class<T> type, T target) {
        InvocationHandler handler = (_, method, arguments) -> {
            before(method.getName());
            if (method.getName().equals("usableBytes") && fault == Fault.FULL) {
                return 0L;
            }
            try {
                Object result = method.invoke(target, arguments);
                return result instanceof DataFile file ? faulty(DataFile.class, file) : result;
            } catch (InvocationTargetException e) {
                if (method.getName().equals("open") && e.getCause() instanceof NoSuchFileException) {
                    onMissing.run();
                }
                throw e.getCause();
            }
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /** @param method of a folder or a file */
    private void before(String method) throws IOException {
        switch (method) {
            case "open", "length" -> reading(method);
            case "read", "readDirect" -> {
                directReads.add(method.equals("readDirect") ? 1 : 0);
                reading(method);
                onRead.run();
            }
            case "create", "adopt", "write", "force", "setLength" -> writing(method);
            case "remove", "punch" -> {
                removing(method);
                if (method.equals("punch") && fault == Fault.NO_HOLES) {
                    throw new NoHolesException(method);
                }
            }
            case "usableBytes" -> {
                if (fault == Fault.UNMEASURED) {
                    throw new FileSystemException("free space", null, "Input/output error");
                }
            }
            default -> {}
        }
    }
}
