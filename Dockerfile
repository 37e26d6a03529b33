# Build the image:     docker build -t marchwarden .
#
# Ask your files:      docker run --rm -v "$PWD/notes:/notes:ro" marchwarden ask "Who repainted it?" --files /notes
# Keep runs:           add  -v marchwarden:/home/marchwarden/.marchwarden
# Serve over MCP:      docker run --rm -i -v "$PWD/notes:/notes:ro" marchwarden serve files --files /notes
# With a model:        docker build --build-arg EXTRAS='[llm]' -t marchwarden . ; then add  -e ANTHROPIC_API_KEY
FROM python:3.11-slim

# Run as an unprivileged user that writes only to its home folder.
RUN useradd --create-home marchwarden

WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
ARG EXTRAS=""
RUN pip install --no-cache-dir ".${EXTRAS}" && rm -rf /build

USER marchwarden
# Create the mount point, so a volume mounted here belongs to the user.
RUN mkdir /home/marchwarden/.marchwarden
WORKDIR /home/marchwarden

ENTRYPOINT ["marchwarden"]
