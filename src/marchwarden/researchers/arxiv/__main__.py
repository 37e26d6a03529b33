from marchwarden.researchers.arxiv.server import serve_arxiv

serve_arxiv()
