/*
 * fuzz_report.c - any JSON as a look at a repository, up to the page and the table. What is
 * written is UTF-8 without a hidden character, has no markup but the page's own, and each field of
 * the table is quoted.
 */
#include "promise.h"

#include "base/fd.h"
#include "base/glyph.h"
#include "base/json.h"
#include "report/gather_page.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OUTPUT_MAX ((size_t)64 << 20)

static char *output_of(const struct ck_gather_view *view, int (*write)(const struct ck_gather_view *view, int fd),
                       size_t *ret_length)
{
    char *text = NULL;
    int fd = memfd_create("report", MFD_CLOEXEC);

    require(fd >= 0 && write(view, fd) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    require(ck_fd_read_text(fd, OUTPUT_MAX, &text, ret_length) == 0);
    ck_fd_close(&fd);
    return text;
}

/* Line ends are the program's own: those of a text are escaped. */
static void is_shown(const char *text, size_t length)
{
    for (size_t i = 0, n; i < length; i += n) {
        bool own = text[i] == '\n' || text[i] == '\r';
        n = own ? 1 : ck_glyph_shown(text + i, length - i);
        require(n > 0);
    }
}

static size_t count(const char *text, const char *what)
{
    size_t found = 0;

    for (; (text = strstr(text, what)); text += strlen(what))
        found++;
    return found;
}

static void check_view(const struct ck_gather_view *view)
{
    size_t length;
    char *text = output_of(view, ck_gather_page_write, &length);

    is_shown(text, length);
    require(count(text, "<script>") == 1 && count(text, "<style>") == 1 && count(text, "<img") == 0);
    require(count(text, "<script") == count(text, "</script>"));
    free(text);
    text = output_of(view, ck_gather_csv_write, &length);
    is_shown(text, length);
    require(count(text, "\r\n") == view->found.count + 1 && count(text, ",\"=") == 0 && count(text, ",\"@") == 0);
    free(text);
}

static void report(struct ck_looks *looks)
{
    struct ck_gather_view view;

    require(ck_gather_page_begin(&view, looks) == 0);
    check_view(&view);
    ck_gather_page_done(&view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ck_look items[1] = {{0}};
    struct ck_looks looks = {.items = items, .count = 1, .repositories = 1};
    struct choke_error error = {0};
    json_t *document =
        ck_json_is_deep((const char *)data, size) ? NULL : json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL);

    if (ck_look_is_document(document)) {
        int r = ck_look_read(&items[0], document, &looks.strings, &error);
        require(r == 0 || error.message[0] != '\0');
        items[0].latest = true;
        items[0].name = items[0].root;
        if (r == 0)
            report(&looks);
    }
    ck_look_done(&items[0]);
    ck_strings_done(&looks.strings);
    json_decref(document);
    return 0;
}
