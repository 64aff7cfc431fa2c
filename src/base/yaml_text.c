/* yaml_text.c - see yaml_text.h. */
#include "base/yaml_text.h"

#include <stdbool.h>
#include <string.h>

struct ck_yaml_place ck_yaml_text_place(const char *text, size_t length, size_t offset)
{
    struct ck_yaml_place place = {1, 1};
    for (size_t i = 0; i < offset && i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        /* the \n of the pair ends the line; the \r is neither a line end nor a column */
        bool crlf = c == '\r' && i + 1 < length && text[i + 1] == '\n';
        if ((c == '\n' || c == '\r') && !crlf)
            place = (struct ck_yaml_place){place.line + 1, 1};
        /* 10xxxxxx continues a UTF-8 character, so it is no new column */
        else if ((c & 0xc0) != 0x80 && !crlf)
            place.column++;
    }
    return place;
}

size_t ck_yaml_text_directive(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '%' && (i == 0 || text[i - 1] == '\n' || text[i - 1] == '\r'))
            return i;
    return length;
}

size_t ck_yaml_text_mark(const char *text, size_t length)
{
    /* U+FEFF in UTF-8 */
    static const char mark[] = "\xef\xbb\xbf";
    size_t bytes = sizeof(mark) - 1;
    return length >= bytes && memcmp(text, mark, bytes) == 0 ? bytes : 0;
}
