package io.penstock.benchmarks;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** A data set format, and the calls with which a training program reads one file. */
enum TrainAccess {
    /**
     * numpy.load of an uncompressed archive (numpy 2.1, Python 3.11, by strace): the zip's beginning, its end, its
     * directory, its beginning again, and then alternately 258,048 and 4,096 bytes: a numpy buffer of 256 KiB through
     * Python's of 4 KiB.
     */
    NPZ("npz") {
        @Override
        long read(Path file, ByteBuffer buffer) throws IOException {
            try (FileChannel channel = FileChannel.open(file)) {
                long size = channel.size();
                at(channel, buffer, 0, PYTHON_BUFFER);
                at(channel, buffer, size - ZIP_END, ZIP_END);
                at(channel, buffer, size - ZIP_DIRECTORY, ZIP_DIRECTORY - ZIP_END);
                channel.position(0);
                long left = size;
                for (boolean large = false; left > 0; large = !large) {
                    left -= next(channel, buffer, large ? NUMPY_BUFFER - PYTHON_BUFFER : PYTHON_BUFFER);
                }
                return size;
            }
        }
    },

    /** Pillow's Image.open and load (Pillow 13.0, by strace): 4,096, 61,440, and then 65,536 bytes per call. */
    JPEG("jpeg") {
        @Override
        long read(Path file, ByteBuffer buffer) throws IOException {
            try (FileChannel channel = FileChannel.open(file)) {
                long size = channel.size();
                long left = size - next(channel, buffer, PYTHON_BUFFER);
                left -= left > 0 ? next(channel, buffer, PILLOW_BUFFER - PYTHON_BUFFER) : 0;
                while (left > 0) {
                    left -= next(channel, buffer, PILLOW_BUFFER);
                }
                return size;
            }
        }
    },

    /**
     * tf.data's TFRecordDataset: 256 KiB per call, its default, as no configuration sets transfer_size (TensorFlow,
     * python/data/ops/readers.py). {@link TrainRecordLoader} reads such files record by record.
     */
    TFRECORD("tfrecord") {
        @Override
        long read(Path file, ByteBuffer buffer) throws IOException {
            try (FileChannel channel = FileChannel.open(file)) {
                long size = channel.size();
                for (long left = size; left > 0; ) {
                    left -= next(channel, buffer, RECORD_BUFFER);
                }
                return size;
            }
        }
    };

    static final int RECORD_BUFFER = 256 << 10;

    private static final int PYTHON_BUFFER = 4 << 10;
    private static final int NUMPY_BUFFER = 256 << 10;
    private static final int PILLOW_BUFFER = 64 << 10;

    /** Bytes of a zip's last record, and from its directory of two entries to its end, as written by numpy. */
    private static final int ZIP_END = 22;

    private static final int ZIP_DIRECTORY = 22 + 124;

    /** Enough for the longest call of any format. */
    static final int BUFFER = 256 << 10;

    private final String extension;

    TrainAccess(String extension) {
        this.extension = extension;
    }

    /** Without the dot. */
    String extension() {
        return extension;
    }

    /**
     * Reads a whole file.
     *
     * @param buffer of {@link #BUFFER} bytes or more, used exclusively
     * @return its size
     */
    abstract long read(Path file, ByteBuffer buffer) throws IOException;

    /** Reads this many bytes, or fewer at the end of the file; at least one. */
    static int next(FileChannel channel, ByteBuffer buffer, int length) throws IOException {
        buffer.clear().limit(length);
        int read = channel.read(buffer);
        if (read < 0) {
            throw new EOFException("a file has become shorter while it was read");
        }
        return read;
    }

    private static void at(FileChannel channel, ByteBuffer buffer, long position, int length) throws IOException {
        channel.read(buffer.clear().limit(length), Math.max(position, 0));
    }
}
