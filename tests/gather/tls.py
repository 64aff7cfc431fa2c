requests.get(url, verify=False)  # FIND py-tls-unverified
requests.post(url, data=data, verify=False, timeout=3)  # FIND py-tls-unverified
session.request("GET", url, verify=False)  # FIND py-tls-unverified
httpx.Client(verify=False)  # FIND py-tls-unverified
async_client = httpx.AsyncClient(http2=True, verify = False)  # FIND py-tls-unverified
self.session.verify = False  # FIND py-tls-unverified
ssl._create_unverified_context()  # FIND py-tls-unverified
ssl._create_default_https_context = ssl._create_unverified_context  # FIND py-tls-unverified
context.verify_mode = ssl.CERT_NONE  # FIND py-tls-unverified
context.check_hostname = False  # FIND py-tls-unverified
urllib3.PoolManager(cert_reqs="CERT_NONE")  # FIND py-tls-unverified
ssl.wrap_socket(sock, cert_reqs=ssl.CERT_NONE)  # FIND py-tls-unverified
urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)  # FIND py-tls-unverified
aiohttp.TCPConnector(ssl=False)  # FIND py-tls-unverified
aiohttp.TCPConnector(limit=3, verify_ssl=False)  # FIND py-tls-unverified
session.get(url, ssl=False)  # FIND py-tls-unverified
aiohttp.TCPConnector(ssl=context)
smtp.connect(host, ssl=False)
manifests.get(name, node, verify=False)
requests.get(url, verify=True)
requests.get(url, verify="ca.pem")
store.read(oid, verify=False)
jwt.decode(token, verify=False)
# requests.get(url, verify=False)
context.verify_mode = ssl.CERT_REQUIRED
context.check_hostname = True
