#!/bin/sh
host=localhost
curl -k https://localhost/x # FIND sh-tls-unverified
curl --insecure -o x https://localhost/x # FIND sh-tls-unverified
curl -sSLk https://localhost/x # FIND sh-tls-unverified
curl -o x -k "https://$host/x" # FIND sh-tls-unverified
/usr/bin/curl -k https://localhost/x # FIND sh-tls-unverified
x=$(curl -fsk https://localhost/x) # FIND sh-tls-unverified
wget --no-check-certificate https://localhost/x # FIND sh-tls-unverified
wget -q --no-check-certificate -O- https://localhost/x >x # FIND sh-tls-unverified
git -c http.sslVerify=false clone https://localhost/x # FIND sh-tls-unverified
git config --global http.sslVerify false # FIND sh-tls-unverified
npm config set strict-ssl false # FIND sh-tls-unverified
export NODE_TLS_REJECT_UNAUTHORIZED=0 # FIND sh-tls-unverified
NODE_TLS_REJECT_UNAUTHORIZED='0' node server.js # FIND sh-tls-unverified
GIT_SSL_NO_VERIFY=true git clone https://localhost/x # FIND sh-tls-unverified
NODE_TLS_REJECT_UNAUTHORIZED=1
curl -fsSL https://localhost/x
curl --cacert ca.pem https://localhost/x
wget https://localhost/x
echo "curl -k is not safe"
# curl -k https://localhost/x
git config --global http.sslVerify true
echo "$x"
