from marchwarden.researchers.serve import main

main()
