int run(CURL *curl, SSL_CTX *ctx)
{
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);          // FIND c-tls-unverified
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0);           // FIND c-tls-unverified
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);          // FIND c-tls-unverified
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0);           // FIND c-tls-unverified
    curl_easy_setopt(self->curl, CURLOPT_SSL_VERIFYPEER, false); // FIND c-tls-unverified
    (void)curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, FALSE); // FIND c-tls-unverified
    if (curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L))      // FIND c-tls-unverified
        return 1;
    curl_easy_setopt( // FIND c-tls-unverified
        curl, CURLOPT_SSL_VERIFYPEER, 0L);
    if (!ssl_verify)
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L); // FIND c-tls-choice
    if (ready)
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L); // FIND c-tls-unverified
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 0L);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    CHECK(curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L)); // FIND c-tls-unverified
    int r = curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0); // FIND c-tls-unverified
    SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
    // curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    gets(line);         // FIND c-unbounded-read
    system(argv[1]);    // FIND c-shell-of-value c-shell-of-input
    popen(optarg, "r"); // FIND c-shell-of-value c-shell-of-input
    system(command);    // FIND c-shell-of-value
    system("ls argv");
    printf(text);          // FIND c-format-of-value
    fprintf(stderr, text); // FIND c-format-of-value
    fprintf(stderr, "text");
    EVP_md5(); // FIND c-weak-hash
    return 0;
}
