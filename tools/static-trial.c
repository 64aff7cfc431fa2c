/* Linked once when the build is set up: can the command be a static program with the archives of this system? */
#include <ares.h>
#include <bearssl.h>
#include <cyaml/cyaml.h>
#include <jansson.h>
#include <seccomp.h>
#include <sodium.h>
#include <sqlite3.h>
#include <yaml.h>

int main(void)
{
    int major, minor, patch;
    yaml_get_version(&major, &minor, &patch);
    (void)cyaml_free(NULL, NULL, NULL, 0);
    (void)seccomp_version();
    (void)sqlite3_libversion();
    json_decref(json_object());
    (void)br_ec_get_default();
    return sodium_init() < 0 || ares_library_init(ARES_LIB_INIT_ALL) != 0 || major < 0;
}
