"""Credentials as they appear in arguments, and arguments that are not credentials.

This file contains no credential: each is built at run time from a prefix and letters from a
seeded generator, so that scanners of the repository find nothing.
"""
import base64
import hashlib
import random
import string

ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
URL = ALNUM + "_-"


class Maker:
    """The same seed gives the same letters."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def run(self, length, alphabet=ALNUM):
        text = "".join(self.random.choice(alphabet) for _ in range(length))
        if length < 8 or alphabet.isdigit():
            return text
        letter = next(c for c in alphabet if c.isalpha())
        digit = next(c for c in alphabet if c.isdigit())
        return text[:3] + digit + text[4:6] + letter + text[7:]  # one of each class, as in nearly every random text

    def b64(self, length):
        return base64.b64encode(self.random.randbytes(length)).decode()

    def uuid(self):
        return "-".join(self.run(n, HEX) for n in (8, 4, 4, 4, 12))

    def jwt(self):
        head = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
        body = base64.urlsafe_b64encode(b'{"sub":"12345","iat":1516239022}').decode().rstrip("=")
        return f"{head}.{body}.{self.run(43, URL)}"

    def basic(self):
        return base64.b64encode(f"user:{self.run(10)}".encode()).decode()


def shapes(seed=0):
    """name: the arguments of a command that passes a credential; the last letters of each are
    random."""
    m = Maker(seed)
    r, hexa, b64 = m.run, lambda n: m.run(n, HEX), m.b64
    bare = {
        "aws access key": "AK" + "IA" + r(16, BASE32), "aws temporary key": "AS" + "IA" + r(16, BASE32),
        "github classic": "gh" + "p_" + r(36), "github oauth": "gh" + "o_" + r(36), "github app": "gh" + "s_" + r(36),
        "github fine-grained": "github" + "_pat_" + r(22) + "_" + r(59), "gitlab": "gl" + "pat-" + r(20, URL),
        "gitlab runner": "gl" + "rt-" + r(20, URL), "gitlab trigger": "gl" + "ptt-" + hexa(40),
        "gitlab deploy": "gl" + "dt-" + r(20, URL), "bitbucket": "AT" + "BB" + r(32), "npm": "np" + "m_" + r(36),
        "pypi": "py" + "pi-AgE" + r(150, URL), "rubygems": "ruby" + "gems_" + hexa(48), "crates.io": "ci" + "o" + r(32),
        "nuget": "oy" + "2" + r(43, LOWER), "docker pat": "dckr" + "_pat_" + r(27, URL), "clojars": "CLO" + "JARS_" + r(60, LOWER),
        "slack bot": "xo" + f"xb-{r(12, '123456789')}-{r(12, '123456789')}-{r(24)}",
        "slack user": "xo" + f"xp-{r(12, '123456789')}-{r(32, HEX)}", "slack app": "xa" + "pp-1-" + r(11, UPPER) + "-" + hexa(64),
        "slack webhook": "https://hooks." + f"slack.com/services/T{r(8, UPPER)}/B{r(8, UPPER)}/{r(24)}",
        "discord webhook": "https://discord" + f".com/api/webhooks/{r(18, '123456789')}/{r(68, URL)}",
        "discord bot": "M" + r(23) + "." + r(6) + "." + r(38, URL), "telegram": r(9, "123456789") + ":" + "AA" + r(33, URL),
        "stripe live": "sk" + "_live_" + r(24), "stripe test": "sk" + "_test_" + r(24), "stripe restricted": "rk" + "_test_" + r(24),
        "square": "sq0" + "atp-" + r(22, URL), "twilio key": "S" + "K" + hexa(32), "sendgrid": "S" + "G." + r(22, URL) + "." + r(43, URL),
        "mailgun old": "ke" + "y-" + hexa(32), "mailgun": f"{hexa(32)}-{hexa(8)}-{hexa(8)}", "brevo": "xkey" + "sib-" + hexa(64) + "-" + r(16),
        "google api": "AI" + "za" + r(35, URL), "google oauth": "ya" + "29." + r(60, URL), "google refresh": "1/" + "/0" + r(60, URL),
        "google client secret": "GOC" + "SPX-" + r(28, URL), "openai": "sk" + "-proj-" + r(60, URL), "openai old": "sk" + "-" + r(48),
        "anthropic": "sk" + "-ant-api03-" + r(93, URL) + "AA", "hugging face": "hf" + "_" + r(34), "groq": "gs" + "k_" + r(52),
        "databricks": "da" + "pi" + hexa(32), "digitalocean": "dop" + "_v1_" + hexa(64), "heroku": "HR" + "KU-" + r(60, URL),
        "netlify": "nf" + "p_" + r(36), "fly.io": "fo" + "1_" + r(43, URL), "shopify": "sh" + "pat_" + hexa(32),
        "vault": "hv" + "s." + r(90, URL), "terraform cloud": r(14) + ".atlas" + "v1." + r(67, URL), "pulumi": "pu" + "l-" + hexa(40),
        "new relic": "NR" + "AK-" + r(27, UPPER), "grafana": "gl" + "sa_" + r(32) + "_" + hexa(8), "sentry": "sn" + "tryu_" + hexa(64),
        "dynatrace": "dt0" + "c01." + r(24, UPPER) + "." + r(64, UPPER), "doppler": "dp" + ".pt." + r(43), "linear": "lin" + "_api_" + r(40),
        "notion": "nt" + "n_" + r(46), "airtable": "pa" + "t" + r(14) + "." + hexa(64), "figma": "fi" + "gd_" + r(40, URL),
        "postman": "PM" + "AK-" + hexa(24) + "-" + hexa(34), "atlassian": "AT" + "ATT3" + r(180, URL), "artifactory": "AK" + "Cp" + r(69),
        "planetscale": "ps" + "cale_pw_" + r(43, URL), "supabase": "sb" + "p_" + hexa(40), "azure client secret": r(3) + "8Q" + "~" + r(34, URL),
        "age": "AGE-SECRET" + "-KEY-1" + r(58, BASE32), "json web token": m.jwt(), "tailscale": "ts" + "key-auth-" + r(12) + "-" + r(32),
        "private key": "-----BEGIN RSA PRIVATE" + f" KEY-----\n{b64(48)}\n", "openssh key": "-----BEGIN OPENSSH PRIVATE" + f" KEY-----\n{b64(48)}",
        "putty key": "PuTTY-User-Key" + f"-File-3: ssh-ed25519\n{b64(48)}",
        # These have no format, and no option name precedes them.
        "cloudflare token, bare": r(40, URL), "twilio token, bare": hexa(32), "heroku key, bare": m.uuid(),
    }
    named = {
        "bearer": "Authorization: Bearer " + r(32), "bearer, two blanks": "Authorization:  Bearer " + r(32),
        "bearer, tab": "Authorization:\tBearer\t" + r(32), "bearer, no blank": "Authorization:Bearer " + r(32),
        "bearer, equals": "Authorization=Bearer " + r(32), "bearer, lower": "authorization: bearer " + r(20),
        "basic": "Authorization: Basic " + m.basic(), "proxy basic": "Proxy-Authorization: Basic " + m.basic(),
        "api key header": "X-API-Key: " + r(32), "api key header, no blank": "X-API-Key:" + r(32), "api key query": "https://example.org/x?api_key=" + r(32),
        "gitlab header": "PRIVATE-TOKEN:" + r(20), "npmrc token": "//registry.npmjs.org/:_authToken=" + m.uuid(), "npmrc auth": "//registry.example.org/:_auth=" + m.basic(),
        "npmrc password": "//registry.example.org/:_password=" + b64(12), "password": "password=" + r(12), "password, colon": '"password": "' + r(14) + '"',
        "mysql variable": "MYSQL_PWD=" + r(12), "postgres variable": "PGPASSWORD=" + r(16), "database dsn": "Server=db;User Id=sa;Password=" + r(14) + ";",
        "aws secret": "AWS_SECRET_ACCESS_KEY=" + b64(30), "aws session": "AWS_SESSION_TOKEN=" + b64(200), "azure storage": "DefaultEndpointsProtocol=https;AccountName=x;Account" + "Key=" + b64(64),
        "azure sas": "https://x.blob.core.windows.net/c/b?sv=2022-11-02&sr=b&sig=" + b64(32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
        "azure secret variable": "AZURE_CLIENT_SECRET=" + r(37), "client secret": "client_secret=" + r(32), "access token": "access_token=" + r(40, URL),
        "refresh token": '"refresh_token":"' + r(40, URL) + '"', "twilio variable": "TWILIO_AUTH_TOKEN=" + hexa(32), "cloudflare variable": "CLOUDFLARE_API_TOKEN=" + r(40, URL),
        "rails key": "RAILS_MASTER_KEY=" + hexa(32), "django key": "SECRET_KEY=" + r(50), "docker auth": '{"auths":{"registry.example.org":{"auth":"' + m.basic() + '"}}}',
        "docker auth, blank": '{"auth": "' + m.basic() + '"}', "netrc": f"machine api.example.org login me password {r(12)}", "url password": f"https://me:{r(12)}@example.org/x.git",
        "url token": f"https://{r(40)}@example.org/x.git", "database url": f"postgres://app:{r(16)}@db.example.org/app", "redis url": f"redis://:{r(16)}@cache:6379",
        "amqp url": f"amqps://u:{r(20)}@mq.example.org/v", "aws signed url": "https://b.s3.amazonaws.com/k?X-Amz-Signature=" + hexa(64),
    }
    pairs = {"--token": ["--token", r(40)], "--password": ["--password", r(12)], "--api-key": ["--api-key", r(32)],
             "--client-secret": ["--client-secret", r(32)], "--access-token": ["--access-token", r(40, URL)], "--auth-token": ["--auth-token", hexa(40)],
             "-u user:password": ["-u", "me:" + r(12)]}
    found = {name: [word] for name, word in (bare | named).items()}
    return found | pairs


def secret_of(args):
    """The letters that must not appear anywhere: the end of the longest run in the last argument."""
    runs = "".join(c if c.isalnum() else " " for c in args[-1]).split()
    return max(runs, key=len)[-10:]


# ---- ordinary arguments

WORDS = ("src lib test docs build main index config auth token password secret login user session key api client server util "
         "helper handler parser lexer cache store model view route worker queue job task event stream buffer reader writer").split()
EXTENSIONS = "c h py ts tsx js json md yaml toml rs go java sh lock css html".split()
PATTERNS = [
    "password=", "password\\s*=\\s*", "(?i)password\\s*[:=]\\s*['\"][^'\"]+['\"]", "token: [A-Za-z0-9]{20}", "api_key\\s*=", "Authorization: Bearer",
    "Authorization: Bearer [A-Za-z0-9._-]+", "secret_key", "password: string", "token: Option<String>", "AKIA[0-9A-Z]{16}", "ghp_[A-Za-z0-9]{36}",
    "BEGIN (RSA|EC) PRIVATE KEY", "process\\.env\\.API_KEY", "os\\.environ\\[.TOKEN.\\]", "getToken\\(", "token == null", "password != \"\"", "if token == undefined",
    "PASSWORD=${PASSWORD}", "PASSWORD=$DB_PASSWORD", "token: ${{ secrets.GITHUB_TOKEN }}", "password=<password>", "password=********", "token=xxxxxxxxxxxx",
    "secret: my-app-secret-2", "existingSecret: db-credentials", "secretName: tls-cert-2024", "token := os.Getenv(\"TOKEN1\")", "const token = await getToken2()",
    "password: {{ .Values.db.password }}", "access_token=\\w+", "csrf_token", "X-API-Key:", "x-api-key: $KEY", "client_secret=...", "passwd: files systemd",
    "TO" "DO|FIX" "ME", "^import .* from ['\"]react['\"]$", "fn\\s+\\w+\\(", "https?://[^\\s]+", "\\b[0-9a-f]{40}\\b", "user:password@", "://[^:]+:[^@]+@", "sig=", "&sig=.*",
    "auth: true", "\"auth\": false", "_auth", "_authToken=", "pass: 10, fail: 0", "compass=north2024", "bypass=cache-layer-01", "token_type=bearer", "max_tokens: 4096",
    "tokenizer=gpt2tokenizer", "secretary=office12345", "password_file=/run/secrets/db1", "PWD=/home/user1/project", "OLDPWD=/srv/app2", "password=correcthorse", "login form password",
    "token=v1.2.3-beta.1", "secret=path/to/file1.yaml", "token: com.example.auth2.Token", "privateKey: ./keys/dev1.pem", "key=0123456789", "apikey: string", "token=true", "token=null",
]


def ordinary(count, seed=1):
    """Argument vectors as tools are called with. Many are about passwords and tokens, none has
    one."""
    r = Maker(seed)
    rand, choice = r.random, r.random.choice

    def word():
        return choice(WORDS)

    def plain():
        return choice([name for name in WORDS if name not in ("token", "password", "secret")])

    def name():
        return "".join(part.capitalize() for part in (word(), word())) if rand.random() < 0.3 else word() + choice("-_.") + word()

    def path():
        depth = rand.randrange(1, 9)
        return choice(["", "./", "/", "../"]) + "/".join(name() for _ in range(depth)) + choice(["", "." + choice(EXTENSIONS)])

    def number():
        return str(rand.randrange(10 ** rand.randrange(1, 13)))

    def version():
        return choice(["", "v", "^", "~", ">="]) + ".".join(str(rand.randrange(30)) for _ in range(3)) + choice(["", "-rc.1", "-beta.2", "+build.5"])

    def digest():
        return hashlib.new(choice(["md5", "sha1", "sha256", "sha512"]), rand.randbytes(8)).hexdigest()

    def encoded():
        return base64.b64encode(path().encode()).decode()

    def address():
        host = f"{word()}.example.{choice(['org', 'com', 'net'])}"
        return choice([f"https://{host}/{path()}", f"http://{host}:{rand.randrange(1, 65535)}/?q={word()}&page={number()}",
                       f"ssh://git@{host}/{name()}.git", f"git@{host}:{name()}.git", f"https://{word()}@{host}/", f"{word()}@{host}"])

    def reference():
        return choice([digest(), digest()[:rand.randrange(7, 40)], "HEAD~" + number()[:3], f"refs/heads/{name()}", f"origin/{name()}-{number()}",
                       f"{word()}@{{2.days.ago}}", f"{digest()[:10]}..{digest()[:10]}", f"v{version()}"])

    def value():
        return choice([path, number, version, digest, encoded, address, reference, name, r.uuid])()

    def image():
        return choice([f"{word()}:{version()}", f"ghcr.io/{word()}/{name()}:{digest()[:12]}", f"{word()}@sha256:{hashlib.sha256(rand.randbytes(8)).hexdigest()}"])

    makers = [
        lambda: ["git", "log", f"--since={rand.randrange(1990, 2030)}-01-01", f"--author={word()}@example.org", "-S", choice(PATTERNS), reference(), "--", path()],
        lambda: ["git", "show", f"{reference()}:{path()}"], lambda: ["git", "diff", reference(), reference(), "--", path(), path()],
        lambda: ["git", "grep", "-n", "-e", choice(PATTERNS), "--and", "-e", choice(PATTERNS), reference()],
        lambda: ["git", "log", "--format=" + choice(["%H %an %s", "%h:%ct:%ae", "%(trailers:key=Signed-off-by)"]), "-n", number()],
        lambda: ["rg", "-n", "-i", "-g", f"*.{choice(EXTENSIONS)}", "-e", choice(PATTERNS), path()], lambda: ["rg", choice(PATTERNS), path(), path()],
        lambda: ["rg", "--json", "--regexp", word(), "--type", choice(EXTENSIONS), "--max-count=" + number(), "--replace", f"{plain()}={value()}"],
        lambda: ["npm", "install", f"@{word()}/{name()}@{version()}", "--omit=dev", f"--registry={address()}"],
        lambda: ["npm", "ci", "--ignore-scripts", f"--cache={path()}", "--loglevel", "warn"], lambda: ["npm", "view", f"{name()}@{version()}", "dist.integrity", "sha512-" + r.b64(64)],
        lambda: ["docker", "build", "--network=none", "-t", image(), "--build-arg", f"{plain().upper()}={choice([version, digest, path, number])()}", "--label", f"org.{word()}.revision={digest()}", "."],
        lambda: ["docker", "run", "--rm", "-u", f"{number()}:{number()}", "-v", f"{path()}:{path()}:ro", "-e", f"{word().upper()}_FILE={path()}", image(), name()],
        lambda: ["docker", "build", "--secret", f"id={name()},src={path()}", "-f", path(), "."], lambda: ["docker", "inspect", "--format", "{{.Config.Env}}", digest()],
        lambda: ["jq", choice([".token", ".password // empty", '.auth | keys', '.[] | select(.key == "abc123def")', '.token="x"', '{token: .t, password: .p}']), path()],
        lambda: ["semgrep", "scan", "--config", path(), "--exclude=" + name(), f"--max-target-bytes={number()}"], lambda: ["strace", "-e", "trace=file,network", "git", "status"],
        lambda: ["ast-grep", "run", "-p", choice(["password = $A", "$X.token = $Y", "foo($$$ARGS, token: $T)", "const token: string = $V"]), "-l", choice(EXTENSIONS), path()],
        lambda: ["kubectl", "get", "secret", f"{name()}-{number()}", "-o", f"jsonpath={{.data.{word()}}}"], lambda: ["make", f"{plain().upper()}={value()}", f"-j{number()[:2]}", word()],
        lambda: ["curl", "-fsSL", address(), "-o", path(), "-H", choice(["Accept: application/json", "Authorization: Bearer $TOKEN", "X-Request-Id: " + r.uuid(), "If-None-Match: " + digest()])],
        lambda: ["tool", f"--{word()}-file={path()}", f"--{word()}-id={r.uuid()}", f"--cache-key={choice(['linux', 'mac'])}-key-{digest()}", f"--{word()}-size", number(), f"--page-size={number()}"],
        lambda: ["tool", "--password-stdin", "--token-file", path(), "--password", choice(["", "-", "$PASSWORD", "prompt", "stdin"]), "--token", choice(["none", "auto", "$(cat t)", "env:TOKEN"])],
        lambda: ["tool", *(value() for _ in range(rand.randrange(1, 12)))], lambda: ["tool", *(f"{name()}:{rand.randrange(1, 5000)}:{rand.randrange(1, 200)}" for _ in range(3))],
    ]
    for _ in range(count):
        yield choice(makers)()
