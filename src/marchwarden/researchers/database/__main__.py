from marchwarden.researchers.database.server import serve_database

serve_database()
