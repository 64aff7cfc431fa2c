/*
 * event.c - prints an event as one line with one write, so that lines of several processes do not
 * mix.
 *
 * As text, refusals, timeouts and denials are left out: the command ends with the same message. If
 * output is passed on as it arrives, truncation is left out too: it affects only the captured copy,
 * which is not shown.
 */
#include "cli/event.h"

#include "front/jansson.h"
#include "front/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* There are three levels; a new one would be shown as a warning. */
static const char *level_name(enum choke_level level)
{
    if (level == CHOKE_DEBUG)
        return "debug";
    return level == CHOKE_INFO ? "info" : "warning";
}

/* With --json every event is printed: the program that reads them filters. */
static void print_json(struct ck_outlet *notes, const struct choke_event *event)
{
    json_t *line = json_object();
    int bad = 0;

    bad |= json_object_set_new(line, "event", ck_jansson_text(event->name));
    bad |= json_object_set_new(line, "level", ck_jansson_text(level_name(event->level)));
    for (size_t i = 0; i < event->field_count; i++)
        bad |= json_object_set_new(line, event->fields[i].key, ck_jansson_text(event->fields[i].value));
    /* A failure of the notes ends nothing (session.h). */
    if (bad)
        notes->error = ENOMEM;
    else
        ck_jansson_write(notes, line);
    json_decref(line);
}

/* A field without a value is left out. */
static void print_text(struct ck_outlet *notes, const struct choke_event *event)
{
    char *text = NULL;
    size_t length = 0;

    FILE *line = open_memstream(&text, &length);
    if (!line) {
        notes->error = ENOMEM;
        return;
    }
    (void)fprintf(line, "chokepoint: %s: %s", level_name(event->level), event->name);
    for (size_t i = 0; i < event->field_count; i++) {
        if (!event->fields[i].value || event->fields[i].value[0] == '\0')
            continue;
        (void)fprintf(line, " %s=", event->fields[i].key);
        ck_text_print_quoted(line, event->fields[i].value);
    }
    (void)fputc('\n', line);
    if (fclose(line) == 0)
        ck_outlet_write(notes, text, length);
    else
        notes->error = ENOMEM;
    free(text);
}

/* The names are those in chokepoint.h. */
static bool is_reported_elsewhere(enum ck_report_form form, const char *name)
{
    if (strcmp(name, "subproc.stdout.truncated") == 0)
        return ck_report_is_stream(form);
    if (ck_report_is_json(form))
        return false;
    return strcmp(name, "subproc.refused") == 0 || strcmp(name, "subproc.timeout") == 0 ||
           strcmp(name, "subproc.denied") == 0;
}

void ck_event_print(void *data, const struct choke_event *event)
{
    struct ck_event_printer *printer = data;

    /* The levels are ordered. */
    if (event->level < CHOKE_WARNING && !printer->verbose)
        return;
    if (is_reported_elsewhere(printer->form, event->name))
        return;
    if (ck_report_is_json(printer->form))
        print_json(printer->notes, event);
    else
        print_text(printer->notes, event);
}
