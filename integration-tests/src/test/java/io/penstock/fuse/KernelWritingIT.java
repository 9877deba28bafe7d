package io.penstock.fuse;

import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.kernel.KernelBinding;

class KernelWritingIT extends WritingContract {
    @Override
    Mount mount(FileSystem fileSystem, MountOptions options) throws MountException, InterruptedException {
        return KernelBinding.mount(fileSystem, options);
    }
}
