package tls

// InsecureSkipVerify: true
var one = &tls.Config{InsecureSkipVerify: true}                    // FIND go-tls-unverified
var two = tls.Config{MinVersion: 3, InsecureSkipVerify: true}      // FIND go-tls-unverified
var three = http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // FIND go-tls-unverified

func run(config *tls.Config, transport *http.Transport) {
	config.InsecureSkipVerify = true                    // FIND go-tls-unverified
	transport.TLSClientConfig.InsecureSkipVerify = true // FIND go-tls-unverified
	other := tls.Config{
		InsecureSkipVerify: true, // FIND go-tls-unverified
	}
	dial(&tls.Config{InsecureSkipVerify:true})               // FIND go-tls-unverified
	dial(tls.Client(c, &tls.Config{InsecureSkipVerify: true})) // FIND go-tls-unverified
	configs := []*tls.Config{{InsecureSkipVerify: true}}     // FIND go-tls-unverified
	options.TLS.InsecureSkipVerify = true                    // FIND go-tls-unverified
	if options.Insecure {
		config.InsecureSkipVerify = true // FIND go-tls-choice
	}
	if ready {
		config.InsecureSkipVerify = true // FIND go-tls-unverified
	}
	config.InsecureSkipVerify = false
	config.InsecureSkipVerify = insecure
	dial(&tls.Config{ServerName: "x"})
	md5.New()         // FIND go-weak-hash
	sha1.Sum(data)    // FIND go-weak-hash
	sha256.Sum(data)
}
