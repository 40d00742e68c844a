"""Serve: books and games over HTTP: an interface of our own, and pages to look at.

An ASGI application on Starlette, run by uvicorn, one process a worker. Facts are those of `report`, pages those of
`export`. Imports report and below; starlette and uvicorn are the extra [serve].
"""
