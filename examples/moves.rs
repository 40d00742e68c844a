//! Values of states in a book, from Rust by solverbook.h: ./moves c4.bin 33825 68739
//!
//!     solver export connect-four:4,4 -o c4.bin
//!     solver export --reader c -o include
//!     cc -c -O2 -DSOLVERBOOK_IMPLEMENTATION -x c include/solverbook.h -o solverbook.o
//!     rustc -C link-arg=solverbook.o examples/moves.rs -o moves
//!
//! The rules are those of your program, as in moves.c: ask for the canonical state, and never for a finished one.
use std::ffi::{c_char, c_int, c_void, CStr, CString};

#[repr(C)]
#[derive(Default)]
struct Value {
    score: f64,
    distance: i64,
    is_estimate: c_int,
}

/// The struct `solverbook`, field by field.
#[repr(C)]
struct Book {
    bytes: *const u8,
    size: u64,
    stored: u64,
    facts: *const c_char,
    facts_size: u32,
    palette: *const u8,
    directory: *const u8,
    codec: u32,
    values: u32,
    segments: u32,
    index_bytes: u32,
    state_bytes: u32,
    has_estimates: c_int,
    step: f64,
    checked: *mut c_void,
    owned: *mut c_void,
}

extern "C" {
    fn solverbook_load(book: *mut Book, path: *const c_char) -> c_int;
    fn solverbook_get(book: *mut Book, state: u64, value: *mut Value) -> c_int;
    fn solverbook_close(book: *mut Book);
    fn solverbook_message(code: c_int) -> *const c_char;
}

impl Book {
    fn open(path: &str) -> Result<Book, String> {
        let path = CString::new(path).map_err(|error| error.to_string())?;
        let mut book: Book = unsafe { std::mem::zeroed() };
        match unsafe { solverbook_load(&mut book, path.as_ptr()) } {
            0 => Ok(book),
            code => Err(message(code)),
        }
    }

    /// None if the book has no such state.
    fn get(&mut self, state: u64) -> Result<Option<Value>, String> {
        let mut value = Value::default();
        match unsafe { solverbook_get(self, state, &mut value) } {
            1 => Ok(Some(value)),
            0 => Ok(None),
            code => Err(message(code)),
        }
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        unsafe { solverbook_close(self) }
    }
}

fn message(code: c_int) -> String {
    unsafe { CStr::from_ptr(solverbook_message(code)) }.to_string_lossy().into_owned()
}

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().collect();
    let mut book = Book::open(words.get(1).ok_or("name a book")?)?;
    for word in &words[2..] {
        match book.get(word.parse().map_err(|_| format!("{word} is not a state"))?)? {
            Some(value) => println!("{word} {} {} {}", value.score, value.distance, value.is_estimate),
            None => println!("{word} missing"),
        }
    }
    Ok(())
}
