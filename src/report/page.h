/*
 * page.h - writes a page of HTML into a file.
 *
 * A text can reach a page in two ways only: by %s of ck_page_print, which escapes it for HTML, and
 * by ck_page_json, which escapes it for a script element. Markup comes from formats and templates,
 * which are constants of the program.
 */
#ifndef CK_REPORT_PAGE_H
#define CK_REPORT_PAGE_H

#include <stddef.h>
#include <stdint.h>

struct ck_page {
    int fd;
    int error; /* the first negative errno; everything after it is dropped */
    size_t used;
    char bytes[1 << 15];
};

/*
 * Only %s (escaped), %u, %zu, %'zu (with a comma between thousands) and %%.
 */
void ck_page_print(struct ck_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A string of JSON, with its quotes; it can be inside of a script element and of an attribute. */
void ck_page_json(struct ck_page *page, const char *text);

/* Markup, unchanged. */
void ck_page_markup(struct ck_page *page, const char *markup, size_t length);

/* Writes what is still in the buffer. Returns 0 or the first negative errno. */
int ck_page_flush(struct ck_page *page);

/* What a template has at <!--{name}-->. */
struct ck_page_slot {
    const char *name; /* NULL ends the table */
    void (*write)(struct ck_page *page, const void *data);
};

/* Every place of the template must have its slot. */
void ck_page_fill(struct ck_page *page, const char *template, size_t length, const struct ck_page_slot *slots,
                  const void *data);

#endif
