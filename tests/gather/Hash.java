class Hash {
    void run() {
        MessageDigest.getInstance("MD5"); // FIND java-weak-hash
        MessageDigest.getInstance("SHA-1"); // FIND java-weak-hash
        MessageDigest.getInstance("SHA-256");
    }
}
