crypto.createHash("md5"); // FIND js-weak-hash
crypto.createHash('md5'); // FIND js-weak-hash
crypto.createHash(`sha1`); // FIND js-sha1
createHash("SHA1").update(data); // FIND js-sha1
require("crypto").createHash("sha-1"); // FIND js-sha1
crypto.createHash("RSA-MD5"); // FIND js-weak-hash
const hash = nodeCrypto.createHash("md4"); // FIND js-weak-hash
crypto.createHmac("md5", key); // FIND js-weak-hash
export const name = (data) => crypto.createHash("md5").update(data).digest("hex"); // FIND js-weak-hash
crypto.createHash( // FIND js-weak-hash
  "md5");
crypto.createHash("sha256");
crypto.createHmac("sha1", key);
crypto.createHash(algorithm);
// crypto.createHash("md5");
const text = 'crypto.createHash("md5")';

crypto.createHash("md5").update(password); // FIND js-weak-hash js-weak-hash-of-secret
crypto.createHash("sha1").update(user.password); // FIND js-sha1 js-weak-hash-of-secret
crypto.createHash("sha256").update(password).digest("hex"); // FIND js-weak-hash-of-secret
createHash("sha256").update(salt + pwd); // FIND js-weak-hash-of-secret
createHash('sha256').update(`${salt}${passwd}`); // FIND js-weak-hash-of-secret
crypto.createHash("SHA256").update(form.passphrase, "utf8").digest(); // FIND js-weak-hash-of-secret
crypto.createHash("SHA256").update(form.name, "utf8").digest();
crypto.createHash("sha-256").update(passphrase); // FIND js-weak-hash-of-secret
crypto.createHash("md5").update(this.password); // FIND js-weak-hash js-weak-hash-of-secret
const stored = crypto.createHash("sha1").update(newPassword).digest("base64"); // FIND js-sha1 js-weak-hash-of-secret
return_(crypto.createHash("sha256").update(Buffer.from(password))); // FIND js-weak-hash-of-secret
crypto.createHash(`md5`).update(passwords[0]); // FIND js-weak-hash js-weak-hash-of-secret
crypto.createHash("sha256").update(document);
crypto.scryptSync(password, salt, 64);
export class Names {
  first = crypto.createHash("MD5"); // FIND js-weak-hash
  second(data) { return crypto.createHash('md4').update(data); } // FIND js-weak-hash
}
const hashes = ["a"].map((one) => nodeCrypto.createHash("md5").update(one)); // FIND js-weak-hash
export default crypto.createHash("md5"); // FIND js-weak-hash
