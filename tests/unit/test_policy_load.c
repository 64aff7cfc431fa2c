/* test_policy_load.c - YAML into a policy: every error has line, column and message. */
#include "policy/load.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy_parse.h"

/* Three lines; the first tool begins on line 4, and a key after TOOL is on line 8, column 5. */
#define HEAD "version: 1\nsearch_path: [/usr/bin]\ntools:\n"
#define SUBCOMMAND "    args: {subcommands: [{name: a, "
#define TOP "version: 1\nsearch_path: [/bin]\ntools: []\n"
#define TOOL "  - name: rg\n    why: It searches.\n    adr: \"0004\"\n    route: external\n"
#define OTHER "  - name: jq\n    why: It filters.\n    adr: \"0004\"\n    route: external\n"

/* ---- what is refused, where, and in which words ------------------------------------------ */

struct refused {
    const char *name;
    const char *text;
    unsigned line;
    unsigned column;
    const char *expected_text;
};

static const struct refused refusals[] = {
    /* the text */
    {"empty_text_is_refused", "", 1, 1, "the policy is empty"},
    {"comment_alone_is_refused", "# nothing\n", 2, 1, "the policy is empty"},
    {"document_mark_alone_is_refused", "---\n", 2, 1, "the policy is empty"},
    {"null_document_is_refused", "~\n", 1, 1, "the policy is empty"},
    {"broken_yaml_has_its_place", "version: 1\ntools: [\n", 3, 1, "not valid YAML"},
    {"tab_indentation_is_refused", "version: 1\ntools:\n\t- name: rg\n", 3, 1, "not valid YAML"},
    {"unclosed_quote_is_refused", "version: \"1\n", 2, 1, "not valid YAML"},
    {"bytes_outside_utf8_are_refused", HEAD "  - name: \"r\xff\"\n", 4, 13, "a byte that is not UTF-8 (0xff)"},
    {"overlong_utf8_is_refused", "version: \xc0\xb1\n", 1, 10, "not UTF-8"},
    {"utf16_is_refused", "\xff\xfev\x01", 1, 1, "not UTF-8"},
    {"escape_byte_is_refused", "version: 1 # \x1b[2J\n", 1, 14, "a control character (0x1b)"},
    {"delete_byte_is_refused", "version: 1 # \x7f\n", 1, 14, "a control character (0x7f)"},
    {"c1_control_is_refused", "version: 1 # \xc2\x85\n", 1, 14, "a control character"},
    {"bidi_override_is_refused", "version: 1 # \xe2\x80\xae\n", 1, 14, "changes the direction of text"},
    {"line_separator_is_refused", "# a\nversion: 1 # \xe2\x80\xa8\n", 2, 14, "a line break that is not a newline"},
    {"zero_width_space_is_refused", "version: 1 # \xe2\x80\x8b\n", 1, 14, "an invisible character"},
    {"byte_order_mark_inside_is_refused", "version: 1 # \xef\xbb\xbf\n", 1, 14, "an invisible character"},
    {"column_counts_characters", "# \xc3\xa9\xc3\xa9\x01\n", 1, 5, "a control character"},
    {"carriage_return_ends_a_line", "# a\r# b\r\n#\x01\n", 3, 2, "a control character"},

    /* what YAML has and a policy has not */
    {"escaped_nul_is_refused", HEAD "  - name: \"r\\0g\"\n", 4, 11, "this value contains a NUL byte"},
    {"escaped_control_is_refused", HEAD "  - name: \"r\\eg\"\n", 4, 11,
     "this value contains a control character (0x1b)"},
    {"escaped_tab_is_refused", HEAD "  - name: \"r\\tg\"\n", 4, 11, "this value contains a control character (0x09)"},
    {"escaped_bidi_is_refused", HEAD "  - name: \"r\\u202eg\"\n", 4, 11, "changes the direction of text"},
    {"control_in_a_key_is_refused", "\"ver\\asion\": 1\n", 1, 1, "this value contains a control character"},
    {"directive_is_refused", "# x\n%YAML 1.1\n---\n" HEAD TOOL, 2, 1,
     "a line begins with '%'; a policy has no directives"},
    {"directive_behind_a_carriage_return_is_refused", "# x\r%TAG !a! b\r---\r", 2, 1, "a policy has no directives"},
    {"anchor_is_refused", "version: &v 1\n", 1, 10, "anchor 'v': a policy has no anchors"},
    {"anchor_of_a_list_is_refused", "search_path: &s [/bin]\n", 1, 14, "anchor 's'"},
    {"anchor_of_a_mapping_is_refused", "tools:\n  - &t {name: rg}\n", 2, 5, "anchor 't'"},
    {"alias_is_refused", "version: *v\n", 1, 10, "alias 'v': a policy has no aliases"},
    {"alias_as_a_key_is_refused", "*v : 1\n", 1, 1, "alias 'v'"},
    {"tag_is_refused", "version: !!int 1\n", 1, 10, "tag 'tag:yaml.org,2002:int': a policy has no tags"},
    {"local_tag_is_refused", "search_path: !x [/bin]\n", 1, 14, "tag '!x'"},
    {"tag_of_a_mapping_is_refused", "!x {version: 1}\n", 1, 1, "tag '!x'"},
    {"second_document_is_refused", HEAD TOOL "---\nversion: 2\n", 8, 1, "a second document begins here"},
    {"text_behind_the_end_mark_is_refused", HEAD TOOL "...\nversion: 2\n", 9, 1, "not valid YAML"},
    {"document_behind_the_end_mark_is_refused", HEAD TOOL "...\n---\nversion: 2\n", 9, 1,
     "a second document begins here"},
    {"duplicate_key_at_the_top_is_refused", "version: 1\nversion: 1\n", 2, 1,
     "key 'version' is given twice; the first one is on line 1"},
    {"duplicate_key_in_a_tool_is_refused", HEAD TOOL "    why: Again.\n", 8, 5,
     "key 'why' is given twice; the first one is on line 5"},
    {"duplicate_key_by_escape_is_refused", "version: 1\n\"vers\\x69on\": 1\n", 2, 1, "key 'version' is given twice"},
    {"list_as_a_key_is_refused", "? [a]\n: 1\n", 1, 3, "a key must be a word"},
    {"mapping_as_a_key_is_refused", "{{a: b}: 1}\n", 1, 2, "a key must be a word"},
    {"key_without_a_value_is_refused", "version:\nsearch_path: [/bin]\n", 1, 9, "key 'version' has no value"},
    {"key_with_null_is_refused", "version: ~\n", 1, 10, "key 'version' has no value"},
    {"key_with_null_by_name_is_refused", HEAD TOOL "    env: null\n", 8, 10, "key 'env' has no value"},
    {"empty_entry_is_refused", "search_path:\n  - /bin\n  -\n", 3, 4, "an entry of this list is empty"},
    {"empty_key_is_refused", "~: 1\n", 1, 1, "a key is missing before ':'"},
    {"deep_nesting_is_refused", "[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]\n", 1, 17, "nested more than 16 deep"},

    /* keys and types */
    {"scalar_policy_is_refused", "hello\n", 1, 1, "a policy must be a mapping, not a single value"},
    {"list_policy_is_refused", "- version: 1\n", 1, 1, "a policy must be a mapping, not a list"},
    {"unknown_key_at_the_top_is_refused", "version: 1\nfoo: 2\n", 2, 1,
     "unknown key 'foo'; known keys are: version, adr_dir, search_path, locked, roots, upstream, guard, "
     "extends, catalog, remove, grant, tools"},
    {"include_is_an_unknown_key", "include: other.yaml\nversion: 1\n", 1, 1, "unknown key 'include'"},
    {"unknown_key_in_a_tool_is_refused", HEAD TOOL "    foo: 2\n", 8, 5,
     "unknown key 'foo' in tool 'rg'; known keys are: name, why, adr, route, required, platforms, install, version_args, "
     "credentials, args, path, sha256, reads, root_at, execs, uses, workspace, workspace_code, loopback, require_jail, egress, env, "
     "set_env, limits"},
    {"unknown_key_before_the_name_has_its_place", HEAD "  - foo: 1\n    name: rg\n", 4, 5,
     "unknown key 'foo' in tool 'rg'"},
    {"unknown_key_in_a_nameless_tool_is_refused", HEAD TOOL "  - foo: 1\n", 8, 5, "unknown key 'foo' in tool number 2"},
    {"case_matters_in_keys", HEAD TOOL "    Env: [A]\n", 8, 5, "unknown key 'Env'"},
    {"merge_key_is_unknown", HEAD TOOL "    <<: {required: true}\n", 8, 5, "unknown key '<<'"},
    {"unknown_key_bytes_are_escaped", HEAD TOOL "    \"it's\": 1\n", 8, 5, "unknown key 'it\\x27s'"},
    {"unknown_key_in_install_is_refused", HEAD TOOL "    install: {dnf: x}\n", 8, 15,
     "unknown key 'dnf' in 'install' in tool 'rg'; known keys are: apt, brew, npm, url"},
    {"unknown_limit_is_refused", HEAD TOOL "    limits: {memory_mb: 1}\n", 8, 14,
     "unknown key 'memory_mb' in 'limits' in tool 'rg'; known keys are: timeout_s, memory_mib, processes, cpu_s, "
     "file_size_mib, open_files, egress_mib, egress_connections"},
    {"memory_that_holds_no_program_is_refused", HEAD TOOL "    limits: {memory_mib: 7}\n", 8, 26,
     "'memory_mib' in 'limits' in tool 'rg' is 7; it must be 8 to 16777216 MiB"},
    {"memory_beyond_any_machine_is_refused", HEAD TOOL "    limits: {memory_mib: 16777217}\n", 8, 26,
     "it must be 8 to 16777216 MiB"},
    {"no_process_at_all_is_refused", HEAD TOOL "    limits: {processes: 0}\n", 8, 25, "it must be 1 to 4194304"},
    {"no_cpu_time_is_refused", HEAD TOOL "    limits: {cpu_s: 0}\n", 8, 21, "it must be 1 to 31536000 seconds"},
    {"file_size_of_zero_is_refused", HEAD TOOL "    limits: {file_size_mib: 0}\n", 8, 29,
     "it must be 1 to 16777216 MiB"},
    {"too_few_open_files_are_refused", HEAD TOOL "    limits: {open_files: 7}\n", 8, 26, "it must be 8 to 1048576"},
    {"unknown_key_in_set_env_is_refused", HEAD TOOL "    set_env:\n      - name: A\n        valeu: b\n", 10, 9,
     "unknown key 'valeu' in 'set_env' in tool 'rg'; known keys are: name, value, when"},
    {"rule_that_is_not_enforced_is_unknown", HEAD TOOL "    writes: rw\n", 8, 5, "unknown key 'writes'"},
    {"short_digest_is_refused", HEAD TOOL "    sha256: abc\n", 8, 13,
     "'sha256' in tool 'rg' must be 64 of 0-9 and a-f"},
    {"digest_in_upper_case_is_refused",
     HEAD TOOL "    sha256: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n", 8, 13,
     "'sha256' in tool 'rg' must be 64 of 0-9 and a-f"},
    {"relative_path_is_refused", HEAD TOOL "    path: bin/rg\n", 8, 11, "'path' in tool 'rg' is 'bin/rg'; it must be"},
    {"path_with_dots_is_refused", HEAD TOOL "    path: /usr/../rg\n", 8, 11, "it must be a plain absolute path"},
    {"helper_with_a_slash_is_refused", HEAD TOOL "    execs: [sh, bin/sh]\n", 8, 17,
     "'bin/sh' in 'execs' in tool 'rg' is neither a program's name nor a plain absolute path"},
    {"key_of_a_subcommand_is_checked", HEAD TOOL SUBCOMMAND "execs: [bin/sh]}]}\n", 8, 44,
     "'bin/sh' in 'execs' in subcommand 'a' in tool 'rg' is neither a program's name"},
    {"limit_of_a_subcommand_is_checked", HEAD TOOL SUBCOMMAND "limits: {cpu_s: 0}}]}\n", 8, 52,
     "'cpu_s' in 'limits' in subcommand 'a' in tool 'rg' is 0; it must be 1 to"},
    {"variable_of_a_subcommand_is_checked", HEAD TOOL SUBCOMMAND "env: [PATH]}]}\n", 8, 42,
     "'PATH' in 'env' in subcommand 'a' in tool 'rg' may not be granted"},
    {"destination_of_a_subcommand_is_checked", HEAD TOOL SUBCOMMAND "egress: [A.org]}]}\n", 8, 45,
     "'A.org' in 'egress' in subcommand 'a' in tool 'rg' must be written 'a.org'"},
    {"workspace_of_a_subcommand_is_checked", HEAD TOOL SUBCOMMAND "workspace: all}]}\n", 8, 47,
     "'workspace' in subcommand 'a' in 'args' in tool 'rg' is 'all'; it must be one of: ro, rw, overlay"},
    {"subcommand_sets_what_the_tool_grants",
     HEAD TOOL "    env: [A]\n" SUBCOMMAND "set_env: [{name: A, value: b}]}]}\n", 9, 53,
     "'A' is both set by 'set_env' and granted by 'env' in subcommand 'a' in tool 'rg'"},
    {"subcommand_grants_what_the_tool_sets",
     HEAD TOOL "    set_env: [{name: A, value: b}]\n" SUBCOMMAND "env: [A]}]}\n", 9, 26,
     "'A' is both set by 'set_env' and granted by 'env' in subcommand 'a' in tool 'rg'"},
    {"route_is_no_key_of_a_subcommand", HEAD TOOL SUBCOMMAND "route: direct}]}\n", 8, 36,
     "unknown key 'route' in subcommand 'a' in 'args' in tool 'rg'; known keys are: name, options, inject, require, deny, operands, "
     "first, first_unless, schemes, order, execs, uses, workspace, workspace_code, loopback, require_jail, egress, env, set_env, limits"},
    {"unknown_set_is_refused", HEAD TOOL "    uses: [shell, c-compilers]\n", 8, 19,
     "'c-compilers' in 'uses' in tool 'rg' is not a set of helpers; did you mean 'c-compiler'?; known sets are: c-compiler, "
     "go-toolchain, rust-toolchain, python-tools, shell, node-scripts"},
    {"part_of_the_name_of_a_set_is_refused", HEAD TOOL "    uses: [rust]\n", 8, 12, "did you mean 'rust-toolchain'?"},
    {"set_that_is_like_none_is_refused", HEAD TOOL "    uses: [everything]\n", 8, 12,
     "is not a set of helpers; known sets are: c-compiler"},
    {"unknown_set_of_a_subcommand_is_refused", HEAD TOOL SUBCOMMAND "uses: [shel]}]}\n", 8, 43,
     "'shel' in 'uses' in subcommand 'a' in tool 'rg' is not a set of helpers; did you mean 'shell'?"},
    {"repeated_set_is_refused", HEAD TOOL "    uses: [shell, shell]\n", 8, 19,
     "'shell' is listed twice in 'uses' in tool 'rg'"},
    {"repeated_helper_is_refused", HEAD TOOL "    execs: [sh, sh]\n", 8, 17,
     "'sh' is listed twice in 'execs' in tool 'rg'"},
    {"everybody_is_no_destination", HEAD TOOL "    egress: ['*']\n", 8, 14, "'*' in 'egress' in tool 'rg' is "},
    {"top_level_domain_is_no_destination", HEAD TOOL "    egress: ['*.com']\n", 8, 14, "'*.com' in 'egress'"},
    {"star_in_the_middle_is_no_destination", HEAD TOOL "    egress: ['a.*.com']\n", 8, 14, "'a.*.com' in 'egress'"},
    {"destination_in_upper_case_is_refused", HEAD TOOL "    egress: [Example.org]\n", 8, 14,
     "'Example.org' in 'egress' in tool 'rg' must be written 'example.org'"},
    {"destination_with_an_empty_label_is_refused", HEAD TOOL "    egress: [a..org]\n", 8, 14, "'a..org' in 'egress'"},
    {"destination_with_a_dot_at_the_end_is_refused", HEAD TOOL "    egress: [a.org.]\n", 8, 14, "'a.org.' in 'egress'"},
    {"port_above_the_last_is_refused", HEAD TOOL "    egress: ['a.org:65536']\n", 8, 14, "'a.org:65536' in 'egress'"},
    {"port_zero_is_refused", HEAD TOOL "    egress: ['a.org:0']\n", 8, 14, "'a.org:0' in 'egress'"},
    {"odd_address_is_no_destination", HEAD TOOL "    egress: ['127.1']\n", 8, 14, "'127.1' in 'egress'"},
    {"network_with_bits_that_do_not_count_is_refused", HEAD TOOL "    egress: [192.0.2.1/24]\n", 8, 14,
     "'192.0.2.1/24' in 'egress'"},
    {"url_is_no_destination", HEAD TOOL "    egress: ['https://a.org']\n", 8, 14, "'https://a.org' in 'egress'"},
    {"missing_version_is_refused", "search_path: [/bin]\ntools: []\n", 1, 1, "key 'version' is missing"},
    {"missing_search_path_is_refused", "version: 1\ntools: []\n", 1, 1, "key 'search_path' is missing"},
    {"missing_tools_is_refused", "version: 1\nsearch_path: [/bin]\n", 1, 1, "key 'tools' is missing"},
    {"missing_name_is_refused", HEAD TOOL "  - why: w\n    adr: \"0004\"\n    route: direct\n", 8, 5,
     "key 'name' is missing in tool number 2"},
    {"missing_why_is_refused", HEAD "  - name: rg\n    adr: \"0004\"\n    route: direct\n", 4, 5,
     "key 'why' is missing in tool 'rg'"},
    {"missing_adr_is_refused", HEAD "  - name: rg\n    why: w\n    route: direct\n", 4, 5,
     "key 'adr' is missing in tool 'rg'"},
    {"missing_route_is_refused", HEAD "  - name: rg\n    why: w\n    adr: \"0004\"\n", 4, 5,
     "key 'route' is missing in tool 'rg'"},
    {"missing_value_in_set_env_is_refused", HEAD TOOL "    set_env: [{name: A}]\n", 8, 15,
     "key 'value' is missing in 'set_env' in tool 'rg'"},
    {"text_as_tools_is_refused", "version: 1\nsearch_path: [/bin]\ntools: rg\n", 3, 8,
     "'tools' must be a list, not a single value"},
    {"text_as_a_tool_is_refused", HEAD "  - rg\n", 4, 5, "tool number 1 must be a mapping, not a single value"},
    {"list_as_a_tool_is_refused", HEAD "  - [rg]\n", 4, 5, "tool number 1 must be a mapping, not a list"},
    {"text_as_search_path_is_refused", "version: 1\nsearch_path: /bin\n", 2, 14, "'search_path' must be a list"},
    {"list_as_why_is_refused", HEAD "  - name: rg\n    why: [w]\n", 5, 10,
     "'why' in tool 'rg' must be text, not a list"},
    {"mapping_as_name_is_refused", HEAD "  - name: {a: b}\n", 4, 11,
     "'name' in tool number 1 must be text, not a mapping"},
    {"text_as_install_is_refused", HEAD TOOL "    install: ripgrep\n", 8, 14,
     "'install' in tool 'rg' must be a mapping, not a single value"},
    {"list_as_limits_is_refused", HEAD TOOL "    limits: [60]\n", 8, 13, "'limits' in tool 'rg' must be a mapping"},
    {"mapping_as_set_env_is_refused", HEAD TOOL "    set_env: {A: b}\n", 8, 14,
     "'set_env' in tool 'rg' must be a list"},
    {"text_in_set_env_is_refused", HEAD TOOL "    set_env: [A=b]\n", 8, 15, "'set_env' in tool 'rg' must be a mapping"},
    {"mapping_in_env_is_refused", HEAD TOOL "    env: [{A: b}]\n", 8, 11, "'env' in tool 'rg' must be text"},
    {"list_as_route_is_refused", HEAD "  - name: rg\n    route: [direct]\n", 5, 12,
     "'route' in tool 'rg' must be a word"},
    {"list_as_timeout_is_refused", HEAD TOOL "    limits: {timeout_s: [1]}\n", 8, 25,
     "'timeout_s' in 'limits' in tool 'rg' must be a number"},
    {"unknown_route_is_refused", HEAD "  - name: rg\n    route: open\n", 5, 12,
     "'route' in tool 'rg' is 'open'; it must be one of: direct, external, jail"},
    {"route_by_number_is_refused", HEAD "  - name: rg\n    route: 1\n", 5, 12, "'route' in tool 'rg' is '1'"},
    {"route_in_capitals_is_refused", HEAD "  - name: rg\n    route: Direct\n", 5, 12,
     "'route' in tool 'rg' is 'Direct'"},
    {"any_word_as_truth_is_refused", HEAD TOOL "    required: bananas\n", 8, 15,
     "'required' in tool 'rg' is 'bananas'; it must be one of: false, true"},
    {"yes_as_truth_is_refused", HEAD TOOL "    required: yes\n", 8, 15, "'required' in tool 'rg' is 'yes'"},
    {"quoted_truth_is_refused", HEAD TOOL "    required: \"true\"\n", 8, 15, "(without quotes)"},
    {"number_as_truth_is_refused", HEAD TOOL "    required: 1\n", 8, 15, "'required' in tool 'rg' is '1'"},
    {"unknown_platform_is_refused", HEAD TOOL "    platforms: [linux, windows]\n", 8, 24,
     "'platforms' in tool 'rg' is 'windows'; it must be one of: linux, macos"},
    {"platform_as_text_is_refused", HEAD TOOL "    platforms: linux\n", 8, 16,
     "'platforms' in tool 'rg' must be a list"},
    {"unknown_word_for_credentials_is_refused", HEAD TOOL "    credentials: maybe\n", 8, 18,
     "'credentials' in tool 'rg' is 'maybe'; it must be one of: refuse, allow"},

    /* values */
    {"unknown_version_is_refused", "version: 2\nsearch_path: [/bin]\ntools: []\n", 1, 10, "version 2 is not known"},
    {"version_zero_is_refused", "version: 0\nsearch_path: [/bin]\ntools: []\n", 1, 10, "version 0 is not known"},
    {"hexadecimal_number_is_refused", "version: 0x1\n", 1, 10,
     "'version' is '0x1'; it must be a whole number in plain decimal"},
    {"octal_number_is_refused", HEAD TOOL "    limits: {timeout_s: 010}\n", 8, 25,
     "is '010'; it must be a whole number"},
    {"quoted_number_is_refused", "version: \"1\"\n", 1, 10, "'version' is '1'; it must be a whole number"},
    {"negative_number_is_refused", HEAD TOOL "    limits: {timeout_s: -1}\n", 8, 25,
     "is '-1'; it must be a whole number"},
    {"fraction_is_refused", HEAD TOOL "    limits: {timeout_s: 1.5}\n", 8, 25, "is '1.5'; it must be a whole number"},
    {"number_beyond_32_bits_is_refused", HEAD TOOL "    limits: {timeout_s: 4294967296}\n", 8, 25,
     "at most 4294967295"},
    {"number_beyond_64_bits_is_refused", HEAD TOOL "    limits: {timeout_s: 99999999999999999999}\n", 8, 25,
     "at most 4294967295"},
    {"timeout_of_zero_is_refused", HEAD TOOL "    limits: {timeout_s: 0}\n", 8, 25, "it must be 1 to 31536000 seconds"},
    {"timeout_over_a_year_is_refused", HEAD TOOL "    limits: {timeout_s: 31536001}\n", 8, 25,
     "it must be 1 to 31536000 seconds"},
    {"empty_search_path_is_refused", "version: 1\nsearch_path: []\ntools: []\n", 2, 14,
     "'search_path' must not be an empty list"},
    {"relative_search_path_is_refused", "version: 1\nsearch_path: [/bin, bin]\ntools: []\n", 2, 21,
     "'bin' in 'search_path' is not a plain absolute path"},
    {"empty_search_path_entry_is_refused", "version: 1\nsearch_path: [\"\"]\ntools: []\n", 2, 15,
     "'search_path' must not be empty"},
    {"dot_in_search_path_is_refused", "version: 1\nsearch_path: [/usr/./bin]\ntools: []\n", 2, 15,
     "not a plain absolute path"},
    {"dotdot_in_search_path_is_refused", "version: 1\nsearch_path: [/usr/..]\ntools: []\n", 2, 15,
     "not a plain absolute path"},
    {"double_slash_in_search_path_is_refused", "version: 1\nsearch_path: [/usr//bin]\ntools: []\n", 2, 15,
     "not a plain absolute path"},
    {"slash_at_the_end_of_search_path_is_refused", "version: 1\nsearch_path: [/usr/bin/]\ntools: []\n", 2, 15,
     "not a plain absolute path"},
    {"root_directory_in_search_path_is_refused", "version: 1\nsearch_path: [/]\ntools: []\n", 2, 15,
     "not a plain absolute path"},
    {"colon_in_search_path_is_refused", "version: 1\nsearch_path: [\"/usr/bin:/tmp\"]\ntools: []\n", 2, 15,
     "contains ':', which would make it two entries of PATH"},
    {"line_break_in_search_path_is_refused", "version: 1\nsearch_path: [\"/usr\\n\"]\ntools: []\n", 2, 15,
     "has a line break"},
    {"repeated_search_path_is_refused", "version: 1\nsearch_path: [/bin, /bin]\ntools: []\n", 2, 21,
     "'/bin' is listed twice in 'search_path'"},
    {"empty_adr_dir_is_refused", "version: 1\nadr_dir: \"\"\nsearch_path: [/bin]\ntools: []\n", 2, 10,
     "'adr_dir' must not be empty"},
    {"unknown_word_of_upstream_is_refused", TOP "upstream: none\n", 4, 11,
     "'upstream' is not 'environment'; to name a proxy, write {url: http://HOST:PORT}"},
    {"list_as_upstream_is_refused", TOP "upstream: [a]\n", 4, 11,
     "'upstream' must be 'environment' or a mapping with 'url', not a list"},
    {"upstream_without_a_url_is_refused", TOP "upstream: {credentials_file: /a}\n", 4, 11,
     "key 'url' is missing in 'upstream'"},
    {"unknown_key_in_upstream_is_refused", TOP "upstream: {url: \"http://a:1\", user: b}\n", 4, 31,
     "unknown key 'user' in 'upstream'; known keys are: url, credentials_file"},
    {"upstream_with_a_user_is_refused", TOP "upstream: {url: \"http://u:p@a:1\"}\n", 4, 17,
     "'url' in 'upstream' has a user name; put USER:PASSWORD into a file"},
    {"upstream_without_a_port_is_refused", TOP "upstream: {url: \"http://a\"}\n", 4, 17,
     "'url' in 'upstream' has no port; write http://HOST:PORT"},
    {"upstream_by_tls_is_refused", TOP "upstream: {url: \"https://a:1\"}\n", 4, 17,
     "'url' in 'upstream' does not begin with http://"},
    {"relative_credentials_file_is_refused", TOP "upstream: {url: \"http://a:1\", credentials_file: b}\n", 4, 49,
     "'b' in 'upstream' is not a plain absolute path"},
    {"upstream_of_the_environment_in_a_locked_policy_is_refused", TOP "locked: true\nupstream: environment\n", 5, 11,
     "'upstream: environment' lets every caller choose the proxy"},
    {"unknown_occasion_of_a_variable_is_refused", HEAD TOOL "    set_env: [{name: A, value: b, when: online}]\n", 8, 41,
     "'when' in 'set_env' in tool 'rg' is 'online'; it must be one of: offline"},
    {"empty_roots_are_refused", "version: 1\nsearch_path: [/bin]\nroots: []\ntools: []\n", 3, 8,
     "'roots' must not be an empty list"},
    {"relative_root_is_refused", "version: 1\nsearch_path: [/bin]\nroots: [srv]\ntools: []\n", 3, 9,
     "'srv' in 'roots' is not a plain absolute path"},
    {"dotdot_in_roots_is_refused", "version: 1\nsearch_path: [/bin]\nroots: [/srv/..]\ntools: []\n", 3, 9,
     "'/srv/..' in 'roots' is not a plain absolute path"},
    {"repeated_root_is_refused", "version: 1\nsearch_path: [/bin]\nroots: [/srv, /srv]\ntools: []\n", 3, 15,
     "'/srv' is listed twice in 'roots'"},
    {"quoted_locked_is_refused", "version: 1\nsearch_path: [/bin]\nlocked: \"true\"\ntools: []\n", 3, 9,
     "(without quotes)"},
    {"line_break_in_adr_dir_is_refused", "version: 1\nadr_dir: \"a\\nb\"\nsearch_path: [/bin]\ntools: []\n", 2, 10,
     "'adr_dir' has a line break"},
    {"name_with_a_slash_is_refused", HEAD "  - name: a/b\n    why: w\n    adr: \"0004\"\n    route: direct\n", 4, 11,
     "'a/b' is not a valid tool name"},
    {"name_in_capitals_is_refused", HEAD "  - name: Rg\n    why: w\n    adr: \"0004\"\n    route: direct\n", 4, 11,
     "'Rg' is not a valid tool name"},
    {"name_beginning_with_a_dash_is_refused",
     HEAD "  - name: \"-rf\"\n    why: w\n    adr: \"0004\"\n    route: direct\n", 4, 11,
     "'-rf' is not a valid tool name"},
    {"name_beginning_with_a_dot_is_refused", HEAD "  - name: ..\n    why: w\n    adr: \"0004\"\n    route: direct\n", 4,
     11, "'..' is not a valid tool name"},
    {"name_with_a_line_break_is_refused",
     HEAD "  - name: \"a\\nb\"\n    why: w\n    adr: \"0004\"\n    route: direct\n", 4, 11,
     "'a\\nb' is not a valid tool name"},
    {"name_of_65_bytes_is_refused",
     HEAD
     "  - name: a123456789012345678901234567890123456789012345678901234567890123x\n    why: w\n    adr: \"0004\"\n    route: direct\n",
     4, 11, "is not a valid tool name"},
    {"empty_why_is_refused", HEAD "  - name: rg\n    why: \"\"\n    adr: \"0004\"\n    route: direct\n", 5, 10,
     "'why' in tool 'rg' must not be empty"},
    {"blank_why_is_refused", HEAD "  - name: rg\n    why: \"  \"\n    adr: \"0004\"\n    route: direct\n", 5, 10,
     "'why' in tool 'rg' is blank"},
    {"short_adr_is_refused", HEAD "  - name: rg\n    why: w\n    adr: \"4\"\n    route: direct\n", 6, 10,
     "it must be the four digits of a decision record"},
    {"adr_by_file_name_is_refused", HEAD "  - name: rg\n    why: w\n    adr: 0004-search\n    route: direct\n", 6, 10,
     "it must be the four digits"},
    {"duplicate_tool_is_refused", HEAD TOOL OTHER TOOL, 12, 11,
     "tool 'rg' is listed twice; the first entry is on line 4"},
    {"empty_platforms_is_refused", HEAD TOOL "    platforms: []\n", 8, 16,
     "'platforms' in tool 'rg' must not be an empty list"},
    {"repeated_platform_is_refused", HEAD TOOL "    platforms: [linux, linux]\n", 8, 24,
     "'linux' is listed twice in 'platforms' in tool 'rg'"},
    {"too_many_platforms_are_refused", HEAD TOOL "    platforms: [linux, macos, linux]\n", 8, 16,
     "has 3 entries; at most 2 are allowed"},
    {"empty_version_args_is_refused", HEAD TOOL "    version_args: []\n", 8, 19,
     "'version_args' in tool 'rg' must not be an empty list"},
    {"line_break_in_version_args_is_refused", HEAD TOOL "    version_args: [\"-v\\n\"]\n", 8, 20,
     "an entry of 'version_args' in tool 'rg' has a line break"},
    {"package_that_is_an_option_is_refused", HEAD TOOL "    install: {apt: --yes}\n", 8, 20,
     "'apt' in 'install' in tool 'rg' is not a valid package name"},
    {"package_with_a_space_is_refused", HEAD TOOL "    install: {brew: a b}\n", 8, 21,
     "'brew' in 'install' in tool 'rg' is not a valid package name"},
    {"package_with_a_semicolon_is_refused", HEAD TOOL "    install: {npm: a;b}\n", 8, 20,
     "'npm' in 'install' in tool 'rg' is not a valid package name"},
    {"plain_http_address_is_refused", HEAD TOOL "    install: {url: \"http://a.example\"}\n", 8, 20,
     "it must be an https:// address"},
    {"address_without_a_host_is_refused", HEAD TOOL "    install: {url: \"https://\"}\n", 8, 20,
     "it must be an https:// address"},
    {"address_with_a_space_is_refused", HEAD TOOL "    install: {url: \"https://a b\"}\n", 8, 20,
     "it must be an https:// address"},
    {"env_name_with_a_dash_is_refused", HEAD TOOL "    env: [A-B]\n", 8, 11,
     "'A-B' in 'env' in tool 'rg' is not a valid variable name"},
    {"env_name_with_equals_is_refused", HEAD TOOL "    env: [OK, A=b]\n", 8, 15,
     "'A=b' in 'env' in tool 'rg' is not a valid variable name"},
    {"wildcard_in_env_is_refused", HEAD TOOL "    env: [\"AWS_*\"]\n", 8, 11, "is not a valid variable name"},
    {"granting_the_loader_is_refused", HEAD TOOL "    env: [LD_PRELOAD]\n", 8, 11,
     "'LD_PRELOAD' in 'env' in tool 'rg' may not be granted to callers: it makes the loader load code"},
    {"granting_path_is_refused", HEAD TOOL "    env: [PATH]\n", 8, 11,
     "'PATH' in 'env' in tool 'rg' may not be granted"},
    {"repeated_env_is_refused", HEAD TOOL "    env: [A, B, A]\n", 8, 17, "'A' is listed twice in 'env' in tool 'rg'"},
    {"setting_path_is_refused", HEAD TOOL "    set_env: [{name: PATH, value: /tmp}]\n", 8, 22,
     "'PATH' in 'set_env' in tool 'rg' may not be set: it is set by chokepoint"},
    {"setting_the_loader_is_refused", HEAD TOOL "    set_env: [{name: LD_PRELOAD, value: x}]\n", 8, 22,
     "'LD_PRELOAD' in 'set_env' in tool 'rg' may not be set"},
    {"bad_name_in_set_env_is_refused", HEAD TOOL "    set_env: [{name: 1A, value: x}]\n", 8, 22,
     "'1A' in 'set_env' in tool 'rg' is not a valid variable name"},
    {"line_break_in_set_env_is_refused", HEAD TOOL "    set_env: [{name: A, value: \"x\\ny\"}]\n", 8, 32,
     "the value of 'A' in 'set_env' in tool 'rg' has a line break"},
    {"repeated_set_env_is_refused", HEAD TOOL "    set_env: [{name: A, value: x}, {name: A, value: x}]\n", 8, 43,
     "'A' is set twice in 'set_env' in tool 'rg'"},
    {"name_both_set_and_granted_is_refused", HEAD TOOL "    env: [A]\n    set_env: [{name: A, value: x}]\n", 9, 22,
     "'A' is both set by 'set_env' and granted by 'env' in tool 'rg'"},
};

static void check_refusal(void **state)
{
    const struct refused *row = *state;
    (void)must_refuse(row->text, strlen(row->text), row->line, row->column, row->expected_text);
}

/* ---- what does not fit a row ------------------------------------------------------------- */

static void nul_byte_is_refused(void **state)
{
    (void)state;
    static const char text[] = "version: 1\n# a\0b\n";
    (void)must_refuse(text, sizeof(text) - 1, 2, 4, "a NUL byte (0x00)");
}

/* Both ends of every refused range, raw and as an escape; and the characters beside them. */
static void hidden_characters_are_refused_and_their_neighbours_are_not(void **state)
{
    (void)state;
    static const unsigned refused[] = {0x01,   0x08,   0x0b,   0x1f,   0x7f,   0x80,    0x9f,   0xad,
                                       0x61c,  0x200b, 0x200d, 0x200e, 0x200f, 0x2028,  0x2029, 0x202a,
                                       0x202e, 0x2060, 0x2064, 0x2065, 0x2066, 0x2069,  0x206f, 0x3164,
                                       0xfeff, 0xfff0, 0xfffb, 0xfffe, 0xffff, 0xe0000, 0xe0fff};
    static const unsigned fine[] = {0x20,   0x7e,   0xa0,   0xac,   0xae,   0x61b,  0x61d,  0x200a, 0x2010, 0x2027,
                                    0x202f, 0x205f, 0x2070, 0x3165, 0xfe0f, 0xfefe, 0xff01, 0xfffd, 0x1f600};
    char text[256];
    for (size_t i = 0; i < COUNT(refused); i++) {
        (void)snprintf(text, sizeof(text), HEAD "  - {name: a, why: \"\\U%08x\", adr: '0004', route: jail}\n",
                       refused[i]);
        (void)must_refuse(text, strlen(text), 4, 20, "this value contains a");
    }
    for (size_t i = 0; i < COUNT(fine); i++) {
        (void)snprintf(text, sizeof(text), HEAD "  - {name: a, why: \"w\\U%08x\", adr: '0004', route: jail}\n",
                       fine[i]);
        ck_policy_free(must_parse(text));
    }
}

static void text_over_the_maximum_is_refused_at_its_first_byte(void **state)
{
    (void)state;
    size_t length = CK_POLICY_MAX_BYTES + 1;
    char *text = test_malloc(length);
    memset(text, '#', length);
    memcpy(text, HEAD TOOL, strlen(HEAD TOOL));
    text[CK_POLICY_MAX_BYTES - 10] = '\n';
    text[strlen(HEAD TOOL)] = '#';
    (void)must_refuse(text, length, 9, 10, "the text is longer than 1048576 bytes");

    /* One byte less is a policy with a long comment. */
    struct ck_policy *policy = NULL;
    struct choke_error error;
    assert_int_equal(ck_policy_parse("p.yaml", text, length - 1, &policy, &error), 0);
    ck_policy_free(policy);
    test_free(text);
}

/* head, and then before, a number and after, count times. */
static void assert_repeated_is_refused(const char *head, const char *before, const char *after, unsigned count,
                                       const char *expected_text)
{
    size_t length = strlen(head) + count * (strlen(before) + strlen(after) + 8) + 1;
    char *text = test_malloc(length);
    size_t at = (size_t)snprintf(text, length, "%s", head);
    for (unsigned i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, length - at, "%s%u%s", before, i, after);
    struct ck_policy *policy = NULL;
    struct choke_error error = {0};
    assert_int_equal(ck_policy_parse("p.yaml", text, at, &policy, &error), -EINVAL);
    if (!strstr(error.message, expected_text))
        fail_msg("wanted '%s', got '%s'", expected_text, error.message);
    test_free(text);
}

static void absurd_numbers_are_refused(void **state)
{
    (void)state;
    assert_repeated_is_refused("", "k", ": 1\n", 65, "more than 64 keys in one mapping");
    assert_repeated_is_refused("[", "", ",", 131072, "more than 131072 values in one policy");
    assert_repeated_is_refused(HEAD, "  - {name: t", ", why: w, adr: \"0004\", route: direct}\n", 4097,
                               "'tools' has 4097 entries; at most 4096 are allowed");
    assert_repeated_is_refused(HEAD TOOL "    env:\n", "      - V", "\n", 65,
                               "'env' in tool 'rg' has 65 entries; at most 64");
    assert_repeated_is_refused(HEAD "  - name: rg\n    why: w", " ", "", 1000, "bytes; at most 1024 are allowed");
}

static void error_may_be_null(void **state)
{
    (void)state;
    struct ck_policy *policy = NULL;
    assert_int_equal(ck_policy_parse("p.yaml", "x", 1, &policy, NULL), -EINVAL);
    assert_null(policy);
}

static void file_name_is_escaped_in_messages(void **state)
{
    (void)state;
    struct ck_policy *policy = NULL;
    struct choke_error error;
    assert_int_equal(ck_policy_parse("a\x1b'b", "x", 1, &policy, &error), -EINVAL);
    assert_non_null(strstr(error.message, "policy 'a\\x1b\\x27b': line 1, column 1: "));
}

/* ---- what is accepted -------------------------------------------------------------------- */

static void every_key_reaches_the_model(void **state)
{
    (void)state;
    static const char source[] =
        "version: 1\nadr_dir: docs/adr\nsearch_path: [/usr/local/bin, /usr/bin]\nlocked: true\nroots: [/srv, /w]\n"
        "upstream: {url: \"http://proxy.example.org:3128\", credentials_file: /etc/proxy}\ntools:\n" TOOL
        "    required: true\n    platforms: [linux]\n"
        "    install: {apt: ripgrep, brew: rg, npm: \"@a/rg\", url: \"https://a.example/rg#x\"}\n"
        "    version_args: [--version, --version]\n    env: [RG_A, RG_B]\n"
        "    set_env:\n      - {name: GIT_PAGER, value: cat}\n      - {name: EMPTY, value: \"\", when: offline}\n"
        "    credentials: allow\n    limits: {timeout_s: 31536000}\n" OTHER;
    char *text = test_malloc(sizeof(source));
    memcpy(text, source, sizeof(source));
    struct ck_policy *policy = must_parse(text);
    memset(text, 'x', sizeof(source));
    test_free(text);

    assert_string_equal(policy->file, "p.yaml");
    assert_int_equal(policy->version, 1);
    assert_string_equal(policy->adr_dir, "docs/adr");
    assert_int_equal(policy->search_path.count, 2);
    assert_string_equal(policy->search_path.items[1], "/usr/bin");
    assert_true(policy->locked);
    assert_int_equal(policy->roots.count, 2);
    assert_string_equal(policy->roots.items[1], "/w");
    assert_string_equal(policy->upstream.url, "http://proxy.example.org:3128");
    assert_string_equal(policy->upstream.credentials_file, "/etc/proxy");
    assert_false(policy->upstream.environment);
    assert_int_equal(policy->tools_count, 2);
    const struct ck_tool *tool = &policy->tools[0];
    assert_string_equal(tool->name, "rg");
    assert_string_equal(tool->why, "It searches.");
    assert_string_equal(tool->adr, "0004");
    assert_int_equal(tool->route, CK_ROUTE_EXTERNAL);
    assert_true(tool->required);
    assert_int_equal(tool->platforms, CK_PLATFORM_LINUX);
    assert_string_equal(tool->install.apt, "ripgrep");
    assert_string_equal(tool->install.brew, "rg");
    assert_string_equal(tool->install.npm, "@a/rg");
    assert_string_equal(tool->install.url, "https://a.example/rg#x");
    assert_int_equal(tool->version_args.count, 2);
    assert_string_equal(tool->version_args.items[1], "--version");
    assert_int_equal(tool->env.count, 2);
    assert_string_equal(tool->env.items[0], "RG_A");
    assert_int_equal(tool->set_env_count, 2);
    assert_string_equal(tool->set_env[0].name, "GIT_PAGER");
    assert_string_equal(tool->set_env[0].value, "cat");
    assert_string_equal(tool->set_env[1].value, "");
    assert_true(tool->allow_credentials);
    assert_int_equal(tool->limits.timeout_s, 31536000);
    assert_int_equal(tool->line, 8);
    assert_int_equal(policy->tools[1].line, 22);
    ck_policy_free(policy);
}

static void every_limit_reaches_the_model(void **state)
{
    (void)state;
    struct ck_policy *policy = must_parse(
        HEAD TOOL
        "    limits: {timeout_s: 1, memory_mib: 8, processes: 3, cpu_s: 4, file_size_mib: 5, open_files: 9, egress_mib: 2, "
        "egress_connections: 7}\n");
    const struct ck_limits *limits = &policy->tools[0].limits;
    const struct ck_limits expected = {.timeout_s = 1,
                                       .memory_mib = 8,
                                       .processes = 3,
                                       .cpu_s = 4,
                                       .file_size_mib = 5,
                                       .open_files = 9,
                                       .egress_mib = 2,
                                       .egress_connections = 7};
    assert_memory_equal(limits, &expected, sizeof(expected));
    /* The table has a row for each field, so that none is forgotten. */
    assert_int_equal(CK_LIMIT_KEYS * sizeof(uint32_t), sizeof(expected));
    ck_policy_free(policy);
}

static void least_limits_are_the_stricter_of_each(void **state)
{
    (void)state;
    struct ck_limits least = {.timeout_s = 60, .memory_mib = 512, .cpu_s = 30};
    ck_policy_limits_least(&least, &(struct ck_limits){.timeout_s = 90, .memory_mib = 256, .processes = 7});
    const struct ck_limits expected = {.timeout_s = 60, .memory_mib = 256, .processes = 7, .cpu_s = 30};
    assert_memory_equal(&least, &expected, sizeof(expected));
}

static void what_is_left_out_is_closed(void **state)
{
    (void)state;
    struct ck_policy *policy = must_parse(HEAD TOOL);
    const struct ck_tool *tool = &policy->tools[0];
    assert_null(policy->adr_dir);
    assert_false(tool->required);
    assert_false(tool->allow_credentials);
    assert_int_equal(tool->platforms, 0);
    assert_int_equal(tool->env.count, 0);
    assert_int_equal(tool->set_env_count, 0);
    assert_int_equal(tool->version_args.count, 0);
    assert_int_equal(tool->limits.timeout_s, 0);
    assert_null(tool->install.apt);
    ck_policy_free(policy);
}

static const struct {
    const char *name;
    const char *text;
} acceptances[] = {
    {"no_tools_is_a_policy", "version: 1\nsearch_path: [/bin]\ntools: []\n"},
    {"byte_order_mark_at_the_start_is_fine", "\xef\xbb\xbf" HEAD TOOL},
    {"document_marks_are_fine", "---\n" HEAD TOOL "...\n"},
    {"windows_line_ends_are_fine", "version: 1\r\nsearch_path: [/bin]\r\ntools: []\r\n"},
    {"flow_style_is_fine", "{version: 1, search_path: [/bin], tools: [{name: a, why: w, adr: '0004', route: jail}]}"},
    {"plain_adr_is_text", HEAD "  - name: rg\n    why: w\n    adr: 0004\n    route: direct\n"},
    {"folded_why_is_fine",
     HEAD "  - name: rg\n    why: >\n      Two\n      lines.\n    adr: \"0004\"\n    route: direct\n"},
    {"text_in_other_scripts_is_fine",
     HEAD "  - name: rg\n    why: \xc3\xa9\xe6\x97\xa5\n    adr: \"0004\"\n    route: direct\n"},
    {"null_in_quotes_is_text", HEAD "  - name: \"null\"\n    why: w\n    adr: \"0004\"\n    route: direct\n"},
    {"name_may_have_dots_and_signs",
     HEAD "  - name: clang++-14.0_x\n    why: w\n    adr: \"0004\"\n    route: direct\n"},
    {"empty_install_and_limits_are_fine", HEAD TOOL "    install: {}\n    limits: {}\n"},
    {"empty_env_is_fine", HEAD TOOL "    env: []\n    set_env: []\n"},
    {"dots_inside_a_search_path_component_are_fine", "version: 1\nsearch_path: [/opt/.tool/..x/b.c]\ntools: []\n"},
    {"credentials_refuse_is_the_default_in_words", HEAD TOOL "    credentials: refuse\n"},
};

static void check_acceptance(void **state)
{
    const char *text = *state;
    ck_policy_free(must_parse(text));
}

static void a_thousand_tools_are_found_by_exact_name(void **state)
{
    (void)state;
    size_t size = 100 * 1000;
    char *text = test_malloc(size);
    size_t at = (size_t)snprintf(text, size, "%s", HEAD);
    for (unsigned i = 0; i < 1000; i++)
        at += (size_t)snprintf(text + at, size - at, "  - {name: t%u, why: w, adr: \"0004\", route: direct}\n",
                               i * 7919 % 1000);
    struct ck_policy *policy = must_parse(text);
    test_free(text);
    assert_int_equal(policy->tools_count, 1000);
    for (unsigned i = 0; i < 1000; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "t%u", i);
        const struct ck_tool *tool = ck_policy_find(policy, name);
        assert_non_null(tool);
        assert_string_equal(tool->name, name);
    }
    static const char *const absent[] = {"", "t", "t1000", "t00", "T1", "t1 ", "t999x", "zzz", "a"};
    for (size_t i = 0; i < COUNT(absent); i++)
        assert_null(ck_policy_find(policy, absent[i]));
    assert_string_equal(policy->tools[1].name, "t919");
    ck_policy_free(policy);
}

static void nothing_is_found_without_tools(void **state)
{
    (void)state;
    struct ck_policy *policy = must_parse("version: 1\nsearch_path: [/bin]\ntools: []\n");
    assert_null(ck_policy_find(policy, "git"));
    ck_policy_free(policy);
    ck_policy_free(NULL);
}

/* ---- installing -------------------------------------------------------------------------- */

static void install_command_fits_the_platform(void **state)
{
    (void)state;
    static const struct {
        struct ck_install install;
        const char *linux_command;
        const char *macos_command;
    } rows[] = {
        {{.apt = "ripgrep", .brew = "rg", .npm = "x", .url = "https://a"},
         "apt-get install ripgrep",
         "brew install rg"},
        {{.brew = "b", .npm = "@ast-grep/cli", .url = "https://a"}, "npm install -g @ast-grep/cli", "brew install b"},
        {{.brew = "b", .url = "https://a.example"}, "see https://a.example", "brew install b"},
        {{.brew = "b"}, "brew install b", "brew install b"},
        {{.apt = "a"}, "apt-get install a", NULL},
        {{0}, NULL, NULL},
    };
    struct ck_arena arena = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct ck_tool tool = {.name = "x", .install = rows[i].install};
        const char *wanted = CK_PLATFORM_HERE == CK_PLATFORM_LINUX ? rows[i].linux_command : rows[i].macos_command;
        const char *command = ck_policy_tool_install_command(&arena, &tool);
        if (!wanted) {
            assert_null(command);
        } else {
            assert_non_null(command);
            assert_string_equal(command, wanted);
        }
    }
    ck_arena_done(&arena);
}

static void names_of_routes_and_platforms_are_stable(void **state)
{
    (void)state;
    assert_string_equal(ck_policy_route_name(CK_ROUTE_DIRECT), "direct");
    assert_string_equal(ck_policy_route_name(CK_ROUTE_EXTERNAL), "external");
    assert_string_equal(ck_policy_route_name(CK_ROUTE_JAIL), "jail");
    assert_string_equal(ck_policy_platform_name(CK_PLATFORM_LINUX), "linux");
    assert_string_equal(ck_policy_platform_name(CK_PLATFORM_MACOS), "macos");
}

static size_t add(struct CMUnitTest *tests, size_t at, const char *name, CMUnitTestFunction function, const void *state)
{
    tests[at] = (struct CMUnitTest){.name = name, .test_func = function, .initial_state = (void *)(uintptr_t)state};
    return at + 1;
}

int main(void)
{
    static const struct CMUnitTest others[] = {
        cmocka_unit_test(nul_byte_is_refused),
        cmocka_unit_test(hidden_characters_are_refused_and_their_neighbours_are_not),
        cmocka_unit_test(text_over_the_maximum_is_refused_at_its_first_byte),
        cmocka_unit_test(absurd_numbers_are_refused),
        cmocka_unit_test(error_may_be_null),
        cmocka_unit_test(file_name_is_escaped_in_messages),
        cmocka_unit_test(every_key_reaches_the_model),
        cmocka_unit_test(what_is_left_out_is_closed),
        cmocka_unit_test(a_thousand_tools_are_found_by_exact_name),
        cmocka_unit_test(nothing_is_found_without_tools),
        cmocka_unit_test(install_command_fits_the_platform),
        cmocka_unit_test(names_of_routes_and_platforms_are_stable),
        cmocka_unit_test(every_limit_reaches_the_model),
        cmocka_unit_test(least_limits_are_the_stricter_of_each),
    };
    static struct CMUnitTest tests[COUNT(refusals) + COUNT(acceptances) + COUNT(others)];
    size_t at = 0;
    for (size_t i = 0; i < COUNT(refusals); i++)
        at = add(tests, at, refusals[i].name, check_refusal, &refusals[i]);
    for (size_t i = 0; i < COUNT(acceptances); i++)
        at = add(tests, at, acceptances[i].name, check_acceptance, acceptances[i].text);
    for (size_t i = 0; i < COUNT(others); i++)
        tests[at++] = others[i];
    return cmocka_run_group_tests_name("policy_load", tests, NULL, NULL);
}
