package io.penstock.objectstore.http;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Lets the JDK check certificates for Conscrypt. In TLS 1.3, suites do not name an authentication method: Conscrypt
 * calls it {@code GENERIC}, and the JDK {@code UNKNOWN}.
 */
final class JdkTrust extends X509ExtendedTrustManager {
    private final X509ExtendedTrustManager judge;

    private JdkTrust(X509ExtendedTrustManager judge) {
        this.judge = judge;
    }

    /** The same trust managers, with those of the JDK adapted to its names. */
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
