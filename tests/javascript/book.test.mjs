/** The reader of books: what is not a book is refused; tests/export holds what it reads against Python. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Book, DamagedBook } from "../../solver/web/reader/book.js";

test("what is not a book is refused", async () => {
  await assert.rejects(Book.open(new Uint8Array(100)), DamagedBook);
  await assert.rejects(Book.open(new ArrayBuffer(0)), DamagedBook);
});

test("a source that ends too soon is refused", async () => {
  const source = { size: 1000, read: async () => new Uint8Array(10) };
  await assert.rejects(Book.open(source), DamagedBook);
});
