nunjucks.configure("views", { autoescape: false }); // FIND js-template-unescaped
new nunjucks.Environment(loader, { "autoescape": false, throwOnUndefined: true }); // FIND js-template-unescaped
swig.setDefaults({ autoescape: !1 }); // FIND js-template-unescaped
Handlebars.compile(source, { noEscape: true }); // FIND js-template-unescaped
const page = hbs.precompile(source, { strict: true, 'noEscape': true }); // FIND js-template-unescaped
Mustache.escape = (text) => text; // FIND js-template-unescaped
mustache.escape = text => text; // FIND js-template-unescaped
element.innerHTML = location.hash; // FIND js-template-unescaped
element.innerHTML = "<b>" + decodeURIComponent(location.search.slice(1)) + "</b>"; // FIND js-template-unescaped
document.body.outerHTML = `<b>${document.referrer}</b>`; // FIND js-template-unescaped
document.write("<a href='" + document.URL + "'>"); // FIND js-template-unescaped
document.write(location.href); // FIND js-template-unescaped
nunjucks.configure("views", { autoescape: true });
Handlebars.compile(source, { noEscape: false });
element.innerHTML = "<br>";
element.textContent = location.hash;
document.write("<br>");
// element.innerHTML = location.hash;
