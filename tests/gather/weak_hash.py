"""What follows FIND on a line must be found there, and nothing else."""
import hashlib
import hashlib as h
from hashlib import md5, sha1, sha256

hashlib.md5(data)  # FIND py-weak-hash
hashlib.sha1()  # FIND py-sha1
hashlib.new("md5")  # FIND py-weak-hash
hashlib.new('SHA1', data)  # FIND py-sha1
hashlib.new("sha-1")  # FIND py-sha1
h.md5(data)  # FIND py-weak-hash
h.sha1(data).hexdigest()  # FIND py-sha1
md5(data)  # FIND py-weak-hash
digest = sha1(data).digest()  # FIND py-sha1
hashlib.md5(  # FIND py-weak-hash
    data)
table = {"a": hashlib.md5(b"a").hexdigest()}  # FIND py-weak-hash
hashes.MD5()  # FIND py-weak-hash
hashlib.sha256(data)
hashlib.new("sha256", data)
hashlib.md5(data, usedforsecurity=False)
hashlib.new("md5", usedforsecurity=False)
# hashlib.md5(data)
text = "hashlib.md5(data)"
md5sum(data)
self.md5 = None

hashlib.md5(password)  # FIND py-weak-hash py-weak-hash-of-secret
hashlib.sha1(password.encode())  # FIND py-sha1 py-weak-hash-of-secret
hashlib.sha256(password)  # FIND py-weak-hash-of-secret
md5(user.passwd)  # FIND py-weak-hash py-weak-hash-of-secret
sha1(salt + pwd)  # FIND py-sha1 py-weak-hash-of-secret
hashlib.sha256(f"{salt}{password}".encode())  # FIND py-weak-hash-of-secret
hashlib.md5(form["password"])  # FIND py-weak-hash py-weak-hash-of-secret
hashlib.sha1(bytes(PASSPHRASE))  # FIND py-sha1 py-weak-hash-of-secret
hashlib.sha256((salt + self.password).encode("utf-8")).hexdigest()  # FIND py-weak-hash-of-secret
stored = hashlib.md5(str(new_password)).hexdigest()  # FIND py-weak-hash py-weak-hash-of-secret
hashlib.sha256(document)
hashlib.scrypt(password, salt=salt, n=2, r=8, p=1)

def more(data):
    yield hashlib.md5(data, usedforsecurity=True)  # FIND py-weak-hash
    yield hashlib.new("MD4", data)  # FIND py-weak-hash
    yield md5()  # FIND py-weak-hash
    yield [h.md5(one) for one in data]  # FIND py-weak-hash
