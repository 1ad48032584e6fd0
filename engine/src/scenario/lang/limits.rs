//! What a program may not exceed. Each limit that is met is told in a sentence.

/// Bytes of a program's text.
pub const MAX_SOURCE: usize = 256 << 10;
/// Brackets and blocks inside one another.
pub const MAX_NESTING: u32 = 48;
/// Operators that hang on one another in an expression: `a + b + c` has two.
pub const MAX_CHAIN: u32 = 250;
/// Mistakes that are told of one program.
pub const MAX_DIAGNOSTICS: usize = 20;
/// Variables of the program, or of one function.
pub const MAX_VARIABLES: usize = 1000;
/// Parameters of a function.
pub const MAX_PARAMETERS: usize = 32;
/// Instructions of a compiled program.
pub const MAX_INSTRUCTIONS: usize = 1 << 20;
/// Functions that wait for one another.
pub const MAX_CALL_DEPTH: usize = 200;
/// Values on the stack of a running program.
pub const MAX_STACK: usize = 64 << 10;
/// Items of a list.
pub const MAX_LIST: usize = 200_000;
/// Lists inside lists.
pub const MAX_LIST_NESTING: u32 = 16;
/// Bytes of a string, and of what one call reads.
pub const MAX_STRING: usize = 4 << 20;
/// Bytes of generated contents: what Linux writes in one call at most.
pub const MAX_CONTENTS: u64 = 0x7FFF_F000;
/// Bytes that a running program's values take together.
pub const MAX_MEMORY: u64 = 16 << 20;
/// Bytes of one line that is printed; longer ones are cut.
pub const MAX_PRINT: usize = 4 << 10;
/// Characters of a value as the list of variables shows it.
pub const MAX_SHOWN: usize = 120;
