/*
 * prefilter.c - looks for the words of triggers in a text. See prefilter.h.
 *
 * One pass over the bytes. A hash is computed along each word. At the end of the word it is looked
 * up in a Bloom filter, which rejects nearly every word, and then in a table. The words that the
 * text has are a set of at most BITS_MAX bits, and a trigger is such a set too.
 *
 * Python. Prose about "the system" occurs in comments and strings, and a third of all texts would
 * be parsed for it. To skip them the end of a string must be found without error: code that is
 * taken for a string would not be scanned. A plain string is simple. A formatted string may have
 * expressions, which may have strings again. If its end is not obvious, all that follows in the
 * file counts as code.
 *
 * A byte beyond ASCII is part of a word, so that "évaluer" does not look like "valuer". Python
 * reads some words with such letters as ASCII (python_fold.h), and they count as ASCII here.
 */
#include "lint/prefilter.h"

#include "base/error.h"
#include "base/quote.h"
#include "lint/lang/python_fold.h"

#include <errno.h>
#include <string.h>

#define BITS_MAX 256     /* words and pairs of one language together */
#define TRIGGERS_MAX 512 /* of one language */
#define SLOTS 1024       /* a power of two, several times BITS_MAX */
#define BLOOM_BITS 16384 /* 2 KiB, which stay in the cache of the CPU */
/* FNV-1a with 32 bits. */
#define HASH_START 2166136261u
#define HASH_STEP 16777619u
#define NAME_MAX_BYTES 64 /* of a string that may be a name */

/* A word of a trigger or a lookup. */
struct word {
    const char *text;
    uint32_t length, hash;
    uint32_t bit; /* in struct word_set */
};

/* The bit is set when second comes right after first. Both are numbers of words. */
struct pair {
    uint32_t first, second, bit;
};

/* One bit for each word and each pair. */
struct word_set {
    uint64_t bits[BITS_MAX / 64];
};

struct ck_prefilter {
    struct word words[BITS_MAX];
    struct pair pairs[BITS_MAX];
    uint32_t words_count, pairs_count, bits_count; /* bits: words and pairs */
    uint16_t slots[SLOTS];                         /* the number of a word plus one; 0: empty */
    uint64_t bloom[BLOOM_BITS / 64];
    struct word_set triggers[TRIGGERS_MAX];
    uint32_t triggers_count;
    struct word_set lookups; /* words after which strings count */
    bool always, python;     /* always: a trigger is "*"; python: skip strings and comments */
};

/* A table, because this is asked for every byte of every file. */
static const bool word_bytes[256] = {
    ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['_'] = true, [0x80 ... 0xff] = true,
};

static bool is_word_byte(char byte)
{
    return word_bytes[(unsigned char)byte];
}

int ck_prefilter_new(struct ck_arena *arena, struct ck_prefilter **ret_prefilter, struct choke_error *error)
{
    struct ck_prefilter *prefilter = ck_arena_alloc(arena, sizeof(*prefilter));
    if (!prefilter)
        return ck_error_oom(error);
    *ret_prefilter = prefilter;
    return 0;
}

/* ---- words ------------------------------------------------------------------------------- */

/* The slot of the word, or the empty slot where it belongs. */
static uint32_t find_slot(const struct ck_prefilter *prefilter, const char *text, size_t length, uint32_t hash)
{
    uint32_t slot = hash % SLOTS;
    for (; prefilter->slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        const struct word *word = &prefilter->words[prefilter->slots[slot] - 1];
        if (word->hash == hash && word->length == length && memcmp(word->text, text, length) == 0)
            break;
    }
    return slot;
}

/* The same hash as in read_word, which computes it along the way. */
static uint32_t hash_word(const char *text, size_t length)
{
    uint32_t hash = HASH_START;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * HASH_STEP;
    return hash;
}

static void set_bit(struct word_set *set, uint32_t bit)
{
    set->bits[bit / 64] |= (uint64_t)1 << (bit % 64);
}

static bool has_bit(const struct word_set *set, uint32_t bit)
{
    return (set->bits[bit / 64] >> (bit % 64) & 1) != 0;
}

/*
 * Returns the number of the word, adding it if it is new; -1 if there is no room or it is not a
 * word.
 */
static int enter_word(struct ck_prefilter *prefilter, struct ck_arena *arena, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        /* Triggers are ASCII, as all names in rules are. */
        if (!is_word_byte(text[i]) || (unsigned char)text[i] >= 0x80)
            return -1;
    uint32_t hash = hash_word(text, length);
    uint32_t slot = find_slot(prefilter, text, length, hash);
    if (prefilter->slots[slot] != 0)
        return prefilter->slots[slot] - 1;
    /* Each word takes a bit, so this bounds the words too, and SLOTS is never full. */
    bool room = length > 0 && prefilter->bits_count < BITS_MAX;
    char *copy = room ? ck_arena_memdup(arena, text, length) : NULL;
    if (!copy)
        return -1;
    prefilter->words[prefilter->words_count] = (struct word){copy, (uint32_t)length, hash, prefilter->bits_count++};
    prefilter->slots[slot] = (uint16_t)++prefilter->words_count;
    prefilter->bloom[hash % BLOOM_BITS / 64] |= (uint64_t)1 << (hash % BLOOM_BITS % 64);
    return (int)prefilter->words_count - 1;
}

/* The bit of "a" or "a+b"; -1 if it is malformed or does not fit. */
static int enter_part(struct ck_prefilter *prefilter, struct ck_arena *arena, const char *text, size_t length)
{
    const char *plus = memchr(text, '+', length);
    size_t first_length = plus ? (size_t)(plus - text) : length;
    int first = enter_word(prefilter, arena, text, first_length);
    if (first < 0 || !plus)
        return first < 0 ? -1 : (int)prefilter->words[first].bit;
    int second = enter_word(prefilter, arena, plus + 1, length - first_length - 1);
    if (second < 0 || prefilter->bits_count == BITS_MAX)
        return -1;
    prefilter->pairs[prefilter->pairs_count++] =
        (struct pair){(uint32_t)first, (uint32_t)second, prefilter->bits_count};
    return (int)prefilter->bits_count++;
}

int ck_prefilter_add(struct ck_prefilter *prefilter, struct ck_arena *arena, const char *trigger,
                     struct choke_error *error)
{
    if (strcmp(trigger, "*") == 0) {
        prefilter->always = true;
        return 0;
    }
    if (prefilter->triggers_count == TRIGGERS_MAX)
        return ck_error_set(error, CHOKE_NONE, EINVAL, "more than %d triggers", TRIGGERS_MAX);
    struct word_set *set = &prefilter->triggers[prefilter->triggers_count];
    /* at is at the first byte of a word. The loop steps over the space after it. */
    for (const char *at = trigger;; at++) {
        size_t length = strcspn(at, " ");
        int bit = enter_part(prefilter, arena, at, length);
        if (bit < 0)
            return ck_error_set(error, CHOKE_NONE, EINVAL,
                                "trigger '%s' is not words separated by single spaces, or has too many words",
                                CK_QUOTE(trigger));
        set_bit(set, (uint32_t)bit);
        at += length;
        if (*at == '\0')
            break;
    }
    prefilter->triggers_count++;
    return 0;
}

int ck_prefilter_read_python(struct ck_prefilter *prefilter, struct ck_arena *arena, const char *const *lookups,
                             uint32_t lookups_count, struct choke_error *error)
{
    prefilter->python = true;
    for (uint32_t i = 0; i < lookups_count; i++) {
        int word = enter_word(prefilter, arena, lookups[i], strlen(lookups[i]));
        if (word < 0)
            return ck_error_set(error, CHOKE_NONE, EINVAL, "'%s' is not a word", CK_QUOTE(lookups[i]));
        set_bit(&prefilter->lookups, prefilter->words[word].bit);
    }
    return 0;
}

/* ---- what was seen ----------------------------------------------------------------------- */

/* One pass over a text. */
struct prefilter_pass {
    const struct ck_prefilter *prefilter;
    const char *at, *end;
    struct word_set code, strings; /* strings: count only after a lookup word */
    int previous;                  /* number of the last word; -1: not in any trigger */
    bool fresh;                    /* a bit was set since the triggers were compared */
};

/* Are all words of some trigger there? Strings count once a lookup word was seen. */
static bool complete(const struct prefilter_pass *reading)
{
    const struct ck_prefilter *prefilter = reading->prefilter;
    struct word_set seen = reading->code;
    uint64_t looks_up = 0;
    for (size_t part = 0; part < sizeof(seen.bits) / sizeof(seen.bits[0]); part++)
        looks_up |= seen.bits[part] & prefilter->lookups.bits[part];
    for (size_t part = 0; looks_up != 0 && part < sizeof(seen.bits) / sizeof(seen.bits[0]); part++)
        seen.bits[part] |= reading->strings.bits[part];
    for (uint32_t i = 0; i < prefilter->triggers_count; i++) {
        uint64_t missing = 0;
        for (size_t part = 0; part < sizeof(seen.bits) / sizeof(seen.bits[0]); part++)
            missing |= prefilter->triggers[i].bits[part] & ~seen.bits[part];
        if (missing == 0)
            return true;
    }
    return false;
}

/* fresh saves comparing all triggers again after a word that was seen before. */
static void note_bit(struct prefilter_pass *reading, struct word_set *set, uint32_t bit)
{
    reading->fresh = reading->fresh || !has_bit(set, bit);
    set_bit(set, bit);
}

/* A word that is in no trigger ends a pair: "a x b" is not "a+b". */
static void note_word(struct prefilter_pass *reading, struct word_set *set, const char *text, size_t length,
                      uint32_t hash)
{
    const struct ck_prefilter *prefilter = reading->prefilter;
    uint32_t bloom = hash % BLOOM_BITS;
    int previous = reading->previous;
    reading->previous = -1;
    /* Nearly all words end here. */
    if ((prefilter->bloom[bloom / 64] >> (bloom % 64) & 1) == 0)
        return;
    uint32_t slot = find_slot(prefilter, text, length, hash);
    if (prefilter->slots[slot] == 0)
        return;
    uint32_t word = prefilter->slots[slot] - 1u;
    reading->previous = (int)word;
    note_bit(reading, set, prefilter->words[word].bit);
    for (uint32_t i = 0; previous >= 0 && i < prefilter->pairs_count; i++)
        if (prefilter->pairs[i].first == (uint32_t)previous && prefilter->pairs[i].second == word)
            note_bit(reading, set, prefilter->pairs[i].bit);
}

static bool is_ascii(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

/* Python reads full-width and mathematical letters of a name as ASCII. */
static void note_python_word(struct prefilter_pass *reading, const char *text, size_t length, uint32_t hash)
{
    char folded[CK_PYTHON_FOLD_MAX];
    size_t folded_length = is_ascii(text, length) ? 0 : ck_python_fold(text, length, folded);
    if (folded_length > 0)
        note_word(reading, &reading->code, folded, folded_length, hash_word(folded, folded_length));
    else
        note_word(reading, &reading->code, text, length, hash);
}

/* Reads the word that begins here, and moves after it. */
static size_t read_word(struct prefilter_pass *reading, uint32_t *ret_hash)
{
    const char *start = reading->at;
    uint32_t hash = HASH_START;
    for (; reading->at < reading->end && is_word_byte(*reading->at); reading->at++)
        hash = (hash ^ (unsigned char)*reading->at) * HASH_STEP;
    *ret_hash = hash;
    return (size_t)(reading->at - start);
}

/*
 * An ASCII letter written as \u0061, which JavaScript allows in names. The word is not decoded: the
 * text is parsed instead.
 */
static bool is_escaped_letter(const char *at, const char *end)
{
    return end - at > 4 && at[0] == '\\' && at[1] == 'u' && (at[2] == '{' || (at[2] == '0' && at[3] == '0'));
}

/* Counts every word up to end. True: a trigger is complete. */
static bool read_all_words(struct prefilter_pass *reading, const char *end)
{
    while (reading->at < end) {
        if (!reading->prefilter->python && is_escaped_letter(reading->at, end))
            return true;
        if (!is_word_byte(*reading->at)) {
            reading->at++;
            continue;
        }
        const char *start = reading->at;
        uint32_t hash;
        size_t length = read_word(reading, &hash);
        if (reading->prefilter->python)
            note_python_word(reading, start, length, hash);
        else
            note_word(reading, &reading->code, start, length, hash);
        if (reading->fresh && complete(reading))
            return true;
        reading->fresh = false;
    }
    return false;
}

/* ---- Python ------------------------------------------------------------------------------ */

/*
 * The closing quote of the string that opens at `at`; NULL if it does not end, or not on its line
 * where it must.
 */
static const char *find_closing(const char *at, const char *end, char quote, size_t quotes)
{
    for (at += quotes; at < end; at++) {
        if (*at == '\\') {
            /* A backslash also quotes a line break, and \r\n is one. */
            at += at + 2 < end && at[1] == '\r' && at[2] == '\n' ? 2 : 1;
            continue;
        }
        if (quotes == 1 && (*at == '\n' || *at == '\r'))
            return NULL;
        if (*at == quote && (quotes == 1 || (end - at >= 3 && at[1] == quote && at[2] == quote)))
            return at;
    }
    return NULL;
}

/*
 * The end of a formatted string is obvious if it has no quote, escape or line break inside, and its
 * braces are balanced.
 */
static bool formatted_is_simple(const char *at, const char *closing)
{
    int open = 0;
    for (; at < closing; at++) {
        open += (*at == '{') - (*at == '}');
        if (strchr("\"'\\\n\r", *at))
            return false;
    }
    return open == 0;
}

/* A string counts only if it looks like a dotted name: "os.system" has the words os and system. */
static void note_string(struct prefilter_pass *reading, const char *at, const char *closing)
{
    if (closing - at > NAME_MAX_BYTES)
        return;
    for (const char *byte = at; byte < closing; byte++)
        if (!is_word_byte(*byte) && *byte != '.')
            return;
    while (at < closing) {
        const char *dot = memchr(at, '.', (size_t)(closing - at));
        size_t length = (size_t)((dot ? dot : closing) - at);
        note_word(reading, &reading->strings, at, length, hash_word(at, length));
        at += length + 1;
    }
    reading->previous = -1;
}

/* Reads a string, at its first quote. True: a trigger is complete. */
static bool read_string(struct prefilter_pass *reading, bool formatted)
{
    const char *at = reading->at;
    size_t quotes = reading->end - at >= 3 && at[1] == *at && at[2] == *at ? 3 : 1;
    const char *closing = find_closing(at, reading->end, *at, quotes);
    /* The end is not certain: the rest of the file counts as code. */
    if (!closing || (formatted && (quotes == 3 || !formatted_is_simple(at + 1, closing))))
        return read_all_words(reading, reading->end);
    reading->previous = -1;
    /* Its expressions are code, so all words in it count. */
    if (formatted && read_all_words(reading, closing))
        return true;
    if (!formatted)
        note_string(reading, at + quotes, closing);
    reading->at = closing + quotes;
    return false;
}

/*
 * The prefix of a string literal: rb"", f"", and t"" of Python 3.14. f and t have expressions in
 * it.
 */
static bool is_prefix(const char *word, size_t length, bool *ret_formatted)
{
    *ret_formatted = false;
    for (size_t i = 0; i < length; i++) {
        if (!strchr("rRbBuUfFtT", word[i]))
            return false;
        *ret_formatted = *ret_formatted || strchr("fFtT", word[i]);
    }
    return length <= 2;
}

/* Reads a word, or a string with its prefix. True: a trigger is complete. */
static bool read_python_word(struct prefilter_pass *reading)
{
    const char *start = reading->at;
    uint32_t hash;
    bool formatted;
    size_t length = read_word(reading, &hash);
    bool quoted = reading->at < reading->end && (*reading->at == '"' || *reading->at == '\'');
    if (quoted && is_prefix(start, length, &formatted))
        return read_string(reading, formatted);
    note_python_word(reading, start, length, hash);
    return false;
}

/* The whole text as Python. True: a trigger is complete. */
static bool read_python(struct prefilter_pass *reading)
{
    bool enough = false;
    while (!enough && reading->at < reading->end) {
        if (is_word_byte(*reading->at))
            enough = read_python_word(reading);
        else if (*reading->at == '"' || *reading->at == '\'')
            enough = read_string(reading, false);
        else if (*reading->at == '#')
            while (reading->at < reading->end && *reading->at != '\n' && *reading->at != '\r')
                reading->at++;
        else
            reading->at++;
        enough = enough || (reading->fresh && complete(reading));
        reading->fresh = false;
    }
    return enough;
}

bool ck_prefilter_may_match(const struct ck_prefilter *prefilter, const char *text, size_t length)
{
    struct prefilter_pass reading = {.prefilter = prefilter, .at = text, .end = text + length, .previous = -1};
    if (prefilter->always)
        return true;
    return prefilter->python ? read_python(&reading) : read_all_words(&reading, reading.end);
}
