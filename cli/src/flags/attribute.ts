// An attribute of a device as a flag: name=value.

import { InvalidArgumentError } from 'commander'

export type AttributeValue = string | number | boolean

/** A number or boolean if the text is exactly how JSON writes it, so 2.10 is a string; so is anything in double quotes. */
export function parseAttribute(text: string): [string, AttributeValue] {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('It must be name=value.')
  const [name, value] = [text.slice(0, at), text.slice(at + 1)]
  const [, quoted] = /^"([^"\\]*)"$/.exec(value) ?? []
  if (quoted !== undefined) return [name, quoted]
  const number = Number(value)
  if (Number.isFinite(number) && String(number) === value) return [name, number]
  return [name, value === 'true' || (value === 'false' ? false : value)]
}
