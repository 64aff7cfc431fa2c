import jinja2  # for pages of HTML
from jinja2 import Environment, FileSystemLoader

jinja2.Environment(autoescape=False)  # FIND py-template-unescaped
jinja2.Environment(loader=loader)  # FIND py-template-unescaped
Environment(loader=FileSystemLoader("."))  # FIND py-template-unescaped
Environment()  # FIND py-template-unescaped
env = Environment(loader=loader, autoescape = False)  # FIND py-template-unescaped
env.autoescape = False  # FIND py-template-unescaped
app.jinja_env.autoescape = False  # FIND py-template-unescaped
tornado.template.Loader(path, autoescape=False)  # FIND py-template-unescaped
mark_safe("<b>" + name + "</b>")  # FIND py-template-unescaped
mark_safe(f"<b>{name}</b>")  # FIND py-template-unescaped
Markup("<b>%s</b>" % name)  # FIND py-template-unescaped
markupsafe.Markup("<b>{}</b>".format(name))  # FIND py-template-unescaped
mark_safe(request.GET["name"])  # FIND py-template-of-input
mark_safe("<b>" + self.request.POST.get("name") + "</b>")  # FIND py-template-unescaped py-template-of-input
Markup(f"<b>{request.args['name']}</b>")  # FIND py-template-unescaped py-template-of-input
markupsafe.Markup(request.query_params["name"])  # FIND py-template-of-input
flask.Markup(flask.request.cookies["name"])  # FIND py-template-of-input
mark_safe("request.GET")
mark_safe(escape(request.GET["name"]))
Markup(f"<b>{conditional_escape(request.args['name'])}</b>")
mark_safe(form.as_table())
jinja2.Environment(autoescape=True)
Environment(loader=loader, autoescape=jinja2.select_autoescape())
mark_safe("<br>")
mark_safe("<b>%s</b>" % escape(name))
mark_safe("<b>{}</b>".format(conditional_escape(name)))
Markup("<b>%s</b>") % name
# jinja2.Environment(autoescape=False)
