/*
 * width.c - decides which of two types, patterns or lists allows more. See width.h.
 *
 * A type is a set of texts, so containment is a small table. Two things are less simple than they
 * look:
 *   - inside, existing and mount are also decided by the file system. A name or a number may be a
 *     symlink that leads out of the root, so neither is contained in inside.
 *   - of several patterns the first that matches the text decides, and if it is a path the others
 *     are not tried. So with a path among them, alternatives are compared one by one, not as a
 *     union.
 */
#include "policy/width.h"

#include "base/destination.h"

#include <string.h>

#define DIGITS "0123456789"
#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS

/* From two questions of containment. A containment that is not proven is false. */
static enum ck_width width_of(bool after_in_before, bool before_in_after)
{
    if (after_in_before)
        return before_in_after ? CK_WIDTH_SAME : CK_WIDTH_NARROWER;
    return before_in_after ? CK_WIDTH_WIDER : CK_WIDTH_OTHER;
}

/* ---- types ------------------------------------------------------------------------------- */

/*
 * Is every text of the type part also of the type whole? NONE of operands allows no operand at all,
 * so every type contains it.
 */
static bool type_within(enum ck_type part, enum ck_type whole)
{
    return part == whole || part == CK_TYPE_NONE || whole == CK_TYPE_ANY ||
           (part == CK_TYPE_EXISTING && whole == CK_TYPE_INSIDE) || (part == CK_TYPE_NUMBER && whole == CK_TYPE_NAME);
}

enum ck_width ck_width_of_types(enum ck_type before, enum ck_type after)
{
    return width_of(type_within(after, before), type_within(before, after));
}

/* ---- patterns ---------------------------------------------------------------------------- */

/* Types that the file system decides about, too. */
static bool is_path(enum ck_type type)
{
    return type == CK_TYPE_INSIDE || type == CK_TYPE_EXISTING || type == CK_TYPE_MOUNT;
}

/*
 * Does a text that begins with these bytes, and continues with a text of the type part, belong to
 * whole?
 */
static bool text_within(const char *text, enum ck_type part, enum ck_type whole)
{
    size_t length = strlen(text);
    if (whole == CK_TYPE_ANY)
        return true;
    if (part != CK_TYPE_NONE && !(part == CK_TYPE_NUMBER || part == CK_TYPE_NAME))
        return false;
    if (whole == CK_TYPE_NUMBER)
        return part != CK_TYPE_NAME && strspn(text, DIGITS) == length;
    return whole == CK_TYPE_NAME && strchr(ALNUM "_", text[0]) && strspn(text, ALNUM "_./:@+,%-") == length &&
           !strstr(text, "..");
}

/* As a pattern NONE is the empty text, which only ANY contains. */
static bool pattern_within(const struct ck_pattern *part, const struct ck_pattern *whole)
{
    size_t length = strlen(whole->text);
    if (strncmp(part->text, whole->text, length) != 0)
        return false;
    const char *rest = part->text + length;
    if (rest[0] != '\0')
        return text_within(rest, part->type, whole->type);
    if (part->type == CK_TYPE_NONE)
        return whole->type == CK_TYPE_NONE || whole->type == CK_TYPE_ANY;
    return type_within(part->type, whole->type);
}

static bool has_path(const struct ck_arg_option *option)
{
    for (uint32_t i = 0; i < option->patterns_count; i++)
        if (is_path(option->patterns[i].type))
            return true;
    return false;
}

/*
 * Each pattern in the one at the same place. For a path the literal text must be equal: what
 * follows it is the path that is checked.
 */
static bool within_by_place(const struct ck_arg_option *part, const struct ck_arg_option *whole)
{
    if (part->patterns_count != whole->patterns_count)
        return false;
    for (uint32_t i = 0; i < part->patterns_count; i++) {
        const struct ck_pattern *a = &part->patterns[i];
        const struct ck_pattern *b = &whole->patterns[i];
        if (!pattern_within(a, b) || (is_path(b->type) && strcmp(a->text, b->text) != 0))
            return false;
    }
    return true;
}

/* Each pattern in any of the others. */
static bool within_by_union(const struct ck_arg_option *part, const struct ck_arg_option *whole)
{
    for (uint32_t i = 0; i < part->patterns_count; i++) {
        uint32_t k = 0;
        while (k < whole->patterns_count && !pattern_within(&part->patterns[i], &whole->patterns[k]))
            k++;
        if (k == whole->patterns_count)
            return false;
    }
    return true;
}

/* ---- options ----------------------------------------------------------------------------- */

/* Is every use of part also a use of whole? */
static bool option_within(const struct ck_arg_option *part, const struct ck_arg_option *whole)
{
    /* "-x" may be in a bundle, and then what follows it is parsed differently. */
    if (part->form == CK_FORM_FLAG && whole->form == CK_FORM_OPTIONAL)
        return strncmp(part->name, "--", 2) == 0;
    if (part->form != whole->form)
        return false;
    if (part->form == CK_FORM_ARGUMENTS || has_path(part) || has_path(whole))
        return within_by_place(part, whole);
    return within_by_union(part, whole);
}

enum ck_width ck_width_of_options(const struct ck_arg_option *before, const struct ck_arg_option *after)
{
    return width_of(option_within(after, before), option_within(before, after));
}

/* ---- destinations ------------------------------------------------------------------------ */

bool ck_width_destination_within(const char *inner, const char *outer)
{
    struct ck_destination wanted, granted;
    const char *reason;
    return ck_destination_parse(inner, &wanted, &reason) == 0 && ck_destination_parse(outer, &granted, &reason) == 0 &&
           ck_destination_covers(&granted, &wanted);
}
