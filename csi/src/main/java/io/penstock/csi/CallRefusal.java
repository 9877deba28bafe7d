package io.penstock.csi;

import io.grpc.Status;

/** Why a call fails: a code of gRPC, and a sentence for people. */
final class CallRefusal extends Exception {
    private static final long serialVersionUID = 1L;

    private final Status.Code code;

    CallRefusal(Status.Code code, String sentence) {
        super(sentence);
        this.code = code;
    }

    static CallRefusal invalid(String sentence) {
        return new CallRefusal(Status.Code.INVALID_ARGUMENT, sentence);
    }

    Status status() {
        return code.toStatus().withDescription(getMessage());
    }
}
