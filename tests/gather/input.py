redirect(request.args["next"])  # FIND py-redirect-of-input
redirect(request.args.get("next"))  # FIND py-redirect-of-input
flask.redirect(request.form["url"], code=303)  # FIND py-redirect-of-input
flask.redirect(flask.request.args.get("u", "/"))  # FIND py-redirect-of-input
HttpResponseRedirect(request.GET["next"])  # FIND py-redirect-of-input
HttpResponseRedirect(request.POST.get("next"))  # FIND py-redirect-of-input
RedirectResponse(request.query_params["next"])  # FIND py-redirect-of-input
self.redirect(self.get_argument("next"))  # FIND py-redirect-of-input
self.redirect(self.get_query_argument("next", "/"))  # FIND py-redirect-of-input
redirect("https://" + request.values["host"])  # FIND py-redirect-of-input
redirect(request.headers["Referer"])  # FIND py-redirect-of-input
redirect(url_for("index"))
redirect("/index")
redirect("/page", code=request.args["code"])
redirect(url_for("page", name=request.args["name"]))
redirect(reverse("page", args=[request.GET["name"]]))
redirect("/search?q=" + request.args["q"])
redirect(f"/users/{request.args['id']}")
redirect("//" + request.args["host"])  # FIND py-redirect-of-input
# redirect(request.args["next"])

requests.get(request.args["url"])  # FIND py-request-of-input
requests.post(request.form["hook"], json=data)  # FIND py-request-of-input
requests.request("GET", request.args.get("url"))  # FIND py-request-of-input
requests.get(f"https://{request.args['host']}/x")  # FIND py-request-of-input
requests.get(url=request.json["url"])  # FIND py-request-of-input
httpx.get(request.query_params["url"])  # FIND py-request-of-input
client.get(request.GET["url"], timeout=3)  # FIND py-request-of-input
session.get("http://" + request.values["host"])  # FIND py-request-of-input
urllib.request.urlopen(request.args["url"])  # FIND py-request-of-input
urlopen(self.get_argument("url"))  # FIND py-request-of-input
http.request("GET", request.POST["url"])  # FIND py-request-of-input
session.request(method="GET", url=request.args["url"])  # FIND py-request-of-input
requests.get(URL, timeout=3)
requests.post("https://api.example.org/", data=request.form)
requests.post(URL, json=request.json, headers=headers)
requests.get(URL, params=request.args)
requests.post(URL, request.form)
requests.get(f"https://api.example.org/users/{request.args['id']}")
requests.get("https://api.example.org/users/" + request.args["id"])
requests.get(f"https://api.example.org{request.args['path']}")  # FIND py-request-of-input
requests.get(url)
cache.get(request.args["key"])
# requests.get(request.args["url"])

users.find({"$where": text})  # FIND py-where-of-input
users.find({"$where": "this.name == '" + name + "'"})  # FIND py-where-of-input
users.find({"$where": f"this.name == '{name}'"})  # FIND py-where-of-input
users.find_one({'$where': request.args["q"]})  # FIND py-where-of-input
users.count_documents({"age": 3, "$where": self.text})  # FIND py-where-of-input
users.find({"$where": "this.a == %s" % value})  # FIND py-where-of-input
users.find({"$where": Code(text)})  # FIND py-where-of-input
query = {"$where": texts[0]}  # FIND py-where-of-input
users.aggregate([{"$group": {"x": {"$accumulator": body}}}])  # FIND py-where-of-input
users.aggregate([{"$addFields": {"x": {"$function": body}}}])  # FIND py-where-of-input
users.find({"$where": "this.a > this.b"})
users.find({"where": text})
# users.find({"$where": text})
