// Makes untrusted text safe for a terminal or a log: one line, of limited length, without control characters.

const longest = 500

export function printable(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
  return line.length > longest ? `${line.slice(0, longest)}…` : line
}
