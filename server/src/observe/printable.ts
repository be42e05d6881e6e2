// Escapes control characters beyond ASCII and marks that change the direction of text, which JSON does not escape: on a terminal
// they could move the cursor or reorder the text of a line.

const unsafe = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** For a line of JSON: the same value, with those characters as escapes. `prefix` is written before each. */
export function escapeUnsafe(line: string, prefix = ''): string {
  return line.replace(unsafe, (character) => {
    return `${prefix}\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
