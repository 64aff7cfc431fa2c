/*
 * url.h - a remote's URL may carry a password.
 */
#ifndef CK_GATHER_EVIDENCE_URL_H
#define CK_GATHER_EVIDENCE_URL_H

/*
 * Takes out, in place, what stands before an '@' in the name of a host, and what follows '?' or '#': there tokens are
 * carried. "git@" of an ssh address stays. Where it cannot be told what is a password, nothing behind the scheme is left.
 */
void ck_evidence_url_strip(char *url);

#endif
