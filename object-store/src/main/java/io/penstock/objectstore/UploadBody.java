package io.penstock.objectstore;

import java.io.IOException;
import java.io.InputStream;
import java.util.OptionalInt;

/** Bytes to send, as often as it takes: every attempt opens them anew and must find the same ones. */
public interface UploadBody {
    /** Bytes; 0 or more. */
    long length();

    /** The CRC32C of all bytes, where it is known before they are sent: the store is asked to check it. */
    OptionalInt crc32c();

    /** The bytes from the first on. Closed after each attempt. */
    InputStream open() throws IOException;
}
