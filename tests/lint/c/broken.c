//: unclosed brace
void f(void) {
    system("a");  //> c-shell
//: rubbish above
@@@ %% ]
void f(void) { system("a"); }  //> c-shell
//: unknown macro before a function
EXPORT_SYMBOL(x) static API int f(void) { return system("a"); }  //> c-shell
//: loop made by a macro
void f(void) { list_for_each(x, y) { system("a"); } }  //> c-shell
//: declaration made by a macro
DECLARE_THING(x);
void f(void) { system("a"); }  //> c-shell
//: unclosed string
void f(void) { puts("system(
}
