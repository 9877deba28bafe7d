package io.penstock.embeddeds3;

import java.io.Serial;

/** An error response in S3's format. */
final class Refusal extends Exception {
    @Serial
    private static final long serialVersionUID = 1;

    private final int status;
    private final String code;

    /**
     * @param status HTTP status
     * @param code S3 error code
     * @param message for a person
     */
    Refusal(int status, String code, String message) {
        super(message, null, false, false);
        this.status = status;
        this.code = code;
    }

    static Refusal invalid(String message) {
        return new Refusal(400, "InvalidArgument", message);
    }

    static Refusal notImplemented(String message) {
        return new Refusal(501, "NotImplemented", message);
    }

    int status() {
        return status;
    }

    /** The body of the response. */
    String document(String resource) {
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" + code + "</Code><Message>"
                + Xml.text(String.valueOf(getMessage())) + "</Message><Resource>" + Xml.text(resource)
                + "</Resource></Error>";
    }
}
