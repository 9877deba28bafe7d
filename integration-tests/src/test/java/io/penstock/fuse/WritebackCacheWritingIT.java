package io.penstock.fuse;

/** The same where the kernel collects what is written. */
final class WritebackCacheWritingIT extends KernelWritingIT {
    @Override
    boolean writebackCache() {
        return true;
    }
}
