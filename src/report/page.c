/* page.c - see page.h. */
#include "report/page.h"

#include "base/fd.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_MAX 32 /* 20 digits, and a comma after each third */

int ck_page_flush(struct ck_page *page)
{
    if (page->error == 0)
        page->error = ck_fd_write_all(page->fd, page->bytes, page->used);
    page->used = 0;
    return page->error;
}

void ck_page_markup(struct ck_page *page, const char *markup, size_t length)
{
    while (length > 0 && page->error == 0) {
        size_t room = sizeof(page->bytes) - page->used;
        size_t now = length < room ? length : room;
        memcpy(page->bytes + page->used, markup, now);
        page->used += now;
        markup += now;
        length -= now;
        if (page->used == sizeof(page->bytes))
            (void)ck_page_flush(page);
    }
}

static void put(struct ck_page *page, const char *constant)
{
    ck_page_markup(page, constant, strlen(constant));
}

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void put_text(struct ck_page *page, const char *text)
{
    for (size_t n; *text != '\0'; text += n) {
        n = strcspn(text, "&<>\"'");
        ck_page_markup(page, text, n);
        const char *entity = entity_of(text[n]);
        if (entity) {
            put(page, entity);
            n++;
        }
    }
}

static void put_number(struct ck_page *page, size_t number, bool grouped)
{
    char text[NUMBER_MAX];
    size_t at = sizeof(text);
    unsigned digits = 0;

    do {
        if (grouped && digits > 0 && digits % 3 == 0)
            text[--at] = ',';
        text[--at] = (char)('0' + number % 10);
        digits++;
    } while ((number /= 10) > 0);
    ck_page_markup(page, text + at, sizeof(text) - at);
}

void ck_page_print(struct ck_page *page, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    while (*format != '\0') {
        size_t plain = strcspn(format, "%");
        ck_page_markup(page, format, plain);
        format += plain;
        if (*format == '\0')
            break;
        bool grouped = *++format == '\'';
        format += grouped ? 1 : 0;
        char kind = *format++;
        if (kind == 's') {
            put_text(page, va_arg(args, const char *));
        } else if (kind == 'u') {
            put_number(page, va_arg(args, unsigned), grouped);
        } else if (kind == '%') {
            put(page, "%");
        } else {
            /* A mistake in a format of this program. */
            assert(kind == 'z' && *format == 'u');
            format++;
            put_number(page, va_arg(args, size_t), grouped);
        }
    }
    va_end(args);
}

/* '<' too: "</script" would end the element, and "<!--" changes how it is read. */
void ck_page_json(struct ck_page *page, const char *text)
{
    put(page, "\"");
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        char escape[8];
        if (c >= 0x20 && !strchr("\"\\<>&'", c)) {
            ck_page_markup(page, text, 1);
        } else {
            (void)snprintf(escape, sizeof(escape), "\\u%04x", c);
            put(page, escape);
        }
    }
    put(page, "\"");
}

static const struct ck_page_slot *find_slot(const struct ck_page_slot *slots, const char *name, size_t length)
{
    while (slots->name && (strlen(slots->name) != length || memcmp(slots->name, name, length) != 0))
        slots++;
    return slots;
}

void ck_page_fill(struct ck_page *page, const char *template, size_t length, const struct ck_page_slot *slots,
                  const void *data)
{
    static const char opening[] = "<!--{";
    static const char closing[] = "}-->";
    const char *end = template + length;

    while (template <end) {
        const char *place = memmem(template, (size_t)(end - template), opening, sizeof(opening) - 1);
        ck_page_markup(page, template, (size_t)((place ? place : end) - template));
        if (!place)
            break;
        const char *name = place + sizeof(opening) - 1;
        const char *after = memmem(name, (size_t)(end - name), closing, sizeof(closing) - 1);
        assert(after);
        const struct ck_page_slot *slot = find_slot(slots, name, (size_t)(after - name));
        assert(slot->name);
        slot->write(page, data);
        template = after + sizeof(closing) - 1;
    }
}
