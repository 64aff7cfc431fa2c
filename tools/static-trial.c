/* Linked once when the build is set up: can the command be a static program with the archives of this system? */
#include <ares.h>
#include <cyaml/cyaml.h>
#include <jansson.h>
#include <seccomp.h>
#include <sodium.h>
#include <yaml.h>

int main(void)
{
    int major, minor, patch;
    yaml_get_version(&major, &minor, &patch);
    (void)cyaml_free(NULL, NULL, NULL, 0);
    (void)seccomp_version();
    json_decref(json_object());
    return sodium_init() < 0 || ares_library_init(ARES_LIB_INIT_ALL) != 0 || major < 0;
}
