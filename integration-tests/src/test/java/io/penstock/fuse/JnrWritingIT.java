package io.penstock.fuse;

import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.calls.CallObserver;
import io.penstock.fuse.jnr.JnrBinding;

class JnrWritingIT extends WritingContract {
    @Override
    Mount mount(FileSystem fileSystem, MountOptions options) throws MountException, InterruptedException {
        return new JnrBinding().mount(fileSystem, options, CallObserver.NONE);
    }
}
