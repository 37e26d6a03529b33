from marchwarden.researchers.web.server import serve_web

serve_web()
