/*
 * js.h - the two parts of the resolver for JavaScript and TypeScript: what is bound where
 * (js_bind.c), and what an expression is (js_resolve.c).
 *
 * A global stands for itself ("eval"), and so does a member of the global object ("window.eval" is
 * "eval"). A module is its name without "node:", and so is its default export ("child_process"). A
 * member is "child_process.exec"; one that is not known is "child_process.?". A method that calls a
 * function is that function ("child_process.exec.call"). "?.name" is a member of something unknown.
 * Every function literal is "(function)", and its constructor is "Function".
 */
#ifndef CK_LINT_LANG_JS_H
#define CK_LINT_LANG_JS_H

#include "lint/lang/scopes.h"

#define CK_JS_FUNCTION "(function)"

enum ck_js_kind {
    CK_JS_OTHER, /* 0: a type that the resolver does not know */
    /* nodes that bind names */
    CK_JS_IMPORT,
    CK_JS_IMPORT_ALIAS, /* TypeScript: import a = b.c */
    CK_JS_LEXICAL,      /* let and const */
    CK_JS_VAR,
    CK_JS_FOR_IN,
    CK_JS_FUNCTION_DECLARATION,
    CK_JS_SIGNATURE, /* TypeScript: a function without a body */
    CK_JS_CLASS_DECLARATION,
    CK_JS_NAMED_BLOCK, /* enum, namespace */
    CK_JS_METHOD,      /* and a static block of a class */
    CK_JS_BLOCK,
    CK_JS_CATCH,
    CK_JS_EXPORT,
    /* patterns */
    CK_JS_OBJECT_PATTERN,
    CK_JS_ARRAY_PATTERN,
    CK_JS_PAIR_PATTERN,
    CK_JS_DEFAULT_PATTERN,
    CK_JS_REST_PATTERN,
    CK_JS_PARAMETER, /* TypeScript: a pattern with a type */
    /* expressions, which may bind names too */
    CK_JS_NAME,
    CK_JS_MEMBER,
    CK_JS_SUBSCRIPT,
    CK_JS_CALL,
    CK_JS_IMPORT_WORD, /* the function of import("x") */
    CK_JS_WRAPPER,     /* what does not change the value, see unwrap_once */
    CK_JS_ASSIGNMENT,
    CK_JS_AUGMENTED, /* a ||= b */
    CK_JS_TERNARY,
    CK_JS_BINARY,
    CK_JS_UNARY,
    CK_JS_FUNCTION_EXPRESSION,
    CK_JS_STRING,
    CK_JS_TEMPLATE,
    CK_JS_NUMBER,
    CK_JS_TRUE,
    CK_JS_FALSE, /* and null, undefined */
    CK_JS_OBJECT,
    CK_JS_SPREAD,
    CK_JS_EXPORT_SPECIFIER,
    CK_JS_KEY,          /* a property's name */
    CK_JS_COMPUTED_KEY, /* {["a" + "b"]: c} */
};

extern const struct ck_kind ck_js_kinds[];

/* begin of struct ck_lint_resolver. */
int ck_js_bind(struct ck_lint_source *source);

/* "node:vm" is "vm". NULL only when memory ran out. */
const char *ck_js_module(struct ck_scopes *scopes, TSNode string);

/* The qualified name of a member; NULL when memory ran out. */
const char *ck_js_member(struct ck_scopes *scopes, const char *name, const char *key);

/* The name of a property, plain, quoted or computed; "?" if it is not known. */
const char *ck_js_key(struct ck_scopes *scopes, TSNode key);

void ck_js_constant(struct ck_scopes *scopes, TSNode node, uint32_t depth, struct ck_constant *ret_constant);

#endif
