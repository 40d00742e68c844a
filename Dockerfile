# Serves books over HTTP: docker build -t solverbook . && docker run -p 8000:8000 solverbook
FROM python:3.13-slim

COPY pyproject.toml README.md LICENSE /source/
COPY solver /source/solver
COPY books /source/books
RUN pip install --no-cache-dir '/source[serve,live]' && rm -r /source

# Books of your own, named as arguments: docker run -v "$PWD:/books:ro" solverbook --host 0.0.0.0 race.lmdb
WORKDIR /books
USER nobody
EXPOSE 8000
ENTRYPOINT ["solver", "serve"]
CMD ["--host", "0.0.0.0"]
