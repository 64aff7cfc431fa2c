res.redirect(req.query.next); // FIND js-redirect-of-input
res.redirect(302, req.query["next"]); // FIND js-redirect-of-input
response.redirect(request.body.url); // FIND js-redirect-of-input
reply.redirect(request.query.to); // FIND js-redirect-of-input
ctx.redirect(ctx.query.next); // FIND js-redirect-of-input
ctx.response.redirect(ctx.request.query.next); // FIND js-redirect-of-input
res.redirect(`https://${req.params.host}/`); // FIND js-redirect-of-input
res.redirect("https://" + req.headers.host); // FIND js-redirect-of-input
res.redirect(req.query.next || "/"); // FIND js-redirect-of-input
redirect(url.searchParams.get("next")); // FIND js-redirect-of-input
c.redirect(decodeURIComponent(req.query.to)); // FIND js-redirect-of-input
res.writeHead(302, { Location: req.query.url }); // FIND js-redirect-of-input
res.setHeader("Location", req.query.url); // FIND js-redirect-of-input
res.set('location', req.body.url); // FIND js-redirect-of-input
window.location = new URLSearchParams(location.search).get("next"); // FIND js-redirect-of-input
location.href = url.searchParams.get("next") || "/"; // FIND js-redirect-of-input
res.writeHead(302, { Location: "/users/" + req.params.id });
res.setHeader("Location", "/users");
const record = { location: req.body.city };
window.location = "/search?q=" + new URLSearchParams(location.search).get("q");
res.redirect("/users/" + req.params.id);
res.redirect(`/users/${req.params.id}`);
res.redirect("/index");
res.redirect(next);
// res.redirect(req.query.next);

fetch(req.query.url); // FIND js-request-of-input
axios.get(req.query.url); // FIND js-request-of-input
axios(req.body.url, { timeout: 3 }); // FIND js-request-of-input
axios({ method: "get", url: req.query.url }); // FIND js-request-of-input
got(req.params.url); // FIND js-request-of-input
got.post(req.body.hook, { json: data }); // FIND js-request-of-input
http.get(req.query.url, done); // FIND js-request-of-input
https.request(`https://${req.query.host}/x`); // FIND js-request-of-input
request("http://" + req.query.host, done); // FIND js-request-of-input
superagent.get(ctx.query.url); // FIND js-request-of-input
needle.get(ctx.request.query.url); // FIND js-request-of-input
fetch(`https://api.example.org/users/${req.params.id}`);
axios.get("https://api.example.org/users/" + req.params.id);
axios.post("https://api.example.org/", req.body);
fetch(url);
// fetch(req.query.url);

users.find({ $where: text }); // FIND js-where-of-input
users.find({ $where: `this.name == '${name}'` }); // FIND js-where-of-input
users.find({ $where: "this.name == '" + name + "'" }); // FIND js-where-of-input
users.findOne({ "$where": req.query.q }); // FIND js-where-of-input
users.find({ '$where': req.body["q"], age: 3 }); // FIND js-where-of-input
users.$where(`this.name == '${name}'`); // FIND js-where-of-input
User.find().$where(text); // FIND js-where-of-input
User.find().$where("this.a == " + value); // FIND js-where-of-input
const query = { $where: build(name) }; // FIND js-where-of-input
users.aggregate([{ $addFields: { x: { $function: body } } }]); // FIND js-where-of-input
users.find({ $where: "this.a > this.b" });
users.find({ $where: function () { return this.a > this.b; } });
users.find({ where: text });
// users.find({ $where: text });
