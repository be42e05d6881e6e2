// The width of text on a terminal, and cutting text to a width.

import { stripVTControlCharacters } from 'node:util'

const graphemes = new Intl.Segmenter()
const wide =
  /^(?:\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6])/u
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
// biome-ignore lint/suspicious/noControlCharactersInRegex: color codes begin with one
const colorOrText = /(\u001b\[[\d;]*m)|([^\u001b]+|\u001b)/g

/** In columns; color codes take none. */
export function textWidth(text: string): number {
  let width = 0
  for (const { segment } of graphemes.segment(stripVTControlCharacters(text))) width += segmentWidth(segment)
  return width
}

/** At most `columns` wide. Cut text ends with an ellipsis; color codes are kept. */
export function cutText(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text
  let room = columns - 1
  let cut = ''
  for (const [, color, words = ''] of text.matchAll(colorOrText)) {
    if (color !== undefined) cut += color
    for (const { segment } of graphemes.segment(words)) {
      const before = room
      room -= segmentWidth(segment)
      if (room >= 0) cut += segment
      else if (before >= 0) cut += '…'
    }
  }
  return columns > 0 ? cut : ''
}

export function padText(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - textWidth(text)))
}

/** Untrusted text, for example of a device, must not control the terminal: control characters become replacement characters. */
export function plainText(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '�')
}

function segmentWidth(segment: string): number {
  if (wide.test(segment)) return 2
  return invisible.test(segment) ? 0 : 1
}
