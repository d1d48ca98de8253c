"""Who a browser is: sessions, forms that only our own pages can send, and the door before every page.

A person signs in with a token of `receive.tokens` (once; then a signed cookie says which entry it was) or with OpenID
Connect. A session holds no rights: each request looks at the entry, or at the settings, as they are now.
"""
