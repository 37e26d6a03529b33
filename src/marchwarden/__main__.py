from marchwarden.cli.main import program

program()
