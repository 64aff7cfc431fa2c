https.get({rejectUnauthorized: false}); // FIND js-tls-unverified
const agent = new https.Agent({ rejectUnauthorized: false, keepAlive: true }); // FIND js-tls-unverified
tls.connect(443, { "rejectUnauthorized": false }); // FIND js-tls-unverified
options.rejectUnauthorized = false; // FIND js-tls-unverified
request({ url, strictSSL: false }); // FIND js-tls-unverified
this.options.strictSSL = false; // FIND js-tls-unverified
process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0"; // FIND js-tls-unverified
process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = 0; // FIND js-tls-unverified
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'; // FIND js-tls-unverified
mysql.createConnection({ ssl: { rejectUnauthorized: false } }); // FIND js-tls-unverified
axios.create({ httpsAgent: new https.Agent({ rejectUnauthorized: !1 }) }); // FIND js-tls-unverified
tls.connect({ checkServerIdentity: () => undefined }); // FIND js-tls-unverified
tls.connect({ checkServerIdentity: (host, cert) => {} }); // FIND js-tls-unverified
tls.connect({ "checkServerIdentity": function () { return null; } }); // FIND js-tls-unverified
tls.connect({ checkServerIdentity: (host, cert) => check(host, cert) });
tls.connect({ checkServerIdentity: function (host) { if (host !== name) return new Error(host); } });
https.get({rejectUnauthorized: true});
https.get({rejectUnauthorized: strict});
delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
process.env.NODE_TLS_REJECT_UNAUTHORIZED = "1";
// https.get({rejectUnauthorized: false});
