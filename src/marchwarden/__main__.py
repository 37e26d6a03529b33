from marchwarden.cli.main import main

main()
