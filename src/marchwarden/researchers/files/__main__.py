from marchwarden.researchers.files.server import serve_files

serve_files()
