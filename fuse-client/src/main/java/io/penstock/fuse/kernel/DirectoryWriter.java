package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.filesystem.Attributes;
import io.penstock.filesystem.DirectorySink;
import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.kernel.Layouts.Dirent;
import io.penstock.fuse.kernel.Layouts.EntryOut;

/** Writes directory entries into one reply until it is full: struct fuse_dirent, or fuse_direntplus with attributes. */
final class DirectoryWriter implements DirectorySink {
    /** Entries begin at multiples of this: FUSE_DIRENT_ALIGN. */
    private static final int ALIGNMENT = Long.BYTES;

    /** st_mode has the type in bits 12 to 15; a directory entry has it shifted down to bit 0. */
    private static final int TYPE_SHIFT = 12;

    private final ReplyWriter answers;
    private final Reply reply;
    private final int room;
    private final boolean plus;
    private int length;

    /**
     * @param room maximum size of the reply, in bytes
     * @param plus whether entries come with their attributes, like lookups
     */
    DirectoryWriter(ReplyWriter answers, Reply reply, int room, boolean plus) {
        this.answers = answers;
        this.reply = reply;
        this.room = room;
        this.plus = plus;
    }

    /** Where the next entry begins after one that begins here. */
    static int end(int dirent, int nameLength) {
        return Math.ceilDiv(dirent + Dirent.NAME + nameLength, ALIGNMENT) * ALIGNMENT;
    }

    /** Bytes written. */
    int length() {
        return length;
    }

    @Override
    public boolean add(String name, Attributes attributes, long nextOffset) {
        byte[] bytes = name.getBytes(UTF_8);
        int dirent = length + (plus ? EntryOut.SIZE : 0);
        int next = end(dirent, bytes.length);
        if (next > room) {
            return false;
        }
        for (int at = length; at < next; at += Long.BYTES) {
            reply.u64(at, 0);
        }
        // Without a node id the kernel uses only name and type. It never counts these two as lookups.
        if (plus && attributes.inode() != FileSystem.UNKNOWN_INODE && !name.equals(".") && !name.equals("..")) {
            answers.writeEntry(reply, length, attributes);
        }
        reply.u64(dirent + Dirent.INO, attributes.number());
        reply.u64(dirent + Dirent.OFF, nextOffset);
        reply.u32(dirent + Dirent.NAMELEN, bytes.length);
        reply.u32(dirent + Dirent.TYPE, attributes.mode() >>> TYPE_SHIFT);
        reply.bytes(dirent + Dirent.NAME, bytes);
        length = next;
        return true;
    }
}
