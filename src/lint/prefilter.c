/*
 * prefilter.c - see prefilter.h.
 *
 * One pass over the bytes: a hash is carried along each word and looked up where the word ends, first in a map of bits that
 * turns nearly every word away, then in a table. What the words of the text have in common with the triggers is a set of at
 * most WORDS_MAX bits, and a trigger is such a set too.
 *
 * A byte beyond ASCII is part of a word here, so that "évaluer" does not look like "valuer". Python reads some
 * letters beyond ASCII as the ASCII letter they resemble, and JavaScript reads \u0065 as e: a rule file says "*" where that matters,
 * or the resolver of the language ignores such spellings; docs/lint.md lists them.
 */
#include "lint/prefilter.h"

#include "base/error.h"
#include "base/quote.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define WORDS_MAX 256
#define TRIGGERS_MAX 512
#define SLOTS 1024 /* a power of two, several times WORDS_MAX */
#define BLOOM_BITS 16384
#define HASH_START 2166136261u
#define HASH_STEP 16777619u

struct word {
    const char *text;
    uint32_t length, hash;
};

struct word_set {
    uint64_t bits[WORDS_MAX / 64];
};

struct ck_prefilter {
    struct word words[WORDS_MAX];
    uint32_t words_count;
    uint16_t slots[SLOTS]; /* a word's number plus one; 0: empty */
    uint64_t bloom[BLOOM_BITS / 64];
    struct word_set triggers[TRIGGERS_MAX];
    uint32_t triggers_count;
    bool always;
};

static const bool word_bytes[256] = {
    ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true, ['_'] = true, [0x80 ... 0xff] = true,
};

int ck_prefilter_new(struct ck_arena *arena, struct ck_prefilter **ret_prefilter, struct choke_error *error)
{
    struct ck_prefilter *prefilter = ck_arena_alloc(arena, sizeof *prefilter);
    if (prefilter == NULL)
        return ck_error_oom(error);
    *ret_prefilter = prefilter;
    return 0;
}

/* ---- words ------------------------------------------------------------------------------- */

/* The slot of the word, or the empty one where it belongs. */
static uint32_t find_slot(const struct ck_prefilter *prefilter, const char *text, uint32_t length, uint32_t hash)
{
    uint32_t slot = hash % SLOTS;
    for (; prefilter->slots[slot] != 0; slot = (slot + 1) % SLOTS) {
        const struct word *word = &prefilter->words[prefilter->slots[slot] - 1];
        if (word->hash == hash && word->length == length && memcmp(word->text, text, length) == 0)
            break;
    }
    return slot;
}

static bool in_bloom(const struct ck_prefilter *prefilter, uint32_t hash)
{
    uint32_t bit = hash % BLOOM_BITS;
    return (prefilter->bloom[bit / 64] >> (bit % 64) & 1) != 0;
}

static uint32_t hash_word(const char *text, size_t length)
{
    uint32_t hash = HASH_START;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * HASH_STEP;
    return hash;
}

/* The number of the word, which is new or known; -1 where there is no room for it. */
static int enter_word(struct ck_prefilter *prefilter, struct ck_arena *arena, const char *text, size_t length)
{
    uint32_t hash = hash_word(text, length);
    uint32_t slot = find_slot(prefilter, text, (uint32_t)length, hash);
    if (prefilter->slots[slot] != 0)
        return prefilter->slots[slot] - 1;
    char *copy = prefilter->words_count < WORDS_MAX ? ck_arena_memdup(arena, text, length) : NULL;
    if (copy == NULL)
        return -1;
    prefilter->words[prefilter->words_count] = (struct word){copy, (uint32_t)length, hash};
    prefilter->slots[slot] = (uint16_t)++prefilter->words_count;
    prefilter->bloom[hash % BLOOM_BITS / 64] |= (uint64_t)1 << (hash % BLOOM_BITS % 64);
    return (int)prefilter->words_count - 1;
}

static bool is_word(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!word_bytes[(unsigned char)text[i]] || (unsigned char)text[i] >= 0x80)
            return false;
    return length > 0;
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
    for (const char *at = trigger;; at++) {
        size_t length = strcspn(at, " ");
        if (!is_word(at, length))
            return ck_error_set(error, CHOKE_NONE, EINVAL, "trigger '%s' is not words with a space between them",
                                CK_QUOTE(trigger));
        int word = enter_word(prefilter, arena, at, length);
        if (word < 0)
            return ck_error_set(error, CHOKE_NONE, ENOMEM, "no room for the words of trigger '%s'", CK_QUOTE(trigger));
        set->bits[word / 64] |= (uint64_t)1 << (word % 64);
        at += length;
        if (*at == '\0')
            break;
    }
    prefilter->triggers_count++;
    return 0;
}

/* ---- texts ------------------------------------------------------------------------------- */

static bool complete(const struct ck_prefilter *prefilter, const struct word_set *seen)
{
    for (uint32_t i = 0; i < prefilter->triggers_count; i++) {
        uint64_t missing = 0;
        for (size_t part = 0; part < sizeof seen->bits / sizeof seen->bits[0]; part++)
            missing |= prefilter->triggers[i].bits[part] & ~seen->bits[part];
        if (missing == 0)
            return true;
    }
    return false;
}

/* Is it a word of ours that was not seen before? */
static bool note(const struct ck_prefilter *prefilter, const char *text, size_t length, uint32_t hash,
                 struct word_set *seen)
{
    uint32_t slot = find_slot(prefilter, text, (uint32_t)length, hash);
    if (prefilter->slots[slot] == 0)
        return false;
    uint32_t word = prefilter->slots[slot] - 1u;
    uint64_t bit = (uint64_t)1 << (word % 64);
    bool fresh = (seen->bits[word / 64] & bit) == 0;
    seen->bits[word / 64] |= bit;
    return fresh;
}

bool ck_prefilter_may_match(const struct ck_prefilter *prefilter, const char *text, size_t length)
{
    struct word_set seen = {0};
    if (prefilter->always)
        return true;
    for (size_t at = 0; at < length;) {
        if (!word_bytes[(unsigned char)text[at]]) {
            at++;
            continue;
        }
        size_t start = at;
        uint32_t hash = HASH_START;
        for (; at < length && word_bytes[(unsigned char)text[at]]; at++)
            hash = (hash ^ (unsigned char)text[at]) * HASH_STEP;
        if (in_bloom(prefilter, hash) && note(prefilter, text + start, at - start, hash, &seen) &&
            complete(prefilter, &seen))
            return true;
    }
    return false;
}
