package io.penstock.objectstore;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * The JDK's judge of certificates, asked by Conscrypt: in TLS 1.3, where suites do not name a way to authenticate, that calls
 * it {@code GENERIC}, and the JDK {@code UNKNOWN}.
 */
final class JdkTrust extends X509ExtendedTrustManager {
    private final X509ExtendedTrustManager judge;

    private JdkTrust(X509ExtendedTrustManager judge) {
        this.judge = judge;
    }

    /** The same judges, those of the JDK in its words. */
    static TrustManager[] of(TrustManager[] judges) {
        TrustManager[] asked = judges.clone();
        for (int i = 0; i < asked.length; i++) {
            if (asked[i] instanceof X509ExtendedTrustManager judge) {
                asked[i] = new JdkTrust(judge);
            }
        }
        return asked;
    }

    private static String known(String authType) {
        return authType.equals("GENERIC") ? "UNKNOWN" : authType;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        judge.checkServerTrusted(chain, known(authType), engine);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        judge.checkClientTrusted(chain, known(authType), engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        judge.checkServerTrusted(chain, known(authType), socket);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        judge.checkClientTrusted(chain, known(authType), socket);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        judge.checkServerTrusted(chain, known(authType));
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        judge.checkClientTrusted(chain, known(authType));
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return judge.getAcceptedIssuers();
    }
}
