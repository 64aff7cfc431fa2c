/*
 * documents.c - reads which documents a repository has, and where they lead: `output: documents`.
 *
 * The call `documents` lists them, `titles` prints the first heading of each, and `links` each
 * address in them. Nothing is fetched. Passwords and tokens in an address are removed.
 */
#include "gather/evidence/common.h"
#include "gather/evidence/rg.h"
#include "gather/evidence/url.h"

#include <stdlib.h>
#include <string.h>

#define HELD_MAX 20000 /* titles, and different links: later ones are only counted */

struct documents {
    json_t *titles; /* by path; keys may be no UTF-8, and are never written */
    json_t *counts; /* links by path */
    json_t *links;  /* by address: the first place, and how often */
    json_t *hosts;
    uint64_t link_total, problems;
    bool incomplete;
};

/* The caller frees it. */
static char *copy_path(const struct ck_rg_record *record)
{
    return ck_evidence_copy(record->path, record->path_length);
}

static void note_reader(struct documents *documents, const struct ck_rg_reader *reader)
{
    documents->problems += reader->problems;
    documents->incomplete = documents->incomplete || reader->incomplete;
}

static void read_titles(struct documents *documents, const struct ck_answer *answer)
{
    struct ck_rg_reader reader;
    struct ck_rg_record record;

    ck_rg_begin(&reader, answer);
    while (ck_rg_next(&reader, &record)) {
        char *path = copy_path(&record);
        if (path && json_object_size(documents->titles) < HELD_MAX && !json_object_get(documents->titles, path))
            (void)json_object_set_new_nocheck(documents->titles, path,
                                              ck_evidence_text(record.text, record.text_length));
        free(path);
    }
    note_reader(documents, &reader);
}

/* What is between "//" and the path, without a port. */
static void count_host(json_t *hosts, const char *url)
{
    const char *host = strstr(url, "//");
    char name[256];

    if (!host)
        return;
    host += 2;
    size_t length = strcspn(host, ":/\\");
    if (length == 0 || length >= sizeof(name))
        return;
    memcpy(name, host, length);
    name[length] = '\0';
    ck_evidence_count(hosts, name, 1);
}

/* An address in running text ends before the punctuation after it. */
static void trim(char *url)
{
    size_t length = strlen(url);
    while (length > 0 && strchr(".,;:!?*_'", url[length - 1]))
        url[--length] = '\0';
}

/* The search is sorted by path, so the first place is the first one of the output. */
static void add_link(struct documents *documents, const struct ck_rg_record *record)
{
    char *url = ck_evidence_copy(record->text, record->text_length);
    char *path = copy_path(record);
    json_t *link = NULL;

    if (url && path) {
        ck_evidence_url_strip(url);
        trim(url);
        documents->link_total++;
        count_host(documents->hosts, url);
        json_int_t before = json_integer_value(json_object_get(documents->counts, path));
        (void)json_object_set_new_nocheck(documents->counts, path, json_integer(before + 1));
        link = json_object_get(documents->links, url);
    }
    if (link) {
        json_int_t count = json_integer_value(json_object_get(link, "count"));
        (void)json_object_set_new(link, "count", json_integer(count + 1));
    } else if (url && path && json_object_size(documents->links) < HELD_MAX) {
        link = json_object();
        (void)ck_evidence_set(link, "url", ck_evidence_text(url, strlen(url)));
        (void)ck_evidence_set(link, "path", ck_evidence_path(record->path, record->path_length));
        (void)ck_evidence_set(link, "line", json_integer((json_int_t)record->line));
        (void)ck_evidence_set(link, "count", json_integer(1));
        (void)json_object_set_new_nocheck(documents->links, url, link);
    }
    free(url);
    free(path);
}

static void read_links(struct documents *documents, const struct ck_answer *answer)
{
    struct ck_rg_reader reader;
    struct ck_rg_record record;

    ck_rg_begin(&reader, answer);
    while (ck_rg_next(&reader, &record))
        add_link(documents, &record);
    note_reader(documents, &reader);
}

static void list_documents(const struct documents *documents, const struct ck_answer *answer,
                           struct ck_evidence_list *list)
{
    struct ck_rg_reader reader;
    const char *path;

    ck_rg_begin(&reader, answer);
    while (ck_rg_next_file(&reader, &path)) {
        json_t *item = json_object();
        json_t *title = json_object_get(documents->titles, path);
        json_int_t links = json_integer_value(json_object_get(documents->counts, path));
        int bad = ck_evidence_set(item, "path", ck_evidence_path(path, strlen(path)));
        bad |= ck_evidence_set(item, "title", title ? json_incref(title) : json_null());
        bad |= ck_evidence_set(item, "links", json_integer(links));
        list->failed |= bad != 0;
        ck_evidence_list_add(list, item);
    }
}

static int set_document(json_t *document, const struct documents *documents, const struct ck_answer *listed,
                        struct ck_evidence *evidence)
{
    struct ck_evidence_list files CK_CLEANUP_LIST = {0}, links CK_CLEANUP_LIST = {0};
    const char *url;
    json_t *link;

    if (listed)
        list_documents(documents, listed, &files);
    json_object_foreach(documents->links, url, link)
    {
        ck_evidence_list_add(&links, json_incref(link));
    }
    size_t hosts = json_object_size(documents->hosts);
    evidence->findings = files.total;
    evidence->noun = "document";
    ck_evidence_headline(evidence, "%llu document%s, %llu link%s to %zu host%s", (unsigned long long)files.total,
                         files.total == 1 ? "" : "s", (unsigned long long)documents->link_total,
                         documents->link_total == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s");
    int bad = ck_evidence_set(document, "incomplete", json_boolean(documents->incomplete || documents->problems > 0));
    bad |= ck_evidence_set_list(document, "documents", &files);
    bad |= ck_evidence_set_list(document, "links", &links);
    bad |= ck_evidence_set(document, "occurrences", json_integer((json_int_t)documents->link_total));
    return bad | ck_evidence_set_counts(document, "hosts", documents->hosts);
}

CK_EVIDENCE_READER(documents)
{
    const struct ck_answer *titles = ck_evidence_find_answer(answers, count, "titles");
    const struct ck_answer *links = ck_evidence_find_answer(answers, count, "links");
    struct documents documents = {
        .titles = json_object(), .counts = json_object(), .links = json_object(), .hosts = json_object()};
    json_t *document = json_object();

    if (titles)
        read_titles(&documents, titles);
    if (links)
        read_links(&documents, links);
    int bad = set_document(document, &documents, ck_evidence_find_answer(answers, count, "documents"), ret_evidence);
    json_decref(documents.titles);
    json_decref(documents.counts);
    json_decref(documents.links);
    json_decref(documents.hosts);
    return ck_evidence_take(ret_evidence, document, bad, error);
}
