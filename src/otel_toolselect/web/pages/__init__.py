"""The pages. One module here is one section of them: found by scanning, never listed.

How to add a page
=================
1. `web/pages/catalogs.py`: view functions and one `PLUGIN`. A view gets a `Call` and gives `Show` or `Go`; it runs in a
   thread. It decides nothing itself: figures and rows come from `app.browse`, asked with `call.reader` (store, the
   caller's tenant, time) and `call.filters` (`app.browse.filters.Filters`, read from the address).

       def listed(call: Call) -> Answer:
           found = browse.catalog_list(call.reader, call.filters)
           columns = (Column("Catalog"), Column("Runs", "runs", numeric=True))
           table = Table("Catalogs of the window", columns, found.rows, call.filters.sort, next=call.at(found.next))
           return Show("catalogs.html.j2", {"table": table, "found": found}, title="Catalogs")

       def one(call: Call) -> Answer:
           found = browse.catalog_view(call.reader, call.params["catalog_id"], call.filters)
           if found is None:
               raise NotFoundError("there is no such catalog in this window; choose a longer one")
           return Show("catalog.html.j2", {"found": found}, title=found.catalog.id)

       PAGES = (Page("/catalogs", listed), Page("/catalogs/{catalog_id}", one))
       PLUGIN = Section("catalogs", "Catalogs", PAGES, order=50)

2. `web/templates/catalogs.html.j2`:

       {% extends "layout.html.j2" %}
       {% import "_macros.html.j2" as m %}
       {% block content %}
       {{ m.head("Catalogs", "What agents were offered.") }}
       {{ m.filter_bar(call, names=("agent", "model"), choices=found.choices) }}
       {% if table.rows %}
       {% call(row) m.table(call, table) %}
       <th scope="row"><a href="{{ call.filtered('/catalogs/' ~ row.id | part) }}">{{ row.id }}</a></th>
       <td class="num">{{ row.runs }}</td>
       {% endcall %}
       {% else %}
       {% call m.empty("No catalogs here") %}<p>Choose a longer window, or ...</p>{% endcall %}
       {% endif %}
       {% endblock %}

   Macros: `head`, `filter_bar`, `table`, `figure` (a `Rate` with n and interval), `interval_bar`, `spark`, `badge`,
   `empty`, `form_token`, `named`. Filters: `utc`, `day`, `since(call.now_ns)`, `percent`, `many("run")`, `part`.
   Every value is escaped, made visible and cut at `rendering.LONGEST`; nothing is ever marked safe. A missing value
   is an error: give all.

3. Something is done by POST: `Action("/silences", add, scope="admin")`; its form has `{{ m.form_token(call) }}`; the
   view reads `call.field("name")` and gives `Go(call.link("/alerts"), said="The silence is in force")`. The caller's
   right was checked before. Who did it goes into the audit log: `call.note("silence", subject, detail)`.

4. The same for programs: `web/api/catalogs.py` (see `web.api`), with the same function of `app.browse`.

5. Tests in `tests/web/test_catalogs.py`. Fixtures (`tests/web/conftest.py`): `store` and `site` with real traffic of
   the last day (`tests/web/world.py`), `runs`, `client` (starlette's test client; `client.submit(path, data,
   of=page)` posts a form), `pages_of(tokens=..., settings=...)`, `page` (Chromium; fails on any error in the console,
   also of the content security policy), `axe(page)`, `shots("catalogs")` (pictures in the folder TOOLSELECT_SHOTS),
   `fits(page)`. Look at the pictures.

Rules of the house
==================
- No inline script or style, no style attribute, no onclick: the content security policy stops them. Styles go into
  `static/app.css` (classes exist for cards, tiles, chips, badges, heat d1-d5 and o1-o5, stacked tables on phones) or,
  where one section alone needs them, `static/SECTION.css`, loaded by the template's block `own`, as is a script of a
  section (`<script src="{{ static['labels.js'] }}" defer></script>`); pages work without it as far as they can. Colours
  are the variables of `app.css`, which know light and dark. Widths that come from data are SVG attributes.
- htmx (`static/htmx.min.js`) replaces `#content` for filters, sorting and such: `hx-get=... hx-target="#content"
  hx-select="#content" hx-swap="outerHTML" hx-push-url="true"`. It may not evaluate expressions.
- Addresses come from `call`: `link(path, **query)`, `filtered(path, **changes)` (keeps window and shared filters),
  `here(**changes)`, `at(query string)`. Parts of a path that come from data go through `part`.
- Errors: raise those of `errors`, or `web.problems.NotFoundError`; `web.problems` makes pages and problem documents
  of them.
- Tables have a caption, heads with scope, and are sorted and paged by the store. No meaning by colour alone.
"""
