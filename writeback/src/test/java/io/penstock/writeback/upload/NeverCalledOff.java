package io.penstock.writeback.upload;

import io.penstock.objectstore.OperationId;

/** The commit is never called off. */
enum NeverCalledOff implements FileUpload.Decision {
    INSTANCE;

    @Override
    public OperationId operation() {
        return OperationId.random();
    }

    @Override
    public void begin(OperationId operation) {}

    @Override
    public void refused() {}

    @Override
    public void postpone() {}
}
