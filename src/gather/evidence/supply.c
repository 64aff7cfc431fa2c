/*
 * supply.c - reads what the repository is made of (a CycloneDX bill of materials from syft), and
 * the known vulnerabilities of these parts (grype).
 */
#include "gather/evidence/common.h"

#include <stdio.h>
#include <string.h>

/* ---- the bill of materials ---- */

/* What is collected from the components. */
struct bill {
    struct ck_evidence_list packages;        /* everything but single files */
    json_t *ecosystems, *licences;           /* counts by name */
    json_int_t files, unlicensed, malformed; /* components of each kind */
};

/*
 * "pkg:npm/left-pad@1.3.0": npm. The type of a package URL ends at the first slash; NULL or another
 * form is unknown.
 */
static void count_ecosystem(json_t *ecosystems, const char *purl)
{
    char name[32] = "(unknown)";
    size_t length = purl && strncmp(purl, "pkg:", 4) == 0 ? strcspn(purl + 4, "/") : 0;

    if (length > 0 && length < sizeof(name)) {
        memcpy(name, purl + 4, length);
        name[length] = '\0';
    }
    ck_evidence_count(ecosystems, name, 1);
}

/* CycloneDX has a licence as an SPDX id, as a free name, or as an expression. */
static const char *licence_name(const json_t *entry)
{
    const json_t *licence = json_object_get(entry, "license");
    const char *name_or_id = json_string_value(json_object_get(licence, "id"));

    if (!name_or_id)
        name_or_id = json_string_value(json_object_get(licence, "name"));
    return name_or_id ? name_or_id : json_string_value(json_object_get(entry, "expression"));
}

/* At most 16 names of one package are read, so that one package cannot fill the counts. */
static json_t *read_licences(struct bill *bill, const json_t *entries)
{
    json_t *names = json_array();
    size_t index;
    json_t *entry;

    json_array_foreach(entries, index, entry)
    {
        const char *name_or_id = licence_name(entry);
        json_t *text = name_or_id && index < 16 ? ck_evidence_text(name_or_id, strlen(name_or_id)) : NULL;
        if (!text)
            continue;
        /* A name that is not UTF-8 is an object here, and an object has no key to count it by. */
        ck_evidence_count(bill->licences, json_is_string(text) ? json_string_value(text) : "(unreadable)", 1);
        (void)json_array_append_new(names, text);
    }
    bill->unlicensed += json_array_size(names) == 0;
    return names;
}

/* The file that it was found in, as syft reports it. */
static json_t *read_location(const json_t *properties)
{
    size_t index;
    json_t *property;

    json_array_foreach(properties, index, property)
    {
        const char *name = json_string_value(json_object_get(property, "name"));
        const json_t *value = json_object_get(property, "value");
        if (name && strcmp(name, "syft:location:0:path") == 0 && json_is_string(value)) {
            const char *path = json_string_value(value);
            return ck_evidence_text(path + strspn(path, "/"), strlen(path + strspn(path, "/")));
        }
    }
    return NULL;
}

/*
 * syft also lists single files as components. They are counted, not listed: they are not packages.
 */
static void add_component(struct bill *bill, const json_t *component)
{
    const char *type = json_string_value(json_object_get(component, "type"));
    const json_t *purl = json_object_get(component, "purl");

    /* Both members are required by CycloneDX. */
    if (!type || !json_is_string(json_object_get(component, "name"))) {
        bill->malformed++;
        return;
    }
    if (strcmp(type, "file") == 0) {
        bill->files++;
        return;
    }
    /* A leading slash was removed from path: syft prints it as if the root were "/". */
    json_t *package = json_object(), *path = read_location(json_object_get(component, "properties"));
    int bad = ck_evidence_set(package, "name", ck_evidence_string(json_object_get(component, "name")));
    bad |= ck_evidence_set(package, "version", ck_evidence_string(json_object_get(component, "version")));
    bad |= ck_evidence_set(package, "purl", ck_evidence_string(purl));
    bad |= ck_evidence_set(package, "licences", read_licences(bill, json_object_get(component, "licenses")));
    if (path)
        bad |= ck_evidence_set(package, "path", path);
    bill->packages.failed |= bad != 0;
    count_ecosystem(bill->ecosystems, json_string_value(purl));
    ck_evidence_list_add(&bill->packages, package);
}

/* The members are set after all components were read: the counts are complete only then. */
static int set_bill(json_t *document, struct bill *bill, const json_t *report)
{
    size_t index;
    json_t *component;

    json_array_foreach(json_object_get(report, "components"), index, component)
    {
        add_component(bill, component);
    }
    int bad = ck_evidence_set(document, "spec_version", ck_evidence_string(json_object_get(report, "specVersion")));
    bad |= ck_evidence_set_counts(document, "ecosystems", bill->ecosystems);
    bad |= ck_evidence_set_counts(document, "licences", bill->licences);
    bad |= ck_evidence_set(document, "without_licence", json_integer(bill->unlicensed));
    bad |= ck_evidence_set(document, "files", json_integer(bill->files));
    bad |= ck_evidence_set(document, "problems", json_integer(bill->malformed));
    return bad | ck_evidence_set_list(document, "packages", &bill->packages);
}

CK_EVIDENCE_READER(cyclonedx)
{
    struct bill bill = {0};
    json_t *report CK_CLEANUP_JSON = NULL;

    int r = ck_evidence_parse(answers, count, "syft", &report, error);
    if (r < 0)
        return r;
    /*
     * The member that CycloneDX requires, so that another JSON document is not taken for an empty
     * bill.
     */
    const char *format = json_string_value(json_object_get(report, "bomFormat"));
    if (!format || strcmp(format, "CycloneDX") != 0)
        return ck_evidence_not_understood(error, "syft", "it is not a CycloneDX bill of materials");
    bill.ecosystems = json_object();
    bill.licences = json_object();
    json_t *document = json_object();
    int bad = set_bill(document, &bill, report);
    /* All packages, also those beyond the limit of the list. */
    ret_evidence->findings = bill.packages.total;
    ret_evidence->noun = "package";
    ck_evidence_headline(ret_evidence, "%llu package%s of %zu kind%s", (unsigned long long)bill.packages.total,
                         bill.packages.total == 1 ? "" : "s", json_object_size(bill.ecosystems),
                         json_object_size(bill.ecosystems) == 1 ? "" : "s");
    ck_evidence_list_done(&bill.packages);
    json_decref(bill.ecosystems);
    json_decref(bill.licences);
    return ck_evidence_take(ret_evidence, document, bad, error);
}

/* ---- vulnerabilities ---- */

/* Lengths are limited so that a long name cannot push the fixed version out of the text. */
static json_t *describe_match(const json_t *artifact, const json_t *fix)
{
    const char *name = json_string_value(json_object_get(artifact, "name"));
    const char *version = json_string_value(json_object_get(artifact, "version"));
    const char *fixed = json_string_value(json_array_get(json_object_get(fix, "versions"), 0));

    if (!fixed)
        return ck_evidence_format("%.200s %.100s; no fixed release is known", name ? name : "?",
                                  version ? version : "?");
    return ck_evidence_format("%.200s %.100s; fixed in %.100s", name ? name : "?", version ? version : "?", fixed);
}

/* A leading slash is removed from the path: paths in the document are relative to the root. */
static bool add_vulnerability(struct ck_evidence_list *list, json_t *counts, const json_t *match)
{
    const json_t *vulnerability = json_object_get(match, "vulnerability"),
                 *artifact = json_object_get(match, "artifact");
    const json_t *id = json_object_get(vulnerability, "id");
    const char *severity = ck_evidence_severity(json_string_value(json_object_get(vulnerability, "severity")));
    const json_t *location = json_array_get(json_object_get(artifact, "locations"), 0);
    const char *path = json_string_value(json_object_get(location, "path"));

    if (!json_is_string(id) || !json_is_object(artifact))
        return false;
    json_t *finding = json_object();
    int bad = ck_evidence_set(finding, "id", ck_evidence_string(id));
    bad |= ck_evidence_set(finding, "severity", json_string(severity));
    bad |= ck_evidence_set(finding, "message", describe_match(artifact, json_object_get(vulnerability, "fix")));
    bad |= ck_evidence_set(finding, "purl", ck_evidence_string(json_object_get(artifact, "purl")));
    if (path)
        bad |= ck_evidence_set(finding, "path",
                               ck_evidence_text(path + strspn(path, "/"), strlen(path + strspn(path, "/"))));
    list->failed |= bad != 0;
    ck_evidence_count(counts, severity, 1);
    ck_evidence_list_add(list, finding);
    return true;
}

/* A match that cannot be read is counted as a problem, so that the list does not look complete. */
static int set_vulnerabilities(json_t *document, const json_t *report, struct ck_evidence *ret_evidence)
{
    struct ck_evidence_list list CK_CLEANUP_LIST = {0};
    json_t *counts CK_CLEANUP_JSON = json_object();
    json_int_t problems = 0;
    size_t index;
    json_t *match;

    json_array_foreach(json_object_get(report, "matches"), index, match)
    {
        problems += add_vulnerability(&list, counts, match) ? 0 : 1;
    }
    uint64_t worst = ck_evidence_number(json_object_get(counts, "critical"));
    uint64_t high = ck_evidence_number(json_object_get(counts, "high"));
    ret_evidence->findings = list.total;
    ret_evidence->noun = "vulnerability";
    if (list.total == 0)
        ck_evidence_headline(ret_evidence, "no known vulnerability");
    else
        ck_evidence_headline(ret_evidence, "%llu known, %llu critical, %llu high", (unsigned long long)list.total,
                             (unsigned long long)worst, (unsigned long long)high);
    int bad = ck_evidence_set_counts(document, "severities", counts);
    bad |= ck_evidence_set(document, "problems", json_integer(problems));
    return bad | ck_evidence_set_list(document, "findings", &list);
}

CK_EVIDENCE_READER(grype)
{
    json_t *report CK_CLEANUP_JSON = NULL;

    int r = ck_evidence_parse(answers, count, "grype", &report, error);
    if (r < 0)
        return r;
    const json_t *matches = json_object_get(report, "matches");
    /* Null or an absent list would look alike below; only null means that nothing was found. */
    if (!json_is_array(matches) && !json_is_null(matches))
        return ck_evidence_not_understood(error, "grype", "it has no list of matches");
    json_t *document = json_object();
    return ck_evidence_take(ret_evidence, document, set_vulnerabilities(document, report, ret_evidence), error);
}
