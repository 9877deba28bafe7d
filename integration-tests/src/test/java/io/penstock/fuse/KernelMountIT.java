package io.penstock.fuse;

import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.kernel.KernelBinding;

class KernelMountIT extends MountContract {
    @Override
    Mount mount(FileSystem fileSystem, MountOptions options) throws MountException {
        return KernelBinding.mount(fileSystem, options);
    }
}
