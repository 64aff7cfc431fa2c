/*
 * stream.c - output as JSON lines; see stream.h.
 *
 * Output is collected in a piece and written as soon as the piece is full or no more is there. The
 * bytes of a character that is not complete yet stay in the piece.
 */
#include "cli/stream.h"

#include "base/json.h"
#include "base/quote.h"

#include <string.h>

_Static_assert(CK_BASE64_LENGTH(CK_STREAM_PIECE_MAX) + 64 <= CK_STREAM_LINE_MAX, "a piece as base64 fits into a line");

void ck_stream_init(struct ck_stream_writer *writer, struct ck_outlet *outlet)
{
    writer->outlet = outlet;
    writer->out = (struct ck_stream_side){.name = "stdout"};
    writer->err = (struct ck_stream_side){.name = "stderr"};
}

/* The length of the sequence that begins with this byte; 1 for a byte that begins none. */
static size_t sequence_bytes(unsigned char first)
{
    return first >= 0xf0 && first <= 0xf4   ? 4
           : first >= 0xe0 && first <= 0xef ? 3
           : first >= 0xc2 && first <= 0xdf ? 2
                                            : 1;
}

/*
 * How many of the bytes are not the beginning of a character at the end. Whether that is valid
 * shows when the rest is there.
 */
static size_t whole_characters(const char *bytes, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        unsigned char byte = (unsigned char)bytes[length - back];
        /* 10xxxxxx continues a character, so its first byte is further back. */
        if ((byte & 0xc0) != 0x80)
            return sequence_bytes(byte) > back ? length - back : length;
    }
    return length;
}

static void begin_line(struct ck_json *json, char line[CK_STREAM_LINE_MAX], const struct ck_stream_side *side)
{
    ck_json_init(json, line, CK_STREAM_LINE_MAX, false);
    ck_json_open(json, NULL, '{');
    ck_json_word(json, "stream", side->name);
}

/* json->full: the line is too long. */
static void end_line(struct ck_json *json)
{
    ck_json_close(json, '}');
    ck_json_raw(json, "\n", 1);
}

/* length bytes of the output are in the line. The outlet writes it with one write(2). */
static void write_line(struct ck_stream_writer *writer, struct ck_stream_side *side, const struct ck_json *json,
                       size_t length)
{
    struct ck_outlet *outlet = writer->outlet;
    ck_outlet_write(outlet, json->start, ck_json_length(json));
    if (outlet->error == 0 && !outlet->cut)
        side->passed_bytes += length;
}

/*
 * Escapes may need six times the room; then only a part of the text is written. Returns its length.
 */
static size_t write_text(struct ck_stream_writer *writer, struct ck_stream_side *side, const char *text, size_t length)
{
    char line[CK_STREAM_LINE_MAX];
    struct ck_json json;
    for (;; length = whole_characters(text, length / 2)) {
        begin_line(&json, line, side);
        ck_json_bytes(&json, "text", text, length);
        end_line(&json);
        if (!json.full)
            break;
    }
    write_line(writer, side, &json, length);
    return length;
}

static void write_base64(struct ck_stream_writer *writer, struct ck_stream_side *side, size_t length)
{
    char line[CK_STREAM_LINE_MAX];
    char encoded[CK_BASE64_LENGTH(CK_STREAM_PIECE_MAX) + 1];
    struct ck_json json;
    ck_base64_encode(encoded, side->piece, length);
    encoded[CK_BASE64_LENGTH(length)] = '\0';
    begin_line(&json, line, side);
    ck_json_word(&json, "base64", encoded);
    end_line(&json);
    write_line(writer, side, &json, length);
}

/* If a part of the text filled a line, the next try is not longer: escapes are rarely single. */
static void write_lines(struct ck_stream_writer *writer, struct ck_stream_side *side, size_t length)
{
    size_t most = length;
    for (size_t done = 0; done < length;) {
        const char *text = side->piece + done;
        size_t tried = length - done <= most ? length - done : whole_characters(text, most);
        size_t written = write_text(writer, side, text, tried);
        most = written < tried ? written : most;
        done += written;
    }
}

/* Writes the first length bytes of the piece, and moves the rest to its beginning. */
static void write_piece(struct ck_stream_writer *writer, struct ck_stream_side *side, size_t length)
{
    if (!ck_quote_utf8_valid(side->piece, length))
        write_base64(writer, side, length);
    else
        write_lines(writer, side, length);
    side->used -= length;
    memmove(side->piece, side->piece + length, side->used);
}

void ck_stream_write(void *data, enum choke_stream stream, const void *bytes, size_t length)
{
    struct ck_stream_writer *writer = data;
    struct ck_stream_side *side = stream == CHOKE_STDOUT ? &writer->out : &writer->err;
    const char *at = bytes;
    while (length > 0) {
        size_t room = sizeof(side->piece) - side->used;
        size_t n = room < length ? room : length;
        memcpy(side->piece + side->used, at, n);
        side->used += n;
        at += n;
        length -= n;
        write_piece(writer, side, whole_characters(side->piece, side->used));
    }
}

void ck_stream_end(struct ck_stream_writer *writer)
{
    write_piece(writer, &writer->out, writer->out.used);
    write_piece(writer, &writer->err, writer->err.used);
}
