/*
 * fuzz_gather.c - any bytes as a file of probes. A file that loads keeps the promises of the
 * header: names are valid, each call begins with its tool, needed probes exist, and so do the
 * placeholders. A file that does not load has an error with line and column.
 *
 * The globs of a loaded file are matched against the paths of a small repository, which must end.
 */
#include "promise.h"

#include "gather/call_report.h"
#include "gather/evidence/evidence.h"
#include "gather/files.h"
#include "gather/probes.h"

#include <errno.h>
#include <string.h>

static const char *const paths[] = {"Dockerfile", "src/a/b/c.ts", "-rf", "\xff\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"};

static void check_name(const char *name)
{
    require(name[0] >= 'a' && name[0] <= 'z' && strlen(name) <= 64);
    require(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name));
}

static bool is_known(const struct ck_probes *probes, const char *name)
{
    for (size_t i = 0; i < probes->count; i++)
        if (strcmp(probes->items[i].name, name) == 0)
            return true;
    return false;
}

static void check_call(const struct ck_probe *probe, const struct ck_probe_call *call)
{
    char *found[] = {(char[]){"-rf"}, (char[]){"a"}, NULL};
    const struct ck_matches matches = {.paths = found, .count = 2};

    check_name(call->id);
    require(strcmp(call->argv[0], call->tool ? call->tool : probe->tool) == 0);
    require(!(call->input.text && call->input.probe));
    char **argv = ck_call_report_argv(call, &matches);
    require(argv);
    for (char **arg = argv; *arg; arg++)
        require(strcmp(*arg, CK_PROBE_FILE) != 0 && strcmp(*arg, CK_PROBE_FILES) != 0);
    ck_call_report_free_argv(argv);
}

static void check_probe(const struct ck_probes *probes, const struct ck_probe *probe)
{
    check_name(probe->name);
    require(probe->call_count >= 1 && probe->call_count <= CK_PROBE_CALLS_MAX);
    require(probe->max_output_mib >= 1 && probe->max_output_mib <= 64);
    require(ck_evidence_find(probe->output) && ck_probes_layer_name(probe->layer));
    for (const char *const *need = probe->needs; *need; need++)
        require(is_known(probes, *need) && strcmp(*need, probe->name) != 0);
    for (size_t i = 0; i < probe->call_count; i++)
        check_call(probe, &probe->calls[i]);
    for (const char *const *glob = probe->opens; *glob; glob++)
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
            (void)ck_glob_match(*glob, paths[i]);
    for (const char *const *glob = probe->applies_when; *glob; glob++)
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
            (void)ck_glob_match(*glob, paths[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct ck_yaml_source source = {"fuzz", (const char *)data, size};
    struct ck_probes probes = {0};
    struct choke_error error = {0};

    int r = ck_probes_parse(&source, &probes, &error);
    require(r == 0 || (r == -EINVAL && error.line >= 1 && error.column >= 1 && error.message[0] != '\0') ||
            r == -ENOMEM);
    for (size_t i = 0; r == 0 && i < probes.count; i++)
        check_probe(&probes, &probes.items[i]);
    ck_probes_done(&probes);
    return 0;
}
