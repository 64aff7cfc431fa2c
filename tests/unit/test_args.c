/* test_args.c - arguments are read as the tool would read them; an argument that the entry does not
 * list is refused by name. */
#include "args_policy.h"

/* ---- what is allowed, and what is made of it --------------------------------------------- */

struct allowed {
    const char *name;
    const char *const *argv;
    const char *const *out; /* NULL: as it came */
};

static const struct allowed allowances[] = {
    {"without_rules_anything_goes", A("open", "-rf", "--", "", "--x=y", "/"), NULL},
    {"empty_rules_allow_no_argument_at_all", A("closed"), NULL},
    {"flag", A("flat", "--flag"), NULL},
    {"flag_twice", A("flat", "--flag", "--flag"), NULL},
    {"short_flag", A("flat", "-f"), NULL},
    {"value_attached", A("flat", "--value=x"), NULL},
    {"value_separate", A("flat", "--value", "x"), NULL},
    {"value_empty_attached", A("flat", "--value="), NULL},
    {"value_empty_separate", A("flat", "--value", ""), NULL},
    {"value_with_equals", A("flat", "--value=a=b"), NULL},
    {"value_that_begins_with_a_dash_attached", A("flat", "--value=--pre"), NULL},
    {"value_that_is_a_dash", A("flat", "--value", "-"), NULL},
    {"value_with_any_byte", A("flat", "--value=\x01\xff\n"), NULL},
    {"short_value_attached", A("flat", "-vx"), NULL},
    {"short_value_separate", A("flat", "-v", "x"), NULL},
    {"short_value_with_equals", A("flat", "-v=x"), NULL},
    {"short_value_that_looks_like_flags", A("flat", "-vfz"), NULL},
    {"short_value_that_begins_with_a_dash_attached", A("flat", "-v-z"), NULL},
    {"number", A("flat", "--num=25", "--num", "0", "-n5", "-n", "007"), NULL},
    {"name", A("flat", "--name=_a/b.c:d@e+f,g%h-i", "--name", "A9"), NULL},
    {"alternative", A("flat", "--pick=a", "--pick", "b", "-pa", "-p", "b"), NULL},
    {"alternative_with_a_typed_end", A("flat", "--pick=trace=open", "--pick", "trace=x9"), NULL},
    {"optional_value_absent", A("flat", "--opt", "-o", "--optnum", "-M", "--when"), NULL},
    {"optional_value_attached", A("flat", "--opt=x", "-ox", "--optnum=3", "-M50", "--when=never"), NULL},
    {"optional_value_empty", A("flat", "--opt="), NULL},
    {"optional_value_does_not_take_the_next_word", A("flat", "--optnum", "x"), NULL},
    {"words", A("flat", "--pair", "a", "b", "--mix", "3", "x"), NULL},
    {"words_may_be_empty", A("flat", "--pair", "", ""), NULL},
    {"words_may_begin_with_a_dash", A("flat", "--pair", "--pre", "--", "-f"), NULL},
    {"word_behind_a_bundle", A("flat", "-fy", "-z"), NULL},
    {"digits_as_an_option", A("flat", "-5", "-0123456789"), NULL},
    {"bundle", A("flat", "-fgq"), NULL},
    {"bundle_that_ends_in_a_value", A("flat", "-fvx", "-fgv", "x", "-fn5"), NULL},
    {"bundle_that_ends_in_an_optional_value", A("flat", "-fo", "-foz", "-fM5"), NULL},
    {"same_letter_twice_in_a_bundle", A("flat", "-ff"), NULL},
    {"operands_mixed_with_options", A("flat", "a", "-f", "b", "--flag", "c"), NULL},
    {"dash_is_an_operand", A("flat", "-"), NULL},
    {"empty_operand", A("flat", ""), NULL},
    {"double_dash_ends_the_options", A("flat", "-f", "--", "-z", "--pre", "--", "-"), NULL},
    {"double_dash_alone", A("flat", "--"), NULL},
    {"double_dash_where_no_operand_is_allowed", A("bare", "-a", "--"), NULL},
    {"version_vector_as_it_stands", A("flat", "version", "--porcelain"), NULL},
    {"number_operand", A("digits", "1", "22"), NULL},
    {"name_operand", A("names", "alpine:3.19", "x@sha256:0f"), NULL},
    {"inside_operand", A("paths", "src", "HEAD~1..HEAD", "a b", "-"), NULL},
    {"existing_operand", A("files", "src"), NULL},
    {"operand_after_a_scheme", A("images", "oci-dir:src", "sbom:./a", "src", "./dir:x"), NULL},
    {"existing_operand_with_a_colon_further_on", A("files", "./dir:x", "a/dir:x", "-"), NULL},
    {"inside_operand_with_a_colon", A("paths", "HEAD:src"), NULL},
    {"mount_operand", A("mounts", "./src:/work:ro"), NULL},
    {"options_end_at_the_first_operand", A("early", "-a", "-bx", "cmd", "-z", "--", "--pre"), NULL},
    {"options_first_with_double_dash", A("early", "-a", "--", "cmd", "-z"), NULL},
    {"value_of_an_early_option_is_no_operand", A("early", "-b", "x", "-a", "cmd"), NULL},
    {"dash_ends_early_options_too", A("early", "-", "-z"), NULL},
    {"denied_end_of_the_options_as_a_value", A("no-end", "-name", "--", "x"), NULL},
    {"single_options_alone", A("single", "-a", "-b", "-c", "x", "-c=x", "-word", "--long"), NULL},
    {"first_operand_is_a_pattern", A("search", "/etc://x", "src"), NULL},
    {"first_operand_after_options", A("search", "-i", "-A", "3", "/p", "src"), NULL},
    {"first_operand_behind_double_dash", A("search", "--", "-/p", "src"), NULL},
    {"first_operand_like_the_others", A("search", "-e", "/p", "src"), NULL},
    {"first_alone", A("program", ".a|/etc"), NULL},
    {"required_attached", A("must", "--network=none", "--cap=ALL", "--cap=SYS", "-soff", "--yes"), NULL},
    {"required_separate", A("must", "--network", "none", "--cap", "ALL", "--cap", "SYS", "-s", "off", "--yes"), NULL},
    {"required_twice_alike",
     A("must", "--network=none", "--network", "none", "--cap=ALL", "--cap=SYS", "-soff", "--yes"), NULL},
    {"injection_stands_behind_the_name", A("inject"), A("inject", "-c", "a=b")},
    {"injection_stands_before_the_arguments", A("inject", "-q", "x"), A("inject", "-c", "a=b", "-q", "x")},
    {"exact_vector", A("fixed", "--version"), NULL},
    {"exact_vector_of_two", A("fixed", "-p", "process.version"), NULL},
    {"version_args_are_exact_too", A("fixed", "-V"), NULL},
    {"exact_vector_gets_nothing_injected", A("mixed", "--help", "all"), NULL},
    {"beside_exact_the_rest_holds", A("mixed", "-q"), A("mixed", "--safe", "-q")},
    {"subcommand", A("tree", "log"), A("tree", "-c", "core.x=y", "log", "--no-ext-diff", "--no-textconv")},
    {"both_injections_stand_in_their_places", A("tree", "--no-pager", "log", "-p", "src"),
     A("tree", "-c", "core.x=y", "--no-pager", "log", "--no-ext-diff", "--no-textconv", "-p", "src")},
    {"value_before_the_subcommand", A("tree", "-C", "log", "image"), A("tree", "-c", "core.x=y", "-C", "log", "image")},
    {"options_of_a_set", A("tree", "log", "--stat", "-U3", "-p", "-5"),
     A("tree", "-c", "core.x=y", "log", "--no-ext-diff", "--no-textconv", "--stat", "-U3", "-p", "-5")},
    {"subcommand_of_two_words", A("tree", "image", "inspect", "-f", "{{.Id}}", "alpine"),
     A("tree", "-c", "core.x=y", "image", "inspect", "-f", "{{.Id}}", "alpine")},
    {"shorter_subcommand_with_the_same_word", A("tree", "image", "--list"),
     A("tree", "-c", "core.x=y", "image", "--list")},
    {"subcommand_that_ends_options_early", A("tree", "run", "--rm", "--network", "none", "alpine", "sh", "-c", "--x"),
     A("tree", "-c", "core.x=y", "run", "--rm", "--network", "none", "alpine", "sh", "-c", "--x")},
    {"longer_subcommand_that_is_listed_later", A("tree", "run", "fast", "--loud"),
     A("tree", "-c", "core.x=y", "run", "fast", "--loud")},
    {"version_vector_of_a_tree", A("tree", "version"), NULL},
};

static void check_allowance(void **state)
{
    const struct allowed *row = *state;
    struct ck_arena arena = {0};
    struct ck_parsed_args parsed;
    read_args(row->argv, &arena, &parsed);
    if (parsed.refused)
        fail_msg("refused by %s: %s", parsed.rule, parsed.message);
    const char *const *out = row->out ? row->out : row->argv;
    size_t i = 0;
    for (; out[i] && parsed.argv[i]; i++)
        assert_string_equal(parsed.argv[i], out[i]);
    assert_ptr_equal(out[i], parsed.argv[i]); /* both are at their end */
    assert_int_equal(parsed.argc, i);
    ck_arena_done(&arena);
}

/* ---- what is refused, by which rule and in which words ----------------------------------- */

struct refused {
    const char *name;
    const char *const *argv;
    const char *rule;
    const char *message;
    const char *line; /* text of the policy that stands on the line of the entry; NULL: the tool's */
};

#define FLAT "tools.flat.args."

static const struct refused refusals[] = {
    {"empty_rules_refuse_an_option", A("closed", "-x"), "tools.closed.args.options", "'-x'", NULL},
    {"empty_rules_refuse_an_operand", A("closed", "x"), "tools.closed.args.operands", "'x'", NULL},
    {"empty_rules_refuse_an_empty_operand", A("closed", ""), "tools.closed.args.operands", "''", NULL},
    {"empty_rules_refuse_a_dash", A("closed", "-"), "tools.closed.args.operands", "'-'", NULL},
    {"empty_rules_refuse_an_operand_behind_double_dash", A("closed", "--", "x"), "tools.closed.args.operands", "'x'",
     NULL},
    {"unknown_option", A("flat", "--other"), FLAT "options", "'--other'", NULL},
    {"unknown_short_option", A("flat", "-x"), FLAT "options", "'-x'", NULL},
    {"abbreviation", A("flat", "--fla"), FLAT "options", "'--fla'", NULL},
    {"abbreviation_with_a_value", A("flat", "--val=x"), FLAT "options", "'--val'", NULL},
    {"longer_name", A("flat", "--flags"), FLAT "options", "'--flags'", NULL},
    {"negation_that_is_not_listed", A("flat", "--no-flag"), FLAT "options", "'--no-flag'", NULL},
    {"other_case", A("flat", "--Flag"), FLAT "options", "'--Flag'", NULL},
    {"long_option_with_one_dash", A("flat", "-flag"), FLAT "options", "'-l'", NULL},
    {"three_dashes", A("flat", "---flag"), FLAT "options", "'---flag'", NULL},
    {"double_dash_with_a_value", A("flat", "--=x"), FLAT "options", "--", NULL},
    {"name_with_a_space", A("flat", "--flag "), FLAT "options", "'--flag '", NULL},
    {"name_with_a_newline", A("flat", "--flag\n"), FLAT "options", "'--flag\\n'", NULL},
    {"unicode_dash_is_an_operand_elsewhere", A("bare", "\xe2\x80\x94x"), "tools.bare.args.operands", "", NULL},
    {"value_for_a_flag", A("flat", "--flag=x"), FLAT "options", "'--flag'", NULL},
    {"empty_value_for_a_flag", A("flat", "--flag="), FLAT "options", "'--flag'", NULL},
    {"value_for_a_short_flag", A("flat", "-f=x"), FLAT "options", "'-='", NULL},
    {"value_missing", A("flat", "--value"), FLAT "options", "'--value'", NULL},
    {"short_value_missing", A("flat", "-v"), FLAT "options", "'-v'", NULL},
    {"value_missing_in_a_bundle", A("flat", "-fv"), FLAT "options", "'-v'", NULL},
    {"separate_value_that_begins_with_a_dash", A("flat", "--value", "-f"), FLAT "options", "'-f'", NULL},
    {"separate_value_that_is_double_dash", A("flat", "--value", "--", "x"), FLAT "options", "'--'", NULL},
    {"separate_short_value_that_begins_with_a_dash", A("flat", "-v", "--pre"), FLAT "options", "'--pre'", NULL},
    {"wrong_number", A("flat", "--num=1x"), FLAT "options", "'1x'", NULL},
    {"empty_number", A("flat", "--num="), FLAT "options", "''", NULL},
    {"negative_number", A("flat", "--num=-1"), FLAT "options", "'-1'", NULL},
    {"number_with_a_sign", A("flat", "--num=+1"), FLAT "options", "'+1'", NULL},
    {"number_with_a_newline", A("flat", "--num=1\n"), FLAT "options", "'1\\n'", NULL},
    {"wrong_short_number", A("flat", "-nx"), FLAT "options", "'x'", NULL},
    {"wrong_separate_number", A("flat", "-n", "x"), FLAT "options", "'x'", NULL},
    {"short_number_with_equals", A("flat", "-n=5"), FLAT "options", "'=5'", NULL},
    {"empty_name", A("flat", "--name="), FLAT "options", "''", NULL},
    {"name_that_begins_with_a_dot", A("flat", "--name=.a"), FLAT "options", "'.a'", NULL},
    {"name_that_begins_with_a_slash", A("flat", "--name=/a"), FLAT "options", "'/a'", NULL},
    {"name_that_begins_with_a_dash", A("flat", "--name=-a"), FLAT "options", "'-a'", NULL},
    {"name_with_dotdot", A("flat", "--name=a/../b"), FLAT "options", "'a/../b'", NULL},
    {"name_with_a_blank", A("flat", "--name=a b"), FLAT "options", "'a b'", NULL},
    {"name_with_a_line_break", A("flat", "--name=a\n"), FLAT "options", "'a\\n'", NULL},
    {"name_with_a_semicolon", A("flat", "--name=a;b"), FLAT "options", "'a;b'", NULL},
    {"name_with_utf8", A("flat", "--name=\xc3\xa9"), FLAT "options", "", NULL},
    {"no_alternative", A("flat", "--pick=c"), FLAT "options", "'c'", NULL},
    {"longer_alternative", A("flat", "--pick=ab"), FLAT "options", "'ab'", NULL},
    {"empty_alternative", A("flat", "--pick="), FLAT "options", "''", NULL},
    {"alternative_with_a_bad_end", A("flat", "--pick=trace=/x"), FLAT "options", "'trace=/x'", NULL},
    {"alternative_with_an_empty_end", A("flat", "--pick=trace="), FLAT "options", "'trace='", NULL},
    {"short_alternative_with_equals", A("flat", "-p=a"), FLAT "options", "'=a'", NULL},
    {"both_alternatives_at_once", A("flat", "--pick=a|b"), FLAT "options", "'a|b'", NULL},
    {"wrong_optional_value", A("flat", "--optnum=x"), FLAT "options", "'x'", NULL},
    {"empty_optional_number", A("flat", "--optnum="), FLAT "options", "''", NULL},
    {"wrong_optional_alternative", A("flat", "--when=auto"), FLAT "options", "'auto'", NULL},
    {"wrong_short_optional_value", A("flat", "-Mx"), FLAT "options", "'x'", NULL},
    {"words_attached", A("flat", "--pair=a", "b"), FLAT "options", "'--pair'", NULL},
    {"word_in_the_middle_of_a_bundle", A("flat", "-yf", "x"), FLAT "options", "'-y'", NULL},
    {"words_missing", A("flat", "--pair", "a"), FLAT "options", "'--pair'", NULL},
    {"words_all_missing", A("flat", "--pair"), FLAT "options", "'--pair'", NULL},
    {"denied_behind_the_last_word", A("flat", "--pair", "a", "b", "--pre"), FLAT "deny", "'--pre'", NULL},
    {"first_word_of_a_wrong_type", A("flat", "--mix", "x", "y"), FLAT "options", "'x'", NULL},
    {"second_word_of_a_wrong_type", A("flat", "--mix", "3", "/y"), FLAT "options", "'/y'", NULL},
    {"digits_with_a_letter", A("flat", "-5f"), FLAT "options", "'-5'", NULL},
    {"digits_in_a_bundle", A("flat", "-f5"), FLAT "options", "-5", NULL},
    {"digits_where_they_are_not_listed", A("bare", "-5"), "tools.bare.args.options", "-5", NULL},
    {"bundle_with_an_unknown_letter", A("flat", "-fx"), FLAT "options", "'-x'", NULL},
    {"bundle_that_begins_with_an_unknown_letter", A("flat", "-xf"), FLAT "options", "'-x'", NULL},
    {"bundle_with_a_dash", A("flat", "-f-g"), FLAT "options", "", NULL},
    {"bundle_with_a_wrong_value", A("flat", "-fnx"), FLAT "options", "'x'", NULL},
    {"denied_end_of_the_options", A("no-end", "--"), "tools.no-end.args.deny", "'--'", NULL},
    {"denied_end_of_the_options_after_an_operand", A("no-end", "x", "--", "-delete"), "tools.no-end.args.deny", "'--'",
     NULL},
    {"denied", A("flat", "--pre"), FLAT "deny", "'--pre'", NULL},
    {"denied_with_a_value", A("flat", "--pre=cat"), FLAT "deny", "'--pre'", NULL},
    {"denied_with_a_separate_value", A("flat", "--pre", "cat"), FLAT "deny", "'--pre'", NULL},
    {"denied_behind_an_operand", A("flat", "x", "--pre=cat"), FLAT "deny", "'--pre'", NULL},
    {"denied_short", A("flat", "-z"), FLAT "deny", "'-z'", NULL},
    {"denied_short_with_a_value", A("flat", "-zx"), FLAT "deny", "'-z'", NULL},
    {"denied_in_a_bundle", A("flat", "-fgz"), FLAT "deny", "'-z'", NULL},
    {"denied_at_the_head_of_a_bundle", A("flat", "-zf"), FLAT "deny", "'-z'", NULL},
    {"abbreviation_of_a_denied_one", A("flat", "--pre-g=x"), FLAT "options", "'--pre-g'", NULL},
    {"denied_behind_an_optional_value", A("flat", "--opt", "--pre"), FLAT "deny", "'--pre'", NULL},
    {"version_vector_and_more", A("flat", "version", "--porcelain", "-z"), FLAT "options", "'--porcelain'", NULL},
    {"operand_where_there_is_none", A("bare", "-a", "x"), "tools.bare.args.operands", "'x'", NULL},
    {"operand_behind_double_dash_where_there_is_none", A("bare", "--", "-a"), "tools.bare.args.operands", "'-a'", NULL},
    {"second_double_dash_is_an_operand", A("bare", "--", "--"), "tools.bare.args.operands", "'--'", NULL},
    {"number_operand_of_letters", A("digits", "1", "x"), "tools.digits.args.operands", "'x'", NULL},
    {"number_operand_below_zero", A("digits", "--", "-1"), "tools.digits.args.operands", "'-1'", NULL},
    {"name_operand_behind_double_dash", A("names", "--", "-a"), "tools.names.args.operands", "'-a'", NULL},
    {"name_operand_with_a_blank", A("names", "a b"), "tools.names.args.operands", "'a b'", NULL},
    {"dash_is_no_name", A("names", "-"), "tools.names.args.operands", "'-'", NULL},
    {"inside_that_is_empty", A("paths", ""), "tools.paths.args.operands", "''", NULL},
    {"existing_that_is_empty", A("files", ""), "tools.files.args.operands", "''", NULL},
    {"existing_with_a_scheme", A("files", "dir:/etc"), "tools.files.args.operands", "'dir:/etc'", NULL},
    {"existing_with_a_scheme_and_no_slash", A("files", "sbom:x"), "tools.files.args.operands", "'sbom:x'", NULL},
    {"a_scheme_that_is_not_listed", A("images", "docker:x"), "tools.images.args.operands", "'docker:x'", NULL},
    {"a_scheme_and_nothing", A("images", "oci-dir:"), "tools.images.args.operands", "'oci-dir:'", NULL},
    {"a_scheme_after_a_scheme", A("images", "sbom:oci-dir:x"), "tools.images.args.operands", "'sbom:oci-dir:x'", NULL},
    {"a_scheme_in_capitals", A("images", "SBOM:x"), "tools.images.args.operands", "'SBOM:x'", NULL},
    {"a_scheme_with_an_address", A("images", "sbom:http://x"), "tools.images.args.operands", "'sbom:http://x'", NULL},
    {"existing_with_a_scheme_of_signs", A("files", "oci-dir+x.y:z"), "tools.files.args.operands", "'oci-dir+x.y:z'",
     NULL},
    {"existing_value_with_a_scheme", A("flat", "--have=file:/etc"), FLAT "options", "'file:/etc'", NULL},
    {"inside_with_a_scheme", A("paths", "https://x/y"), "tools.paths.args.operands", "'https://x/y'", NULL},
    {"inside_with_a_scheme_further_on", A("paths", "a/ext::x://y"), "tools.paths.args.operands", "", NULL},
    {"mount_without_a_source", A("mounts", ":/work"), "tools.mounts.args.operands", "':/work'", NULL},
    {"mount_of_a_volume", A("mounts", "data:/work"), "tools.mounts.args.operands", "'data:/work'", NULL},
    {"mount_with_a_relative_target", A("mounts", "./src:work"), "tools.mounts.args.operands", "'./src:work'", NULL},
    {"mount_with_empty_options", A("mounts", "./src:/w:"), "tools.mounts.args.operands", "'./src:/w:'", NULL},
    {"mount_with_odd_options", A("mounts", "./src:/w:ro=x"), "tools.mounts.args.operands", "'./src:/w:ro=x'", NULL},
    {"mount_with_four_parts", A("mounts", "./src:/w:ro:z"), "tools.mounts.args.operands", "'./src:/w:ro:z'", NULL},
    {"mount_without_a_target", A("mounts", "./src"), "tools.mounts.args.operands", "'./src'", NULL},
    {"unknown_early_option", A("early", "-z", "cmd"), "tools.early.args.options", "'-z'", NULL},
    {"bundle_where_there_is_none", A("single", "-ab"), "tools.single.args.options", "'-ab'", NULL},
    {"value_attached_where_there_is_no_bundle", A("single", "-cx"), "tools.single.args.options", "'-cx'", NULL},
    {"long_name_behind_one_dash_cut_short", A("single", "-wor"), "tools.single.args.options", "'-wor'", NULL},
    {"bundle_of_one_letter_twice", A("single", "-aa"), "tools.single.args.options", "-aa", NULL},
    {"second_operand_is_no_pattern", A("search", "/p", "x://y"), "tools.search.args.operands", "'x://y'", NULL},
    {"first_operand_with_the_option_before", A("search", "-e", "p", "x://y"), "tools.search.args.operands", "'x://y'",
     NULL},
    {"first_operand_with_the_option_behind", A("search", "x://y", "-e", "p"), "tools.search.args.operands", "'x://y'",
     NULL},
    {"first_operand_with_the_option_in_a_bundle", A("search", "x://y", "-iep"), "tools.search.args.operands", "'x://y'",
     NULL},
    {"first_operand_with_the_long_option_behind", A("search", "x://y", "--regexp=p"), "tools.search.args.operands",
     "'x://y'", NULL},
    {"first_operand_with_the_flag_behind", A("search", "x://y", "--files"), "tools.search.args.operands", "'x://y'",
     NULL},
    {"second_operand_where_only_a_first_is_allowed", A("program", ".", "x"), "tools.program.args.operands", "'x'",
     NULL},
    {"required_short_with_equals_is_not_the_value",
     A("must", "--network=none", "--cap=ALL", "--cap=SYS", "-s=off", "--yes"), "tools.must.args.options", "'=off'",
     NULL},
    {"required_value_behind_a_shorter_name", A("prefix", "--net=ork=none"), "tools.prefix.args.require",
     "'--network=none'", NULL},
    {"required_of_a_tool_that_runs_commands", A("strict", "open"), "tools.strict.args.require", "'-w'", NULL},
    {"required_missing", A("must", "--cap=ALL", "--cap=SYS", "-soff", "--yes"), "tools.must.args.require",
     "'--network=none'", NULL},
    {"required_flag_missing", A("must", "--network=none", "--cap=ALL", "--cap=SYS", "-soff"), "tools.must.args.require",
     "'--yes'", NULL},
    {"required_short_missing", A("must", "--network=none", "--cap=ALL", "--cap=SYS", "--yes"),
     "tools.must.args.require", "'-s=off'", NULL},
    {"one_of_two_required_values_missing", A("must", "--network=none", "--cap", "ALL", "-soff", "--yes"),
     "tools.must.args.require", "'--cap=SYS'", NULL},
    {"required_with_another_value", A("must", "--network=host", "--cap=ALL", "--cap=SYS", "-soff", "--yes"),
     "tools.must.args.options", "'host'", NULL},
    {"longer_name_is_not_the_required_one", A("must", "--network=none", "--cap=ALL", "--cap=SYS", "-soff", "--yes-not"),
     "tools.must.args.require", "'--yes'", NULL},
    {"required_behind_double_dash", A("must", "--cap=ALL", "--cap=SYS", "-soff", "--yes", "--", "--network=none"),
     "tools.must.args.operands", "'--network=none'", NULL},
    {"exact_vector_cut_short", A("fixed", "-p"), "tools.fixed.args.exact", "-p", NULL},
    {"exact_vector_and_more", A("fixed", "--version", "x"), "tools.fixed.args.exact", "", NULL},
    {"exact_vector_in_another_order", A("fixed", "process.version", "-p"), "tools.fixed.args.exact", "", NULL},
    {"exact_vector_with_another_word", A("fixed", "-p", "process.exit"), "tools.fixed.args.exact", "", NULL},
    {"no_argument_where_there_is_only_exact", A("fixed"), "tools.fixed.args.exact", "", NULL},
    {"exact_vector_and_more_is_read_by_the_rules", A("mixed", "--help", "all", "-q"), "tools.mixed.args.options",
     "'--help'", NULL},
    {"subcommand_missing", A("tree"), "tools.tree.args.subcommands", "", NULL},
    {"subcommand_missing_behind_options", A("tree", "--no-pager"), "tools.tree.args.subcommands", "", NULL},
    {"unknown_subcommand", A("tree", "push"), "tools.tree.args.subcommands", "'push'", NULL},
    {"abbreviated_subcommand", A("tree", "lo"), "tools.tree.args.subcommands", "'lo'", NULL},
    {"longer_subcommand", A("tree", "logs"), "tools.tree.args.subcommands", "'logs'", NULL},
    {"empty_subcommand", A("tree", ""), "tools.tree.args.subcommands", "''", NULL},
    {"dash_is_no_subcommand", A("tree", "-"), "tools.tree.args.subcommands", "'-'", NULL},
    {"subcommand_in_capitals", A("tree", "LOG"), "tools.tree.args.subcommands", "'LOG'", NULL},
    {"words_of_a_subcommand_in_one", A("tree", "image inspect", "x"), "tools.tree.args.subcommands", "'image inspect'",
     NULL},
    {"unknown_option_before_the_subcommand", A("tree", "--bare", "log"), "tools.tree.args.options", "'--bare'", NULL},
    {"option_of_the_subcommand_before_it", A("tree", "-p", "log"), "tools.tree.args.options", "'-p'", NULL},
    {"denied_before_the_subcommand", A("tree", "-c", "x=y", "log"), "tools.tree.args.deny", "'-c'", NULL},
    {"denied_before_the_subcommand_attached", A("tree", "--exec-path=/x", "log"), "tools.tree.args.deny",
     "'--exec-path'", NULL},
    {"what_the_tool_denies_holds_for_the_subcommand", A("tree", "log", "--exec-path=/x"), "tools.tree.args.deny",
     "'--exec-path'", "name: tree"},
    {"denied_by_the_subcommand", A("tree", "log", "--output=x"), "tools.tree.args.subcommands.log.deny", "'--output'",
     "name: log"},
    {"abbreviation_of_what_the_subcommand_denies", A("tree", "log", "--outp=x"),
     "tools.tree.args.subcommands.log.options", "'--outp'", "name: log"},
    {"unknown_option_of_the_subcommand", A("tree", "log", "--bare"), "tools.tree.args.subcommands.log.options",
     "'--bare'", "name: log"},
    {"option_of_the_tool_behind_the_subcommand", A("tree", "log", "--no-pager"),
     "tools.tree.args.subcommands.log.options", "'--no-pager'", "name: log"},
    {"operand_of_the_subcommand", A("tree", "log", "ext::x://y"), "tools.tree.args.subcommands.log.operands",
     "'ext::x://y'", "name: log"},
    {"option_between_the_words_of_a_subcommand", A("tree", "image", "-f", "x", "inspect"),
     "tools.tree.args.subcommands.image.options", "'-f'", "name: image\n"},
    {"operand_where_the_shorter_subcommand_has_none", A("tree", "image", "rm"),
     "tools.tree.args.subcommands.image.operands", "'rm'", "name: image\n"},
    {"operand_of_a_subcommand_of_two_words", A("tree", "image", "inspect", "a b"),
     "tools.tree.args.subcommands.image inspect.operands", "'a b'", "name: image inspect"},
    {"required_of_the_subcommand", A("tree", "run", "--rm", "alpine"), "tools.tree.args.subcommands.run.require",
     "'--network=none'", "name: run"},
    {"required_of_the_subcommand_too_late", A("tree", "run", "alpine", "--network=none"),
     "tools.tree.args.subcommands.run.require", "'--network=none'", "name: run"},
    {"first_operand_of_the_subcommand", A("tree", "run", "--network=none", "./evil"),
     "tools.tree.args.subcommands.run.operands", "'./evil'", "name: run"},
    {"double_dash_before_the_subcommand", A("tree", "--", "log"), "tools.tree.args.subcommands", "", NULL},
    {"command_missing", A("trace"), "tools.trace.args.command", "", NULL},
    {"command_missing_behind_options", A("trace", "-f"), "tools.trace.args.command", "", NULL},
    {"command_that_is_not_in_the_policy", A("trace", "sh", "-c", "id"), "tools.trace.args.command", "'sh'", NULL},
    {"command_that_is_a_path", A("trace", "/usr/bin/flat"), "tools.trace.args.command", "'/usr/bin/flat'", NULL},
    {"command_that_is_empty", A("trace", ""), "tools.trace.args.command", "''", NULL},
    {"command_that_is_a_jails_helper", A("trace", "helper"), "tools.trace.args.command", "'helper'", NULL},
    {"option_of_the_outer_tool", A("trace", "-o", "x", "flat"), "tools.trace.args.options", "'-o'", NULL},
    {"options_of_the_inner_tool", A("trace", "-f", "flat", "--pre"), FLAT "deny", "'--pre'", NULL},
    {"subcommand_of_the_inner_tool", A("trace", "tree", "push"), "tools.tree.args.subcommands", "'push'", NULL},
    {"inner_tool_with_only_exact", A("trace", "fixed"), "tools.fixed.args.exact", "", NULL},
};

static void check_refusal(void **state)
{
    const struct refused *row = *state;
    struct ck_arena arena = {0};
    struct ck_parsed_args parsed;
    read_args(row->argv, &arena, &parsed);
    if (!parsed.refused)
        fail_msg("allowed; wanted %s", row->rule);
    if (strcmp(parsed.rule, row->rule) != 0)
        fail_msg("wanted %s, got %s: %s", row->rule, parsed.rule, parsed.message);
    if (!strstr(parsed.message, row->message))
        fail_msg("wanted \"%s\", got \"%s\"", row->message, parsed.message);
    assert_non_null(parsed.tool);
    char entry[96];
    (void)snprintf(entry, sizeof(entry), "name: %s\n", parsed.tool->name);
    unsigned line = line_of(row->line ? row->line : entry);
    assert_int_equal(parsed.line, line);
    ck_arena_done(&arena);
}

static size_t add(struct CMUnitTest *tests, size_t at, const char *name, CMUnitTestFunction function, const void *state)
{
    tests[at] = (struct CMUnitTest){.name = name, .test_func = function, .initial_state = (void *)(uintptr_t)state};
    return at + 1;
}

int main(void)
{
    static struct CMUnitTest tests[COUNT(refusals) + COUNT(allowances)];
    size_t at = 0;
    for (size_t i = 0; i < COUNT(refusals); i++)
        at = add(tests, at, refusals[i].name, check_refusal, &refusals[i]);
    for (size_t i = 0; i < COUNT(allowances); i++)
        at = add(tests, at, allowances[i].name, check_allowance, &allowances[i]);
    return cmocka_run_group_tests_name("args", tests, load_policy, free_policy);
}
