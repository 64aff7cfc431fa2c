/*
 * url.h - removes a password from the URL of a remote.
 */
#ifndef CK_GATHER_EVIDENCE_URL_H
#define CK_GATHER_EVIDENCE_URL_H

/*
 * Removes, in place, what is before an '@' in the host, and what follows '?' or '#': tokens are
 * passed there. "git@" of an ssh address stays. If it is unclear what is a password, only the
 * scheme is left.
 */
void ck_evidence_url_strip(char *url);

#endif
