package io.penstock.fuse;

/** The same tests where the kernel collects written bytes. */
final class WritebackCacheWritingIT extends KernelWritingIT {
    @Override
    boolean writebackCache() {
        return true;
    }
}
