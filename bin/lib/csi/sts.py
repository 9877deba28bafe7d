"""An STS that exchanges any token for the store's credentials: sts.py PORT"""

import http.server
import sys
import urllib.parse

RESPONSE = """<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>second</AccessKeyId>
<SecretAccessKey>second-secret</SecretAccessKey><SessionToken></SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>
</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        known = form["Action"] == ["AssumeRoleWithWebIdentity"] and form["RoleArn"][0].endswith("role/reader")
        self.send_response(200 if known and form["WebIdentityToken"] else 403)
        self.send_header("Content-Type", "text/xml")
        self.end_headers()
        self.wfile.write(RESPONSE.encode())

    def log_message(self, *_):
        pass


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
